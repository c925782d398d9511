/** After one person's answers: thanks, and a clean form for the next. Stands in for `outcome.js`. */

/** @import {Answer} from "../types.js" */
/** @import {Form} from "../form.js" */
/** @import {Page} from "../page.js" */

export class Outcome {
  #form;

  /** @param {Form} form */
  constructor(form) {
    this.#form = form;
  }

  /** Nothing waits here: what is kept is a file's. */
  async catchUp() {}

  /** @param {Record<string, Answer>} answers */
  async answer(answers) {
    const { page, survey, terms } = this.#form;
    const device = /** @type {any} */ (this.#form.device); // the kit's own
    await device.respond(survey, answers, terms);
    const next = page.say("button", "next", { type: "button" });
    next.addEventListener("click", () => page.host.dispatchEvent(new Event("deniable-next", { bubbles: true })));
    page.show(...this.#form.heading(), page.say("h2", "stored", { tabindex: "-1" }), page.say("p", "gone"), next);
    page.tell("sent");
  }
}

/** @param {Page} page */
export function refuse(page) {
  page.show(page.say("p", "noRoom", { role: "alert" }));
}

/** @param {Form} form */
export async function learn({ page }) {
  return [page.say("p", "how")];
}
