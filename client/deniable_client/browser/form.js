/**
 * The form, in an element of a page.
 *
 * True answers are only ever the state of controls inside a closed shadow root. They are read once, on
 * sending, and cleared then and whenever the page is left.
 */

import { checkArm, hidden } from "./randomizer.js";
import { fetchSurvey } from "./fetch.js";
import { Keeper } from "./keeper.js";
import { belief } from "./odds.js";
import { make, Page } from "./page.js";
import { load } from "./pins.js";
import { ShownQuestion } from "./questions.js";

/** @import {Answer, Survey} from "./types.js" */

/**
 * Make an element the form of a survey. It tells what happens by the events `deniable-ready`,
 * `deniable-sent` and `deniable-error`, none of which holds an answer.
 * @param {HTMLElement} host
 * @param {{ survey?: string, digest?: string, arm?: string, maxEpsilon?: string }} settings the survey's
 *   address, the digest of the one that the page was made for, the collection arm, another limit than 4
 * @param {Keeper | Promise<Keeper>} [device]
 */
export async function mount(host, { survey = "", digest = "", arm, maxEpsilon = "4" }, device = Keeper.open()) {
  const page = new Page(host);
  try {
    await page.choose();
    page.show(page.say("p", "loading", { role: "status" }));
    const found = await fetchSurvey(new URL(survey, document.baseURI).href, digest);
    await page.choose(languagesOf(found));
    await new Form(page, found, { arm, maxEpsilon: Number(maxEpsilon) }, await device).start();
    page.tell("ready");
  } catch (error) {
    await refuse(page, error);
  }
}

export class Form {
  /** @type {ShownQuestion[]} */
  #asked = [];

  /**
   * @param {Page} page
   * @param {Survey} survey
   * @param {import("./types.js").Asked} terms
   * @param {Keeper} device
   */
  constructor(page, survey, terms, device) {
    this.page = page;
    this.survey = survey;
    this.terms = terms;
    this.device = device;
  }

  async start() {
    const { survey, terms, device } = this;
    checkArm(survey, terms.arm);
    const memory = await device.find(survey, terms.arm);
    if (memory) return void (await this.#outcome()).resume(memory);
    await device.check(survey, terms);
    if (!device.lasting) await this.page.more(); // which has the words for it
    if (survey.invite_key) await (await load("invite.js")).admit(this);
    else this.ask();
    // The connection may be lost while someone answers, so what sends is there before.
    void this.#outcome().then((outcome) => outcome.catchUp()).catch(() => null);
  }

  /** The title and a choice of languages. */
  heading() {
    return this.page.heading(this.survey.title, languagesOf(this.survey));
  }

  ask() {
    const { page, survey, device } = this;
    const { intro, language, questions, ask } = survey;
    this.#asked = questions.map((question) => new ShownQuestion(page, question, language));
    const alert = make("p", { role: "alert", class: "error" });
    const button = page.say("button", "send", { type: "button" });
    const groups = this.#asked.map(({ group }) => group);
    // "dialog" and no dialog: submitting goes nowhere, even if the script were to fail half-way.
    const form = make("form", { method: "dialog", autocomplete: "off", novalidate: "" });
    form.append(...groups, alert, button, page.say("p", "afterwards", { class: "hint" }));
    // Sending cannot be undone, so Enter in a field does not send: only the button does.
    form.onsubmit = (event) => event.preventDefault();
    form.oninput = () => {
      page.clear(alert);
      this.#hide();
    };
    let busy = Promise.resolve(); // one click after the other
    button.onclick = () => {
      busy = busy.then(() => this.#submit(form, alert)).catch((error) => refuse(page, error));
    };
    // The back/forward cache would bring the page back with its answers still marked.
    addEventListener("pagehide", () => this.#clear(form));
    this.#hide();
    page.show(
      ...this.heading(),
      ...(intro ? [page.spoken("p", intro, language, { class: "intro" })] : []),
      this.#promise(),
      ...(device.lasting ? [] : [page.say("p", "notLasting", { class: "note" })]),
      ...(ask ? [page.say("p", (words, count) => words.some(count(ask), count(questions.length)))] : []),
      form,
    );
  }

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} alert
   */
  async #submit(form, alert) {
    if (!form.isConnected) return; // the second click of two: the first one has sent what was answered
    const open = this.#asked.filter(({ group, answer }) => !group.hidden && answer === undefined);
    if (open.length) {
      open.forEach((asked) => asked.mark(true));
      this.page.write(alert, (words, count) => words.open(count(open.length), open.length === 1));
      return open[0].focus();
    }
    const outcome = await this.#outcome().catch(() => null); // loaded before any answer is read
    if (!outcome) return void this.page.write(alert, "failed");
    const answers = this.#answers();
    this.#clear(form);
    await outcome.answer(answers);
  }

  async #outcome() {
    await this.page.more();
    return new (await load("outcome.js")).Outcome(this);
  }

  /** @returns {Record<string, Answer>} */
  #answers() {
    return Object.fromEntries(this.#asked.map(({ name, answer }) => [name, answer]));
  }

  #hide() {
    const gone = hidden(this.survey, this.#answers());
    for (const { group, name } of this.#asked) group.hidden = gone.has(name);
  }

  #clear(/** @type {HTMLFormElement} */ form) {
    form.reset();
    this.#hide();
  }

  #promise() {
    const { page, survey } = this;
    const summary = page.say("summary", "learn");
    const details = make("details", {}, summary);
    const fill = async () => {
      await this.#outcome(); // of which it takes a part
      details.replaceChildren(summary, ...(await (await load("learn.js")).learn(this)));
      details.ontoggle = null;
    };
    details.ontoggle = () => void fill().catch(() => details.replaceChildren(summary, page.say("p", "failed")));
    return make(
      "section",
      { class: "promise" },
      page.say("h2", "deniable"),
      page.say("p", "promise"),
      page.say("p", (words, count) => words.belief(count(belief(survey.odds)))),
      details,
    );
  }
}

async function refuse(/** @type {Page} */ page, /** @type {unknown} */ error) {
  try {
    await page.more();
    (await load("outcome.js")).refuse(page, error);
  } catch {
    page.show(page.say("p", "failed", { role: "alert" }));
  }
}

/**
 * The languages of the title, the survey's own first.
 * @param {Survey} survey
 */
export function languagesOf({ language, title }) {
  return [language, ...Object.keys(title).filter((tag) => tag !== language)];
}
