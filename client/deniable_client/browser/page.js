/** What is on the screen, in the language of now: a closed shadow root and the texts in it. */

import { direction, wordsFor } from "./words.js";

/** @import {Say, Text} from "./types.js" */

export class Page {
  #stage = make("div", { class: "deniable" });
  #language;
  #host;
  /** @type {Map<HTMLElement, () => void>} writes the text of each element */
  #texts = new Map();

  /** @param {HTMLElement} host */
  constructor(host) {
    this.#host = host;
    this.#language = host.lang;
    const style = new URL("deniable.css", import.meta.url).href;
    const root = host.attachShadow({ mode: "closed" });
    root.append(make("link", { rel: "stylesheet", href: style }), this.#stage);
    this.speak(this.#language);
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
   * Tell the page around that something happened; what was answered is not part of it.
   * @param {"ready" | "sent" | "error"} what
   * @param {string} [reason]
   */
  tell(what, reason) {
    this.#host.dispatchEvent(new CustomEvent(`deniable-${what}`, { bubbles: true, detail: reason ? { reason } : null }));
  }

  /** @param {string} language */
  speak(language) {
    this.#language = language;
    mark(this.#stage, language);
    this.#texts.forEach((write) => write());
  }

  /**
   * Speak the reader's language if there is one in common, else the first.
   * @param {string[]} languages
   */
  choose(languages) {
    const base = (/** @type {string} */ tag) => tag.split("-")[0];
    const close = [this.#language, ...navigator.languages].map(
      (wanted) => languages.find((tag) => tag === wanted) ?? languages.find((tag) => base(tag) === base(wanted)),
    );
    this.speak(close.find(Boolean) ?? languages[0]);
  }

  /** @param {string[]} languages */
  selector(languages) {
    const select = make("select", { autocomplete: "off" });
    for (const tag of languages) {
      const option = make("option", { value: tag, lang: tag });
      option.textContent = new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
      select.append(option);
    }
    select.value = this.#language;
    select.addEventListener("change", () => this.speak(select.value));
    const label = make("label", { class: "language" });
    label.append(this.say("span", "language"), select);
    return label;
  }

  /**
   * An element with a text of the survey; in `fallback` where it is not translated.
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {Text} text
   * @param {string} fallback
   * @param {Record<string, string>} [attributes]
   */
  spoken(tag, text, fallback, attributes) {
    return this.#bind(make(tag, attributes), () => {
      const language = Object.hasOwn(text, this.#language) ? this.#language : fallback;
      return [language, text[language]];
    });
  }

  /**
   * An element with a text of the interface.
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {Say} say
   * @param {Record<string, string>} [attributes]
   */
  say(tag, say, attributes) {
    return this.write(make(tag, attributes), say);
  }

  /**
   * @param {HTMLElement} element
   * @param {Say} say
   */
  write(element, say) {
    return this.#bind(element, () => {
      const [language, words] = wordsFor(this.#language);
      return [language, typeof say === "string" ? words[say] : say(words)];
    });
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
    const write = () => {
      const [language, text] = find();
      element.textContent = text;
      mark(element, language);
    };
    write();
    this.#texts.set(element, write);
    return element;
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} language
 */
function mark(element, language) {
  element.lang = language;
  element.dir = direction(language);
}
