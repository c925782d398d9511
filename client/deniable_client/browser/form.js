/**
 * The form. Each element with `data-survey` (the survey's address) and `data-digest` (the survey it
 * was made for) becomes one; `embed.js` makes others. `lang` sets a language.
 *
 * True answers are only ever the checked state of radio buttons inside a closed shadow root. They
 * are read once, on sending, and cleared then and whenever the page is left.
 */

import { checkArm, DeniableError, fetchSurvey } from "./deniable.js";
import { Device } from "./device.js";
import { make, Page } from "./page.js";

/** @import {Answer, Asked, Place, Question, Survey, Text, Words} from "./types.js" */

/**
 * Put the form into an element, which is told what happens, but never an answer.
 * @param {HTMLElement} host
 * @param {Place} place
 */
export async function open(host, { src, digest, ...asked }) {
  const page = new Page(host);
  page.show(page.say("p", "loading", { role: "status" }));
  try {
    const survey = await fetchSurvey(new URL(src, document.baseURI).href, digest);
    await new Form(page, survey, await Device.open(), asked).start();
    page.tell("ready");
  } catch (error) {
    refuse(page, error);
  }
}

class Form {
  #page;
  #survey;
  #device;
  #asked;

  /**
   * @param {Page} page
   * @param {Survey} survey
   * @param {Device} device
   * @param {Asked} asked
   */
  constructor(page, survey, device, asked) {
    this.#page = page;
    this.#survey = survey;
    this.#device = device;
    this.#asked = asked;
  }

  async start() {
    this.#page.choose(languagesOf(this.#survey));
    checkArm(this.#survey, this.#asked.arm);
    if (await this.#device.find(this.#survey, this.#asked.arm)) return void this.#send();
    await this.#device.check(this.#survey, this.#asked);
    this.#ask();
  }

  #ask() {
    const page = this.#page;
    const { intro, language, questions } = this.#survey;
    // "dialog" and no dialog: submitting goes nowhere, even if the script were to fail half-way.
    const form = make("form", { method: "dialog", autocomplete: "off", novalidate: "" });
    const alert = make("p", { role: "alert", class: "error" });
    const groups = questions.map((question) => this.#question(question));
    const button = page.say("button", "send", { type: "button" });
    form.append(...groups, alert, button, page.say("p", "afterwards", { class: "hint" }));
    // Sending cannot be undone, so Enter in a field does not: only the button does.
    form.addEventListener("submit", (event) => event.preventDefault());
    button.addEventListener("click", () => void this.#submit(form, alert));
    form.addEventListener("change", ({ target }) => {
      page.clear(alert);
      if (target instanceof Element) target.closest("fieldset")?.removeAttribute("aria-invalid");
    });
    // The back/forward cache would bring the page back with its answers still marked.
    addEventListener("pagehide", () => form.reset());
    const before = intro ? [page.spoken("p", intro, language, { class: "intro" })] : [];
    const note = page.say("p", "notLasting", { class: "note" });
    note.hidden = this.#device.lasting;
    page.show(...this.#heading(), ...before, this.#promise(), note, form);
  }

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} alert
   */
  async #submit(form, alert) {
    const { questions } = this.#survey;
    const given = Array.from(new FormData(form), ([name, index]) => [name, Number(index)]);
    if (given.length < questions.length) return this.#point(form, alert);
    /** @type {Record<string, Answer>} */
    const answers = Object.fromEntries(given);
    for (const { name, options } of questions) if (answers[name] === options.length) answers[name] = null;
    try {
      await this.#device.respond(this.#survey, answers, this.#asked);
    } catch (error) {
      form.reset();
      return refuse(this.#page, error);
    }
    form.reset();
    void this.#send();
  }

  /**
   * Mark every question without an answer, and go to the first.
   * @param {HTMLFormElement} form
   * @param {HTMLElement} alert
   */
  #point(form, alert) {
    const groups = [...form.querySelectorAll("fieldset")];
    const open = groups.filter((group) => !group.querySelector(":checked"));
    open.forEach((group) => group.setAttribute("aria-invalid", "true"));
    this.#page.write(alert, (words) => words.open(open.length));
    open[0].querySelector("input")?.focus();
  }

  /** Send the report that waits, if one does: no survey gets a second. */
  async #send() {
    const page = this.#page;
    const report = (await this.#device.find(this.#survey, this.#asked.arm))?.report;
    if (report === undefined) return this.#already();
    const progress = make("p", { role: "status" });
    this.#status("sending", progress);
    try {
      await this.#device.submit(this.#survey, this.#asked.arm, {
        onRetry: (attempt, attempts) => page.write(progress, (words) => words.again(attempt, attempts)),
        onOffline: () => this.#waiting(report, page.say("p", "offline")),
      });
    } catch (error) {
      this.#waiting(report, problem(page, error));
      return fail(page, error);
    }
    this.#status("sent", page.say("p", "whatLeft"), ...this.#report(report));
    page.tell("sent");
  }

