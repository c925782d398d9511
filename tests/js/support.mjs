/** Exact laws by enumeration, and randomizers broken on purpose that every check must catch. */

import { readFileSync } from "node:fs";

import { applyNoise, canonical, drawNoise } from "../../client/deniable_client/browser/deniable.js";

/** The cases of a file, with the text of the survey in place of its name. */
export function vectors(name) {
  const file = new URL(`../../protocol/vectors/${name}`, import.meta.url);
  const found = JSON.parse(readFileSync(file, "utf8"));
  if (found.format !== "deniable-vectors/1") throw new Error(`${name} has format ${found.format}`);
  if (!found.surveys) return found.cases;
  return found.cases.map((one) => ({ ...one, survey: change([...found.surveys[one.survey]], one) }));
}

/** At a place, so many characters become others; Python counts them by code points. */
function change(text, { at = 0, cut = 0, put = "" }) {
  text.splice(at, cut, put);
  return text.join("");
}

/** A source of these bytes and no more; `left()` tells how many are unread. */
export function bytes(hex) {
  const data = Uint8Array.from(Buffer.from(hex, "hex"));
  let place = 0;
  const read = (size) => data.slice(place, (place += size));
  return { read, left: () => Math.max(0, data.length - place), taken: () => place };
}

/** Fractions as pairs of BigInt in lowest terms, written as text so that deepEqual compares them. */
export function fraction(a, b) {
  let [common, rest] = [b, a];
  while (rest) [common, rest] = [rest, common % rest];
  if (common < 0n) common = -common;
  return `${a / common}/${b / common}`;
}

/** A fraction's two BigInts. */
export function parts(text) {
  const [a, b] = text.split("/").map(BigInt);
  return [a, b];
}

/**
 * Run a program once for every sequence of draws and add up what comes out, exactly: each draw is
 * uniform below the bound that the program asks for.
 */
export function law(program) {
  const found = new Map();
  const waiting = [[]];
  while (waiting.length) {
    const values = waiting.pop();
    const bounds = [];
    const outcome = program((bound) => values[bounds.push(bound) - 1] ?? 0);
    if (bounds.length > values.length) {
      const bound = bounds[values.length];
      for (let value = 0; value < bound; value++) waiting.push([...values, value]);
      continue;
    }
    const weight = bounds.reduce((total, bound) => total * BigInt(bound), 1n);
    const [a, b] = found.get(canonical(outcome)) ?? [0n, 1n];
    found.set(canonical(outcome), [a * weight + b, b * weight].map(BigInt));
  }
  return Object.fromEntries([...found].sort().map(([key, [a, b]]) => [key, fraction(a, b)]));
}

/** What the protocol states: sets with the true answer have a/Z, the others b/Z. */
export function stated({ k, d, a, b }, answer) {
  const sets = subsets(k, d);
  const total = BigInt(sets.reduce((sum, set) => sum + (set.includes(answer) ? a : b), 0));
  const chance = (set) => fraction(BigInt(set.includes(answer) ? a : b), total);
  return Object.fromEntries(sets.map((set) => [canonical(set), chance(set)]).sort());
}

function subsets(k, d, from = 0) {
  if (d === 0) return [[]];
  const found = [];
  for (let first = from; first <= k - d; first++) {
    for (const rest of subsets(k, d - 1, first + 1)) found.push([first, ...rest]);
  }
  return found;
}

export const ours = (channel, answer, draw) => applyNoise(channel, drawNoise(channel, draw), answer);

function variant({ k, d, a, b }, answer, draw, keeps = (u) => u < a * d) {
  const kept = keeps(draw(a * d + b * (k - d)));
  const places = Array.from({ length: k - 1 }, (_, place) => place + 1);
  for (let i = 0; i < d; i++) {
    const j = i + draw(k - 1 - i);
    [places[i], places[j]] = [places[j], places[i]];
  }
  return applyNoise({ k }, kept ? [0, ...places.slice(0, d - 1)] : places.slice(0, d), answer);
}

export const BROKEN = {
  "<= for <": (channel, answer, draw) =>
    variant(channel, answer, draw, (u) => u <= channel.a * channel.d),
  "swapped rows": (channel, answer, draw) =>
    variant(channel, answer < 2 ? 1 - answer : answer, draw),
  "doubled epsilon": (channel, answer, draw) =>
    variant({ ...channel, a: channel.a ** 2, b: channel.b ** 2 }, answer, draw),
  "modulo bias": (channel, answer, draw) =>
    variant(channel, answer, (bound) => draw(2 ** (bound.toString(2).length + 1)) % bound),
};
