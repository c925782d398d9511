/** The browser client agrees with the vector files that the Python reference pins. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyNoise, below, drawNoise, prepare, readSurvey } from "../../client/deniable_client/browser/deniable.js";
import { Device, respondOnce } from "../../client/deniable_client/browser/device.js";
import { spentIn } from "../../client/deniable_client/browser/keeper.js";
import * as panel from "../../client/deniable_client/browser/panel.js";
import { bytes, vectors } from "./support.mjs";

const encoder = new TextEncoder();
const refused = (reason) => ({ name: "DeniableError", reason });

test("uniform integers, and the bytes they take, are as pinned", () => {
  for (const { bound, bytes: hex, value, read, reason } of vectors("below.json")) {
    const source = bytes(hex);
    if (reason) {
      assert.throws(() => below(bound, source.read), refused(reason));
    } else {
      assert.equal(below(bound, source.read), value);
      assert.equal(source.taken(), read);
    }
  }
});

test("subsets are as pinned, and take exactly the pinned bytes", () => {
  for (const { k, d, a, b, answer, bytes: hex, subset, reason } of vectors("randomizer.json")) {
    const source = bytes(hex);
    const run = () => applyNoise({ k, d, a, b }, drawNoise({ k, d, a, b }, (n) => below(n, source.read)), answer);
    if (reason) {
      assert.throws(run, refused(reason));
    } else {
      assert.deepEqual(run(), subset);
      assert.equal(source.left(), 0);
    }
  }
});

const read = async (text) => {
  const data = encoder.encode(text);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return readSurvey(data, `sha256-${Buffer.from(hash).toString("base64")}`);
};

test("the bytes that are sent are as pinned, for every kind of question", async () => {
  for (const { survey: text, answers, arm, bytes: hex, report, reason } of vectors("reports.json")) {
    const source = bytes(hex);
    const survey = await read(text);
    const run = () => prepare(survey, source.read, arm)(answers);
    if (reason) assert.throws(run, refused(reason));
    else assert.equal(run(), report);
    assert.equal(source.left(), 0);
  }
});

test("answers that do not fit are refused after all noise is drawn, a wrong arm before any is", async () => {
  for (const { survey: text, answers, arm, bytes: hex, reason, comment } of vectors("refused-answers.json")) {
    const source = bytes(hex);
    const survey = await read(text);
    assert.throws(() => prepare(survey, source.read, arm)(answers), refused(reason), comment);
    assert.equal(source.left(), 0);
  }
});

test("waves of one device send the pinned reports at the pinned odds; one refused draws nothing", async () => {
  for (const { survey: text, waves, comment, ...limit } of vectors("panels.json")) {
    const survey = await read(text);
    const memory = new Map();
    for (const { arm, answers, bytes: hex = "", report, spent, reason } of waves) {
      const source = bytes(hex);
      const asked = { arm, maxEpsilon: limit["max-epsilon"] };
      const run = () => respondOnce(memory, (name, one) => memory.set(name, one), survey, panel, answers, asked, source.read);
      if (reason) {
        const before = [...memory];
        assert.throws(run, refused(reason), comment);
        assert.deepEqual([...memory], before);
        continue;
      }
      assert.equal(run(), report, comment);
      const { a, b } = spentIn(memory);
      assert.deepEqual([String(a), String(b)], spent, comment);
      assert.equal(source.left(), 0);
    }
  }
});

test("sound surveys are read, and each tampered one is refused for the pinned reason", async () => {
  for (const { survey: text, digest, odds, reason, comment, ...limit } of vectors("surveys.json")) {
    const run = async () => {
      const survey = await readSurvey(encoder.encode(text), digest);
      const [arm] = survey.arms ?? [];
      await new Device(null).check(survey, { arm, maxEpsilon: limit["max-epsilon"] });
      return survey;
    };
    if (reason) {
      await assert.rejects(run, refused(reason), `${comment}: ${text}`);
    } else {
      const found = (await run()).odds;
      assert.deepEqual([String(found.a), String(found.b)], odds);
    }
  }
});
