// The view of an empty chat: an introduction and three suggestions.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

/** The element is defined when its module is loaded, which most visits do not need. */
const modelSetup = () => {
  import("./model-setup.js").catch(() => {});
  return document.createElement("model-setup");
};

export class EmptyChat extends HTMLElement {
  /** @type {(() => void)[]} */
  #ends = [];
  /** The inputs of the last rendering. */
  #made = "";

  connectedCallback() {
    this.className = "empty-chat";
    this.#render();
    this.#ends = [app.on("skills", () => this.#render()), app.on("about", () => this.#render())];
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
  }

  /** Returns the number of skills that models are offered. */
  #count() {
    return app.skills.filter((skill) => !skill.example).length;
  }

  #render() {
    const without = app.about && !app.about.is_model;
    // Renders only on changes, so that the focus is kept.
    const made = JSON.stringify([without, app.about?.admin, without ? 0 : this.#count()]);
    if (made === this.#made) return;
    this.#made = made;
    const tries = t.empty.tries.map(({ title, text }) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            class: "try",
            onclick: () => this.dispatchEvent(new CustomEvent("try", { detail: text, bubbles: true })),
          },
          h("span", { class: "try-title" }, title),
          h("span", { class: "try-text" }, text),
        ),
      ),
    );
    const setup = without && app.about?.admin ? (this.querySelector("model-setup") ?? modelSetup()) : null;
    const list = h("ul", { class: "tries", "aria-label": t.empty.triesLabel }, ...tries);
    const note = h(
      "p",
      { class: "empty-note" },
      icon(without ? "alert" : "skills"),
      without ? t.shell.rehearsalHelp : t.empty.count(this.#count()),
    );
    this.replaceChildren(
      h("p", { class: "empty-title" }, t.empty.title),
      h("p", { class: "empty-text" }, t.empty.text),
      // Model setup comes first for new users.
      ...(setup ? [note, setup, list] : [list, note]),
    );
  }
}
customElements.define("empty-chat", EmptyChat);
