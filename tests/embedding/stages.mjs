/** Give every place in a script where a statement may stand, from a line on: `node stages.mjs FILE FROM`. */

import { readFileSync } from "node:fs";

import ts from "typescript";

const [, , path, from] = process.argv;
const lines = readFileSync(path, "utf8").split("\n");
const start = lines.findIndex((line) => line.includes(from));
const found = [];
const visit = (/** @type {ts.Node} */ node) => {
  if (ts.isBlock(node) || ts.isSourceFile(node)) {
    for (const { pos, kind } of node.statements) {
      const { line } = ts.getLineAndCharacterOfPosition(file, pos);
      if (line >= start && kind !== ts.SyntaxKind.FunctionDeclaration) found.push(pos);
    }
    if (ts.isBlock(node) && node.statements.length === 0) found.push(node.end - 1);
  }
  ts.forEachChild(node, visit);
};
const file = ts.createSourceFile(path, lines.join("\n"), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
visit(file);
console.log(JSON.stringify([...new Set(found)]));
