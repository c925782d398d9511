/** One exchange with a survey's server; the first one fetches the survey. */

import { DeniableError } from "./randomizer.js";
import { readSurvey } from "./survey.js";

/** @import {Reason, Survey} from "./types.js" */

/**
 * Fetch a published survey and check it.
 * @param {string} url
 * @param {string} digest
 * @returns {Promise<Survey>}
 */
export async function fetchSurvey(url, digest) {
  const reply = await exchange(url);
  const data = await reply.arrayBuffer().catch(unreachable);
  return { ...(await readSurvey(data, digest)), url };
}

/**
 * Fetch without cookie, Referer or cache, and without following the server elsewhere.
 * @param {string} url
 * @param {RequestInit} [options]
 */
export async function exchange(url, options) {
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
export function unreachable() {
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
