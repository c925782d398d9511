/**
 * deniable in the browser: checks a published survey, randomizes answers and sends the report.
 * No dependency, no build step, no page: `device.js` remembers, `form.js` shows it to a person.
 *
 * Everything here agrees byte for byte with the Python client (`protocol/vectors`).
 */

/** @typedef {(size: number) => Uint8Array} Read Give this many fresh random bytes. */
/** @typedef {(bound: number) => number} Draw Give a uniform integer below the bound. */
/** @typedef {{k: number, d: number, a: number, b: number}} Channel */
/** @typedef {Record<string, string>} Text One text by language. */
/**
 * @typedef {{name: string, kind: string, text: Text, options: Text[], optional: boolean,
 *   channel: Channel, scores?: string[]}} Question
 */
/** @typedef {{a: bigint, b: bigint}} Odds e^ε as an exact fraction a/b in lowest terms. */
/**
 * @typedef {{digest: string, name: string, title: Text, intro?: Text, language: string,
 *   questions: Question[], odds: Odds}} Survey
 */
/**
 * @typedef {"insecure" | "entropy" | "digest" | "survey" | "limit" | "network" | "busy" | "closed"
 *   | "conflict" | "refused"} Reason
 */

export const MAX_EPSILON = 4;
const WAITS = [1, 2, 4, 8];
const TIMEOUT = 10_000;
const WORDS = 2 ** 32;
const MAX_REPORT_BYTES = 64 * 1024;
const SURVEY_NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const QUESTION_NAME = /^(?!id$)[a-z][a-z0-9_]{0,39}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const KINDS = ["yes-no", "choice", "scale"];

/** Says why something was not done. Never holds a true answer. */
export class DeniableError extends Error {
  /**
   * @param {Reason} reason
   * @param {string} [detail] for people who look closer: a status, or an ε
   */
  constructor(reason, detail = "") {
    super(detail ? `${reason}: ${detail}` : reason);
    this.name = "DeniableError";
    this.reason = reason;
    this.detail = detail;
  }
}

// The randomizer of DESIGN §3.

/**
 * Read random bytes from the system.
 * @type {Read}
 */
export function system(size) {
  try {
    return crypto.getRandomValues(new Uint8Array(size));
  } catch {
    throw new DeniableError("entropy");
  }
}

/**
 * Draw a uniform integer below `bound` (1 to 2^32) from four-byte big-endian words. Words at or
 * above the largest multiple of `bound` are thrown away: kept, they would make small results more
 * likely (modulo bias).
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
 * Draw a subset of the options as if the true answer were option 0: all the randomness of one
 * answer, in `1 + d` draws whatever comes out, so that time tells nothing about the answer.
 * @param {Channel} channel
 * @param {Draw} draw
 * @returns {number[]} d distinct indices, in no order
 */
export function drawNoise({ k, d, a, b }, draw) {
  const keepsTruth = draw(a * d + b * (k - d)) < a * d;
  const places = Array.from({ length: k - 1 }, (_, place) => place + 1);
  for (let i = 0; i < d; i++) {
    const j = i + draw(k - 1 - i); // d steps even where d - 1 would do
    [places[i], places[j]] = [places[j], places[i]];
  }
  return keepsTruth ? [0, ...places.slice(0, d - 1)] : places.slice(0, d);
}

/**
 * Turn noise into the report of one answer, by rotation. Sorting hides where the truth would stand.
 * @param {Channel} channel
 * @param {number[]} noise
 * @param {number} answer index of the true option
 */
export function applyNoise({ k }, noise, answer) {
  return noise.map((place) => (answer + place) % k).sort((left, right) => left - right);
}

/**
 * Draw everything that is random about one report, before any answer is looked at.
 *
 * Bytes are taken in this order: eight for the id, then the draws of each question in turn.
 * @param {Survey} survey
 * @param {Read} [read] the system's randomness; only vectors pass one of their own
 * @returns {(answers: Record<string, number>) => string} turns true option indices, by question,
 *   into the report: the exact text that may be sent
 */
