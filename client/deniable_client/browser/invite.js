/** A survey by invitation: turn the code into a token, which nobody can lead back to the code. */

import { exchange } from "./fetch.js";
import { make } from "./page.js";
import { load } from "./pins.js";
import { DeniableError } from "./randomizer.js";

/** @import {Survey} from "./types.js" */
/** @import {Keeper} from "./keeper.js" */
/** @import {Form} from "./form.js" */

/**
 * Ask the questions of whoever has a token, and the others for their code.
 * @param {Form} form
 */
export async function admit(form) {
  const { token } = await form.device.invite(form.survey);
  return token ? form.ask() : redeem(form);
}

/**
 * Ask for the code, which a link may have brought along in the part that no server sees.
 * @param {Form} form
 */
async function redeem(form) {
  const { page, survey, device } = form;
  await page.more();
  const code = make("input", { autocomplete: "off", spellcheck: "false", "aria-describedby": "code-hint" });
  code.value = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code.value) history.replaceState(history.state, "", location.pathname + location.search);
  const button = make("button", { type: "submit" });
  page.write(button, "useCode");
  const alert = make("p", { role: "alert", class: "error" });
  const label = make("label", { class: "choice" }, page.say("span", "code"), code);
  const fields = make("form", { method: "dialog" }, label, alert, button);
  fields.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await exchangeCode(survey, device, code.value);
      used(form);
    } catch (error) {
      if (!(error instanceof DeniableError)) throw error;
      page.write(alert, (words) => words.reasons[error.reason]);
      button.disabled = false;
    }
  });
  page.show(
    ...form.heading(),
    page.say("h2", "invited", { tabindex: "-1" }),
    page.say("p", "codeHint", { id: "code-hint" }),
    fields,
  );
}

/** @param {Form} form */
function used(form) {
  const { page, device } = form;
  const go = page.say("button", "answerNow", { type: "button" });
  go.addEventListener("click", () => form.ask());
  const later = device.lasting ? [page.say("p", "answerLater")] : [];
  page.show(...form.heading(), page.say("h2", "codeUsed", { tabindex: "-1" }), ...later, go);
}

/**
 * What blinds the token is kept before it is sent: after a lost answer the issuer signs the same again.
 * @param {Survey} survey
 * @param {Keeper} device
 * @param {string} code
 */
async function exchangeCode(survey, device, code) {
  const { invite_key: key, name, url } = survey;
  if (!key) throw new DeniableError("token");
  const { blind, unblind } = await load("token.js");
  const kept = await device.invite(survey);
  const { blinding } = kept.blinding ? kept : await device.invite(survey, { blinding: await blind(key, name) });
  if (!blinding) throw new DeniableError("token");
  const body = JSON.stringify({ code, blinded: blinding.sent });
  const reply = await exchange(`${url}/tokens`, { method: "POST", body }).catch(refused);
  const { signed } = await reply.json().catch(() => ({}));
  await device.invite(survey, { token: await unblind(key, name, blinding, String(signed)) });
}

/** @returns {never} */
function refused(/** @type {unknown} */ error) {
  if (error instanceof DeniableError && error.reason === "closed") throw new DeniableError("token");
  throw error;
}
