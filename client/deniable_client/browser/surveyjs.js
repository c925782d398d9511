/**
 * For SurveyJS: turn its JSON into a survey, and let its completion randomize instead of send.
 *
 * SurveyJS draws its own controls into the page, so an answer is in the page's document until it is
 * complete; `<deniable-survey>` and the plain form keep it closer. Nothing of it is sent.
 */

import { checkArm, DeniableError, fetchSurvey } from "./deniable.js";
import { Device } from "./device.js";

/** @import {Answer, Place, Survey} from "./types.js" */

/** @typedef {Record<string, any>} Json */
/** @typedef {{ element: Json, question: Json, values: unknown[] }} Converted */

/**
 * Turn the JSON of a SurveyJS form into a survey as an author writes it: what `Survey.load` takes.
 * @param {Json} json
 * @param {Json} settings name, language, privacy and whatever else a survey has
 * @returns {Json}
 * @throws {DeniableError} with everything that has no counterpart
 */
export function toSurvey(json, settings) {
  const { language = "en" } = settings;
  const converted = convert(json, language);
  const title = localized(json.title ?? settings.name, language);
  return { title, ...settings, language, questions: converted.map(({ question }) => question) };
}

/**
 * Write a survey as the file that `deniable check`, `plan` and `serve` take.
 * @param {Json} survey
 */