export function prepare(survey, read = system) {
  const id = exactly(8, read);
  id[0] &= 0x7f; // 63 bits: the id is also a signed database key
  const hex = Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const noises = survey.questions.map((q) => drawNoise(q.channel, (bound) => below(bound, read)));
  return (answers) => {
    const drawn = survey.questions.map((question, place) => {
      const { name, channel } = question;
      const answer = Object.hasOwn(answers, name) ? answers[name] : -1;
      const known = Number.isInteger(answer) && answer >= 0 && answer < channel.k;
      if (!known) throw new RangeError(`question '${name}' expects an index from 0 to ${channel.k - 1}`);
      return [name, applyNoise(channel, noises[place], answer)];
    });
    return canonical({ survey: survey.digest, id: hex, answers: Object.fromEntries(drawn) });
  };
}

/**
 * @param {number} size
 * @param {Read} read
 */
function exactly(size, read) {
  const bytes = read(size);
  if (bytes.length !== size) throw new DeniableError("entropy");
  return bytes;
}

/**
 * Write a value as canonical JSON: sorted keys, no spaces. Keys are ASCII in this protocol.
 * @param {unknown} value
 * @returns {string}
 */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

// The survey: fetched bytes are believed only when they are the pinned ones and add up.

/**
 * Check the bytes of a published survey.
 * @param {Uint8Array<ArrayBuffer>} data as fetched
 * @param {string} digest the one this page was made for
 * @returns {Promise<Survey>}
 */
export async function readSurvey(data, digest) {
  if (!globalThis.crypto?.subtle) throw new DeniableError("insecure");
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (`sha256-${btoa(String.fromCharCode(...hash))}` !== digest) throw new DeniableError("digest");
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    const found = JSON.parse(text);
    must(canonical(found) === text); // also refuses repeated keys and floats
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
  keys(found, ["format", "language", "name", "odds", "questions", "title"], ["intro"]);
  must(found.format === "deniable-survey/1" && SURVEY_NAME.test(found.name));
  must(LANGUAGE.test(found.language));
  for (const text of [found.title, ...("intro" in found ? [found.intro] : [])]) {
    checkText(text, found.language);
  }
  const questions = /** @type {Question[]} */ (found.questions);
  must(Array.isArray(questions) && questions.length > 0);
  questions.forEach((question) => checkQuestion(question, found.language));
  must(new Set(questions.map((question) => question.name)).size === questions.length);
  must(longestReport(questions) <= MAX_REPORT_BYTES);
  const odds = product(questions.map((q) => ({ a: BigInt(q.channel.a), b: BigInt(q.channel.b) })));
  must(canonical(found.odds) === canonical([String(odds.a), String(odds.b)]));
  return { ...found, odds };
}

/**
 * @param {any} found
 * @param {string} language
 */
function checkQuestion(found, language) {
  const scale = found.kind === "scale";
  keys(found, ["channel", "kind", "name", "optional", "options", "text", ...(scale ? ["scores"] : [])]);
  must(QUESTION_NAME.test(found.name) && KINDS.includes(found.kind));
  must(typeof found.optional === "boolean");
  for (const text of [found.text, ...found.options]) checkText(text, language);
  if (scale) must(found.scores.length === found.options.length);
  const { k, d, a, b } = found.channel;
  keys(found.channel, ["a", "b", "d", "k"]);
  must([k, d, a, b].every(Number.isSafeInteger));
  must(k >= 2 && k <= 1000 && d >= 1 && d < k && b >= 1 && a > b);
  must(a * d + b * (k - d) <= WORDS && gcd(BigInt(a), BigInt(b)) === 1n);
  must(k === found.options.length + Number(found.optional));
}

/**
 * @param {any} text
 * @param {string} language
 */
function checkText(text, language) {
  must(Object.hasOwn(text, language));
  for (const [tag, spoken] of Object.entries(text)) {
    must(LANGUAGE.test(tag) && typeof spoken === "string");
  }
}

/** @param {Question[]} questions */
function longestReport(questions) {
  const widest = questions.map(({ name, channel: { k, d } }) => [
    name,
    Array.from({ length: d }, () => k - 1),
  ]);
  const digest = `sha256-${"=".repeat(44)}`;
  return canonical({ survey: digest, id: "0".repeat(16), answers: Object.fromEntries(widest) }).length;
}

