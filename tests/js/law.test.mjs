/** The law of the randomizer, enumerated: every value of every draw, compared as fractions. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { below } from "../../client/deniable_client/browser/deniable.js";
import { BROKEN, law, ours, stated } from "./support.mjs";

const SMALL = [];
for (let k = 2; k <= 6; k++) {
  for (let d = 1; d <= Math.min(3, k - 1); d++) {
    for (const [a, b] of [[2, 1], [3, 1], [3, 2], [7, 4]]) SMALL.push({ k, d, a, b });
  }
}
const answers = ({ k }) => Array.from({ length: k }, (_, answer) => answer);
const laws = (program, channel) =>
  answers(channel).map((answer) => law((draw) => program(channel, answer, draw)));
const statedLaws = (channel) => answers(channel).map((answer) => stated(channel, answer));

test("every report has exactly the stated probability, for every true answer", () => {
  for (const channel of SMALL) assert.deepEqual(laws(ours, channel), statedLaws(channel));
});

for (const [name, broken] of Object.entries(BROKEN)) {
  test(`a randomizer with ${name} is caught`, () => {
    for (const channel of [{ k: 3, d: 1, a: 3, b: 1 }, { k: 4, d: 2, a: 3, b: 2 }]) {
      assert.notDeepEqual(laws(broken, channel), statedLaws(channel));
    }
  });
}

test("the number and the bounds of the draws never depend on what comes out", () => {
  const channel = { k: 5, d: 3, a: 3, b: 1 };
  const seen = new Set();
  for (const answer of answers(channel)) {
    law((draw) => {
      const bounds = [];
      ours(channel, answer, (bound) => (bounds.push(bound), draw(bound)));
      seen.add(bounds.join());
      return [];
    });
  }
  assert.deepEqual([...seen], ["11,4,3,2"]);
});

const word = (value) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);

/** How many of the words at the edge of the range this draw uses, instead of refusing them. */
function usedAbove(draw, bound) {
  const first = 2 ** 32 - (2 ** 32 % bound);
  let used = 0;
  for (const value of [first, first + 1, 2 ** 32 - 1].filter((v) => v >= first && v < 2 ** 32)) {
    let reads = 0;
    draw(bound, () => word(reads++ === 0 ? value : 0));
    used += Number(reads === 1);
  }
  return used;
}

test("a uniform integer uses each remainder equally often: words above the last multiple are refused", () => {
  const naive = (bound, read) => new DataView(read(4).buffer).getUint32(0) % bound;
  for (const bound of [1, 2, 3, 5, 6, 7, 1000, 2 ** 31, 2 ** 31 + 1, 3 * 2 ** 30, 2 ** 32 - 1, 2 ** 32]) {
    const last = 2 ** 32 - (2 ** 32 % bound) - 1;
    for (const value of [0, 1, bound - 1, last]) {
      assert.equal(below(bound, () => word(value)), value % bound);
    }
    assert.equal(usedAbove(below, bound), 0);
    if (2 ** 32 % bound) assert.notEqual(usedAbove(naive, bound), 0);
  }
});
