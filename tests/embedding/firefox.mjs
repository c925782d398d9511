/**
 * Answer by keyboard in a real Firefox: `node firefox.mjs FIREFOX ADDRESS TAMPERED PAY`, where TAMPERED is the address
 * of a site whose survey's server gives another module than is pinned. Says what the pages heard and what Firefox
 * keeps. Firefox speaks WebDriver BiDi itself; no driver is in between.
 */

import puppeteer from "puppeteer-core";

const [, , executablePath, address, tampered, pay] = process.argv;
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const heard = (page) => page.evaluate("window.heard");

/** Ask again and again: what waits inside the page would be refused by its policy. */
async function until(where, expression) {
  for (let turn = 0; turn < 400; turn++) {
    if (await where.evaluate(expression)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`waited in vain for ${expression}; heard ${await where.evaluate("String(window.heard)")}`);
}

/** Open the element's page and answer: how it works; yes; more often; pay; Green; send. */
async function answer(site) {
  const page = await browser.newPage();
  await page.goto(`${site}/element.html`);
  await until(page, `window.heard?.includes("deniable-ready")`);
  for (const keys of [["Tab"], ["Tab", " "], ["Tab", "ArrowDown", "ArrowDown"], ["Tab"]]) {
    for (const key of keys) await page.keyboard.press(key);
  }
  await page.keyboard.type(pay);
  for (const key of ["Tab", "Tab", " ", "Tab", "Enter"]) await page.keyboard.press(key);
  return page;
}

const other = await answer(tampered); // and look at it last: there is nothing to wait for
const page = await answer(address);
await until(page, `window.heard?.includes("deniable-sent")`);
const closed = await page.evaluate("document.querySelector('deniable-survey').shadowRoot === null");
const element = await heard(page);
const kept = await page.evaluate(`(async () => JSON.stringify([localStorage, document.cookie, document.documentElement.outerHTML]))()`);

const plain = await browser.newPage();
await plain.goto(`${address}/plain.html`);
await until(plain, "document.querySelector('output').textContent.includes('has answered')");
const open = await plain.evaluate("document.querySelectorAll('form > fieldset:enabled').length");
console.log(JSON.stringify({ closed, element, kept, open, tampered: await heard(other) }));
await browser.close();
