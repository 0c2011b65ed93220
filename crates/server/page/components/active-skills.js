// The skills that are active in a chat, each with a button that deactivates it.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @param {string[]} names @param {(name: string) => void} letGo */
export const activeSkills = (names, letGo) => [
  h("span", { class: "active-label" }, t.chat.active),
  ...names.map((name) => {
    const label = t.chat.letGo(name);
    const close = h(
      "button",
      { class: "chip-close", title: label, "aria-label": label, onclick: () => letGo(name) },
      icon("close"),
    );
    return h("span", { class: "chip" }, icon("bolt"), h("span", { class: "chip-name" }, name), close);
  }),
];
