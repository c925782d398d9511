/**
 * Answer by keyboard in a real Firefox: `node firefox.mjs FIREFOX ADDRESS PAY [tampered]`. Says what the pages heard
 * and what Firefox keeps. Firefox speaks WebDriver BiDi itself; no driver is in between.
 */

import puppeteer from "puppeteer-core";

const [, , executablePath, address, pay, tampered] = process.argv;
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const page = await browser.newPage();
const heard = () => page.evaluate("window.heard");
const hear = (event) => until(page, `window.heard?.includes(${JSON.stringify(event)})`);

/** Ask again and again: what waits inside the page would be refused by its policy. */
async function until(where, expression) {
  for (let turn = 0; turn < 400; turn++) {
    if (await where.evaluate(expression)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`waited in vain for ${expression}; heard ${await where.evaluate("String(window.heard)")}`);
}

await page.goto(`${address}/element.html`);
await hear("deniable-ready");
const closed = await page.evaluate("document.querySelector('deniable-survey').shadowRoot === null");
// How it works; yes; more often; pay; Green; send.
for (const keys of [["Tab"], ["Tab", " "], ["Tab", "ArrowDown", "ArrowDown"], ["Tab"]]) {
  for (const key of keys) await page.keyboard.press(key);
}
await page.keyboard.type(pay);
for (const key of ["Tab", "Tab", " ", "Tab", "Enter"]) await page.keyboard.press(key);
if (tampered) {
  await new Promise((done) => setTimeout(done, 3000));
  console.log(JSON.stringify({ element: await heard() }));
  await browser.close();
  process.exit();
}
await hear("deniable-sent");
const element = await heard();
const kept = await page.evaluate(`(async () => JSON.stringify([localStorage, document.cookie, document.documentElement.outerHTML]))()`);

const plain = await browser.newPage();
await plain.goto(`${address}/plain.html`);
await until(plain, "document.querySelector('output').textContent.includes('has answered')");
const open = await plain.evaluate("document.querySelectorAll('form > fieldset:enabled').length");
console.log(JSON.stringify({ version: await browser.version(), closed, element, kept, open }));
await browser.close();
