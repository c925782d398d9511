/** What a device remembers: the noisy report until it is acknowledged, then only what it cost. */

import { canonical, DeniableError, epsilonOf, MAX_EPSILON, product } from "./deniable.js";

/** @typedef {import("./deniable.js").Survey} Survey */
/** @typedef {import("./deniable.js").Odds} Odds */
/** @typedef {{report?: string, odds: [string, string]}} Memory */

const PREFIX = "deniable/";

/**
 * Remembers across visits, so that no survey gets a second report with fresh noise, which could be
 * averaged with the first. Never holds a true answer.
 */
export class Device {
  /** @type {Map<string, string>} what only this page remembers */
  #page = new Map();
  #storage;
  /** Whether everything is still remembered after the page is closed. */
  lasting;

  /** @param {Storage | null} storage null where the browser keeps nothing, as in some private modes */
  constructor(storage) {
    this.#storage = storage;
    this.lasting = storage !== null;
  }

  /** Use the browser's storage if it may be used. */
  static open() {
    try {
      localStorage.setItem(`${PREFIX}probe`, "");
      localStorage.removeItem(`${PREFIX}probe`);
      return new Device(localStorage);
    } catch {
      return new Device(null);
    }
  }

  /**
   * What is known of a survey: with a report while it waits to be acknowledged, without one after.
   * @param {Survey} survey
   * @returns {Memory | undefined}
   */
  find({ digest }) {
    const text = this.#read(PREFIX + digest);
    return text === null ? undefined : parse(text, digest);
  }

  /**
   * Keep a report before it is sent, unless there is one already: the first one stays.
   * @param {Survey} survey
   * @param {string} report
   */
  keep(survey, report) {
    if (!this.find(survey)) this.#write(survey, { report });
  }

  /**
   * Forget an acknowledged report and keep what it cost.
   * @param {Survey} survey
   */
  settle(survey) {
    this.#write(survey, {});
  }

  /**
   * The exact odds by which everything drawn here so far can shift a belief; 1:1 is nothing.
   * @returns {Odds}
   */
  spent() {
    const stored = this.#storage ? Object.keys(this.#storage) : [];
    const names = [...new Set([...stored, ...this.#page.keys()])];
    const found = names
      .filter((name) => name.startsWith(`${PREFIX}sha256-`))
      .map((name) => parse(this.#read(name) ?? "", name.slice(PREFIX.length)));
    return product(found.map(({ odds: [a, b] }) => ({ a: BigInt(a), b: BigInt(b) })));
  }

  /**
   * Refuse a survey that would bring all that this device reveals above its limit.
   * @param {Survey} survey
   * @param {number} [maxEpsilon]
   */
  check(survey, maxEpsilon = MAX_EPSILON) {
    const total = epsilonOf(product([this.spent(), survey.odds]));
    if (!(total <= maxEpsilon)) throw new DeniableError("limit", `${total.toFixed(3)} > ${maxEpsilon}`);
  }

  /** @param {string} name */
  #read(name) {
    return this.#page.get(name) ?? this.#storage?.getItem(name) ?? null;
  }

  /**
   * @param {Survey} survey
   * @param {{report?: string}} state
   */
  #write({ digest, odds }, state) {
    const text = canonical({ ...state, odds: [String(odds.a), String(odds.b)] });
    this.#page.set(PREFIX + digest, text);
    try {
      this.#storage?.setItem(PREFIX + digest, text);
    } catch {
      this.lasting = false; // full: remembered while the page is open
    }
  }
}

/**
 * @param {string} text
 * @param {string} digest
 * @returns {Memory}
 */
function parse(text, digest) {
  try {
    const { report, odds } = JSON.parse(text);
    if (BigInt(odds[1]) < 1n || BigInt(odds[0]) < BigInt(odds[1])) throw new RangeError();
    if (report === undefined) return { odds };
    return JSON.parse(report).survey === digest ? { odds, report } : { odds };
  } catch {
    return { odds: ["1", "1"] }; // unreadable, but something was drawn: never draw again
  }
}
