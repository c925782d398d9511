/**
 * Odds a:b, exactly: the most by which what is sent can shift anyone's belief. Noises are independent,
 * so odds of several reports multiply.
 */

/** @import {Odds} from "./types.js" */

/**
 * Multiply odds, and reduce them to lowest terms.
 * @param {Odds[]} all
 * @returns {Odds}
 */
export function product(all) {
  const a = all.reduce((total, odds) => total * odds.a, 1n);
  const b = all.reduce((total, odds) => total * odds.b, 1n);
  const common = gcd(a, b);
  return { a: a / common, b: b / common };
}

/**
 * ln(odds), rounded up: a stated ε is never below the true one.
 * @param {Odds} odds
 */
export function epsilonOf({ a, b }) {
  const [high, low] = [logarithm(a), logarithm(b)];
  return high - low + 4 * Number.EPSILON * (high + low);
}

function logarithm(/** @type {bigint} */ whole) {
  const digits = whole.toString(16); // a product of many odds is beyond what a float holds
  const head = digits.slice(0, 13);
  return Math.log(parseInt(head, 16)) + (digits.length - head.length) * Math.log(16);
}

/** The greatest common divisor. */
export function gcd(/** @type {bigint} */ left, /** @type {bigint} */ right) {
  while (right) [left, right] = [right, left % right];
  return left;
}

/**
 * How sure, in percent, someone can be who thought 50 %: posterior odds are at most prior odds times
 * a/b (Bayes' rule). Rounded up.
 * @param {Odds} odds
 */
export function belief({ a, b }) {
  return Number((100n * a + a + b - 1n) / (a + b));
}
