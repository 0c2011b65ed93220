// Says calmly that the server is away, that it is back, and that its configuration has errors. It lies over the page, so that
// nothing moves.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

/** A restart that nobody notices needs no words. */
const PATIENCE = 700;
const GOOD_NEWS = 2500;

export class StatusBanner extends HTMLElement {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {(() => void)[]} */
  #ends = [];

  connectedCallback() {
    this.setAttribute("role", "status");
    this.className = "banner";
    this.#ends = [
      app.on("connection", (event) => this.#changed(event.detail.back)),
      // What is being said is said to its end.
      app.on("about", () => this.#timer === undefined && this.#rest()),
    ];
    this.#rest();
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
  }

  /** @param {boolean} back */
  #changed(back) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (app.connection === "lost") {
      this.#after(PATIENCE, () => this.#say(t.connection.lost, "waiting"));
    } else if (back && this.firstChild) {
      this.#say(t.connection.back, "good");
      this.#after(GOOD_NEWS, () => this.#rest());
    } else this.#rest();
  }

  /** @param {number} ms @param {() => void} then */
  #after(ms, then) {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      then();
    }, ms);
  }

  /** What is said while the server answers: nothing, or that its configuration is not the one in the file. */
  #rest() {
    if (app.connection === "lost") return;
    const error = app.about?.configuration_error;
    if (error) this.#say(t.connection.configuration(error), "waiting");
    else this.replaceChildren();
  }

  /** @param {string} text @param {string} kind */
  #say(text, kind) {
    this.replaceChildren(h("span", { class: `banner-text ${kind}` }, text));
  }
}
customElements.define("status-banner", StatusBanner);
