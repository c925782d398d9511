/**
 * Checks a survey, randomizes answers, keeps and sends the report: byte for byte as the Python
 * client does (`protocol/vectors`). `form.js` shows it to a person.
 */

/** @import {Channel, Draw, Memory, Odds, Question, Read, Reason, Receipt, SendOptions, Survey} from "./types.js" */

const MAX_EPSILON = 4;
const WORDS = 2 ** 32;
const QUESTION_NAME = /^(?!id$)[a-z][a-z0-9_]{0,39}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const KIND = /^(yes-no|choice|scale)$/;

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

// The randomizer of DESIGN §3.

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
 * Draw a report as if the true answer were option 0: all the randomness of one answer, always in
 * `1 + d` draws, so that time tells nothing.
 * @param {Channel} channel
 * @param {Draw} draw
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
 * Rotate noise onto an answer. Sorting hides where the truth would stand.
 * @param {Channel} channel
 * @param {number[]} noise
 * @param {number} answer
 */
export function applyNoise({ k }, noise, answer) {
  return noise.map((place) => (answer + place) % k).sort((left, right) => left - right);
}

/**
 * Draw everything that is random about one report, before any answer is looked at.
 * @param {Survey} survey
 * @param {Read} [read]
 * @returns {(answers: Record<string, number>) => string} from true option indices, by question, to
 *   the report: the exact text that may be sent
 */
export function prepare(survey, read = system) {
  const id = exactly(8, read);
  id[0] &= 0x7f; // 63 bits: the id is also a signed database key
  const hex = Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const noises = survey.questions.map((q) => drawNoise(q.channel, (bound) => below(bound, read)));
  return (answers) => {
    const drawn = survey.questions.map(({ name, channel }, place) => {
      const answer = answers[name];
      if (!Number.isInteger(answer) || answer < 0 || answer >= channel.k) {
        throw new RangeError(`question '${name}' expects an index from 0 to ${channel.k - 1}`);
      }
      return [name, applyNoise(channel, noises[place], answer)];
    });
    return canonical({ survey: survey.digest, id: hex, answers: Object.fromEntries(drawn) });
  };
}

function exactly(/** @type {number} */ size, /** @type {Read} */ read) {
  const bytes = read(size);
  if (bytes.length !== size) throw new DeniableError("entropy");
  return bytes;
}

/**
 * Write canonical JSON: sorted keys, no spaces.
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
  const { format, intro, title, language } = found;
  keys(found, `format,${intro ? "intro," : ""}language,name,odds,questions,title`);
  must(format === "deniable-survey/1");
  checkText(title, language);
  if (intro) checkText(intro, language);
  const questions = /** @type {Question[]} */ (found.questions);
  must(Array.isArray(questions) && questions.length > 0);
  questions.forEach((question) => checkQuestion(question, language));
  must(new Set(questions.map((question) => question.name)).size === questions.length);
  const odds = product(questions.map((q) => ({ a: BigInt(q.channel.a), b: BigInt(q.channel.b) })));
  must(canonical(found.odds) === canonical([String(odds.a), String(odds.b)]));
  return { ...found, odds };
}

function checkQuestion(/** @type {any} */ found, /** @type {string} */ language) {
  const { channel, kind, name, optional, options, scores, text } = found;
  const { k, d, a, b } = channel;
  keys(found, `channel,kind,name,optional,options,${kind === "scale" ? "scores," : ""}text`);
  keys(channel, "a,b,d,k");
  must(QUESTION_NAME.test(name) && KIND.test(kind) && typeof optional === "boolean");
  must(kind !== "scale" || scores.length === options.length);
  for (const spoken of [text, ...options]) checkText(spoken, language);
  must([k, d, a, b].every(Number.isSafeInteger));
  must(k >= 2 && k <= 1000 && d >= 1 && d < k && b >= 1 && a > b);
  must(a * d + b * (k - d) <= WORDS && gcd(BigInt(a), BigInt(b)) === 1n);
  must(k === options.length + Number(optional));
}

function checkText(/** @type {any} */ text, /** @type {string} */ language) {
  must(Object.hasOwn(text, language));
  for (const [tag, spoken] of Object.entries(text)) {
    must(LANGUAGE.test(tag) && typeof spoken === "string");
  }
}

/** Keys come sorted, since the text is canonical. */
function keys(/** @type {object} */ found, /** @type {string} */ expected) {
  must(Object.keys(found).join() === expected);
}

function must(/** @type {boolean} */ holds) {
  if (!holds) throw new DeniableError("survey");
}

/**
 * Multiply odds, exactly: noises are independent, so what reports reveal multiplies.
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
function epsilonOf({ a, b }) {
  const [high, low] = [logarithm(a), logarithm(b)];
  return high - low + 4 * Number.EPSILON * (high + low);
}

function logarithm(/** @type {bigint} */ whole) {
  const digits = whole.toString(16); // a product of many odds is beyond what a float holds
  const head = digits.slice(0, 13);
  return Math.log(parseInt(head, 16)) + (digits.length - head.length) * Math.log(16);
}

