// Says calmly that the server is away, and that it is back. It lies over the page, so that nothing moves.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

/** A restart that nobody notices needs no words. */
const PATIENCE = 700;
const GOOD_NEWS = 2500;

export class StatusBanner extends HTMLElement {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {(() => void) | null} */
  #end = null;

  connectedCallback() {
    this.setAttribute("role", "status");
    this.className = "banner";
    this.#end = app.on("connection", (event) => this.#changed(event.detail.back));
  }

  disconnectedCallback() {
    this.#end?.();
  }

  /** @param {boolean} back */
  #changed(back) {
    clearTimeout(this.#timer);
    if (app.connection === "lost") {
      this.#timer = setTimeout(() => this.#say(t.connection.lost, "waiting"), PATIENCE);
    } else if (back && this.firstChild) {
      this.#say(t.connection.back, "good");
      this.#timer = setTimeout(() => this.replaceChildren(), GOOD_NEWS);
    } else this.replaceChildren();
  }

  /** @param {string} text @param {string} kind */
  #say(text, kind) {
    this.replaceChildren(h("span", { class: `banner-text ${kind}` }, text));
  }
}
customElements.define("status-banner", StatusBanner);
