/**
 * The offline kit: a survey in one file, answered by one person after another on one tablet. What it
 * keeps are noisy reports, which the person who holds the tablet saves as a file. Nothing is sent: the
 * page's own policy forbids every connection.
 */

import { Device } from "./device.js";
import { Form, languagesOf } from "../form.js";
import { make, Page } from "../page.js";

/** @import {Survey} from "../types.js" */

const [main, bar] = ["main", "bar"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
const { arms, digest, survey } = read();
const device = await Device.open(digest);
const arm = make("select", { autocomplete: "off" }, ...arms.map((name) => new Option(name)));
let saved = /** @type {string[]} */ ([]);

async function person() {
  const page = new Page(make("div"));
  main.replaceChildren(page.host);
  await page.choose(languagesOf(survey));
  await page.more();
  const inPlace = /** @type {any} */ (device); // of the device that sends
  await new Form(page, survey, { arm: arm.value || undefined }, inPlace).start();
}

/** What is for the person who holds the tablet, below the form. */
async function tell() {
  const page = new Page(make("div"));
  await page.choose();
  await page.more();
  const lines = await device.lines();
  const [save, remove] = [page.say("button", "save", { type: "button" }), page.say("button", "remove", { type: "button" })];
  save.addEventListener("click", () => {
    const href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    make("a", { href, download: `${survey.name}.jsonl` }).click();
    saved = lines;
    void tell();
  });
  remove.addEventListener("click", async () => {
    await device.remove(saved);
    saved = [];
    await tell();
  });
  const group = arms.length ? [make("label", { class: "field" }, page.say("span", "group"), arm)] : [];
  page.show(
    page.say("p", (words, count) => words.held(count(lines.length)), { role: "status" }),
    ...group,
    ...(lines.length ? [make("p", {}, save)] : []),
    ...(saved.length ? [page.say("p", "saved", { class: "hint" }), remove] : []),
  );
  bar.replaceChildren(page.host);
}

/** @returns {{ arms: string[], digest: string, survey: Survey }} */
function read() {
  const { textContent, dataset } = /** @type {HTMLElement} */ (document.getElementById("survey"));
  const found = JSON.parse(textContent ?? "");
  const [a, b] = found.odds.map(BigInt);
  const digest = dataset.digest ?? "";
  return { arms: found.arms ?? [], digest, survey: { ...found, digest, url: "", odds: { a, b } } };
}

main.addEventListener("deniable-next", () => void person());
main.addEventListener("deniable-sent", () => void tell());
arm.addEventListener("change", () => void person());
await person();
await tell();
