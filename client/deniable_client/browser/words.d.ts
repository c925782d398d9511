/**
 * How the form speaks. Read by type checkers; no browser loads it.
 *
 * A further language is a copy of `words.en.js` and of `more.en.js` with its tag in the name, and the tag
 * in `INTERFACE` of `page.js`. The type checker then names what is not translated.
 */

import type kit from "./kit/words.en.js";
import type more from "./more.en.js";
import type words from "./words.en.js";

/** Every text of the interface: those of the form, then those that are loaded when they are needed. */
export type Words = typeof words & typeof more & typeof kit;

/** Write a number in the language of now. */
export type Count = (number: number) => string;

type Plain = { [Key in keyof Words]: Words[Key] extends string ? Key : never }[keyof Words];

/** A text of the interface: by its name, or made from others. */
export type Say = Plain | ((words: Words, count: Count, language: string) => string);

export type Attributes = Record<string, string>;
