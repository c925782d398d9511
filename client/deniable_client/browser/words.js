/** What the interface says, by language. A question's own texts come from the survey. */

/** @import {Channel, Odds, Reason, Words} from "./types.js" */

export const english = {
  loading: "Loading…",
  language: "Language",
  deniable: "Every answer here is deniable",
  howItWorks:
    "Before anything is sent, this device changes your answers at random. Nobody can tell whether " +
    "what was sent is what you chose, not even the people who run this survey.",
  /** @param {Odds} odds */
  belief: ({ a, b }) =>
    "Someone who thought, before seeing your report, that something about your answers was 50 % " +
    // Posterior odds are at most prior odds times a/b (Bayes' rule); in percent, rounded up.
    `likely can be at most ${(100n * a + a + b - 1n) / (a + b)} % sure afterwards.`,
  learn: "What they can and cannot learn",
  facts:
    "Your true answers never leave this page and are not stored.\n\n" +
    "They receive the randomized answers and nothing else. From many of them they learn how common " +
    "each answer is.\n\n" +
    "As with any web page, the network can see that this device took part. Several surveys about " +
    "the same thing add up; this browser keeps the sum for this site.\n\n" +
    "All this holds if this page is honest. It has checked the survey’s fingerprint:",
  optional: "Not answering is randomized in the same way.",
  noAnswer: "I’d rather not answer",
  send: "Randomize and send",
  afterwards: "Afterwards you see exactly what left this device.",
  choose: "Please choose an answer.",
  /** @param {number} count */
  open: (count) => (count === 1 ? "One question is still open." : `${count} questions are still open.`),
  sending: "Sending…",
  /** @type {(attempt: number, attempts: number) => string} */
  again: (attempt, attempts) => `Sending the same report again, ${attempt} of ${attempts} …`,
  sent: "Sent. Thank you.",
  whatLeft:
    "This is exactly what left this device. Each answer may or may not be the one you chose: that " +
    "is what makes it deniable. Your true answers are gone from this page.",
  /** @param {number} bytes */
  bytes: (bytes) => `The report itself, ${bytes} bytes, with no cookie and no name:`,
  notSent: "Not sent yet",
  offline: "This device is offline. The report is sent as soon as it is online again.",
  kept: "The randomized report is kept on this device. Sending it again reveals nothing more.",
  keptHere: "The randomized report is kept while this page is open. Sending it again reveals nothing more.",
  resend: "Send the same report",
  already: "This device has answered this survey",
  onlyOnce:
    "A second report with fresh noise would reveal more, so none is made. This device keeps only " +
    "how much the first may have revealed:",
  notLasting:
    "This browser lets the page remember nothing (perhaps a private window). Please " +
    "answer only once: a second report would reveal more.",
  refusal: "This survey cannot be answered here, and nothing was sent",
  /** @type {Record<Reason, string>} */
  reasons: {
    insecure: "This page did not come over a secure connection (https), so it cannot be checked.",
    entropy: "This browser gives no secure randomness.",
    digest: "The survey that arrived is not the one this page was made for.",
    survey: "The survey is damaged: it does not add up.",
    limit: "Together with what this device has sent before, it would reveal more than this device allows.",
    answered: "This device has answered this survey.",
    answer: "An answer is missing, or not one that its question allows.",
    page: "The page around this survey is not set up as it must be. Please tell the people who run it.",
    network: "The server could not be reached, or something blocked the request.",
    busy: "The server cannot take the request just now.",
    closed: "The survey is not open.",
    conflict: "The server holds another report under the number of this one. Please tell the people who run this survey.",
    refused: "The server did not accept the request. Please tell the people who run this survey.",
  },
  /** @param {Channel} channel */
  explain({ k, d, a, b }) {
    const chance = chances(a * d, a * d + b * (k - d));
    if (d > 1) {
      return `${d} of the ${k} options are sent, mixed. With ${chance} your true answer is among them.`;
    }
    const rest = k === 2 ? "the other one" : `one of the other ${k - 1}, drawn at random`;
    return `With ${chance} your true answer is sent, otherwise ${rest}.`;
  },
};

/** @type {Record<string, Words>} */
const WORDS = { en: english };

/**
 * @param {string} language
 * @returns {[string, Words]} the language, or English where it is not translated; its words
 */
export function wordsFor(language) {
  const found = [language, language.split("-")[0]].find((tag) => Object.hasOwn(WORDS, tag)) ?? "en";
  return [found, WORDS[found]];
}

/** @param {string} language */
export function direction(language) {
  return /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(-|$)/i.test(language) ? "rtl" : "ltr";
}

/**
 * @param {number} count
 * @param {number} total
 */
function chances(count, total) {
  let [common, rest] = [total, count];
  while (rest) [common, rest] = [rest, common % rest];
  const [top, bottom] = [count / common, total / common];
  if (bottom > 20) return `about ${Math.round((100 * count) / total)} chances in 100`;
  return `${top} chance${top === 1 ? "" : "s"} in ${bottom}`;
}
