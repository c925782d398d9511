/** What the server gives out is the sources, joined: token by token, without a name twice. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import ts from "typescript";

const python = new URL("../../.venv/bin/python", import.meta.url).pathname;
const program = `
import json, sys
from deniable_server.browser_files import ENTRIES, BrowserFiles, in_use
files = BrowserFiles()
print(json.dumps({entry: {"joined": files.modules(entry), "files": {file.name: file.body.decode() for file in in_use(files, entry)},
    "parts": {name: files.modules(entry, name) for name in files.later(entry)}} for entry in ENTRIES}))
`;
const served = existsSync(python) ? JSON.parse(execFileSync(python, ["-c", program], { encoding: "utf8" })) : {};
const source = (name) => readFileSync(new URL(`../../client/deniable_client/browser/${name}`, import.meta.url), "utf8");

/** Everything that a browser reads in a part of a script: comments and spaces are not in it. */
function tree(/** @type {ts.Node} */ node, file) {
  if (ts.isToken(node)) return node.getText(file);
  const inner = [];
  ts.forEachChild(node, (child) => void inner.push(tree(child, file)));
  return [ts.SyntaxKind[node.kind], node.operator ?? node.flags & ts.NodeFlags.BlockScoped, ...inner]; // "-" and "!"; let and const
}

/** Statement by statement; imports are left out. */
function statements(text) {
  const file = ts.createSourceFile("x.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  return file.statements
    .filter((one) => !ts.isImportDeclaration(one) && !(ts.isExportDeclaration(one) && one.moduleSpecifier))
    .map((one) => JSON.stringify(tree(one, file)));
}
const pinned = (text) => text.replace(/export const PINS ?= ?\{.*?\};/, "export const PINS = {};");

const parses = (input) => execFileSync(process.execPath, ["--check", "--input-type=module", "-"], { input });

for (const [entry, { joined, files, parts }] of Object.entries(served)) {
  test(`${entry}/index.js is its modules, one after another, and parses`, () => {
    const text = files["index.js"];
    assert.deepEqual(statements(pinned(text)), joined.flatMap((name) => statements(source(name))));
    parses(text);
  });

  test(`what ${entry} loads later is its sources, parses, and takes nothing twice`, () => {
    const all = [...joined, ...Object.values(parts).flat()];
    assert.equal(new Set(all).size, all.length);
    for (const [name, text] of Object.entries(files)) {
      if (name === "index.js" || !name.endsWith(".js")) continue;
      assert.deepEqual(statements(pinned(text)), parts[name].flatMap((part) => statements(source(part))), name);
      parses(text);
      const taken = [...text.matchAll(/from "\.\/(.+?)"/g)].map(([, from]) => from);
      assert.ok(!taken.some((from) => joined.includes(from)), name);
    }
  });
}

test("a source that changed on its way is caught", () => {
  const text = source("randomizer.js");
  const changes = { "< a * d": "<= a * d", "a * d + b": "a + d * b", "const id": "let id", "&= 0x7f": "&= 0x3f", "(!known)": "(-known)", "{1,12})?$/": "{1,12})$/", '"0"': '"1"', "${name}.${": "${name}-${" };
  for (const [old, changed] of Object.entries(changes)) {
    const other = text.replace(old, changed);
    assert.notEqual(other, text, old);
    assert.notDeepEqual(statements(other), statements(text), old);
  }
});
