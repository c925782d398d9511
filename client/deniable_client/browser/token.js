/**
 * Turning an invitation code into a token that nobody can lead back to the code: RSA blind signatures
 * (RFC 9474, RSABSSA-SHA384-PSS-Randomized). Loaded only for surveys by invitation.
 */

import { DeniableError, exactly, system } from "./randomizer.js";

/** @import {Blinding, InviteKey, Read} from "./types.js" */

const [PREFIX, SALT, HASH] = [32, 48, 48];

/**
 * Prepare a token and blind it (RFC 9474, Sections 4.1 and 4.2).
 * @param {InviteKey} key
 * @param {string} survey its name, which the token is for
 * @param {Read} [read]
 * @returns {Promise<Blinding>}
 */
export async function blind({ exponent, modulus }, survey, read = system) {
  const [prefix, salt] = [exactly(PREFIX, read), exactly(SALT, read)];
  const size = modulus.length / 2;
  const n = fromHex(modulus);
  const message = toNumber(await encode(messageOf(survey, prefix), salt, size));
  let factor = 0n;
  while (factor === 0n || factor >= n) factor = toNumber(exactly(size, read));
  const inverse = invert(factor, n);
  const sent = (message * power(factor, BigInt(exponent), n)) % n;
  return { prefix: toHex(prefix), inverse: hexOf(inverse, size), sent: hexOf(sent, size) };
}

/**
 * Take the blinding off what the issuer signed, and refuse what is not this key's signature.
 * @param {InviteKey} key
 * @param {string} survey
 * @param {Blinding} blinding
 * @param {string} signed hexadecimal
 * @returns {Promise<string>} the token, as a report carries it
 */
export async function unblind({ exponent, modulus }, survey, { prefix, inverse }, signed) {
  const n = fromHex(modulus);
  if (signed.length !== modulus.length || fromHex(signed) >= n) throw new DeniableError("token");
  const signature = toBytes(hexOf((fromHex(signed) * fromHex(inverse)) % n, modulus.length / 2));
  const key = await crypto.subtle.importKey(
    "jwk",
    { kty: "RSA", n: url64(toBytes(modulus)), e: url64(toBytes(evenHex(exponent))) },
    { name: "RSA-PSS", hash: "SHA-384" },
    false,
    ["verify"],
  );
  const message = messageOf(survey, toBytes(prefix));
  const fits = await crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT }, key, signature, message);
  if (!fits) throw new DeniableError("token");
  return base64(concat(toBytes(prefix), signature));
}

function messageOf(/** @type {string} */ survey, /** @type {Uint8Array} */ prefix) {
  return concat(prefix, new TextEncoder().encode(survey));
}

/**
 * EMSA-PSS with SHA-384 and MGF1 (RFC 8017, Section 9.1.1), for a modulus of whole bytes.
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {number} size bytes of the modulus
 */
export async function encode(message, salt, size) {
  const mark = await sha384(concat(new Uint8Array(8), await sha384(message), salt));
  const block = concat(new Uint8Array(size - salt.length - HASH - 2), new Uint8Array([1]), salt);
  const masked = new Uint8Array(block.length);
  for (let start = 0; start < block.length; start += HASH) {
    const mask = await sha384(concat(mark, new Uint8Array([0, 0, 0, start / HASH])));
    for (let i = start; i < Math.min(start + HASH, block.length); i++) masked[i] = block[i] ^ mask[i - start];
  }
  masked[0] &= 0x7f; // the number stays below the modulus
  return concat(masked, mark, new Uint8Array([0xbc]));
}

async function sha384(/** @type {Uint8Array} */ data) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", new Uint8Array(data)));
}

function power(/** @type {bigint} */ base, /** @type {bigint} */ exponent, /** @type {bigint} */ n) {
  let found = 1n;
  for (; exponent; exponent >>= 1n) {
    if (exponent & 1n) found = (found * base) % n;
    base = (base * base) % n;
  }
  return found;
}

/** The inverse below n; a number without one shares a factor with n, which then is no RSA key. */
function invert(/** @type {bigint} */ value, /** @type {bigint} */ n) {
  let [left, right, one, other] = [value, n, 1n, 0n];
  while (right) {
    const quotient = left / right;
    [left, right] = [right, left - quotient * right];
    [one, other] = [other, one - quotient * other];
  }
  if (left !== 1n) throw new DeniableError("token");
  return ((one % n) + n) % n;
}

function concat(/** @type {Uint8Array[]} */ ...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}

/** Whole bytes, and none more than are needed: browsers refuse a key with a leading zero. */
const evenHex = (/** @type {number} */ value) => value.toString(16).replace(/^(?=(..)*.$)/, "0");
const fromHex = (/** @type {string} */ text) => BigInt(`0x${text}`);
const toHex = (/** @type {Uint8Array} */ data) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const toNumber = (/** @type {Uint8Array} */ data) => fromHex(toHex(data));
const hexOf = (/** @type {bigint} */ value, /** @type {number} */ size) => value.toString(16).padStart(2 * size, "0");
const toBytes = (/** @type {string} */ hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const base64 = (/** @type {Uint8Array} */ data) => btoa(String.fromCharCode(...data));
const url64 = (/** @type {Uint8Array} */ data) =>
  base64(data).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
