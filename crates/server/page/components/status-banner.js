// Reports that the server is unreachable, that it is back, or that its configuration has errors. It overlays the page, so that
// nothing moves.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

/** Short interruptions are not reported. */
const PATIENCE = 700;
const GOOD_NEWS = 2500;
const PROBLEM = 8000;

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
      app.on("problem", (event) => {
        clearTimeout(this.#timer);
        this.#say(event.detail, "waiting");
        this.#after(PROBLEM, () => this.#rest());
      }),
      // The current announcement is completed first.
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

  /** The text while the server is reachable: empty, or the configuration error. */
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
