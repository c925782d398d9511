/** The npm package: what is in it, that it is found by its name, and that its types are those of the code. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const client = join(root, "client");
const about = JSON.parse(readFileSync(join(client, "package.json"), "utf8"));

/** A folder in which the package is installed. */
function installed() {
  const folder = mkdtempSync(join(tmpdir(), "deniable-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(client, join(folder, "node_modules/deniable"));
  return folder;
}

test("the package holds every module that another imports, and nothing of Python", () => {
  const packed = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--silent"], { cwd: client, encoding: "utf8" }));
  const names = packed[0].files.map(({ path }) => path);
  for (const name of names.filter((one) => one.endsWith(".js"))) {
    for (const [, other] of readFileSync(join(client, name), "utf8").matchAll(/from "\.\/(.+?)"/g)) {
      const [code, types] = [other, other.replace(/js$/, "d.ts")].map((one) => `deniable_client/browser/${one}`);
      assert.ok(names.includes(code) || names.includes(types), `${name} imports ${other}`);
    }
  }
  for (const { types, default: main } of Object.values(about.exports).filter((one) => one.types)) {
    assert.ok(names.includes(types.slice(2)) && names.includes(main.slice(2)), main);
  }
  assert.ok(names.every((name) => !/\.py$|__pycache__/.test(name)), names.join(" "));
  assert.equal(about.dependencies, undefined);
});

test("the package is found by its name", () => {
  const folder = installed();
  writeFileSync(join(folder, "use.mjs"), 'import { product } from "deniable"; import { Device } from "deniable/device"; console.log(typeof Device, product([{ a: 6n, b: 4n }]).a);');
  assert.equal(execFileSync(process.execPath, ["--preserve-symlinks", "use.mjs"], { cwd: folder, encoding: "utf8" }), "function 3n\n");
});

test("its types are those of the code, and an application compiles against them", () => {
  const folder = installed();
  writeFileSync(join(folder, "use.ts"), readFileSync(new URL("consumer.ts", import.meta.url)));
  const pairs = { index: "deniable", device: "device", plain: "plain", surveyjs: "surveyjs" };
  const same = Object.entries(pairs).map(([types, code]) => `
    import type * as ${types}Types from "${client}/types/${types}.js";
    import * as ${types}Code from "${client}/deniable_client/browser/${code}.js";
    export const ${types}: typeof ${types}Types = ${types}Code;`);
  writeFileSync(join(folder, "same.ts"), same.join("\n"));
  const options = { strict: true, noEmit: true, target: "es2022", module: "esnext", moduleResolution: "bundler", lib: ["es2024", "dom", "dom.iterable"], types: [], allowJs: true, preserveSymlinks: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["use.ts", "same.ts"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  try {
    execFileSync(process.execPath, [tsc, "--project", "tsconfig.json"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
});
