/**
 * `<form data-deniable="…" data-digest="sha256-…">`: a form of the page's own, whose controls say in
 * `data-name` which question they answer. What they hold is randomized instead of submitted.
 *
 * No script can keep a browser from submitting a form before the script is there. So the page itself
 * must be unable to: `method="dialog"`, no control with a `name`, all of them in a `<fieldset disabled>`,
 * which is opened here at the very end. A form that could be submitted is refused, so that its author
 * sees it and not its respondents.
 */

import { checkArm, DeniableError, fetchSurvey, hidden } from "./deniable.js";
import { Device } from "./device.js";
import { load } from "./pins.js";

/** @import {Answer, Asked, Question, Survey} from "./types.js" */
/** @import {Words} from "./words.js" */
/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/**
 * Take over a form of the page. It tells what happens by the events `deniable-ready`, `deniable-sent` and
 * `deniable-error`, and in the `<output>` it may have; none holds an answer.
 * @param {HTMLFormElement} form
 */
export async function attach(form) {
  /** @type {PlainForm | undefined} */
  let plain;
  // Before anything that could fail: from here on, submitting does nothing else.
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    void plain?.submit();
  }, true);
  const status = new Status(form);
  try {
    const field = checkMarkup(form);
    await status.speak();
    const { deniable = "", digest = "", arm, maxEpsilon = "4" } = form.dataset;
    const survey = await fetchSurvey(new URL(deniable, document.baseURI).href, digest);
    const made = new PlainForm(field, survey, { arm, maxEpsilon: Number(maxEpsilon) }, await Device.open(), status);
    if (await made.start()) plain = made;
    status.tell("ready");
  } catch (error) {
    await status.speak().catch(() => undefined); // without words, the event still tells
    status.fail(error);
  }
}

let forms = 0; // on this page: two may ask the same question, and radio buttons of one name exclude each other

class PlainForm {
  #number = forms++;
  #field;
  #survey;
  #asked;
  #device;
  #status;

  /**
   * @param {HTMLFieldSetElement} field
   * @param {Survey} survey
   * @param {Asked} asked
   * @param {Device} device
   * @param {Status} status
   */
  constructor(field, survey, asked, device, status) {
    this.#field = field;
    this.#survey = survey;
    this.#asked = asked;
    this.#device = device;
    this.#status = status;
  }

