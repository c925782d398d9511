/**
 * What this browser remembers for the site: the noisy report until it is acknowledged, then only what
 * it revealed. So no survey gets a second report, whose fresh noise could be averaged with the first.
 * `device.js` draws and sends; a form that only asks does without it.
 */

import { DeniableError } from "./randomizer.js";
import { epsilonOf, product } from "./odds.js";
import { load } from "./pins.js";

/** @import {Asked, Change, Memory, Odds, Survey} from "./types.js" */

const MAX_EPSILON = 4;
export const NOTHING = { a: 1n, b: 1n };

/** @type {Map<string, Memory>} what this page remembers in any case */
const page = new Map();

/**
 * A database transaction sees everything and is on disk when it ends ("strict"), and the transactions
 * of all tabs wait for each other: two tabs cannot both find nothing and then both draw.
 */
export class Keeper {
  /** @param {IDBDatabase | null} database null where the browser keeps nothing */
  constructor(database) {
    this.database = database;
  }

  /** Whether it is still remembered after the page is closed. */
  get lasting() {
    return this.database !== null;
  }

  /** @returns {Promise<Keeper>} */
  static open() {
    return new Promise((done) => {
      const without = () => done(new this(null));
      try {
        const request = indexedDB.open("deniable");
        request.onupgradeneeded = () => request.result.createObjectStore("memory");
        request.onsuccess = () => done(new this(request.result));
        request.onerror = request.onblocked = without;
      } catch {
        without();
      }
    });
  }

  /**
   * What is remembered of a survey: nothing, a report that waits, or that one was acknowledged.
   * @param {Survey} survey
   * @param {string} [arm]
   */
  find(survey, arm) {
    return this.transact((memory) => memory.get(nameOf(survey, arm)));
  }

  /**
   * The odds by which everything drawn here so far can shift a belief; 1:1 is nothing.
   * @returns {Promise<Odds>}
   */
  spent() {
    return this.transact(spentIn);
  }

  /**
   * Refuse a survey that was answered, or with which this device could reveal more than its limit.
   * @param {Survey} survey
   * @param {Asked} [asked]
   */
  async check(survey, asked) {
    const panel = await panelOf(survey);
    await this.transact((memory) => check(memory, survey, panel, asked));
  }

  /**
   * What is kept of an invitation: what takes its blinding off, then the token. The first of each stays.
   * @param {Survey} survey
   * @param {Partial<Memory>} [found]
   */
  invite(survey, found) {
    return this.transact((memory, put) => {
      const kept = { ...NOTHING, ...found, ...memory.get(inviteOf(survey)) };
      put(inviteOf(survey), kept);
      return kept;
    });
  }

  /**
   * Read everything, and write some of it, at once.
   * @template Result
   * @param {(memory: Map<string, Memory>, put: Change) => Result} work
   * @returns {Promise<Result>}
   */
  transact(work) {
    return new Promise((done, fail) => {
      /** @type {() => Result} */
      let finish = () => work(page, (name, memory) => page.set(name, memory));
      // The disk is full, or the person took the site's data away: this page goes on without.
      const without = () => {
        this.database = null;
        try {
          done(finish());
        } catch (error) {
          fail(error);
        }
      };
      if (!this.database) return without();
      try {
        const transaction = this.database.transaction("memory", "readwrite", { durability: "strict" });
        const store = transaction.objectStore("memory");
        const [names, values] = [store.getAllKeys(), store.getAll()];
        values.onsuccess = () => {
          names.result.forEach((name, place) => page.set(`${name}`, values.result[place]));
          try {
            const result = work(page, (name, memory) => {
              page.set(name, memory);
              store.put(memory, name);
            });
            finish = () => result;
          } catch (error) {
            finish = () => /** @type {never} */ (fail(error)); // and not all over again, on the page's memory
          }
        };
        transaction.oncomplete = () => done(finish());
        transaction.onabort = without;
      } catch {
        without();
      }
    });
  }
}

/** @typedef {typeof import("./panel.js")} Panel */

/**
 * @param {Survey} survey
 * @returns {Promise<Panel | null>}
 */
export async function panelOf({ waves }) {
  return waves ? load("panel.js") : null;
}

/**
 * @param {Map<string, Memory>} memory
 * @param {Survey} survey
 * @param {Panel | null} panel
 * @param {Asked} [asked]
 */
export function check(memory, survey, panel, { arm, maxEpsilon = MAX_EPSILON } = {}) {
  if (memory.has(nameOf(survey, arm))) throw new DeniableError("answered");
  const more = panel ? panel.atMost(memory, survey) : survey.odds;
  const total = epsilonOf(product([spentIn(memory), more]));
  if (!(total <= maxEpsilon)) throw new DeniableError("limit", `ε ${total.toFixed(3)} > ${maxEpsilon}`);
}

/**
 * @param {Map<string, Memory>} memory
 * @returns {Odds}
 */
export function spentIn(memory) {
  const all = [...memory.values()].map(({ a, b, sent }) => {
    const times = BigInt(sent ? sent.length : 1);
    return { a: a ** times, b: b ** times };
  });
  return product(all);
}

/** One token for everyone of this name and key. */
export function inviteOf(/** @type {Survey} */ { name, invite_key }) {
  return `invite ${name} ${invite_key?.modulus}`;
}

/** A survey is answered once, one with waves once in each arm. */
export function nameOf(/** @type {Survey} */ { digest, waves }, /** @type {string | undefined} */ arm) {
  return `report ${digest} ${(waves && arm) ?? ""}`;
}
