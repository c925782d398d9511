/** What an application imports from "deniable". The modules themselves are typed by JSDoc. */

import type { Answer, Odds, Read, Reason, Receipt, SendOptions, Survey } from "../deniable_client/browser/types.js";

export type * from "../deniable_client/browser/types.js";

/** Says why something was not done. Never holds a true answer. */
export class DeniableError extends Error {
  constructor(reason: Reason, detail?: string);
  readonly reason: Reason;
  readonly detail: string;
}

/** Fetch a published survey, and refuse one that is not the pinned one or does not add up. */
export function fetchSurvey(url: string, digest: string): Promise<Survey>;

/** Check the bytes of a published survey. */
export function readSurvey(data: BufferSource, digest: string): Promise<Omit<Survey, "url">>;

/**
 * Draw everything that is random about one report, before any answer is looked at. What it gives turns
 * answers into the report: the exact text that may be sent. Only tests pass `read`.
 */
export function prepare(survey: Survey, read?: Read, arm?: string): (answers: Record<string, Answer>) => string;

/** Names of the questions that these answers hide. */
export function hidden(survey: Survey, answers: Record<string, Answer>): Set<string>;

/** Send the same bytes until they are acknowledged; `url` is the survey's. */
export function send(report: string, url: string, options?: SendOptions): Promise<Receipt>;

/** Multiply odds, exactly. */
export function product(all: Odds[]): Odds;

/** ln(odds), rounded up. */
export function epsilonOf(odds: Odds): number;
