/**
 * The form. Each element with `data-survey` (the survey's address) and `data-digest` (the survey it
 * was made for) becomes a form; `data-max-epsilon` sets another limit than 4, `lang` a language.
 *
 * True answers are only ever the checked state of radio buttons inside a closed shadow root. They
 * are read once, on sending, and cleared then and whenever the page is left.
 */

import { DeniableError, fetchSurvey, MAX_EPSILON, prepare, send } from "./deniable.js";
import { Device } from "./device.js";
import { direction, wordsFor } from "./words.js";

/** @typedef {import("./deniable.js").Survey} Survey */
/** @typedef {import("./deniable.js").Question} Question */
/** @typedef {import("./deniable.js").Text} Text */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {(words: Words) => string} Say */

class Form {
  #stage = make("div", { class: "deniable" });
  #device = Device.open();
  #address;
  #limit;
  #language;
  /** @type {Survey | undefined} */
  #survey;
  /** @type {(() => void)[]} writes every text that is shown, in the language of now */
  #texts = [];

  /** @param {HTMLElement} host */
  constructor(host) {
    const { survey, digest = "", maxEpsilon } = host.dataset;
    this.#address = new URL(survey ?? "", document.baseURI).href;
    this.#limit = Number(maxEpsilon ?? MAX_EPSILON);
    this.#language = host.lang;
    const style = make("link", { rel: "stylesheet", href: new URL("deniable.css", import.meta.url).href });
    host.attachShadow({ mode: "closed" }).append(style, this.#stage);
    this.#show(this.#say("p", (words) => words.loading, { role: "status" }));
    void this.#open(digest);
  }

  /** @param {string} digest */
  async #open(digest) {
    try {
      this.#survey = await fetchSurvey(this.#address, digest);
      this.#language = choose(languagesOf(this.#survey), [this.#language, ...navigator.languages]);
      const memory = this.#device.find(this.#survey);
      if (memory) return memory.report ? this.#waiting(memory.report) : this.#already();
      this.#device.check(this.#survey, this.#limit);
      this.#ask(this.#survey);
    } catch (error) {
      this.#refuse(reasonIn(error));
    }
  }

  // Stages: asking, sending, sent; or waiting, already answered, refused.

  /** @param {Survey} survey */
  #ask(survey) {
    // "dialog" and no dialog: submitting goes nowhere, even if the script below were to fail.
    const form = make("form", { method: "dialog", autocomplete: "off", novalidate: "" });
    const alert = make("p", { role: "alert", class: "error" });
    const button = this.#say("button", (words) => words.send, { type: "submit" });
    const afterwards = this.#say("p", (words) => words.afterwards, { class: "hint" });
    const note = this.#device.lasting ? [] : [this.#say("p", (words) => words.notLasting, { class: "note" })];
    form.append(...survey.questions.map((question) => this.#question(question)), alert, button, afterwards);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(survey, form, alert);
    });
    // The back/forward cache would bring back a page with its answers still marked.
    addEventListener("pagehide", () => form.reset());
    const intro = survey.intro ? [this.#spoken("p", survey.intro, { class: "intro" })] : [];
    this.#show(...this.#heading(survey), ...intro, this.#promise(survey), ...note, form);
  }

