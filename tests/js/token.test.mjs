/** Blind signatures in JavaScript: the published vector, and a key pair of the platform's own. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { blind, encode, unblind } from "../../client/deniable_client/browser/token.js";
import { bytes } from "./support.mjs";

const VECTOR = JSON.parse(
  readFileSync(new URL("../../protocol/vectors/blind-signature.json", import.meta.url), "utf8"),
);
const KEY = { modulus: VECTOR.n, exponent: 65537 };
const n = BigInt(`0x${VECTOR.n}`);
const size = VECTOR.n.length / 2;
const hex = (data) => Buffer.from(data).toString("hex");

function power(base, exponent) {
  let found = 1n;
  for (; exponent; exponent >>= 1n, base = (base * base) % n) if (exponent & 1n) found = (found * base) % n;
  return found;
}

const sign = (sent) => power(BigInt(`0x${sent}`), BigInt(`0x${VECTOR.d}`)).toString(16).padStart(2 * size, "0");

test("the published vector: RFC 9474, Appendix A.3", async () => {
  const [prepared, salt] = [VECTOR.prepared_msg, VECTOR.salt].map((text) => Uint8Array.from(Buffer.from(text, "hex")));
  assert.equal(hex(await encode(prepared, salt, size)), VECTOR.encoded_msg);
  assert.equal(sign(VECTOR.blinded_msg), VECTOR.blind_sig);
});

test("a token is signed without being seen, and fits one survey and one key", async () => {
  const blinding = await blind(KEY, "canteen");
  const token = await unblind(KEY, "canteen", blinding, sign(blinding.sent));
  assert.equal(Buffer.from(token, "base64").length, 32 + size);
  assert.ok(!token.includes(blinding.sent.slice(0, 20)));
  await assert.rejects(unblind(KEY, "kitchen", blinding, sign(blinding.sent)), { reason: "token" });
  const changed = `${sign(blinding.sent).slice(0, -1)}${sign(blinding.sent).endsWith("0") ? 1 : 0}`;
  await assert.rejects(unblind(KEY, "canteen", blinding, changed), { reason: "token" });
  await assert.rejects(unblind(KEY, "canteen", blinding, "ff".repeat(size)), { reason: "token" });
});

test("Python's blinding, byte for byte", async () => {
  const shared = JSON.parse(
    readFileSync(new URL("../../protocol/vectors/blinding.json", import.meta.url), "utf8"),
  ).cases;
  for (const { bytes: data, survey, prefix, inverse, sent, token } of shared) {
    const source = bytes(data);
    const blinding = await blind(KEY, survey, source.read);
    assert.deepEqual(blinding, { prefix, inverse, sent });
    assert.equal(await unblind(KEY, survey, blinding, sign(sent)), token);
    assert.equal(source.left(), 0);
  }
});

test("keys with any exponent that a survey may publish", async () => {
  for (const exponent of [3, 257, 0x1000001]) { // of one, three and seven hexadecimal digits
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: exponent });
    const { n, d } = privateKey.export({ format: "jwk" });
    const [modulus, secret] = [n, d].map((text) => Buffer.from(text, "base64url").toString("hex"));
    const blinding = await blind({ modulus, exponent }, "canteen");
    const module = BigInt(`0x${modulus}`);
    let [signed, base] = [1n, BigInt(`0x${blinding.sent}`)];
    for (let left = BigInt(`0x${secret}`); left; left >>= 1n, base = (base * base) % module) {
      if (left & 1n) signed = (signed * base) % module;
    }
    await unblind({ modulus, exponent }, "canteen", blinding, signed.toString(16).padStart(512, "0"));
  }
});
