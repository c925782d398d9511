/**
 * From true answers to a report: the randomizer of DESIGN §3, byte for byte as the Python client has
 * it (`protocol/vectors`).
 */

/** @import {Answer, Channel, Draw, Noise, Question, Read, Reason, Survey} from "./types.js" */

export const WORDS = 2 ** 32;

/** Says why something was not done. Never holds a true answer. */
export class DeniableError extends Error {
  name = "DeniableError";

  /**
   * @param {Reason} reason
   * @param {string} [detail]
   */
  constructor(reason, detail = "") {
    super(`${reason} ${detail}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** @type {Read} the system's randomness, and the only one outside tests */
export function system(size) {
  try {
    return crypto.getRandomValues(new Uint8Array(size));
  } catch {
    throw new DeniableError("entropy");
  }
}

/**
 * Draw a uniform integer below `bound` (1 to 2^32). Words at or above its largest multiple are
 * thrown away: kept, they would make small results more likely (modulo bias).
 * @param {number} bound
 * @param {Read} read
 */
export function below(bound, read) {
  const ceiling = WORDS - (WORDS % bound);
  for (;;) {
    const word = exactly(4, read).reduce((value, byte) => value * 256 + byte, 0);
    if (word < ceiling) return word % bound;
  }
}

/**
 * Draw `count` of the places uniformly, without replacement.
 * @template Place
 * @param {Place[]} places
 * @param {number} count
 * @param {Draw} draw
 */
function drawSome(places, count, draw) {
  const shuffled = [...places];
  for (let i = 0; i < count; i++) {
    const j = i + draw(shuffled.length - i);
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled.slice(0, count);
}

/**
 * Draw a report as if the true answer were option 0: all the randomness of one answer, always in
 * `1 + d` draws, so that time tells nothing.
 * @param {Channel} channel
 * @param {Draw} draw
 */
export function drawNoise({ k, d, a, b }, draw) {
  const keepsTruth = draw(a * d + b * (k - d)) < a * d;
  const others = Array.from({ length: k - 1 }, (_, place) => place + 1);
  const noise = drawSome(others, d, draw); // d places even where d - 1 would do
  return keepsTruth ? [0, ...noise.slice(0, d - 1)] : noise;
}

/**
 * Rotate noise onto an answer. Sorting hides where the truth would stand.
 * @param {Channel} channel
 * @param {number[]} noise
 * @param {number} answer
 */
export function applyNoise({ k }, noise, answer) {
  return noise.map((place) => (answer + place) % k).sort((left, right) => left - right);
}

/**
 * What is randomized by itself: the question, or each box of a `multiple`.
 * @param {Question} question
 */
export function itemsOf({ name, kind, options }) {
  return kind === "multiple" ? options.map((_, place) => `${name}.${place + 1}`) : [name];
}

/**
 * Draw everything that is random about one report but its id. What is not sent is drawn all the same.
 * @param {Survey} survey
 * @param {Draw} draw
 * @returns {Noise}
 */
export function drawReport({ questions, ask }, draw) {
  const asked = ask ? drawSome(questions, ask, draw) : questions;
  /** @type {Noise} */
  const noise = { sent: [], rounding: {}, subsets: {} };
  for (const question of questions) {
    const items = itemsOf(question);
    if (question.number) noise.rounding[question.name] = draw(stepsOf(question.number));
    const boxes = question.ask ? drawSome(items, question.ask, draw) : items;
    if (asked.includes(question)) noise.sent.push(...boxes);
    for (const item of items) noise.subsets[item] = drawNoise(question.channel, draw);
  }
  return noise;
}

/**
 * Draw everything that is random about one report, before any answer is looked at.
 * @param {Survey} survey
 * @param {Read} [read]
 * @param {string} [arm]
 * @param {string} [token] the right to answer, where a survey is by invitation
 * @returns {(answers: Record<string, Answer>) => string} from true answers, by question, to the
 *   report: the exact text that may be sent
 */
export function prepare(survey, read = system, arm, token) {
  checkArm(survey, arm);
  const id = drawId(read);
  const { sent, rounding, subsets } = drawReport(survey, (bound) => below(bound, read));
  return (answers) => {
    const indices = encode(survey, answers, rounding);
    const drawn = survey.questions.flatMap((question) =>
      itemsOf(question).map((item) => [item, applyNoise(question.channel, subsets[item], indices[item])]),
    );
    return write(survey, id, Object.fromEntries(drawn.filter(([item]) => sent.includes(`${item}`))), arm, token);
  };
}

/** @param {Read} read */
export function drawId(read) {
  const id = exactly(8, read);
  id[0] &= 0x7f; // 63 bits: the id is also a signed database key
  return Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {Survey} survey
 * @param {string} id
 * @param {Record<string, number[]>} answers
 * @param {string} [arm]
 * @param {string} [token]
 */
export function write({ digest }, id, answers, arm, token) {
  return canonical({ survey: digest, id, answers, arm, token });
}

/**
 * An arm is named by the page, never by the respondent.
 * @param {Survey} survey
 * @param {string} [arm]
 */
export function checkArm({ arms }, arm) {
  const known = arms ? arms.includes(arm ?? "") : arm === undefined;
  if (!known) throw new DeniableError("page", `arm: expected ${arms ? arms.join(", ") : "none"}`);
}

export function exactly(/** @type {number} */ size, /** @type {Read} */ read) {
  const bytes = read(size);
  if (bytes.length !== size) throw new DeniableError("entropy");
  return bytes;
}

// From what a respondent says to option indices.

/**
 * Names of the questions that these answers hide.
 * @param {Survey} survey
 * @param {Record<string, Answer>} answers
 */
export function hidden({ questions }, answers) {
  /** @type {Set<string>} */
  const gone = new Set();
  for (const { name, show_if } of questions) {
    if (!show_if) continue;
    const chosen = gone.has(show_if.question) ? [] : [answers[show_if.question]].flat();
    if (!show_if.is.some((option) => chosen.includes(option))) gone.add(name);
  }
  return gone;
}

/**
 * Find the option index of every item.
 * @param {Survey} survey
 * @param {Record<string, Answer>} answers
 * @param {Record<string, number>} rounding the draw that rounds each `number`
 */
export function encode(survey, answers, rounding) {
  /** @type {Record<string, Answer>} */
  const given = { __proto__: null, ...answers }; // a question may be called "constructor"
  const known = Object.keys(answers).every((name) => survey.questions.some((q) => q.name === name));
  if (!known) throw new DeniableError("answer", "to a question that is not asked");
  const gone = hidden(survey, given);
  /** @type {Record<string, number>} */
  const found = {};
  for (const question of survey.questions) {
    const { name, kind, optional, channel, number } = question;
    const answer = given[name] ?? null;
    const places = itemsOf(question).map((item, place) => {
      if (gone.has(name)) return channel.k - 1; // "not asked" is the last option
      if (answer === null && optional) return pointsOf(question); // then "no answer"
      if (number) return roundTo(pointsOf(question) - 1, number, answer, rounding[name]);
      if (kind !== "multiple") return isOption(question, answer) ? Number(answer) : NaN;
      const fits = Array.isArray(answer) && answer.every((ticked) => isOption(question, ticked));
      return fits ? Number(!answer.includes(place)) : NaN;
    });
    if (places.some(Number.isNaN)) throw new DeniableError("answer", name);
    itemsOf(question).forEach((item, place) => (found[item] = places[place]));
  }
  return found;
}

export function isOption(/** @type {Question} */ { options }, /** @type {unknown} */ answer) {
  return Number.isInteger(answer) && Object.hasOwn(options, Number(answer));
}

/** Options that stand for an answer: all but "no answer" and "not asked". */
export function pointsOf(/** @type {Question} */ { channel, optional, show_if }) {
  return channel.k - Number(optional) - Number(show_if !== undefined);
}

/**
 * Round a number to one of `last + 1` points without bias.
 * @param {number} last
 * @param {NonNullable<Question["number"]>} grid
 * @param {unknown} answer
 * @param {number} t
 */
function roundTo(last, grid, answer, t) {
  const text = typeof answer === "number" || typeof answer === "string" ? `${answer}` : "";
  if (!/^-?\d{1,10}(\.\d{1,12})?$/.test(text)) return NaN;
  const above = exact(text) - exact(grid.min);
  const step = Number(above / exact(grid.step));
  const fits = above % exact(grid.step) === 0n && above >= 0n && step <= stepsOf(grid);
  return fits ? Math.floor((step * last + t) / stepsOf(grid)) : NaN;
}

export function stepsOf(/** @type {NonNullable<Question["number"]>} */ { min, max, step }) {
  return Number((exact(max) - exact(min)) / exact(step));
}

/** A decimal as a whole number of millionths of a millionth: no float rounds it. */
export function exact(/** @type {string} */ text) {
  const [whole, part = ""] = text.split(".");
  return BigInt(whole + part.padEnd(12, "0"));
}

/**
 * Write canonical JSON: sorted keys, no spaces. What is undefined is left out.
 * @param {unknown} value
 */
export function canonical(value) {
  return JSON.stringify(value, (_, inner) => {
    if (Array.isArray(inner) || !(inner instanceof Object)) return inner;
    return Object.fromEntries(Object.keys(inner).sort().map((key) => [key, inner[key]]));
  });
}
