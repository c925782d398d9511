/**
 * A Vue component around `<deniable-survey>`. A template would write
 * `<deniable-survey :src="src" :digest="digest" @deniable-sent="sent = true" />`, with
 * `compilerOptions.isCustomElement: (tag) => tag === "deniable-survey"`.
 */

import { createApp, h, ref } from "./npm/vue.js";

const root = document.getElementById("app");
const { src, digest } = root.dataset;

createApp({
  setup() {
    const sent = ref(false);
    return () =>
      h("main", [
        h("p", { id: "thanks" }, sent.value ? "Thank you." : "Please take part."),
        h("deniable-survey", { src, digest, onDeniableSent: () => (sent.value = true) }),
      ]);
  },
}).mount(root);
