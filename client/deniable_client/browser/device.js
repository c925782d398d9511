/** A device that answers: it draws the one report of a survey, and sends it until it is acknowledged. */

import { DeniableError, prepare } from "./randomizer.js";
import { check, inviteOf, Keeper, nameOf, NOTHING, panelOf } from "./keeper.js";
import { send } from "./send.js";

/** @import {Answer, Asked, Change, Memory, Read, Receipt, SendOptions, Survey} from "./types.js" */
/** @import {Panel} from "./keeper.js" */

export class Device extends Keeper {
  static open() {
    return /** @type {Promise<Device>} */ (super.open());
  }

  /** The device that a form asked with. */
  static of(/** @type {Keeper} */ keeper) {
    return keeper instanceof Device ? keeper : new Device(keeper.database);
  }

  /**
   * Refuse a survey that was answered, or with which this device could reveal more than its limit.
   * @param {Survey} survey
   * @param {Asked} [asked]
   */
  async check(survey, asked) {
    await super.check(survey, asked);
    await this.catchUp(survey);
  }

  /**
   * What waits since an earlier version, or wave, is still taken. If not now, then at the next visit.
   * @param {Survey} survey
   */
  async catchUp(survey) {
    const older = await this.transact((memory) => [...memory].filter(([, { report, url }]) => report && url === survey.url));
    for (const [name, { a, b, report = "" }] of older) {
      send(report, survey.url).then(() => this.transact((_, put) => put(name, { a, b })), () => undefined);
    }
  }

  /**
   * Draw the one report of this device for a survey, or give the one that waits already. It is on disk
   * before it is returned.
   * @param {Survey} survey
   * @param {Record<string, Answer>} answers
   * @param {Asked} [asked]
   */
  async respond(survey, answers, asked = {}) {
    const panel = await panelOf(survey);
    return this.transact((memory, put) => respondOnce(memory, put, survey, panel, answers, asked));
  }

  /**
   * Send the report that waits; once it is acknowledged, forget it and keep what it cost.
   * @param {Survey} survey
   * @param {string} [arm]
   * @param {SendOptions} [options]
   * @returns {Promise<Receipt>}
   */
  async submit(survey, arm, options) {
    const found = await this.find(survey, arm);
    if (!found?.report) throw new DeniableError("answered");
    const receipt = await send(found.report, survey.url, options);
    await this.transact((memory, put) => {
      put(nameOf(survey, arm), { a: found.a, b: found.b });
      if (survey.invite_key) put(inviteOf(survey), NOTHING);
    });
    return receipt;
  }
}

/**
 * What a device does with its memory, apart from keeping it. Nothing is drawn before the limit is checked.
 * @param {Map<string, Memory>} memory
 * @param {Change} put
 * @param {Survey} survey
 * @param {Panel | null} panel
 * @param {Record<string, Answer>} answers
 * @param {Asked} asked
 * @param {Read} [read]
 */
export function respondOnce(memory, put, survey, panel, answers, asked, read) {
  const name = nameOf(survey, asked.arm);
  const waiting = memory.get(name)?.report;
  if (waiting) return waiting;
  check(memory, survey, panel, asked);
  const token = memory.get(inviteOf(survey))?.token;
  if (survey.invite_key && !token) throw new DeniableError("token");
  const report = panel
    ? panel.respond(memory, put, survey, answers, asked.arm, read, token)
    : prepare(survey, read, asked.arm, token)(answers);
  put(name, { ...(panel ? NOTHING : survey.odds), report, url: survey.url });
  return report;
}
