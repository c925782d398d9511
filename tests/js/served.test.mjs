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
print(json.dumps({entry: {"joined": files.modules(entry), "files":
    {file.name: [file.body.decode(), len(file.compressed)] for file in in_use(files, entry)}} for entry in ENTRIES}))
`;
const served = existsSync(python) ? JSON.parse(execFileSync(python, ["-c", program], { encoding: "utf8" })) : {};
const source = (name) => readFileSync(new URL(`../../client/deniable_client/browser/${name}`, import.meta.url), "utf8");

/** Statements without comments and spaces; imports, and the word "export", are left out. */
function statements(text) {
  const file = ts.createSourceFile("x.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const printer = ts.createPrinter({ removeComments: true });
  return file.statements
    .filter((one) => !ts.isImportDeclaration(one) && !(ts.isExportDeclaration(one) && one.moduleSpecifier))
    .map((one) => printer.printNode(ts.EmitHint.Unspecified, one, file).replace(/\s+/g, " "));
}
const pinned = (list) => list.map((one) => one.replace(/^export const PINS = \{.*\};$/, "export const PINS = {};"));

for (const [entry, { joined, files }] of Object.entries(served)) {
  test(`${entry}/index.js is its modules, one after another, and parses`, () => {
    const [text] = files["index.js"];
    assert.deepEqual(pinned(statements(text)), joined.flatMap((name) => statements(source(name))));
    execFileSync(process.execPath, ["--check", "--input-type=module", "-"], { input: text });
  });

  test(`what ${entry} loads later is its source, and takes nothing twice`, () => {
    for (const [name, [text]] of Object.entries(files)) {
      if (name === "index.js" || !name.endsWith(".js")) continue;
      assert.deepEqual(statements(text), statements(source(name)), name);
      const taken = [...text.matchAll(/from "\.\/(.+?)"/g)].map(([, from]) => from);
      assert.ok(!taken.some((from) => joined.includes(from)), name);
    }
  });
}

test("a source that changed on its way is caught", () => {
  const text = source("randomizer.js");
  assert.notDeepEqual(statements(text.replace("< a * d", "<= a * d")), statements(text));
});
