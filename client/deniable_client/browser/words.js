/** What the interface says, by language. A question's own texts come from the survey. */

/** @typedef {import("./deniable.js").Channel} Channel */
/** @typedef {import("./deniable.js").Odds} Odds */
/** @typedef {typeof english} Words */

const english = {
  loading: "Loading the survey…",
  language: "Language",
  deniable: "Every answer here is deniable",
  howItWorks:
    "Before anything is sent, this device changes your answers at random. Nobody can tell whether " +
    "what was sent is what you chose, not even the people who run this survey.",
  /** @param {Odds} odds */
  belief: (odds) =>
    "Someone who thought, before seeing your report, that something about your answers was 50 % " +
    `likely can be at most ${beliefAtMost(odds)} % sure afterwards.`,
  learn: "What the people who run this survey can and cannot learn",
  can: [
    "They receive the randomized answers, and nothing else from this form.",
    "As with any web page, the network can see that this device took part.",
    "Over many reports the noise averages out, so they learn how common each answer is.",
    "Several surveys about the same thing add up. This browser keeps the sum for this site.",
  ],
  cannot: [
    "They cannot learn your true answers: these never leave this page and are not stored.",
    "Sending again cannot reveal more: it sends the same randomized report.",
  ],
  trust:
    "All of this holds if this page is the honest program. The survey's fingerprint, which this " +
    "device has checked:",
  optional: "Not answering is randomized in the same way.",
  noAnswer: "I’d rather not answer",
  send: "Randomize and send",
  afterwards: "Afterwards you see exactly what left this device.",
  /** @param {number} count */
  missing: (count) =>
    count === 1 ? "One question is still open." : `${count} questions are still open.`,
  choose: "Please choose an answer.",
  sending: "Sending…",
  /** @type {(attempt: number, attempts: number) => string} */
  again: (attempt, attempts) =>
    `No acknowledgement yet. Trying again with the same report, ${attempt} of ${attempts} …`,
  sent: "Sent. Thank you.",
  whatLeft:
    "This is exactly what left this device. Each answer may or may not be the one you chose: that " +
    "is what makes it deniable.",
  gone: "Your true answers are gone from this page.",
  /** @param {number} bytes */
  bytes: (bytes) => `The report itself, ${bytes} bytes, sent with no cookie and no name:`,
  notSent: "Not sent yet",
  waiting: "A report is waiting to be sent",
  waitingWhy: "This device has randomized its answers to this survey before, but was not told that they arrived.",
  kept:
    "The randomized report is kept on this device. Sending again sends the same report, so it " +
    "reveals nothing more.",
  keptHere: "The randomized report is kept while this page stays open. Sending again sends the same report.",
  whatWaits: "This is what will be sent:",
  resend: "Send the same report",
  already: "This device has answered this survey",
  alreadyWhy:
    "A second report with fresh noise could be combined with the first and reveal more, so none is " +
    "made. This device no longer holds the report, only how much it may have revealed:",
  notLasting:
    "This browser does not let the page remember anything (perhaps a private window). You can " +
    "still answer, but please only once: a second report would reveal more about you.",
  refusal: "This survey cannot be answered here",
  untouched: "Nothing about you was asked, and nothing was sent.",
  /** @type {Record<import("./deniable.js").Reason, string>} */
  reasons: {
    insecure: "This page did not come over a secure connection (https), so it cannot check the survey.",
    entropy: "This browser gives no secure randomness, so answers cannot be protected.",
    digest: "The survey that arrived is not the one this page was made for.",
    survey: "The survey is damaged, or its privacy settings do not add up.",
    limit: "Together with what this device has sent before, it would reveal more than this device allows.",
    network: "The server could not be reached, or something on this device or network blocked the request.",
    busy: "The server cannot take the request just now.",
    closed: "This survey is not open.",
    conflict:
      "The server holds another report under the number of this one, so it did not take it. " +
      "Please tell the people who run this survey.",
    refused: "The server did not accept the request. Please tell the people who run this survey.",
  },
  /**
   * What the device does with one answer.
   * @param {Channel} channel
   */
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
 * The interface in a language, or in English where it is not translated.
 * @param {string} language
 * @returns {[string, Words]} the language found, and its words
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
 * Say a probability as chances out of a small number, or out of a hundred.
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

/**
 * How sure, in percent rounded up, anyone can be after a report who thought 50 % before: posterior
 * odds are at most prior odds times the report's odds (Bayes' rule).
 * @param {Odds} odds
 */
export function beliefAtMost({ a, b }) {
  return String((100n * a + a + b - 1n) / (a + b));
}
