/** Hashes of what a form needs only once it is there: see `pins.js`, which pins this file. */

/** @type {Record<string, string>} */
export const PINS = {};