function gcd(/** @type {bigint} */ left, /** @type {bigint} */ right) {
  while (right) [left, right] = [right, left % right];
  return left;
}

/**
 * Remembers the report until it is acknowledged and then only what it cost, so that no survey gets a
 * second one, whose fresh noise could be averaged with the first. Holds odds "a:b", then the report.
 */
export class Device {
  /** @type {Map<string, string>} what this page remembers in any case */
  #page = new Map();
  #storage;

  /** @param {Storage | null} storage null where the browser keeps nothing */
  constructor(storage) {
    this.#storage = storage;
    /** Whether it is still remembered after the page is closed. */
    this.lasting = storage !== null;
  }

  static open() {
    try {
      localStorage.setItem("deniable", "");
      localStorage.removeItem("deniable");
      return new Device(localStorage);
    } catch {
      return new Device(null);
    }
  }

  /** @param {Survey} survey */
  find({ digest }) {
    return this.#read(nameOf(digest));
  }

  /**
   * Keep a report before it is sent. The first one stays.
   * @param {Survey} survey
   * @param {string} report
   */
  keep(survey, report) {
    if (!this.find(survey)) this.#write(survey, ` ${report}`);
  }

  /**
   * Forget an acknowledged report, and keep what it cost.
   * @param {Survey} survey
   */
  settle(survey) {
    this.#write(survey, "");
  }

  /**
   * The odds by which everything drawn here so far can shift a belief; 1:1 is nothing.
   * @returns {Odds}
   */
  spent() {
    const names = new Set([...Object.keys(this.#storage ?? {}), ...this.#page.keys()]);
    const ours = [...names].filter((name) => name.startsWith("deniable/sha256-"));
    return product(ours.map((name) => this.#read(name)?.odds ?? { a: 1n, b: 1n }));
  }

  /**
   * Refuse a survey with which this device would reveal more than its limit.
   * @param {Survey} survey
   * @param {number} [maxEpsilon]
   */
  check(survey, maxEpsilon = MAX_EPSILON) {
    const total = epsilonOf(product([this.spent(), survey.odds]));
    if (!(total <= maxEpsilon)) throw new DeniableError("limit", `ε ${total.toFixed(3)} > ${maxEpsilon}`);
  }

  /**
   * @param {string} name
   * @returns {Memory | undefined}
   */
  #read(name) {
    const text = this.#page.get(name) ?? this.#storage?.getItem(name);
    if (text == null) return undefined;
    // Unreadable is not nothing: something was drawn, so it must not be drawn again.
    const [, a, b, report] = /^(\d+):([1-9]\d*)(?: (.+))?$/.exec(text) ?? ["", "1", "1"];
    return { odds: { a: BigInt(a), b: BigInt(b) }, report };
  }

  /**
   * @param {Survey} survey
   * @param {string} rest
   */
  #write({ digest, odds }, rest) {
    const text = `${odds.a}:${odds.b}${rest}`;
    this.#page.set(nameOf(digest), text);
    try {
      this.#storage?.setItem(nameOf(digest), text);
    } catch {
      this.lasting = false;
    }
  }
}

/** @param {string} digest */
const nameOf = (digest) => `deniable/${digest}`;

/**
 * Fetch a published survey and check it.
 * @param {string} url
 * @param {string} digest
 */
export async function fetchSurvey(url, digest) {
  const reply = await exchange(url);
  const data = await reply.arrayBuffer().catch(unreachable);
  return readSurvey(data, digest);
}

/**
 * Send the same bytes until they are acknowledged. The server stores an id once; fresh noise
 * instead could be averaged away.
 * @param {string} report
 * @param {string} url the survey's address
 * @param {SendOptions} [options]
 * @returns {Promise<Receipt>}
 */
export async function send(report, url, { waits = [1, 2, 4, 8], sleep = pause, onRetry } = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      // A text body is text/plain, which needs no preflight.
      const { status } = await exchange(`${url}/reports`, { method: "POST", body: report });
      return { new: status === 201, attempts: attempt };
    } catch (error) {
      const again = error instanceof DeniableError && ["network", "busy"].includes(error.reason);
      if (!again || attempt > waits.length) throw error;
    }
    onRetry?.(attempt + 1, waits.length + 1);
    // up to half as much again, so that many devices do not come back at once
    await sleep(waits[attempt - 1] * (1 + below(501, system) / 1000));
  }
}

/**
 * Fetch without cookie, Referer or cache, and without following the server elsewhere.
 * @param {string} url
 * @param {RequestInit} [options]
 */
async function exchange(url, options) {
  const reply = await fetch(url, {
    ...options,
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(10_000),
  }).catch(unreachable);
  if (reply.status === 200 || reply.status === 201) return reply;
  throw new DeniableError(reasonOf(reply.status), `${reply.status}`);
}

/** @returns {never} */
function unreachable() {
  throw new DeniableError("network");
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
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
