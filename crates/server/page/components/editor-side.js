// Beside the text: its problems, what a model sees of it, and which messages select the skill.

import { h, make } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { number } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";
import { diagnosticsList } from "./diagnostics-list.js";
import { EditorRouting } from "./editor-routing.js";

/** @typedef {import("../types.js").CheckedText} CheckedText */
/** @typedef {import("../types.js").TextDiagnostic} TextDiagnostic */

const TABS = /** @type {const} */ (["problems", "preview", "routing"]);

export class EditorSide extends HTMLElement {
  /** @type {Record<string, HTMLButtonElement>} */
  #tabs = {};
  /** @type {Record<string, HTMLElement>} */
  #panels = {};
  routing = make(EditorRouting);
  /** Makes one fix, or all of them. @type {(one: TextDiagnostic | null) => void} */
  fix = () => {};
  /** Shows where a problem is. @type {(one: TextDiagnostic) => void} */
  open = () => {};

  connectedCallback() {
    this.classList.add("pane", "work-side");
    for (const name of TABS) {
      this.#tabs[name] = h(
        "button",
        {
          class: "tab",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `panel-${name}`,
          onclick: () => this.select(name),
        },
        e.tabs[name],
      );
      this.#panels[name] = h("div", {
        class: "side-panel",
        role: "tabpanel",
        id: `panel-${name}`,
        "aria-labelledby": `tab-${name}`,
        tabindex: "0",
      });
    }
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": e.side }, ...Object.values(this.#tabs));
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const now = TABS.findIndex((name) => this.#tabs[name]?.getAttribute("aria-selected") === "true");
      const next = TABS[(now + step + TABS.length) % TABS.length] ?? "problems";
      this.select(next);
      this.#tabs[next]?.focus();
    });
    this.#panels.routing?.append(this.routing);
    this.replaceChildren(list, ...Object.values(this.#panels));
    this.select("problems");
    this.check(null, true);
  }

  /** @param {(typeof TABS)[number]} name */
  select(name) {
    for (const one of TABS) {
      const here = one === name;
      this.#tabs[one]?.setAttribute("aria-selected", String(here));
      if (this.#tabs[one]) this.#tabs[one].tabIndex = here ? 0 : -1;
      if (this.#panels[one]) this.#panels[one].hidden = !here;
    }
    if (name === "routing") this.routing.ask();
  }

  /** @param {CheckedText | null} checked @param {boolean} isManifest */
  check(checked, isManifest) {
    this.#problems(checked, isManifest);
    this.#preview(checked, isManifest);
  }

  /** @param {CheckedText | null} checked @param {boolean} isManifest */
  #problems(checked, isManifest) {
    const list = checked?.diagnostics ?? [];
    const worst = list.some((one) => one.severity === "error") ? "bad" : "warn";
    this.#tabs.problems?.replaceChildren(
      e.tabs.problems,
      ...(list.length > 0 ? [h("span", { class: `badge ${worst}` }, number(list.length))] : []),
    );
    const fixes = list.filter((one) => one.fix).length;
    const none = isManifest ? (checked ? e.noProblems : e.checking) : e.notChecked;
    this.#panels.problems?.replaceChildren(
      ...(fixes > 1
        ? [h("button", { class: "button small", onclick: () => this.fix(null) }, e.fixAll(fixes))]
        : []),
      list.length > 0
        ? diagnosticsList(list, { path: () => "", open: this.open, fix: this.fix })
        : h("p", { class: "muted" }, none),
      ...(fixes > 0 ? [h("p", { class: "muted" }, e.fixHint)] : []),
    );
  }

  /** @param {CheckedText | null} checked @param {boolean} isManifest */
  #preview(checked, isManifest) {
    const preview = checked?.preview;
    if (!preview) {
      const text = !checked ? e.checking : isManifest ? e.noPreview : e.fileTokens(number(checked.tokens));
      return this.#panels.preview?.replaceChildren(h("p", { class: "muted" }, text));
    }
    const part = (/** @type {string} */ title, /** @type {string} */ why, /** @type {{ text: string, tokens: number }} */ counted) =>
      h(
        "section",
        { class: "seen" },
        h(
          "div",
          { class: "seen-head" },
          h("h3", {}, title),
          h("span", { class: "badge" }, t.inspect.tokens(number(counted.tokens))),
          h("span", { class: "spring" }),
          copyButton(() => counted.text),
        ),
        h("p", { class: "hint" }, why),
        h("pre", { class: "card-text", tabindex: "0", "aria-label": title }, visible(counted.text) || t.inspect.nothing),
      );
    this.#panels.preview?.replaceChildren(
      part(e.seenAlways, e.seenAlwaysText, preview.catalog),
      part(e.seenActive, e.seenActiveText, preview.instructions),
    );
  }
}
customElements.define("editor-side", EditorSide);