  /** Open the form, unless this device has answered; true if it is open. */
  async start() {
    const { arm } = this.#asked;
    checkArm(this.#survey, arm);
    this.#survey.questions.forEach((question) => checkControls(question, this.#controls(question)));
    const memory = await this.#device.find(this.#survey, arm);
    if (memory?.report) void this.#send();
    else if (memory) this.#status.say((words) => words.already);
    if (memory) return false;
    await this.#device.check(this.#survey, this.#asked);
    for (const control of this.#controls()) {
      control.setAttribute("form", ""); // it belongs to no form, whatever becomes of the page
      control.autocomplete = "off"; // else the browser writes it to its session files
      if (control.type === "radio") control.name = `deniable-${this.#number}-${control.dataset.name}`;
    }
    // The back/forward cache would bring the page back with its answers.
    addEventListener("pagehide", () => this.#clear());
    this.#field.addEventListener("input", () => this.#hide());
    this.#hide();
    this.#field.disabled = false;
    return true;
  }

  async submit() {
    if (this.#field.disabled) return;
    const answers = this.#answers();
    const gone = hidden(this.#survey, answers);
    const open = this.#survey.questions.filter((q) => !q.optional && !gone.has(q.name) && answers[q.name] === null);
    if (open.length) return this.#point(open[0].name, (words) => words.open(`${open.length}`, open.length === 1));
    this.#field.disabled = true;
    try {
      await this.#device.respond(this.#survey, answers, this.#asked);
    } catch (error) {
      if (!(error instanceof DeniableError) || error.reason !== "answer") return this.#status.fail(error);
      this.#field.disabled = false;
      return this.#point(error.detail, (words) => words.reasons.answer);
    } finally {
      if (this.#field.disabled) this.#clear();
    }
    await this.#send();
  }

  async #send() {
    const { arm } = this.#asked;
    const status = this.#status;
    const report = (await this.#device.find(this.#survey, arm))?.report;
    status.say((words) => words.sending);
    try {
      await this.#device.submit(this.#survey, arm, {
        onRetry: (attempt, attempts) => status.say((words) => words.again(`${attempt}`, `${attempts}`)),
        onOffline: () => status.say((words) => words.offline),
      });
    } catch (error) {
      return status.fail(error, (words) => (this.#device.lasting ? words.kept : words.keptHere));
    }
    status.say((words) => `${words.sent} ${words.whatLeft}\n${report}`);
    status.tell("sent");
  }

  /**
   * @param {string} name
   * @param {(words: Words) => string} say
   */
  #point(name, say) {
    this.#status.say(say);
    this.#controls().find((control) => control.dataset.name === name)?.focus();
  }

  /** @returns {Record<string, Answer>} */
  #answers() {
    return Object.fromEntries(this.#survey.questions.map((question) => [question.name, this.#answer(question)]));
  }

  /**
   * @param {Question} question
   * @returns {Answer}
   */
  #answer(question) {
    const controls = this.#controls(question);
    if (question.number) return controls[0]?.value.trim() || null;
    const values = controls.flatMap(chosen);
    if (controls.length === 0 || values.includes("")) return null; // an empty value means no answer
    const places = values.map((value) => placeOf(question, value));
    return question.kind === "multiple" ? places : (places[0] ?? null);
  }

  #clear() {
    for (const control of this.#controls()) {
      if (control instanceof HTMLSelectElement) control.selectedIndex = control.multiple ? -1 : 0;
      else if (control.type === "radio" || control.type === "checkbox") control.checked = false;
      else control.value = "";
    }
    this.#hide();
  }

  /** Hide what a page marks with `data-question`, while its question is not asked. */
  #hide() {
    const gone = hidden(this.#survey, this.#answers());
    for (const part of this.#field.querySelectorAll("[data-question]")) {
      if (part instanceof HTMLElement) part.hidden = gone.has(`${part.dataset.question}`);
    }
  }

  /** @param {Question} [question] */
  #controls(question) {
    /** @type {Control[]} */
    const all = Array.from(this.#field.querySelectorAll("input[data-name], select[data-name]"));
    return question ? all.filter((control) => control.dataset.name === question.name) : all;
  }
}

/** Where people read, and programs hear, what became of the form. */
class Status {
  #form;
  #words = /** @type {Words | null} */ (null);

  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.#form = form;
  }

  async speak() {
    const tag = this.#form.closest("[lang]")?.getAttribute("lang") ?? "en";
    const parts = (/** @type {string} */ language) =>
      Promise.all(["words", "more"].map((part) => load(`${part}.${language}.js`)));
    const found = await parts(tag).catch(() => parts(tag.split("-")[0])).catch(() => parts("en"));
    this.#words = Object.assign({}, ...found.map((part) => part.default));
  }

  /** @param {(words: Words) => string} text */
  say(text) {
    const output = this.#form.querySelector("output");
    if (output && this.#words) output.textContent = text(this.#words);
  }

  /**
   * @param {unknown} error
   * @param {(words: Words) => string} [after]
   */
  fail(error, after = () => "") {
    const { reason, detail } = error instanceof DeniableError ? error : new DeniableError("page");
    this.say((words) => `${words.reasons[reason]} ${detail && `(${detail})`} ${after(words)}`);
    this.tell("error", reason);
  }

  /**
   * @param {"ready" | "sent" | "error"} what
   * @param {string} [reason]
   */
  tell(what, reason) {
    this.#form.dispatchEvent(new CustomEvent(`deniable-${what}`, { bubbles: true, detail: { reason } }));
  }
}

/** @param {HTMLFormElement} form */
function checkMarkup(form) {
  const field = form.querySelector("fieldset");
  const inside = field ? [...field.querySelectorAll("[data-name]")] : [];
  const wrong =
    (form.getAttribute("method") !== "dialog" && 'method must be "dialog"') ||
    (form.hasAttribute("action") && "it has an action") ||
    (!field?.disabled && "its fieldset is not disabled") ||
    (inside.length !== form.querySelectorAll("[data-name]").length && "a control is outside the fieldset") ||
    ([...form.elements].some((control) => control.hasAttribute("name")) && "a control has a name; use data-name") ||
    (form.querySelector("[formaction], [formmethod]") && "a button submits elsewhere");
  if (wrong || !field) throw new DeniableError("page", `form: ${wrong}`);
  return field;
}

/**
 * @param {Question} question
 * @param {Control[]} controls
 */
function checkControls(question, controls) {
  const { kind, name, optional } = question;
  const fits = { number: /^(number|range|text)$/, multiple: /^(checkbox|select-multiple)$/ };
  const type = fits[/** @type {keyof fits} */ (kind)] ?? /^(radio|select-one)$/;
  const values = controls.flatMap((control) =>
    control instanceof HTMLSelectElement ? Array.from(control.options, ({ value }) => value) : [control.value],
  );
  const wrong =
    (controls.length === 0 && !optional && "no control has this data-name") ||
    (!controls.every((control) => type.test(control.type)) && `expected controls that fit "${kind}"`) ||
    (kind !== "number" && values.find((value) => value && placeOf(question, value) < 0) && "a value is not exactly one of its options");
  if (wrong) throw new DeniableError("page", `${name}: ${wrong}`);
}

/** What is chosen in a control. */
function chosen(/** @type {Control} */ control) {
  if (control instanceof HTMLSelectElement) return Array.from(control.selectedOptions, ({ value }) => value);
  return control.checked ? [control.value] : [];
}

/**
 * Values are options, in any of the survey's languages; one that names two options in two languages
 * names none.
 * @param {Question} question
 * @param {string} value
 */
function placeOf({ options }, value) {
  const places = options.flatMap((option, place) => (Object.values(option).includes(value) ? [place] : []));
  return places.length === 1 ? places[0] : -1;
}

for (const form of document.querySelectorAll("form")) if (form.dataset.deniable !== undefined) void attach(form);
