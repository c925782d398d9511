/**
 * `<deniable-survey src="…" digest="sha256-…" lang="…" max-epsilon="…" arm="…">`: the form of a survey in
 * any page. It tells what happens by the events `deniable-ready`, `deniable-sent` and `deniable-error`,
 * none of which holds an answer.
 */

import { mount } from "./form.js";

// What a person does inside bubbles no further: a page that counts clicks or keys gets none of these. One that
// listens before its elements do ("capture", as session recorders have it) cannot be kept from it.
const OWN =
  "beforeinput input compositionupdate compositionend paste click dblclick auxclick " +
  "keydown keyup keypress pointerdown pointerup mousedown mouseup touchstart touchend focusin focusout";

class DeniableSurvey extends HTMLElement {
  #begun = false;

  connectedCallback() {
    if (this.#begun) return; // moved within the page
    this.#begun = true;
    for (const kind of OWN.split(" ")) this.addEventListener(kind, (event) => event.stopPropagation());
    queueMicrotask(() => {
      const said = (/** @type {string} */ name) => this.getAttribute(name) ?? undefined; // by now, all are set
      void mount(this, { survey: said("src"), digest: said("digest"), arm: said("arm"), maxEpsilon: said("max-epsilon") });
    });
  }
}

customElements.define("deniable-survey", DeniableSurvey);
