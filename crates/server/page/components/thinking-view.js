// The thinking of a model, collapsed. It grows while it is open.

import { h } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").ThinkingPart} ThinkingPart */

export class ThinkingView extends HTMLElement {
  #title = h("span", { class: "thought-title" });
  #body = h("div", { class: "thought-text", tabindex: "0", role: "region", "aria-label": t.thinking.label });
  #shown = "";

  connectedCallback() {
    if (this.firstChild) return;
    this.className = "thought";
    this.append(h("details", { class: "thought-fold" }, h("summary", {}, this.#title), this.#body));
  }

  /** @param {ThinkingPart} part @param {boolean} live */
  show(part, live) {
    const seconds = part.seconds === undefined ? null : Math.max(1, Math.round(part.seconds));
    const title = live ? t.thinking.now : seconds === null ? t.thinking.done : t.thinking.doneIn(number(seconds));
    if (this.#title.textContent !== title) this.#title.textContent = title;
    this.classList.toggle("running", live);
    // New text is appended, so that a selection and the scroll position stay.
    if (part.text.startsWith(this.#shown)) this.#body.append(visible(part.text.slice(this.#shown.length)));
    else this.#body.textContent = visible(part.text);
    this.#shown = part.text;
  }
}
customElements.define("thinking-view", ThinkingView);
