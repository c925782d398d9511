/**
 * Permanent randomization for surveys with `waves = "memoize"`: for each item this device draws, once,
 * one report for every option, and keeps that table. The same answer then sends the same report in
 * every wave. Which entry is the true one is not stored; but whoever reads the table and knows what was
 * sent can tell it, wherever no two options have the same report.
 */

import { applyNoise, below, canonical, checkArm, drawId, drawNoise, drawReport, encode, itemsOf, system, write } from "./randomizer.js";
import { product } from "./odds.js";

/** @import {Answer, Change, Memory, Odds, Question, Read, Survey, Table} from "./types.js" */

/**
 * @param {Map<string, Memory>} memory
 * @param {Change} put
 * @param {Survey} survey
 * @param {Record<string, Answer>} answers
 * @param {string} [arm]
 * @param {Read} [read]
 * @param {string} [token]
 */
export function respond(memory, put, survey, answers, arm, read = system, token) {
  checkArm(survey, arm);
  const draw = (/** @type {number} */ bound) => below(bound, read);
  const id = drawId(read);
  const noise = drawReport(survey, draw);
  /** @type {Map<string, [string, Table]>} */
  const tables = new Map();
  for (const question of survey.questions) {
    for (const item of itemsOf(question)) {
      const name = nameOf(survey, question, item);
      const known = /** @type {Table | undefined} */ (memory.get(name));
      tables.set(item, [name, known ?? drawTable(question, question.number ? noise.rounding[question.name] : 0, draw)]);
    }
    if (question.number) noise.rounding[question.name] = tableOf(tables, question.name).rounding;
  }
  const indices = encode(survey, answers, noise.rounding);
  /** @type {Record<string, number[]>} */
  const drawn = {};
  for (const [item, [name, table]] of tables) {
    const report = table.reports[indices[item]];
    const isSent = noise.sent.includes(item);
    const isNew = isSent && !table.sent.includes(report[0]);
    if (isSent) drawn[item] = report;
    put(name, { ...table, sent: isNew ? [...table.sent, report[0]].sort((x, y) => x - y) : table.sent });
  }
  return write(survey, id, drawn, arm, token);
}

/**
 * Bound what one more wave could newly reveal, whatever is answered. It looks at nothing but how many
 * different reports were sent, which every receiver knows: a device that stopped only when an answer
 * changes would tell everyone that it has.
 * @param {Map<string, Memory>} memory
 * @param {Survey} survey
 * @returns {Odds}
 */
export function atMost(memory, survey) {
  const open = survey.questions.flatMap((question) =>
    itemsOf(question)
      .filter((item) => (memory.get(nameOf(survey, question, item))?.sent?.length ?? 0) < question.channel.k)
      .map(() => ({ a: BigInt(question.channel.a), b: BigInt(question.channel.b) })),
  );
  const all = product(open);
  return all.a * survey.odds.b < survey.odds.a * all.b ? all : survey.odds; // fewer are sent where sampled
}

/**
 * @param {Question} question
 * @param {number} rounding
 * @param {(bound: number) => number} draw
 * @returns {Table}
 */
function drawTable({ channel }, rounding, draw) {
  const reports = Array.from({ length: channel.k }, (_, option) => applyNoise(channel, drawNoise(channel, draw), option));
  return { a: BigInt(channel.a), b: BigInt(channel.b), rounding, reports, sent: [] };
}

/**
 * @param {Map<string, [string, Table]>} tables
 * @param {string} item
 */
function tableOf(tables, item) {
  return /** @type {[string, Table]} */ (tables.get(item))[1];
}

/**
 * Other options, another range or other noise is another item; a translation is not.
 * @param {Survey} survey
 * @param {Question} question
 * @param {string} item
 */
function nameOf({ name, language }, { channel, number, optional, options, show_if }, item) {
  const labels = options.map((option) => option[language]);
  const grid = number ? { ...number, unit: number.unit?.[language] ?? "" } : null;
  return `item ${name}/${item}/${canonical([labels, grid, optional, show_if !== undefined, channel])}`;
}
