/** The law of whole reports, enumerated: rounding, sampling, hidden questions, and total odds. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyNoise, drawReport, encode, itemsOf } from "../../client/deniable_client/browser/deniable.js";
import { readSurvey } from "../../client/deniable_client/browser/survey.js";
import { canonical } from "../../client/deniable_client/browser/randomizer.js";
import { fraction, law, parts } from "./support.mjs";

const one = (text) => ({ en: text });
const plain = (name, a, b, change = {}) => ({
  name, kind: "yes-no", text: one("?"), options: [one("Yes"), one("No")], optional: false,
  channel: { k: 2 + Number(change.optional ?? false) + Number(change.show_if !== undefined), d: 1, a, b },
  ...change,
});

/** A published survey as the browser reads it; its total is computed here, by hand. */
async function survey(questions, total, change = {}) {
  const found = { format: "deniable-survey/1", language: "en", name: "x", title: one("X"), odds: total, questions, ...change };
  const data = new TextEncoder().encode(canonical(found));
  const hash = Buffer.from(await crypto.subtle.digest("SHA-256", data)).toString("base64");
  return readSurvey(data, `sha256-${hash}`);
}

/** Every draw of one report; the id is left out. */
const reportLaw = (found, answers) =>
  law((draw) => {
    const { sent, rounding, subsets } = drawReport(found, draw);
    const indices = encode(found, answers, rounding);
    const all = found.questions.flatMap((q) => itemsOf(q).map((item) => [item, applyNoise(q.channel, subsets[item], indices[item])]));
    return Object.fromEntries(all.filter(([item]) => sent.includes(item)));
  });

/** The largest ratio of a report's probabilities between any two sets of answers. */
function worst(laws) {
  const reports = new Set(laws.flatMap(Object.keys));
  let [a, b] = [0n, 1n];
  for (const report of reports) {
    for (const first of laws) {
      for (const second of laws) {
        assert.ok(report in first && report in second, "a report that only some answers can give");
        const [[n, d], [m, e]] = [parts(first[report]), parts(second[report])];
        if (n * e * b > a * d * m) [a, b] = [n * e, d * m];
      }
    }
  }
  return fraction(a, b);
}

const combine = (...lists) => lists.reduce((all, list) => all.flatMap((some) => list.map((next) => [...some, next])), [[]]);

test("with show_if, the law of the whole report of three questions attains exactly the stated total odds", async () => {
  const found = await survey(
    [
      plain("used", 2, 1),
      plain("often", 3, 2, { show_if: { question: "used", is: [0] } }),
      plain("sorry", 3, 2, { optional: true }),
    ],
    ["9", "2"],
  );
  const laws = combine([0, 1], [0, 1], [0, 1, null]).map(([used, often, sorry]) => reportLaw(found, { used, often, sorry }));
  assert.equal(worst(laws), "9/2");
  const shapes = new Set(laws.flatMap(Object.keys).map((report) => Object.keys(JSON.parse(report)).join()));
  assert.deepEqual([...shapes], ["often,sorry,used"], "the shape of a report says nothing");
  assert.deepEqual(laws[6], laws[9], "what was said to a hidden question is ignored");
});

test("a report that leaves a hidden question out is caught by the same check", async () => {
  const found = await survey([plain("used", 2, 1), plain("often", 3, 2)], ["3", "1"]);
  const full = reportLaw(found, { used: 0, often: 0 });
  const short = Object.fromEntries(Object.keys(full).map((report) => [report.replace(/"often":\[.\],/, ""), "1/1"]));
  assert.throws(() => worst([full, short]), /only some answers/);
});

const boxes = (change) =>
  plain("kinds", 2, 1, { kind: "multiple", options: [one("a"), one("b"), one("c")], ...change });
const ticks = combine([true, false], [true, false], [true, false]).map((marks) =>
  marks.flatMap((on, place) => (on ? [place] : [])),
);

