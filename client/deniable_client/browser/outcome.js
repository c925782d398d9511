/** Answering, and what became of the report: on its way, waiting, or sent; and exactly what was in it. */

import { Device } from "./device.js";
import { belief } from "./odds.js";
import { make } from "./page.js";
import { DeniableError, itemsOf, pointsOf } from "./randomizer.js";

/** @import {Answer, Memory, Question, Text} from "./types.js" */
/** @import {Form} from "./form.js" */
/** @import {Page} from "./page.js" */

export class Outcome {
  #form;
  #device;

  /** @param {Form} form */
  constructor(form) {
    this.#form = form;
    this.#device = Device.of(form.device);
  }

  /** Send what an earlier survey at this address left behind. */
  catchUp() {
    return this.#device.catchUp(this.#form.survey);
  }

  /**
   * Draw the report, keep it, and send it.
   * @param {Record<string, Answer>} answers
   */
  async answer(answers) {
    await this.#device.respond(this.#form.survey, answers, this.#form.terms);
    await this.send();
  }

  /**
   * Say what became of an earlier report, and send it if it still waits: no survey gets a second.
   * @param {Memory} memory
   */
  resume({ report }) {
    return report ? this.send() : this.#already();
  }

  async send() {
    const { page, survey, terms } = this.#form;
    const device = this.#device;
    const report = (await device.find(survey, terms.arm))?.report;
    if (report === undefined) return this.#already();
    const progress = make("p", { role: "status" });
    this.#show("sending", progress);
    try {
      await device.submit(survey, terms.arm, {
        onRetry: (attempt, attempts) =>
          page.write(progress, (words, count) => words.again(count(attempt), count(attempts))),
        onOffline: () => page.write(progress, "offline"),
      });
    } catch (error) {
      if (error instanceof DeniableError && error.reason === "answered") return this.#already(); // by another tab
      return this.#waiting(report, error);
    }
    this.#show("sent", page.say("p", "whatLeft"), ...this.#contents(report), await this.#total());
    page.tell("sent");
  }

  /**
   * @param {string} report
   * @param {unknown} error
   */
  #waiting(report, error) {
    const { page } = this.#form;
    const again = page.say("button", "resend", { type: "button" });
    again.addEventListener("click", () => void this.send());
    const kept = page.say("p", this.#device.lasting ? "kept" : "keptHere");
    this.#show("notSent", problem(page, error), kept, again, ...this.#contents(report));
  }

  async #already() {
    this.#show("already", this.#form.page.say("p", "onlyOnce"), await this.#total());
  }

  async #total() {
    const spent = await this.#device.spent();
    return this.#form.page.say("p", (words, count) => words.total(count(belief(spent))));
  }

  /**
   * Show a stage other than the questions, and put the focus on what it says.
   * @param {"sending" | "sent" | "notSent" | "already"} status
   * @param {...HTMLElement} content
   */
  #show(status, ...content) {
    const { page } = this.#form;
    page.show(...this.#form.heading(), page.say("h2", status, { tabindex: "-1" }), ...content);
  }

  /**
   * What is in a report: in words, and to the byte.
   * @param {string} report
   */
  #contents(report) {
    const { page, survey } = this.#form;
    const answers = new Map(Object.entries(JSON.parse(report).answers));
    const list = make("dl");
    for (const question of survey.questions) {
      list.append(this.#spoken("dt", question.text));
      itemsOf(question).forEach((item, place) => list.append(...this.#item(question, place, answers.get(item))));
    }
    const size = page.say("p", (words, count) => words.bytes(count(report.length)), { class: "hint" });
    const exact = make("pre", { dir: "ltr" });
    exact.textContent = report;
    return [list, size, exact];
  }

  /**
   * @param {Question} question
   * @param {number} place of the box, in a `multiple`
   * @param {number[] | undefined} drawn
   */
  #item(question, place, drawn) {
    const { page, survey } = this.#form;
    const values = drawn
      ? drawn.map((index) => optionOf(page, survey.language, question, index, "span"))
      : [page.say("span", "notPicked", { class: "hint" })];
    if (question.kind !== "multiple") return values.map((value) => make("dd", {}, value));
    return values.map((value) => make("dd", { class: "box" }, this.#spoken("span", question.options[place]), value));
  }

  /**
   * @param {"dt" | "span"} tag
   * @param {Text} text
   */
  #spoken(tag, text) {
    return this.#form.page.spoken(tag, text, this.#form.survey.language);
  }
}

/**
 * An option as people read it; past the last one not answering, then not being asked.
 * @param {Page} page
 * @param {string} language of texts that are not translated
 * @param {Question} question
 * @param {number} index
 * @param {"span" | "option"} tag
 */
export function optionOf(page, language, question, index, tag) {
  const { kind, options, optional, number } = question;
  const points = pointsOf(question);
  if (index >= points) return page.say(tag, optional && index === points ? "noAnswer" : "notAsked");
  if (kind === "multiple") return page.say(tag, index ? "no" : "yes");
  if (!number) return page.spoken(tag, options[index], language);
  const [low, high] = [Number(number.min), Number(number.max)];
  const value = low + (index * (high - low)) / (points - 1);
  return page.say(tag, (_, count, spoken) => {
    const unit = number.unit ? ` ${number.unit[spoken] ?? number.unit[language]}` : "";
    return count(Number(value.toPrecision(6))) + unit;
  });
}

/**
 * Say why the survey cannot be answered.
 * @param {Page} page
 * @param {unknown} error
 */
export function refuse(page, error) {
  page.show(page.say("h1", "refusal", { tabindex: "-1" }), problem(page, error));
}

/**
 * @param {Page} page
 * @param {unknown} error
 */
function problem(page, error) {
  const { reason, detail } = error instanceof DeniableError ? error : new DeniableError("page");
  if (!(error instanceof DeniableError)) reportError(error); // a mistake of ours, in the console
  page.tell("error", reason);
  return page.say("p", (words) => words.reasons[reason] + (detail && ` (${detail})`), { role: "alert", class: "error" });
}
