export default {
  invited: "This survey is by invitation",
  code: "Your code",
  codeHint:
    "The people who sent the code see that it was used. Nobody can see which report it led to: your device gets a " +
    "token for it that looks like any other. If the same people also run this survey, use the code now and answer " +
    "some time later, so that the two times do not give you away.",
  useCode: "Use this code",
  codeUsed: "Your code was used",
  answerLater: "This device keeps the token. You can close this page and come back later, or answer now.",
  answerNow: "Answer now",
  refusal: "This survey cannot be answered here, and nothing was sent",
  reasons: {
    insecure: "This page did not come over a secure connection (https), so it cannot be checked.",
    entropy: "This browser gives no secure randomness.",
    token: "This survey is for invited people, and the invitation of this page does not fit.",
    digest: "The survey that arrived is not the one this page was made for.",
    survey: "The survey is damaged: it does not add up.",
    limit: "Together with what this device has sent before, it would reveal more than this device allows.",
    answered: "This device has answered this survey.",
    answer: "An answer does not fit its question.",
    page: "The page that holds this survey is not set up for it.",
    network: "The server could not be reached, or something blocked the request.",
    busy: "The server cannot take the request just now.",
    closed: "The survey is not open.",
    conflict: "The server holds another report under the number of this one. Please tell the people who run this survey.",
    refused: "The server did not accept the request. Please tell the people who run this survey.",
  },

  sending: "Sending …",
  /** @type {(attempt: string, attempts: string) => string} */
  again: (attempt, attempts) => `Sending the same report again, ${attempt} of ${attempts} …`,
  offline: "This device is offline. The randomized report is kept, and goes out when the connection is back.",
  sent: "Sent. Thank you.",
  whatLeft:
    "This is exactly what left this device. Each answer may or may not be the one you chose: that is what makes it " +
    "deniable. Your true answers are gone from this page.",
  yes: "Yes",
  no: "No",
  notAsked: "Not asked",
  notPicked: "not sent",
  /** @param {string} bytes */
  bytes: (bytes) => `The report itself, ${bytes} bytes, with no cookie and no name:`,
  notSent: "Not sent yet",
  kept: "The randomized report is kept on this device. Sending it again reveals nothing more.",
  keptHere: "The randomized report is kept while this page is open. Sending it again reveals nothing more.",
  notLasting:
    "This browser lets the page remember nothing (perhaps a private window). Please answer only once: a second " +
    "report would reveal more.",
  resend: "Send the same report",
  already: "This device has answered this survey",
  onlyOnce:
    "A second report with fresh noise would reveal more, so none is made. This device has kept only how much the " +
    "first may have revealed.",
  /** @param {string} percent */
  total: (percent) =>
    "Everything that this browser has sent to surveys on this site, taken together: someone who thought 50 % can be " +
    `at most ${percent} % sure.`,
  nothingYet: "This browser has sent nothing to surveys on this site so far.",

  question: "Question",
  picture: "What your device does",
  /** @type {(marked: string, all: string) => string} */
  cards: (marked, all) =>
    `Think of ${all} cards, face down. On ${marked} of them is written “send the true answer”, on the rest “send ` +
    "something else”. Your device draws one card, and nobody else ever sees which.",
  /** @type {(marked: string, all: string) => string} */
  cardsOf: (marked, all) => `${marked} of ${all} cards are marked.`,
  tryIt: "Try it",
  demonstration: "A demonstration: nothing is sent, and it need not be your own answer. The same randomizer draws.",
  suppose: "Suppose the true answer is",
  /** @param {string} times */
  draw: (times) => `Draw ${times} reports`,
  /** @type {(times: string, kept: string) => string} */
  result: (times, kept) => `Of ${times} reports, ${kept} held the true answer (marked). Someone who sees one report sees no mark.`,
  know: "What they can and cannot learn",
  /** @param {string} percent */
  oneAnswer: (percent) =>
    `From the report of this question alone, someone who thought 50 % before can be at most ${percent} % sure.`,
  /** @param {string} percent */
  whole: (percent) => `From everything in the report of this survey: at most ${percent} %.`,
  shares: "From many reports they learn how common each answer is. That is what the survey is for.",
  nothingElse: "They receive the randomized answers and nothing else. Your true answers never leave this page and are not stored.",
  network: "As with any web page, the network can see that this device took part.",
  addUp: "Several surveys about the same thing add up; this browser keeps the sum for this site.",
  honest: "All this holds if this page is honest. It has checked the survey’s fingerprint:",
};
