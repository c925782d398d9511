/**
 * What an application needs: fetch a survey, randomize answers, send the report. `device.js` remembers,
 * `form.js` shows it to a person, `embed.js` puts it into a page.
 */

export * from "./randomizer.js";
export * from "./survey.js";
export * from "./odds.js";
export * from "./fetch.js";
export * from "./send.js";