  /**
   * @param {string} report
   * @param {HTMLElement} why
   */
  #waiting(report, why) {
    const page = this.#page;
    const again = page.say("button", "resend");
    again.addEventListener("click", () => void this.#send());
    const kept = page.say("p", this.#device.lasting ? "kept" : "keptHere");
    this.#status("notSent", why, kept, again, ...this.#report(report));
  }

  #already() {
    const belief = this.#page.say("p", (words) => words.belief(this.#survey.odds));
    this.#status("already", this.#page.say("p", "onlyOnce"), belief);
  }

  /**
   * Show a stage other than the questions, and put the focus on what it says.
   * @param {"sending" | "sent" | "notSent" | "already"} status
   * @param {...HTMLElement} content
   */
  #status(status, ...content) {
    this.#page.show(...this.#heading(), this.#page.say("h2", status, { tabindex: "-1" }), ...content);
  }

  #heading() {
    const title = this.#page.spoken("h1", this.#survey.title, this.#survey.language);
    const languages = languagesOf(this.#survey);
    return languages.length < 2 ? [title] : [this.#page.selector(languages), title];
  }

  /** @param {Question} question */
  #question({ name, text, options, optional, channel }) {
    const page = this.#page;
    const id = `about-${name}`;
    const group = make("fieldset", { role: "radiogroup", "aria-required": "true", "aria-describedby": id });
    const explain = (/** @type {Words} */ words) =>
      words.explain(channel) + (optional ? ` ${words.optional}` : "");
    group.append(
      page.spoken("legend", text, this.#survey.language),
      page.say("p", explain, { id, class: "hint" }),
      page.say("p", "choose", { class: "error" }),
    );
    for (let index = 0; index < channel.k; index++) {
      const choice = make("label");
      choice.append(make("input", { type: "radio", name, value: `${index}` }), this.#option("span", options[index]));
      group.append(choice);
    }
    return group;
  }

  #promise() {
    const page = this.#page;
    const box = make("section", { class: "promise" });
    const details = make("details");
    const digest = make("code");
    digest.textContent = this.#survey.digest;
    details.append(page.say("summary", "learn"), page.say("p", "facts", { class: "facts" }), digest);
    box.append(
      page.say("h2", "deniable"),
      page.say("p", "howItWorks"),
      page.say("p", (words) => words.belief(this.#survey.odds)),
      details,
    );
    return box;
  }

  /**
   * What is in a report: in words, and to the byte.
   * @param {string} report
   */
  #report(report) {
    const { answers } = JSON.parse(report);
    const list = make("dl");
    for (const { name, text, options } of this.#survey.questions) {
      list.append(this.#page.spoken("dt", text, this.#survey.language));
      for (const index of answers[name]) list.append(this.#option("dd", options[index]));
    }
    const exact = make("pre", { dir: "ltr" });
    exact.textContent = report;
    return [list, this.#page.say("p", (words) => words.bytes(report.length), { class: "hint" }), exact];
  }

  /**
   * An option of a question; past the last one, not answering.
   * @param {"span" | "dd"} tag
   * @param {Text | undefined} text
   */
  #option(tag, text) {
    return text ? this.#page.spoken(tag, text, this.#survey.language) : this.#page.say(tag, "noAnswer");
  }
}

function refuse(/** @type {Page} */ page, /** @type {unknown} */ error) {
  page.show(page.say("h1", "refusal", { tabindex: "-1" }), problem(page, error));
  fail(page, error);
}

function fail(/** @type {Page} */ page, /** @type {unknown} */ error) {
  page.tell("error", error instanceof DeniableError ? error.reason : "page");
}

function problem(/** @type {Page} */ page, /** @type {unknown} */ error) {
  if (!(error instanceof DeniableError)) throw error;
  const detail = error.detail && ` (${error.detail})`;
  return page.say("p", (words) => words.reasons[error.reason] + detail, { role: "alert", class: "error" });
}

/**
 * Every language in which anything is said, the survey's own first.
 * @param {Survey} survey
 */
function languagesOf({ language, title, intro = {}, questions }) {
  const texts = [title, intro, ...questions.flatMap(({ text, options }) => [text, ...options])];
  const others = new Set(texts.flatMap((text) => Object.keys(text)));
  others.delete(language);
  return [language, ...[...others].sort()];
}

for (const host of document.querySelectorAll("[data-survey]")) {
  if (!(host instanceof HTMLElement)) continue;
  const { survey: src = "", digest = "", arm } = host.dataset;
  void open(host, { src, digest, arm });
}
