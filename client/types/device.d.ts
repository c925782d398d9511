/** What an application imports from "deniable/device". */

import type { Answer, Asked, Memory, Odds, Receipt, SendOptions, Survey } from "../deniable_client/browser/types.js";

/** What this browser remembers for the site, so that no survey gets a second report. */
export class Device {
  /** Null where the browser keeps nothing; `open` finds out. */
  constructor(database: IDBDatabase | null);
  static open(): Promise<Device>;

  /** Whether it is still remembered after the page is closed. */
  get lasting(): boolean;

  /** What is remembered of a survey: nothing, a report that waits, or that one was acknowledged. */
  find(survey: Survey, arm?: string): Promise<Memory | undefined>;

  /** The exact odds by which everything drawn here can shift a belief. */
  spent(): Promise<Odds>;

  /** Refuse a survey that was answered, or with which this device could reveal more than its limit. */
  check(survey: Survey, asked?: Asked): Promise<void>;

  /** Draw the one report of this device for a survey, or give the one that waits. */
  respond(survey: Survey, answers: Record<string, Answer>, asked?: Asked): Promise<string>;

  /** Send the report that waits; once it is acknowledged, forget it and keep what it cost. */
  submit(survey: Survey, arm?: string, options?: SendOptions): Promise<Receipt>;
}