/**
 * @param {object} found
 * @param {string[]} needed
 * @param {string[]} [allowed]
 */
function keys(found, needed, allowed = []) {
  const given = Object.keys(found);
  must(needed.every((key) => given.includes(key)));
  must(given.every((key) => needed.includes(key) || allowed.includes(key)));
}

/** @param {boolean} holds */
function must(holds) {
  if (!holds) throw new DeniableError("survey");
}

// Odds multiply exactly; logarithms are only for comparing with a limit and for showing.

/**
 * Multiply odds. Reports of different questions use independent noise, so their odds multiply.
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
 * ln(odds) in nats, rounded up: a stated ε is never below the true one.
 * @param {Odds} odds
 */
export function epsilonOf({ a, b }) {
  const [high, low] = [logarithm(a), logarithm(b)];
  return high - low + 4 * Number.EPSILON * (high + low);
}

/** @param {bigint} whole */
function logarithm(whole) {
  const digits = whole.toString(16); // a product of many odds is beyond what a float holds
  const head = digits.slice(0, 13);
  return Math.log(parseInt(head, 16)) + (digits.length - head.length) * Math.log(16);
}

/**
 * @param {bigint} left
 * @param {bigint} right
 * @returns {bigint}
 */
function gcd(left, right) {
  return right === 0n ? left : gcd(right, left % right);
}

// Sending: the same bytes until the server acknowledges them, and nothing but them.

/**
 * Fetch a published survey and check it.
 * @param {string} url
 * @param {string} digest
 */
export async function fetchSurvey(url, digest) {
  const { status, data } = await exchange(url);
  if (status !== 200) throw new DeniableError(reasonOf(status), `${status}`);
  return readSurvey(data, digest);
}

/**
 * Send a report until it is acknowledged. The server tells reports by their id, so one whose
 * acknowledgement was lost is stored once, and no fresh noise is drawn that could be averaged away.
 * @param {string} report
 * @param {string} url the survey's address
 * @param {{waits?: number[], sleep?: (seconds: number) => Promise<void>,
 *   onRetry?: (attempt: number, attempts: number) => void}} [options]
 * @returns {Promise<{new: boolean, attempts: number}>} new is false if the server already had it
 */
export async function send(report, url, { waits = WAITS, sleep = pause, onRetry } = {}) {
  for (let attempt = 1; ; attempt++) {
    const outcome = await post(report, `${url}/reports`);
    if (!(outcome instanceof DeniableError)) return { new: outcome === 201, attempts: attempt };
    const again = outcome.reason === "network" || outcome.reason === "busy";
    if (!again || attempt > waits.length) throw outcome;
    onRetry?.(attempt + 1, waits.length + 1);
    // Up to half as much again, at random, so that many devices do not come back at once.
    await sleep(waits[attempt - 1] * (1 + below(501, system) / 1000));
  }
}

/**
 * @param {string} report
 * @param {string} url
 * @returns {Promise<number | DeniableError>}
 */
async function post(report, url) {
  try {
    // A text body is text/plain, which needs no preflight.
    const { status } = await exchange(url, { method: "POST", body: report });
    return status === 200 || status === 201 ? status : new DeniableError(reasonOf(status), `${status}`);
  } catch (error) {
    if (error instanceof DeniableError) return error;
    throw error;
  }
}

/**
 * Fetch without cookie, Referer or cache, and without following the server elsewhere.
 * @param {string} url
 * @param {RequestInit} [options]
 */
async function exchange(url, options) {
  try {
    const reply = await fetch(url, {
      ...options,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    return { status: reply.status, data: new Uint8Array(await reply.arrayBuffer()) };
  } catch {
    throw new DeniableError("network");
  }
}

/**
 * @param {number} status
 * @returns {Reason}
 */
function reasonOf(status) {
  if (status >= 500 || [408, 425, 429].includes(status)) return "busy";
  if (status === 409) return "conflict";
  return [403, 404, 410].includes(status) ? "closed" : "refused";
}

/** @param {number} seconds */
function pause(seconds) {
  return /** @type {Promise<void>} */ (new Promise((done) => setTimeout(done, seconds * 1000)));
}
