/** `deniable preview`: the form as respondents will see it, of a survey that nobody can answer yet. */

import { Device } from "./device.js";
import { mount } from "./form.js";
import { DeniableError } from "./randomizer.js";

/** Remembers nothing beyond the page, says otherwise so that the page looks as it will, and sends nothing. */
class Preview extends Device {
  get lasting() {
    return true;
  }

  async invite() {
    return { a: 1n, b: 1n, token: "preview" };
  }

  /** @returns {Promise<never>} */
  async submit() {
    throw new DeniableError("closed");
  }
}

const host = document.getElementById("preview");
if (host) void mount(host, host.dataset, new Preview(null));
