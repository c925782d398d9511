/** The browser client agrees with the vector files that the Python reference pins. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyNoise, below, drawNoise, prepare, readSurvey } from "../../client/deniable_client/browser/deniable.js";
import { Device } from "../../client/deniable_client/browser/device.js";
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

test("the bytes that are sent are as pinned", async () => {
  for (const { survey: text, answers, bytes: hex, report } of vectors("reports.json")) {
    const source = bytes(hex);
    const survey = await readSurvey(encoder.encode(text), JSON.parse(report).survey);
    assert.equal(prepare(survey, source.read)(answers), report);
    assert.equal(source.left(), 0);
  }
});

test("sound surveys are read, and each tampered one is refused for the pinned reason", async () => {
  for (const { survey: text, digest, odds, reason, ...limit } of vectors("surveys.json")) {
    const run = async () => {
      const survey = await readSurvey(encoder.encode(text), digest);
      await new Device(null).check(survey, { maxEpsilon: limit["max-epsilon"] });
      return survey;
    };
    if (reason) {
      await assert.rejects(run, refused(reason));
    } else {
      const found = (await run()).odds;
      assert.deepEqual([String(found.a), String(found.b)], odds);
    }
  }
});
