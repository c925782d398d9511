/** What is loaded later is pinned as well: whoever pins the file that starts pins all of them. */

/**
 * @type {Record<string, string>} by file, its hash; `deniable serve` fills it in as it joins the modules. At
 *   first, only of what a form begins with.
 */
export const PINS = {};

const LATER = "pins.later.js"; // which is pinned itself, and pins all others

/** @type {Record<string, string>} by file that could not be loaded: browsers never ask for that address again */
const MARKS = {};

/**
 * Attributes of a link to a file of this folder, which then takes that file and no other.
 * @param {string} name
 * @returns {{ href: string, integrity?: string, crossorigin?: string }}
 */
export function linkTo(name) {
  const href = new URL(name, import.meta.url).href;
  return PINS[name] ? { href, integrity: PINS[name], crossorigin: "" } : { href };
}

/** @type {Record<string, Promise<any>>} */
const LOADED = {};

/**
 * Load a module of this folder. Preloaded with its hash, it is there before it is imported, or fails.
 * @param {string} name
 */
export function load(name) {
  return (LOADED[name] ??= fetchModule(name).catch((error) => {
    delete LOADED[name];
    MARKS[name] = `${MARKS[name] ?? ""}?`; // another address of the same file
    throw error;
  }));
}

async function fetchModule(/** @type {string} */ name) {
  if (PINS[LATER] && !PINS[name]) {
    Object.assign(PINS, (await load(LATER)).PINS);
    if (!PINS[name]) throw new Error(`${name} is not pinned`); // a server could have put it there since
  }
  const { href, integrity } = linkTo(name);
  const address = href + (MARKS[name] ?? "");
  if (integrity) await preload(address, integrity);
  return import(address);
}

function preload(/** @type {string} */ href, /** @type {string} */ integrity) {
  const link = document.createElement("link");
  return new Promise((done, fail) => {
    if (!link.relList.supports("modulepreload")) done(null); // browsers from before 2023 load it unchecked
    Object.assign(link, { rel: "modulepreload", href, integrity, crossOrigin: "", onload: done, onerror: fail });
    document.head.append(link);
  });
}
