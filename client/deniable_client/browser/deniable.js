/**
 * What an application needs: fetch a survey, randomize answers, send the report. `device.js` remembers,
 * `form.js` shows it to a person, `embed.js` puts it into a page.
 */

import { below, DeniableError, system } from "./randomizer.js";
import { readSurvey } from "./survey.js";

/** @import {Reason, Receipt, SendOptions, Survey} from "./types.js" */

export * from "./randomizer.js";
export * from "./survey.js";

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
 * Send the same bytes until they are acknowledged. The server stores an id once; fresh noise
 * instead could be averaged away. A device that is offline waits until it is not.
 * @param {string} report
 * @param {string} url the survey's address
 * @param {SendOptions} [options]
 * @returns {Promise<Receipt>}
 */
export async function send(report, url, { waits = [1, 2, 4, 8], sleep = pause, onRetry, onOffline } = {}) {
  for (let attempt = 1, wait = 0; ; attempt++) {
    try {
      // A text body is text/plain, which needs no preflight.
      const reply = await exchange(`${url}/reports`, { method: "POST", body: report });
      const { status } = await reply.json().catch(unreachable);
      if (!/^(stored|same)$/.test(status)) unreachable(); // a network's log-in page says 200 as well
      return { new: status === "stored", attempts: attempt };
    } catch (error) {
      const again = error instanceof DeniableError && ["network", "busy"].includes(error.reason);
      if (!again || (wait === waits.length && !offline())) throw error;
    }
    if (offline()) {
      onOffline?.();
      await new Promise((done) => addEventListener("online", done, { once: true }));
      continue;
    }
    onRetry?.(attempt + 1, waits.length + 1);
    // up to half as much again, so that many devices do not come back at once
    await sleep(waits[wait++] * (1 + below(501, system) / 1000));
  }
}

const offline = () => globalThis.navigator?.onLine === false;

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
