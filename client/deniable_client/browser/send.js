/** Sending a report, again and again if need be: always the same bytes. */

import { below, DeniableError, system } from "./randomizer.js";
import { exchange, unreachable } from "./fetch.js";

/** @import {Receipt, SendOptions} from "./types.js" */

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

/** @param {number} seconds */
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
