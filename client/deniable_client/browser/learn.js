/** How it works: the odds as a picture, a trial with the real randomizer, and what anyone can learn. */

import { optionOf } from "./outcome.js";
import { belief } from "./odds.js";
import { make } from "./page.js";
import { chanceOf, explain } from "./questions.js";
import { applyNoise, below, drawNoise, system } from "./randomizer.js";

/** @import {Channel, Question} from "./types.js" */
/** @import {Form} from "./form.js" */
/** @import {Page} from "./page.js" */
/** @import {Say} from "./words.js" */

const TIMES = 20;

/** @param {Form} form */
export async function learn({ page, survey, device }) {
  const questions = survey.questions;
  const [shown, alone] = [make("div"), page.say("p", "shares")];
  const show = (/** @type {Question} */ question) => {
    const { channel } = question;
    const [marked, cards] = cardsOf(channel);
    const count = question.kind === "multiple" ? (question.ask ?? question.options.length) : 1;
    const odds = { a: BigInt(channel.a) ** BigInt(count), b: BigInt(channel.b) ** BigInt(count) };
    shown.replaceChildren(
      page.say("p", (words, number) => explain(question, words, number)),
      picture(page, Array.from({ length: cards }, (_, card) => card < marked)),
      page.say("p", (words, number) => words.cards(number(marked), number(cards)), { class: "hint" }),
      ...trial(page, survey.language, question),
    );
    page.write(alone, (words, number) => words.oneAnswer(number(belief(odds))));
  };
  show(questions[0]);
  const spent = await device.spent();
  const digest = make("code", { dir: "ltr" });
  digest.textContent = survey.digest;
  const say = (/** @type {Say} */ text) => page.say("p", text);
  return [
    page.say("h3", "picture"),
    ...(questions.length > 1 ? [choice(page, "question", questions.map(({ text }) => page.spoken("option", text, survey.language)), (place) => show(questions[place]))] : []),
    shown,
    page.say("h3", "know"),
    ...[say("nothingElse"), alone],
    ...[say((words, number) => words.whole(number(belief(survey.odds)))), say("shares")],
    ...[say("network"), say("addUp"), say(spent.a === spent.b ? "nothingYet" : (words, number) => words.total(number(belief(spent)))), say("honest"), digest],
  ];
}

/**
 * Cards that show the chance of the truth: as many as its denominator if those are few, else a hundred.
 * @param {Channel} channel
 */
function cardsOf(channel) {
  const [top, bottom] = chanceOf(channel);
  return bottom > TIMES ? [Math.round((100 * top) / bottom), 100] : [top, bottom];
}

/**
 * Let a person draw reports of an answer of their choice. It is no answer to the survey, and leaves
 * the page no more than one.
 * @param {Page} page
 * @param {string} language
 * @param {Question} question
 */
function trial(page, language, question) {
  const { channel } = question;
  let answer = 0;
  const options = Array.from({ length: channel.k }, (_, place) => optionOf(page, language, question, place, "option"));
  const result = make("div", { role: "status" });
  const select = choice(page, "suppose", options, (place) => {
    answer = place;
    result.replaceChildren();
  });
  const button = page.say("button", (words, number) => words.draw(number(TIMES)), { type: "button", class: "quiet" });
  button.addEventListener("click", () => {
    const draw = (/** @type {number} */ bound) => below(bound, system);
    const reports = Array.from({ length: TIMES }, () => applyNoise(channel, drawNoise(channel, draw), answer));
    const kept = reports.map((report) => report.includes(answer));
    const count = kept.filter(Boolean).length;
    result.replaceChildren(
      picture(page, kept),
      page.say("p", (words, number) => words.result(number(TIMES), number(count))),
    );
  });
  return [page.say("h3", "tryIt"), page.say("p", "demonstration", { class: "hint" }), select, button, result];
}

/**
 * @param {Page} page
 * @param {Say} text
 * @param {HTMLElement[]} options
 * @param {(place: number) => void} take
 */
function choice(page, text, options, take) {
  const select = make("select", { autocomplete: "off" }, ...options);
  select.addEventListener("change", () => take(select.selectedIndex));
  addEventListener("pagehide", () => {
    select.selectedIndex = 0;
    take(0);
  });
  return make("label", { class: "choice" }, page.say("span", text), select);
}

/**
 * Cards in a row or in rows: filled where marked, so that no colour is needed.
 * @param {Page} page
 * @param {boolean[]} marks
 */
function picture(page, marks) {
  const columns = marks.length > 2 * TIMES ? TIMES : Math.min(marks.length, TIMES / 2);
  const rows = Math.ceil(marks.length / columns);
  const svg = draw("svg", { viewBox: `0 0 ${columns * 24} ${rows * 32}`, width: `${columns * 24}`, role: "img", class: "cards" });
  marks.forEach((marked, place) => {
    const [x, y] = [(place % columns) * 24 + 2, Math.floor(place / columns) * 32 + 2];
    const size = { x: `${x}`, y: `${y}`, width: "20", height: "28", rx: "3" };
    svg.append(draw("rect", { ...size, class: marked ? "marked" : "" }));
    if (marked) svg.append(draw("path", { d: `M${x + 5} ${y + 14}l4 5 7-10` }));
  });
  const count = marks.filter(Boolean).length;
  const name = () => page.text((words, number) => words.cardsOf(number(count), number(marks.length)));
  page.bind(svg, () => svg.setAttribute("aria-label", name()));
  return svg;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
