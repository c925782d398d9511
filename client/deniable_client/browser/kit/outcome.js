/** After one person's answers: thanks, and a clean form for the next. Stands in for `outcome.js`. */

/** @import {Form} from "../form.js" */
/** @import {Page} from "../page.js" */

export class Outcome {
  #form;

  /** @param {Form} form */
  constructor(form) {
    this.#form = form;
  }

  async send() {
    const { page } = this.#form;
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
