/**
 * What the offline kit's device keeps: the noisy reports of everyone who answered on it, and nothing
 * of who they were. It stands in for `fetch.js` and `keeper.js`: nothing here can send.
 */

import { checkArm, DeniableError, prepare } from "../randomizer.js";

/** @import {Answer, Asked, Survey} from "../types.js" */

/** @returns {never} a kit holds its survey */
export function fetchSurvey() {
  throw new DeniableError("network");
}

/** Reports by id. Ids are random, so the order in which people came is not kept. */
export class Device {
  lasting = true;
  #database;

  /** @param {IDBDatabase} database */
  constructor(database) {
    this.#database = database;
  }

  /**
   * @param {string} digest of the survey
   * @returns {Promise<Device>}
   */
  static open(digest) {
    const request = indexedDB.open(`deniable kit ${digest}`);
    request.onupgradeneeded = () => request.result.createObjectStore("reports");
    return ended(request).then((database) => new Device(database));
  }

  /** Everyone is new here: that nobody answers twice is for the person who holds the tablet to see. */
  async find() {
    return undefined;
  }

  /** There is no limit: what one person reveals here does not add to what the next one does. */
  async check() {}

  /**
   * Draw one person's report and keep it. It is on disk before the person is thanked.
   * @param {Survey} survey
   * @param {Record<string, Answer>} answers
   * @param {Asked} terms
   */
  async respond(survey, answers, { arm }) {
    checkArm(survey, arm);
    const report = prepare(survey, undefined, arm)(answers);
    const transaction = this.#database.transaction("reports", "readwrite", { durability: "strict" });
    transaction.objectStore("reports").add(report, JSON.parse(report).id);
    await new Promise((done, fail) => {
      transaction.oncomplete = done;
      transaction.onabort = () => fail(new DeniableError("page", "no room"));
    });
    return report;
  }

  /** Every report in the order of the ids, each one line. */
  async lines() {
    const reports = await ended(this.#reports("readonly").getAll());
    return reports.map((report) => `${report}\n`);
  }

  /** @param {string[]} lines what was saved; reports that came since stay */
  async remove(lines) {
    const store = this.#reports("readwrite");
    await Promise.all(lines.map((line) => ended(store.delete(JSON.parse(line).id))));
  }

  /** @param {IDBTransactionMode} mode */
  #reports(mode) {
    return this.#database.transaction("reports", mode).objectStore("reports");
  }
}

/**
 * @template Result
 * @param {IDBRequest<Result>} request
 * @returns {Promise<Result>}
 */
function ended(request) {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}
