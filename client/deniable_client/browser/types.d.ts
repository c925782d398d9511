/** What the browser client's modules hand each other. Read by type checkers; no browser loads it. */

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
  kind: "yes-no" | "choice" | "scale" | "number" | "multiple";
  text: Text;
  /** As an author wrote them. Empty for a `number`; the boxes of a `multiple`. */
  options: Text[];
  /** May be skipped: "no answer" is one more option, after the others. */
  optional: boolean;
  /** Of each item: every box of a `multiple` has this one. */
  channel: Channel;
  scores?: string[];
  /** Which numbers are allowed, as decimals. */
  number?: { min: string; max: string; step: string; unit?: Text };
  /** Shown if an earlier question is answered with one of these options. "Not asked" is the last one. */
  show_if?: { question: string; is: number[] };
  /** How many boxes of a `multiple` are sent. */
  ask?: number;
};

/**
 * The place of an option; the places of ticked ones (`multiple`); a number, or its text (`number`);
 * null, or nothing, for no answer. Whatever is said to a hidden question is ignored.
 */
export type Answer = number | number[] | string | null | undefined;

/** e^ε as an exact fraction a/b in lowest terms. */
export type Odds = { a: bigint; b: bigint };

/** A published survey that was checked. */
export type Survey = {
  digest: string;
  /** Where it came from, and where its reports go. */
  url: string;
  name: string;
  title: Text;
  intro?: Text;
  language: string;
  questions: Question[];
  odds: Odds;
  /** How many questions are sent. */
  ask?: number;
  /** Collection arms, of which the page names one. */
  arms?: string[];
  /** Answered once in each arm, with permanent noise. */
  waves?: "memoize";
  /** When its results are shown to everyone. */
  results?: { from: number; every: number };
  /** The key that signs invitations, where only invited people answer. */
  invite_key?: InviteKey;
};

/** An RSA key: the modulus in hexadecimal. */
export type InviteKey = { modulus: string; exponent: number };

/** What takes the blinding off again, in hexadecimal; `sent` alone leaves the device. */
export type Blinding = { prefix: string; inverse: string; sent: string };

/** All that is random about a report but its id: drawn before any answer is looked at. */
export type Noise = {
  /** Items that will be sent. */
  sent: string[];
  /** By question, the draw that rounds a `number`. */
  rounding: Record<string, number>;
  /** By item, what `drawNoise` gave. */
  subsets: Record<string, number[]>;
};

/** What a device keeps of a survey: what it revealed, and the noisy report until it is acknowledged. */
export type Memory = Odds & { report?: string; url?: string; blinding?: Blinding; token?: string } & Partial<Omit<Table, "a" | "b">>;

/** The permanent table of one item of a panel; a and b are the odds of one report. */
export type Table = Odds & {
  rounding: number;
  /** One report for each option; which one is true is not stored. */
  reports: number[][];
  /** The different reports sent so far. */
  sent: number[];
};

/** Which survey a page was made for, and how it is answered there. */
export type Place = Asked & { src: string; digest: string };

/** Keep one thing in a device's memory. */
export type Change = (name: string, memory: Memory) => void;

/** How a survey is answered: in which arm, and up to which total ε of this device (default 4). */
export type Asked = { arm?: string; maxEpsilon?: number };

/** Why something was not done. */
export type Reason =
  | "insecure"
  | "entropy"
  | "token"
  | "digest"
  | "survey"
  | "limit"
  | "answered"
  | "answer"
  | "page"
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
  /** The device is offline: the report waits, and goes out when it no longer is. */
  onOffline?: () => void;
};

/** `new` is false if the server already held the report, as after a lost acknowledgement. */
export type Receipt = { new: boolean; attempts: number };
