/** What is loaded later is pinned as well: whoever pins the file that starts pins all of them. */

/** @type {Record<string, string>} by file, its hash; `deniable serve` fills it in as it joins the modules */
export const PINS = {};

/**
 * Attributes of a link to a file of this folder, which then takes that file and no other.
 * @param {string} name
 */
export function linkTo(name) {
  const integrity = PINS[name] && { integrity: PINS[name], crossorigin: "" };
  return { href: new URL(name, import.meta.url).href, ...integrity };
}

/**
 * Load a module of this folder. Preloaded with its hash, it is there before it is imported, or fails.
 * @param {string} name
 */
export async function load(name) {
  const { href, ...pin } = linkTo(name);
  const link = document.createElement("link");
  if (pin.integrity && link.relList.supports("modulepreload")) {
    await new Promise((done, fail) => {
      Object.assign(link, { rel: "modulepreload", href, integrity: pin.integrity, crossOrigin: "" });
      Object.assign(link, { onload: done, onerror: fail });
      document.head.append(link);
    });
  }
  return import(href);
}