export function toToml(survey) {
  /** @type {(value: any) => string} */
  const inline = (value) => {
    if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value); // TOML's strings hold JSON's
    return `{ ${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)} = ${inline(inner)}`).join(", ")} }`;
  };
  const table = (/** @type {Json} */ found) => Object.entries(found).map(([key, value]) => `${key} = ${inline(value)}\n`).join("");
  const { questions, ...head } = survey;
  return [table(head), ...questions.map((/** @type {Json} */ question) => `[[questions]]\n${table(question)}`)].join("\n");
}

/**
 * Turn what SurveyJS holds into answers.
 * @param {Json} json of the form
 * @param {Json} data
 * @returns {Record<string, Answer>}
 */
export function answersOf(json, data) {
  const found = convert(json, "en").map(({ element, question, values }) => {
    const said = data[element.valueName ?? element.name];
    if (said === undefined || said === null || question.kind === "number") return [question.name, said ?? empty(question)];
    const place = (/** @type {unknown} */ value) => values.findIndex((one) => same(one, value));
    return [question.name, question.kind === "multiple" ? [said].flat().map(place) : place(said)];
  });
  return Object.fromEntries(found);
}

/**
 * Take over what a form does with answers. Wait for it before the form is shown.
 * @param {any} model of SurveyJS
 * @param {Place} place
 * @returns {Promise<boolean>} false if this device has answered, so that nothing is to be shown
 */
export async function attach(model, { src, digest, arm, maxEpsilon = 4 }) {
  // Nothing of SurveyJS's own sends or keeps answers, whatever comes next.
  Object.assign(model, { surveyPostId: "", sendResultOnPageNext: false, cookieName: "" });
  for (const event of [model.onComplete, model.onPartialSend]) event.clear();
  const tell = (/** @type {string} */ what, reason = "") =>
    document.dispatchEvent(new CustomEvent(`deniable-${what}`, { detail: { reason } }));
  try {
    const survey = await fetchSurvey(new URL(src, document.baseURI).href, digest);
    const json = model.toJSON();
    checkSame(json, survey);
    checkArm(survey, arm);
    const device = await Device.open();
    const memory = await device.find(survey, arm);
    if (!memory) await device.check(survey, { arm, maxEpsilon });
    const send = () => device.submit(survey, arm).then(() => tell("sent"));
    model.onAfterRenderQuestion.add((/** @type {unknown} */ _, /** @type {Json} */ { htmlElement }) => {
      // Else the browser writes what is typed to its session files.
      for (const control of htmlElement.querySelectorAll("input, select, textarea")) control.autocomplete = "off";
    });
    model.onComplete.add(async (/** @type {any} */ sender, /** @type {Json} */ options) => {
      const answers = answersOf(json, sender.data);
      sender.data = {}; // later handlers find nothing
      options.showSaveInProgress?.();
      try {
        await device.respond(survey, answers, { arm, maxEpsilon });
        await send();
        options.showSaveSuccess?.();
      } catch (error) {
        options.showSaveError?.();
        tell("error", whyNot(error));
      }
    });
    if (memory?.report) void send().catch((error) => tell("error", whyNot(error)));
    tell("ready");
    return !memory;
  } catch (error) {
    tell("error", whyNot(error));
    throw error;
  }
}

const whyNot = (/** @type {unknown} */ error) => (error instanceof DeniableError ? error.reason : "page");

/** Nothing ticked is an answer, unless the question may be skipped. */
const empty = (/** @type {Json} */ question) => (question.kind === "multiple" && !question.optional ? [] : null);

const same = (/** @type {unknown} */ one, /** @type {unknown} */ other) => `${one}` === `${other}`;

/**
 * The form must be the one that the survey was made from, else its answers would be others.
 * @param {Json} json
 * @param {Survey} survey
 */
function checkSame(json, survey) {
  const shape = (/** @type {Json} */ { name, kind, options = [], optional = false }) =>
    JSON.stringify([name, kind, kind === "yes-no" ? 2 : options.map((/** @type {any} */ option) => option[survey.language]), optional]);
  const [form, published] = [convert(json, survey.language).map(({ question }) => question), survey.questions];
  if (form.map(shape).join() !== published.map(shape).join()) {
    throw new DeniableError("page", "the SurveyJS form is not the one of the published survey");
  }
}

/**
 * @param {Json} json
 * @param {string} language
 * @returns {Converted[]}
 */
function convert(json, language) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Converted[]} */
  const found = [];
  // It would leave before the report is kept, for an address that may depend on answers.
  for (const key of ["navigateToUrl", "navigateToUrlOnCondition"]) {
    if (json[key]?.length) problems.push(`${key}: has no counterpart; wait for the event "deniable-sent"`);
  }
  for (const element of elementsOf(json)) {
    const note = (/** @type {string} */ problem) => problems.push(`${element.name ?? element.type}: ${problem}`);
    const { values, ...rest } = encoding(element, language, note);
    const name = columnOf(element.valueName ?? element.name ?? "");
    if (found.some(({ question }) => question.name === name)) note(`another question is called "${name}" too`);
    for (const key of UNSUPPORTED) if (element[key]) note(`"${key}" has no counterpart`);
    const text = localized(element.title ?? element.name, language);
    const question = { name, text, ...rest, ...(element.isRequired ? {} : { optional: true }) };
    if (element.visibleIf) Object.assign(question, { show_if: condition(element.visibleIf, found, language, note) });
    found.push({ element, question, values });
  }
  if (problems.length) throw new DeniableError("page", problems.join("; "));
  return found;
}

const UNSUPPORTED = ["showOtherItem", "hasOther", "showNoneItem", "hasNone", "choicesByUrl", "choicesFromQuestion",
  "enableIf", "requiredIf", "setValueExpression", "defaultValueExpression"];

/**
 * @param {Json} parent
 * @returns {Json[]}
 */
function elementsOf(parent) {
  const inner = (parent.pages ?? parent.elements ?? parent.questions ?? []).flatMap((/** @type {Json} */ one) => {
    if (one.type === "html" || one.type === "image") return []; // nothing is asked
    const holds = one.elements || one.questions || one.type === "panel";
    if (holds && one.visibleIf) throw new DeniableError("page", `${one.name}: a page or panel with "visibleIf" has no counterpart`);
    return holds || parent.pages ? elementsOf(one) : [one];
  });
  return inner;
}

const KINDS = new Map([
  ["radiogroup", "choice"],
  ["dropdown", "choice"],
  ["rating", "scale"],
  ["checkbox", "multiple"],
  ["tagbox", "multiple"],
]);

/**
 * @param {Json} element
 * @param {string} language
 * @param {(problem: string) => void} note
 * @returns {{ values: unknown[] } & Json}
 */
function encoding(element, language, note) {
  const { type, inputType, min, max, step = 1 } = element;
  if (type === "boolean") {
    const labels = element.labelTrue && { options: [localized(element.labelTrue, language), localized(element.labelFalse, language)] };
    return { kind: "yes-no", ...labels, values: [element.valueTrue ?? true, element.valueFalse ?? false] };
  }
  if (type === "text" && ["number", "range"].includes(inputType)) {
    if (![min, max, step].every(Number.isFinite)) note("a number needs min and max");
    return { kind: "number", min, max, step, values: [] };
  }
  const kind = KINDS.get(type);
  if (!kind) {
    note(`a question of type "${type}" has no counterpart`);
    return { values: [] };
  }
  const items = kind === "scale" ? ratesOf(element) : (element.choices ?? []);
  const values = items.map((/** @type {any} */ item) => item?.value ?? item);
  const options = items.map((/** @type {any} */ item) => localized(item?.text ?? item?.value ?? item, language));
  const scores = kind === "scale" && values.every(Number.isFinite) && { scores: values };
  return { kind, options, ...scores, values };
}

/** @param {Json} element */
function ratesOf({ rateValues, rateMin = 1, rateStep = 1, rateCount, rateMax = rateCount ? rateMin + (rateCount - 1) * rateStep : 5 }) {
  if (rateValues?.length) return rateValues;
  return Array.from({ length: Math.floor((rateMax - rateMin) / rateStep) + 1 }, (_, place) => rateMin + place * rateStep);
}

/**
 * `{name} = 'value'`, joined by "or"; `anyof` and `contains` say the same of several.
 * @param {string} text
 * @param {Converted[]} earlier
 * @param {string} language
 * @param {(problem: string) => void} note
 */
function condition(text, earlier, language, note) {
  const parts = text.split(/\s+or\s+/i).map((part) => /^\s*\{([^{}]+)\}\s*(==|=|anyof|contains)\s*(.+?)\s*$/i.exec(part));
  const names = new Set(parts.map((part) => part?.[1]));
  const asked = earlier.find(({ element }) => (element.valueName ?? element.name) === parts[0]?.[1]);
  if (parts.includes(null) || names.size !== 1 || !asked) {
    note(`the condition "${text}" has no counterpart (one like "{earlier question} = 'value'" has)`);
    return undefined;
  }
  if (!parts.every((part) => meansAny(`${part?.[2]}`, `${part?.[3]}`, asked.question.kind))) {
    note(`the condition "${text}" asks for more than any one of some options; "{${parts[0]?.[1]}} anyof ['value']" has a counterpart`);
    return undefined;
  }
  const wanted = parts.flatMap((part) => literals(`${part?.[3]}`));
  const is = wanted.map((value) => {
    const place = asked.values.findIndex((one) => same(one, value));
    if (place < 0) note(`the condition names "${value}", which is no option of "${asked.element.name}"`);
    const options = asked.question.options ?? [{ [language]: YES[language] }, { [language]: NO[language] }];
    return options[place]?.[language];
  });
  return { question: asked.question.name, is };
}

/**
 * Whether any one of the values makes a condition true, as SurveyJS reads it: "contains" wants all of
 * several, and looks into texts; "=" wants a list that is the same.
 * @param {string} sign
 * @param {string} values
 * @param {string} kind of the question that it looks at
 */
function meansAny(sign, values, kind) {
  if (/anyof/i.test(sign)) return true;
  return /contains/i.test(sign) ? kind === "multiple" && !/^\[.*,/.test(values) : kind !== "multiple" && !values.startsWith("[");
}

/** What a survey itself says where an author gives no labels. */
const YES = /** @type {Record<string, string>} */ ({ en: "Yes", bn: "হ্যাঁ", "zh-Hant": "是" });
const NO = /** @type {Record<string, string>} */ ({ en: "No", bn: "না", "zh-Hant": "否" });

function literals(/** @type {string} */ text) {
  const inner = text.replace(/^\[(.*)\]$/, "$1");
  return Array.from(inner.matchAll(/'([^']*)'|"([^"]*)"|([^\s,]+)/g), ([, single, double, bare]) => single ?? double ?? bare);
}

/** A name that a database column can have. */
function columnOf(/** @type {string} */ name) {
  const plain = name.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^(?=[^a-z])/, "q_").slice(0, 40);
  return plain === "id" || plain === "arm" ? `q_${plain}` : plain;
}

/**
 * @param {unknown} text
 * @param {string} language
 * @returns {Record<string, string>}
 */
function localized(text, language) {
  if (text === null || typeof text !== "object") return { [language]: `${text}` };
  const { default: own, ...others } = /** @type {Record<string, string>} */ (text);
  return own === undefined ? others : { ...others, [language]: own };
}
