/** What is on the screen, in the language of now: a closed shadow root and the texts in it. */

import { linkTo, load } from "./pins.js";

/** @import {Text} from "./types.js" */
/** @import {Attributes, Count, Say, Words} from "./words.js" */

const INTERFACE = ["en", "bn", "zh-Hant"];
const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/;

export class Page {
  #stage = make("div", { class: "deniable" });
  #parts = ["words"];
  #turn = Promise.resolve();
  #words = /** @type {Words} */ ({});
  #language = "en"; // of the survey's texts
  #spoken = "en"; // of the interface, which has fewer
  /** @type {Map<Element, () => void>} writes the text of each element */
  #texts = new Map();

  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    host.attachShadow({ mode: "closed" }).append(sheet("deniable.css"), this.#stage);
  }

  /**
   * Replace everything. A heading made to take the focus takes it.
   * @param {...HTMLElement} content
   */
  show(...content) {
    this.#stage.replaceChildren(...content);
    content.find((element) => element.hasAttribute("tabindex"))?.focus();
  }

  /**
   * Speak the reader's language if it is one of these, else the first.
   * @param {string[]} languages
   */
  choose(languages = INTERFACE) {
    return this.speak(closest(this.#wanted, languages) ?? languages[0]);
  }

  /** Tell the page that holds the form what happened; never an answer. */
  tell(/** @type {"ready" | "sent" | "error"} */ what, reason = "") {
    this.host.dispatchEvent(new CustomEvent(`deniable-${what}`, { bubbles: true, composed: true, detail: { reason } }));
  }

  /** @param {string} language */
  speak(language) {
    return this.#inTurn(() => this.#speak(language, ...this.#parts));
  }

  /** Load the texts and the looks of what was sent and how it works, once they are needed. */
  more() {
    return this.#inTurn(async () => {
      if (this.#parts[1]) return;
      await this.#speak(this.#language, "words", "more");
      this.#stage.before(sheet("more.css"));
    });
  }

  /**
   * One after the other: texts that were asked for earlier may come later, and are not what was chosen last.
   * @param {() => Promise<void>} work
   */
  #inTurn(work) {
    return (this.#turn = this.#turn.then(work, work));
  }

  /**
   * @param {string} language
   * @param {...string} parts
   */
  async #speak(language, ...parts) {
    const spoken = closest([language, ...this.#wanted], INTERFACE) ?? "en";
    const found = await Promise.all(parts.map((part) => load(`${part}.${spoken}.js`)));
    this.#words = Object.assign({}, ...found.map((part) => part.default));
    this.#parts = parts;
    this.#spoken = spoken;
    this.#language = language;
    mark(this.#stage, language);
    this.#texts.forEach((write) => write());
  }

  /** @type {Count} */
  #count = (number) => number.toLocaleString(this.#spoken);

  get #wanted() {
    return [this.host.lang, ...navigator.languages];
  }

  /**
   * The title, below a choice of languages if there are several.
   * @param {Text} title
   * @param {string[]} languages
   */
  heading(title, languages) {
    const heading = this.spoken("h1", title, languages[0]);
    if (languages.length < 2) return [heading];
    const name = (/** @type {string} */ tag) => new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
    const options = languages.map((tag) => make("option", { value: tag, lang: tag }, name(tag)));
    const select = make("select", { autocomplete: "off" }, ...options);
    select.value = this.#language;
    select.onchange = () => this.speak(select.value).catch(() => (select.value = this.#language));
    return [make("label", { class: "language" }, this.say("span", "language"), select), heading];
  }

  /**
   * An element with a text of the survey; in `fallback` where it is not translated.
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {Text} text
   * @param {string} fallback
   * @param {Attributes} [attributes]
   */
  spoken(tag, text, fallback, attributes) {
    return this.#bind(make(tag, attributes), () => {
      const language = text[this.#language] ? this.#language : fallback;
      return [language, text[language]];
    });
  }

  /**
   * An element with a text of the interface.
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {Say} say
   * @param {Attributes} [attributes]
   */
  say(tag, say, attributes) {
    return this.write(make(tag, attributes), say);
  }

  /**
   * @param {HTMLElement} element
   * @param {Say} say
   */
  write(element, say) {
    return this.#bind(element, () => [this.#spoken, this.text(say)]);
  }

  /** A text of the interface as it is now. */
  text(/** @type {Say} */ say) {
    return typeof say === "string" ? this.#words[say] : say(this.#words, this.#count, this.#language);
  }

  /** @param {HTMLElement} element */
  clear(element) {
    this.#texts.delete(element);
    element.textContent = "";
  }

  /**
   * @param {HTMLElement} element
   * @param {() => [string, string]} find
   */
  #bind(element, find) {
    this.bind(element, () => {
      const [language, text] = find();
      if (element.textContent !== text) element.textContent = text; // else it would be read out once more
      mark(element, language);
    });
    return element;
  }

  /**
   * Write something now, and again whenever the language changes.
   * @param {Element} element
   * @param {() => void} write
   */
  bind(element, write) {
    write();
    this.#texts.set(element, write);
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(HTMLElement | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  element.setAttribute("part", tag); // a page that embeds the form may style `::part(button)`
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function sheet(/** @type {string} */ name) {
  return make("link", { rel: "stylesheet", ...linkTo(name) });
}

/**
 * @param {HTMLElement} element
 * @param {string} language
 */
function mark(element, language) {
  element.lang = language;
  element.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
}

/**
 * @param {string[]} wanted
 * @param {string[]} offered
 */
function closest(wanted, offered) {
  for (const tag of wanted) {
    for (const part of [String, scriptOf, baseOf]) {
      const found = offered.find((other) => part(other) === part(tag));
      if (found) return found;
    }
  }
}

function baseOf(/** @type {string} */ tag) {
  return tag.split("-")[0];
}

/** Readers of zh-TW read zh-Hant. */
function scriptOf(/** @type {string} */ tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return language + script;
  } catch {
    return tag; // not a tag that the browser knows
  }
}
