// Notes in a reply: why it was interrupted, that the provider is asked again, that the model cannot call tools.

import { h } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Message} Message */

/** @param {Message} message */
export const isStopped = (message) => /\bcancelled$/.test(message.reason ?? "");

/** @param {Message} message */
const isDeclined = (message) => /\bdeclined\b/.test(message.reason ?? "");

/** How an interrupted reply ended, or null. @param {Message} message @returns {HTMLElement | null} */
export const endNote = (message) => {
  if (message.state !== "interrupted" || isStopped(message)) return null;
  if (isDeclined(message)) return h("p", { class: "message-note declined" }, icon("info"), h("span", {}, t.message.declined));
  const retry = h(
    "button",
    {
      class: "button small needs-idle",
      type: "button",
      onclick: (/** @type {Event} */ event) => event.target?.dispatchEvent(new Event("retry", { bubbles: true })),
    },
    icon("retry"),
    t.message.retry,
  );
  return h(
    "div",
    { class: "message-error message-end error", role: "group", "aria-label": t.message.failed },
    icon("alert"),
    h(
      "div",
      { class: "message-error-text" },
      h("strong", {}, t.message.failed),
      message.reason && h("p", {}, visible(message.reason)),
    ),
    retry,
  );
};

/** A note that counts down until the provider is asked again. */
export class WaitingNote extends HTMLElement {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #until = 0;
  #reason = "";
  #text = h("span");
  #said = h("span", { class: "unseen", role: "status" });

  connectedCallback() {
    this.className = "message-note waiting";
    this.replaceChildren(icon("retry"), this.#text, this.#said);
    this.#timer = setInterval(() => this.#render(), 250);
    this.#render();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  /** @param {{ reason: string, until: number }} waiting */
  show({ reason, until }) {
    if (until === this.#until && reason === this.#reason) return;
    this.#until = until;
    this.#reason = reason;
    // Screen readers hear it once, not every second.
    this.#said.textContent = this.#note();
    this.#render();
  }

  #note() {
    const seconds = Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
    return t.message.waiting(number(seconds), visible(this.#reason));
  }

  #render() {
    const note = this.#note();
    if (this.#text.textContent !== note) this.#text.textContent = note;
    this.#text.setAttribute("aria-hidden", "true");
  }
}
customElements.define("waiting-note", WaitingNote);

/** @param {string} reason */
export const toolsDisabledNote = (reason) =>
  h(
    "p",
    { class: "message-note tools-disabled", title: visible(reason) },
    icon("info"),
    h("span", {}, t.message.toolsDisabled),
  );