  /**
   * @param {Survey} survey
   * @param {HTMLFormElement} form
   * @param {HTMLElement} alert
   */
  #submit(survey, form, alert) {
    const known = this.#device.find(survey); // another tab may have been quicker
    if (known) {
      form.reset();
      return known.report ? this.#waiting(known.report) : this.#already();
    }
    try {
      const randomize = prepare(survey); // all the noise is drawn before an answer is looked at
      const answers = this.#read(survey, form, alert);
      if (answers === null) return undefined;
      this.#device.keep(survey, randomize(answers));
    } catch (error) {
      form.reset();
      return this.#refuse(reasonIn(error));
    }
    form.reset();
    return this.#send(survey);
  }

  /**
   * Read the true answers, or point at the first question without one.
   * @param {Survey} survey
   * @param {HTMLFormElement} form
   * @param {HTMLElement} alert
   * @returns {Record<string, number> | null}
   */
  #read(survey, form, alert) {
    const checked = new Map(Array.from(new FormData(form), ([name, index]) => [name, Number(index)]));
    const open = survey.questions.filter(({ name }) => !checked.has(name));
    for (const group of form.querySelectorAll("fieldset")) {
      group.toggleAttribute("data-open", open.some(({ name }) => name === group.name));
    }
    alert.textContent = "";
    if (open.length === 0) return Object.fromEntries(checked);
    this.#write(alert, (words) => words.missing(open.length));
    const first = /** @type {HTMLElement} */ (form.querySelector("[data-open] input"));
    first.focus();
    return null;
  }

  /** @param {Survey} survey */
  async #send(survey) {
    const report = this.#device.find(survey)?.report;
    if (report === undefined) return this.#already();
    const progress = this.#say("p", (words) => words.sending, { role: "status" });
    this.#show(...this.#heading(survey), progress);
    try {
      await send(report, this.#address, {
        onRetry: (attempt, attempts) => this.#write(progress, (words) => words.again(attempt, attempts)),
      });
    } catch (error) {
      return this.#waiting(report, reasonIn(error));
    }
    this.#device.settle(survey);
    return this.#show(
      ...this.#heading(survey),
      this.#status((words) => words.sent),
      this.#say("p", (words) => `${words.whatLeft} ${words.gone}`),
      ...this.#report(survey, report),
    );
  }

  /**
   * @param {string} report
   * @param {DeniableError} [error]
   */
  #waiting(report, error) {
    const survey = /** @type {Survey} */ (this.#survey);
    const again = this.#say("button", (words) => words.resend, { type: "button" });
    again.addEventListener("click", () => void this.#send(survey));
    this.#show(
      ...this.#heading(survey),
      this.#status((words) => (error ? words.notSent : words.waiting)),
      error ? this.#problem(error) : this.#say("p", (words) => words.waitingWhy),
      this.#say("p", (words) => (this.#device.lasting ? words.kept : words.keptHere)),
      again,
      this.#say("p", (words) => words.whatWaits),
      ...this.#report(survey, report),
    );
  }

  #already() {
    const survey = /** @type {Survey} */ (this.#survey);
    this.#show(
      ...this.#heading(survey),
      this.#status((words) => words.already),
      this.#say("p", (words) => words.alreadyWhy),
      this.#say("p", (words) => words.belief(survey.odds)),
    );
  }

  /** @param {DeniableError} error */
  #refuse(error) {
    const heading = this.#survey ? this.#heading(this.#survey) : [];
    this.#show(
      ...heading,
      this.#status((words) => words.refusal, heading.length ? "h2" : "h1"),
      this.#problem(error),
      this.#say("p", (words) => words.untouched),
    );
  }

  // Parts of a stage.

  /** @param {Question} question */
  #question({ name, text, options, optional, channel }) {
    const hint = `${name}-hint`;
    const group = make("fieldset", { name, role: "radiogroup", "aria-required": "true", "aria-describedby": hint });
    const labels = options.map((option) => this.#spoken("span", option));
    if (optional) labels.push(this.#say("span", (words) => words.noAnswer));
    const choices = labels.map((label, index) => {
      const choice = make("label");
      choice.append(make("input", { type: "radio", name, value: `${index}` }), label);
      return choice;
    });
    const explained = this.#say("p", (words) => `${words.explain(channel)} ${optional ? words.optional : ""}`, { id: hint, class: "hint" });
    group.append(
      this.#spoken("legend", text),
      explained,
      this.#say("p", (words) => words.choose, { class: "error" }),
      ...choices,
    );
    return group;
  }

  /** @param {Survey} survey */
  #promise(survey) {
    const box = make("section", { class: "promise" });
    const details = make("details");
    const list = make("ul");
    const { can, cannot } = wordsFor(this.#language)[1];
    for (const place of cannot.keys()) list.append(this.#say("li", (words) => words.cannot[place]));
    for (const place of can.keys()) list.append(this.#say("li", (words) => words.can[place]));
    const digest = make("code");
    digest.textContent = survey.digest;
    details.append(
      this.#say("summary", (words) => words.learn),
      list,
      this.#say("p", (words) => words.trust),
      digest,
    );
    box.append(
      this.#say("h2", (words) => words.deniable),
      this.#say("p", (words) => words.howItWorks),
      this.#say("p", (words) => words.belief(survey.odds)),
      details,
    );
    return box;
  }

  /**
   * What is in a report: in words, and to the byte.
   * @param {Survey} survey
   * @param {string} report
   */
  #report(survey, report) {
    const { answers } = JSON.parse(report);
    const list = make("dl");
    for (const { name, text, options } of survey.questions) {
      list.append(this.#spoken("dt", text));
      for (const index of answers[name]) {
        const option = options[index];
        list.append(option ? this.#spoken("dd", option) : this.#say("dd", (words) => words.noAnswer));
      }
    }
    const exact = make("pre", { tabindex: "0", dir: "ltr" });
    exact.textContent = report;
    const caption = this.#say("p", (words) => words.bytes(report.length), { class: "hint" });
    return [list, caption, exact];
  }

  /** @param {Survey} survey */
  #heading(survey) {
    const title = this.#spoken("h1", survey.title);
    const languages = languagesOf(survey);
    if (languages.length < 2) return [title];
    const label = make("label", { class: "language" });
    const select = make("select", { autocomplete: "off" });
    for (const tag of languages) {
      const option = make("option", { value: tag, lang: tag });
      option.textContent = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
      select.append(option);
    }
    select.value = this.#language;
    select.addEventListener("change", () => this.#speak(select.value));
    label.append(this.#say("span", (words) => words.language), select);
    return [label, title];
  }

  /** @param {DeniableError} error */
  #problem({ reason, detail }) {
    const suffix = detail ? ` (${detail})` : "";
    return this.#say("p", (words) => words.reasons[reason] + suffix, { role: "alert", class: "error" });
  }

  /**
   * A heading that takes the focus once it is shown.
   * @param {Say} say
   * @param {"h1" | "h2"} [level]
   */
  #status(say, level = "h2") {
    return this.#say(level, say, { tabindex: "-1", "data-focus": "" });
  }

  // Texts and languages.

  /** @param {...HTMLElement} content */
  #show(...content) {
    this.#speak(this.#language);
    this.#stage.replaceChildren(...content);
    /** @type {HTMLElement | null} */ (this.#stage.querySelector("[data-focus]"))?.focus();
  }

  /** @param {string} language */
  #speak(language) {
    this.#language = language;
    this.#stage.lang = language;
    this.#stage.dir = direction(language);
    this.#texts.forEach((write) => write());
  }

  /**
   * An element with a text of the interface.
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {Say} say
   * @param {Record<string, string>} [attributes]
   */
  #say(tag, say, attributes) {
    const element = make(tag, attributes);
    this.#write(element, say);
    return element;
  }

  /**
   * @param {HTMLElement} element
   * @param {Say} say
   */
  #write(element, say) {
    this.#bind(element, () => {
      const [language, words] = wordsFor(this.#language);
      return [language, say(words)];
    });
  }

  /**
   * An element with a text of the survey.
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {Text} text
   * @param {Record<string, string>} [attributes]
   */
  #spoken(tag, text, attributes) {
    const element = make(tag, attributes);
    this.#bind(element, () => {
      const own = /** @type {Survey} */ (this.#survey).language;
      const language = Object.hasOwn(text, this.#language) ? this.#language : own;
      return [language, text[language]];
    });
    return element;
  }

  /**
   * @param {HTMLElement} element
   * @param {() => [string, string]} find
   */
  #bind(element, find) {
    const write = () => {
      const [language, text] = find();
      element.textContent = text;
      element.lang = language;
      element.dir = direction(language);
    };
    write();
    this.#texts.push(write);
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** @param {unknown} error */
function reasonIn(error) {
  if (error instanceof DeniableError) return error;
  throw error;
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

/**
 * @param {string[]} known
 * @param {readonly string[]} wanted
 */
function choose(known, wanted) {
  const match = (/** @type {string} */ tag) =>
    known.find((own) => own === tag) ?? known.find((own) => own.split("-")[0] === tag.split("-")[0]);
  return wanted.map(match).find(Boolean) ?? known[0];
}

for (const host of document.querySelectorAll("[data-survey]")) {
  if (host instanceof HTMLElement) new Form(host);
}
