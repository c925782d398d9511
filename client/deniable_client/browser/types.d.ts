/** What the browser client's modules hand each other. Read by type checkers; no browser loads it. */

import type { english } from "./words.js";

/** Give this many fresh random bytes. */
export type Read = (size: number) => Uint8Array;

/** Give a uniform integer from 0 to bound - 1. */
export type Draw = (bound: number) => number;

/** k options, reports of d of them, odds a:b. */
export type Channel = { k: number; d: number; a: number; b: number };

/** One text by language. */
export type Text = Record<string, string>;

export type Question = {
  name: string;
  kind: "yes-no" | "choice" | "scale";
  text: Text;
  options: Text[];
  optional: boolean;
  channel: Channel;
  scores?: string[];
};

/** e^ε as an exact fraction a/b in lowest terms. */
export type Odds = { a: bigint; b: bigint };

/** A published survey that was checked. */
export type Survey = {
  digest: string;
  name: string;
  title: Text;
  intro?: Text;
  language: string;
  questions: Question[];
  odds: Odds;
};

/** What a device keeps of a survey: the noisy report until it is acknowledged, and what it cost. */
export type Memory = { report?: string; odds: Odds };

/** Why something was not done. */
export type Reason =
  | "insecure"
  | "entropy"
  | "digest"
  | "survey"
  | "limit"
  | "network"
  | "busy"
  | "closed"
  | "conflict"
  | "refused";

export type SendOptions = {
  /** Seconds to wait before each further attempt. */
  waits?: number[];
  sleep?: (seconds: number) => Promise<unknown>;
  onRetry?: (attempt: number, attempts: number) => void;
};

/** `new` is false if the server already held the report, as after a lost acknowledgement. */
export type Receipt = { new: boolean; attempts: number };

export type Words = typeof english;

/** A text of the interface: by its name, or made from others. */
export type Say = PlainWords | ((words: Words) => string);

type PlainWords = { [Key in keyof Words]: Words[Key] extends string ? Key : never }[keyof Words];
