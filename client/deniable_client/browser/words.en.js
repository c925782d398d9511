export default {
  loading: "Loading …",
  language: "Language",
  deniable: "Every answer here is deniable",
  promise:
    "Before anything is sent, this device changes your answers at random. Nobody can be sure that what was sent is " +
    "what you chose, not even the people who run this survey.",
  /** @param {string} percent */
  belief: (percent) =>
    "Someone who thought, before seeing your report, that something about your answers was 50 % likely can be " +
    `at most ${percent} % sure afterwards.`,
  learn: "See how, and try it",
  /** @type {(asked: string, all: string) => string} */
  some: (asked, all) =>
    `This device sends answers to ${asked} of the ${all} questions. It picks them at random, before it looks at your answers.`,
  /** @type {(top: string, bottom: string, one: boolean) => string} */
  chance: (top, bottom, one) => `${top} chance${one ? "" : "s"} in ${bottom}`,
  /** @param {string} top */
  about: (top) => `about ${top} chances in 100`,
  truth: "your true answer",
  value: "the rounded number",
  /** @type {(chance: string, what: string) => string} */
  other: (chance, what) => `With ${chance} ${what} is sent, otherwise the other one.`,
  /** @type {(chance: string, what: string, others: string) => string} */
  others: (chance, what, others) =>
    `With ${chance} ${what} is sent, otherwise one of the other ${others}, drawn at random.`,
  /** @type {(chance: string, sent: string, all: string) => string} */
  among: (chance, sent, all) =>
    `${sent} of the ${all} options are sent, mixed. With ${chance} your true answer is among them.`,
  /** @param {string} points */
  rounded: (points) => `Your number is first rounded, up or down at random, to one of ${points} values.`,
  boxes: "Tick all that apply; none is an answer too. Each box is randomized by itself.",
  /** @type {(sent: string, all: string) => string} */
  picked: (sent, all) => `Only ${sent} of the ${all} boxes are sent, picked at random.`,
  space: " ",
  optional: "Not answering is randomized in the same way.",
  conditional: "Whether you were asked this is randomized in the same way.",
  /** @type {(min: string, max: string, step: string) => string} */
  range: (min, max, step) => `From ${min} to ${max}${step && `, in steps of ${step}`}.`,
  noAnswer: "I’d rather not answer",
  send: "Randomize and send",
  afterwards: "Afterwards you see exactly what left this device.",
  choose: "Please choose an answer.",
  number: "Please give a number.",
  /** @type {(open: string, one: boolean) => string} */
  open: (open, one) => (one ? "One question is still open." : `${open} questions are still open.`),
  failed: "A part of this page could not be loaded. Please try again.",
};
