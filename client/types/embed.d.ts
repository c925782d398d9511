/** Importing "deniable/embed" defines `<deniable-survey>`. */

import type { Reason } from "../deniable_client/browser/types.js";

declare global {
  interface GlobalEventHandlersEventMap {
    "deniable-ready": CustomEvent;
    "deniable-sent": CustomEvent;
    "deniable-error": CustomEvent<{ reason: Reason }>;
  }
}

export {};
