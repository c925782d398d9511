/**
 * The published survey: fetched bytes are believed only when they are the pinned ones and add up, and
 * refused exactly where the Python client refuses them.
 */

import { canonical, DeniableError, exact, isOption, itemsOf, pointsOf, stepsOf, WORDS } from "./randomizer.js";
import { gcd, product } from "./odds.js";

/** @import {Odds, Question, Survey} from "./types.js" */

const QUESTION_NAME = /^(?!(?:id|arm)$)[a-z][a-z0-9_]{0,39}$/; // both name a column
const SURVEY_NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/; // and an arm
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const DECIMAL = /^(?!-0$)-?(?:0|[1-9]\d{0,9})(?:\.\d{0,11}[1-9])?$/;
const MODULUS = /^[89a-f](?:[0-9a-f]{2}){255,511}[13579bdf]$/; // 2,048 to 4,096 bits, whole bytes, odd
const MAX_REPORT_BYTES = 65536;

/**
 * Check the bytes of a published survey.
 * @param {BufferSource} data
 * @param {string} digest of the survey that this page was made for
 * @returns {Promise<Survey>}
 */
export async function readSurvey(data, digest) {
  if (!globalThis.crypto?.subtle) throw new DeniableError("insecure");
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (`sha256-${btoa(String.fromCharCode(...hash))}` !== digest) throw new DeniableError("digest");
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    const found = JSON.parse(text);
    must(canonical(found) === text); // so there are no floats, and no key twice
    return { ...checked(found), digest };
  } catch {
    throw new DeniableError("survey");
  }
}

/**
 * @param {any} found
 * @returns {Omit<Survey, "digest">}
 */
function checked(found) {
  const { arms, ask, format, intro, invite_key, language, name, results, title, waves } = found;
  keys(found, "format,language,name,odds,questions,title", { arms, ask, intro, invite_key, results, waves });
  must(format === "deniable-survey/1" && isName(name, SURVEY_NAME) && isName(language, LANGUAGE));
  checkText(title, language);
  if (intro !== undefined) checkText(intro, language);
  if (arms !== undefined) must(arms.length > 0 && arms.every((/** @type {unknown} */ arm) => isName(arm, SURVEY_NAME)));
  const questions = /** @type {Question[]} */ (found.questions);
  must(Array.isArray(questions) && questions.length > 0);
  questions.forEach((question, place) => checkQuestion(question, language, questions.slice(0, place)));
  must(new Set(questions.map((q) => q.name)).size === questions.length);
  must(ask === undefined || (Number.isInteger(ask) && ask >= 1 && ask < questions.length));
  must(waves === undefined || (waves === "memoize" && questions.every((q) => q.channel.d === 1)));
  if (results !== undefined) {
    keys(results, "every,from");
    must([results.every, results.from].every((count) => Number.isSafeInteger(count) && count >= 10));
  }
  if (invite_key !== undefined) {
    keys(invite_key, "exponent,modulus");
    const { exponent, modulus } = invite_key;
    must(isName(modulus, MODULUS) && exponent >= 3 && exponent < WORDS && exponent % 2 === 1);
  }
  must(longest(questions) <= MAX_REPORT_BYTES);
  const dearest = questions.map(oddsOf).sort((left, right) => (left.a * right.b > right.a * left.b ? -1 : 1));
  const odds = product(dearest.slice(0, ask));
  must(canonical(found.odds) === canonical([odds.a, odds.b].map(String)));
  return { ...found, odds };
}

/**
 * @param {any} found
 * @param {string} language
 * @param {Question[]} earlier
 */
function checkQuestion(found, language, earlier) {
  const { ask, channel, kind, name, number, optional, options, scores, show_if, text } = found;
  const { k, d, a, b } = channel;
  keys(found, "channel,kind,name,optional,options,text", { ask, number, scores, show_if });
  keys(channel, "a,b,d,k");
  must(isName(name, QUESTION_NAME) && typeof optional === "boolean" && Array.isArray(options));
  for (const spoken of [text, ...options]) checkText(spoken, language);
  must([k, d, a, b].every(Number.isSafeInteger));
  must(k >= 2 && k <= 1000 && d >= 1 && d < k && b >= 1 && a > b);
  must(a * d + b * (k - d) <= WORDS && gcd(BigInt(a), BigInt(b)) === 1n);
  const points = pointsOf(found);
  if (kind === "number") must(options.length === 0 && d === 1 && points >= 2);
  else must(options.length >= 2 && points === (kind === "multiple" ? 2 : options.length));
  must(/^(yes-no|choice|scale|number|multiple)$/.test(kind) && (kind === "number") === (number !== undefined));
  must(kind === "scale" ? scores.length === options.length && scores.every(isScore) : scores === undefined);
  if (kind === "number") checkGrid(number, language);
  if (show_if !== undefined) {
    const asked = earlier.find((question) => question.name === show_if.question);
    keys(show_if, "is,question");
    must(asked !== undefined && show_if.is.length > 0);
    must(show_if.is.every((/** @type {unknown} */ option) => asked && isOption(asked, option)));
  }
  must(ask === undefined || (kind === "multiple" && Number.isInteger(ask) && ask >= 1 && ask < options.length));
}

function checkGrid(/** @type {any} */ grid, /** @type {string} */ language) {
  keys(grid, "max,min,step", { unit: grid.unit });
  const { min, max, step, unit } = grid;
  must([min, max, step].every((text) => isName(text, DECIMAL)) && exact(step) > 0n && exact(min) < exact(max));
  must((exact(max) - exact(min)) % exact(step) === 0n && stepsOf(grid) <= 1_000_000);
  if (unit !== undefined) checkText(unit, language);
}

/** A fraction in lowest terms, as a text. */
function isScore(/** @type {unknown} */ score) {
  if (!isName(score, /^(?!-0)-?(0|[1-9]\d*)(\/[1-9]\d*)?$/)) return false;
  const [over, under] = String(score).replace("-", "").split("/").map(BigInt);
  return under === undefined || (under > 1n && gcd(over, under) === 1n);
}

function isName(/** @type {unknown} */ value, /** @type {RegExp} */ pattern) {
  return typeof value === "string" && pattern.test(value);
}

/** Bytes of the longest report that these questions can give. */
function longest(/** @type {Question[]} */ questions) {
  return questions.reduce((sum, question) => {
    const [items, { k, d }] = [itemsOf(question), question.channel];
    return sum + items.join("").length + items.length * (6 + d * (`${k - 1}`.length + 1));
  }, 101 + 1024); // room for arm and token
}

/**
 * Odds of everything that a question sends: those of each item, multiplied.
 * @param {Question} question
 * @returns {Odds}
 */
function oddsOf(question) {
  const count = BigInt(question.ask ?? itemsOf(question).length);
  return { a: BigInt(question.channel.a) ** count, b: BigInt(question.channel.b) ** count };
}

function checkText(/** @type {any} */ text, /** @type {string} */ language) {
  must(Object.hasOwn(text, language));
  must(Object.entries(text).every(([tag, spoken]) => LANGUAGE.test(tag) && typeof spoken === "string"));
}

/**
 * Keys come sorted, since the text is canonical. An optional one may be missing, never empty.
 * @param {object} found
 * @param {string} needed
 * @param {Record<string, unknown>} [optional]
 */
function keys(found, needed, optional = {}) {
  const present = Object.keys(optional).filter((key) => optional[key] !== undefined);
  must(Object.keys(found).join() === [...needed.split(","), ...present].sort().join());
}

function must(/** @type {boolean} */ holds) {
  if (!holds) throw new DeniableError("survey");
}
