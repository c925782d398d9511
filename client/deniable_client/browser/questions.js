/** A question on the page: native controls in a fieldset, what they answer, and what the noise does. */

import { make } from "./page.js";
import { pointsOf } from "./randomizer.js";
import { product } from "./odds.js";

/** @import {Answer, Channel, Question} from "./types.js" */
/** @import {Page} from "./page.js" */
/** @import {Count, Words} from "./words.js" */

const SKIP = "skip";
const ROW = 11; // a scale of up to so many options is a row, also on a phone

export class ShownQuestion {
  #question;
  #page;
  #language;
  #type;

  /**
   * @param {Page} page
   * @param {Question} question
   * @param {string} language of texts that are not translated
   */
  constructor(page, question, language) {
    const { name, kind, text, optional } = question;
    this.name = name;
    this.#question = question;
    this.#page = page;
    this.#language = language;
    this.#type = kind === "multiple" || kind === "number" ? "checkbox" : "radio";
    const open = (/** @type {Words} */ words) => (kind === "number" ? words.number : words.choose);
    this.group = make(
      "fieldset",
      this.#type === "radio" ? { role: "radiogroup", "aria-required": "true" } : {},
      page.spoken("legend", text, language, { id: name }),
      page.say("p", (words, count) => this.#hint(words, count), { id: `${name}-hint`, class: "hint" }),
      page.say("p", open, { id: `${name}-open`, class: "error" }),
      ...this.#controls(),
      ...(optional ? [this.#choice(SKIP, page.say("span", "noAnswer"))] : []),
    );
    this.mark(false);
    this.group.oninput = ({ target }) => {
      this.mark(false);
      this.#exclude(/** @type {HTMLInputElement} */ (target));
    };
  }

  /** Say whether it is still open. */
  mark(/** @type {boolean} */ open) {
    const { kind, name } = this.#question;
    const told = kind === "number" ? this.#inputs[0] : this.group;
    told.setAttribute("aria-describedby", `${open ? `${name}-open ` : ""}${name}-hint`);
    if (this.#type === "radio" || kind === "number") told.setAttribute("aria-invalid", `${open}`);
    this.group.classList.toggle("open", open);
  }

  focus() {
    this.#inputs[0].focus();
  }

  /**
   * What is answered: null for not answering; undefined while nothing is, or nothing that fits.
   * @returns {Answer}
   */
  get answer() {
    const [first] = this.#inputs;
    const marked = this.#inputs.filter((input) => input.checked).map(({ value }) => value);
    if (marked.includes(SKIP)) return null;
    if (first.type === "number") return first.value && first.validity.valid ? `${Number(first.value)}` : undefined;
    return this.#type === "radio" ? marked.map(Number)[0] : marked.map(Number);
  }

  get #inputs() {
    return [...this.group.querySelectorAll("input")];
  }

  /** Not answering and answering exclude each other; radio buttons know that by themselves. */
  #exclude(/** @type {HTMLInputElement} */ touched) {
    if (this.#type === "radio") return;
    for (const input of this.#inputs) {
      if ((input.value === SKIP) === (touched.value === SKIP)) continue;
      input.checked = false;
      if (input.type === "number") input.value = "";
    }
  }

  #controls() {
    const { kind, options, number } = this.#question;
    if (number) return [this.#field(number)];
    const choices = options.map((option, place) => this.#choice(`${place}`, this.#spoken(option)));
    if (kind !== "scale" || options.length > ROW) return choices;
    const ends = [options[0], options[options.length - 1]].map((end) => this.#spoken(end));
    return [make("div", { class: "ends", "aria-hidden": "true" }, ...ends), make("div", { class: "row" }, ...choices)];
  }

  #field(/** @type {NonNullable<Question["number"]>} */ { min, max, step, unit }) {
    const { name } = this.#question;
    const field = make("input", { type: "number", min, max, step, autocomplete: "off", "aria-labelledby": name });
    field.onwheel = () => field.blur(); // else scrolling over it changes the number
    return make("div", { class: "field" }, field, ...(unit ? [this.#spoken(unit)] : []));
  }

  #choice(/** @type {string} */ value, /** @type {HTMLElement} */ text) {
    // A control that is called "reset" would stand in for the form's own method, which clears the answers.
    return make("label", {}, make("input", { type: this.#type, name: `${this.name}-`, value }), text);
  }

  #spoken(/** @type {Record<string, string>} */ text) {
    return this.#page.spoken("span", text, this.#language);
  }

  #hint(/** @type {Words} */ words, /** @type {Count} */ count) {
    const { kind, number, optional, options, ask, show_if } = this.#question;
    const said = [];
    if (number) {
      const [min, max, step] = [number.min, number.max, number.step].map((value) => count(Number(value)));
      said.push(words.range(min, max, number.step === "1" ? "" : step), words.rounded(count(pointsOf(this.#question))));
    }
    if (kind === "multiple") said.push(words.boxes);
    if (ask) said.push(words.picked(count(ask), count(options.length)));
    said.push(explain(this.#question, words, count));
    if (optional) said.push(words.optional);
    if (show_if) said.push(words.conditional);
    return said.join(words.space);
  }
}

/**
 * What the noise does with an answer.
 * @param {Question} question
 * @param {Words} words
 * @param {Count} count
 */
export function explain({ kind, channel }, words, count) {
  const { k, d } = channel;
  const [top, bottom] = chanceOf(channel);
  const what = kind === "number" ? words.value : words.truth;
  const chance =
    bottom > 20 ? words.about(count(Math.round((100 * top) / bottom))) : words.chance(count(top), count(bottom), top === 1);
  if (d > 1) return words.among(chance, count(d), count(k));
  return k === 2 ? words.other(chance, what) : words.others(chance, what, count(k - 1));
}

/**
 * The chance that the truth is in a report, in lowest terms.
 * @param {Channel} channel
 */
export function chanceOf({ k, d, a, b }) {
  const chance = product([{ a: BigInt(a * d), b: BigInt(a * d + b * (k - d)) }]); // as it reduces odds
  return [chance.a, chance.b].map(Number);
}