test("three boxes share the odds of their question", async () => {
  const found = await survey([boxes()], ["8", "1"]);
  assert.equal(worst(ticks.map((kinds) => reportLaw(found, { kinds }))), "8/1");
});

test("of three boxes one is sent, each equally often, and its odds are the total", async () => {
  const found = await survey([boxes({ ask: 1 })], ["2", "1"]);
  const laws = ticks.map((kinds) => reportLaw(found, { kinds }));
  assert.equal(worst(laws), "2/1");
  for (const each of laws) assert.deepEqual(sentTogether(each), { "kinds.1": "1/3", "kinds.2": "1/3", "kinds.3": "1/3" });
});

test("of three questions two are sent, each pair equally often, and two odds are the total", async () => {
  const found = await survey([plain("a", 2, 1), plain("b", 2, 1), plain("c", 3, 1)], ["6", "1"], { ask: 2 });
  const laws = combine([0, 1], [0, 1], [0, 1]).map(([a, b, c]) => reportLaw(found, { a, b, c }));
  assert.equal(worst(laws), "6/1");
  for (const each of laws) assert.deepEqual(sentTogether(each), { "a,b": "1/3", "a,c": "1/3", "b,c": "1/3" });
});

/** How likely each set of items is to be sent. */
function sentTogether(one) {
  const found = {};
  for (const [report, chance] of Object.entries(one)) {
    const names = Object.keys(JSON.parse(report)).sort().join();
    found[names] = add(found[names] ?? "0/1", chance);
  }
  return found;
}

const add = (left, right) => {
  const [[a, b], [c, d]] = [parts(left), parts(right)];
  return fraction(a * d + c * b, b * d);
};

const number = (points, change) =>
  plain("age", 2, 1, {
    kind: "number", options: [], number: { max: "16", min: "10", step: "1.5" }, channel: { k: points, d: 1, a: 2, b: 1 }, ...change,
  });

/** Four times the mean of the grid points that de-biased reports stand for, as a fraction. */
function mean(one, points) {
  const total = BigInt(points + 1); // a d + b (k - d) with odds 2:1; p - q is 1/total, q is 1/total
  let sum = "0/1";
  for (const [report, chance] of Object.entries(one)) {
    const [reported] = JSON.parse(report).age;
    for (let j = 0; j < points; j++) {
      const z = BigInt(j === reported ? total - 1n : -1n); // (1[j = S] - q) / (p - q)
      const [a, b] = parts(chance);
      sum = add(sum, fraction(a * z * BigInt(j), b));
    }
  }
  const [a, b] = parts(sum);
  return fraction(24n * a, b * BigInt(points - 1)); // grid steps of 6/(points - 1), four times
}

for (const points of [2, 3, 4]) {
  test(`rounding to ${points} points is unbiased: the de-biased mean is the number, for every allowed one`, async () => {
    const found = await survey([number(points)], ["2", "1"]);
    const laws = [0, 1, 2, 3, 4].map((step) => reportLaw(found, { age: `${10 + step * 1.5}` }));
    laws.forEach((each, step) => assert.equal(mean(each, points), `${step * 6}/1`));
    assert.equal(worst(laws), "2/1");
  });
}

test("rounding to the nearest point is caught", async () => {
  const found = await survey([number(3)], ["2", "1"]);
  const nearest = law((draw) => {
    const { subsets } = drawReport(found, draw);
    return { age: applyNoise(found.questions[0].channel, subsets.age, Math.round((1 * 2) / 4)) };
  });
  assert.notEqual(mean(nearest, 3), "6/1");
});

test("the draws of a report are the same whatever is answered", async () => {
  const when = { show_if: { question: "used", is: [0] } };
  const found = await survey([plain("used", 2, 1), number(2, { ...when, channel: { k: 3, d: 1, a: 2, b: 1 } }), boxes({ ask: 1 })], ["8", "1"]);
  const bounds = [];
  drawReport(found, (bound) => (bounds.push(bound), 0));
  assert.deepEqual(bounds, [3, 1, 4, 4, 2, 3, 3, 1, 3, 1, 3, 1]);
});
