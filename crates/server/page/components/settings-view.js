// The editable settings, and all effective settings with their origin.

import { api, Problem } from "../lib/api.js";
import { assign, h, make } from "../lib/dom.js";
import { chooseLanguage, language, languages, t } from "../lib/text.js";
import { chooseTheme, theme, themes } from "../lib/theme.js";
import { app } from "../state/app.js";
import { field, place } from "./field.js";
import { ModelSetup } from "./model-setup.js";

/** @typedef {import("../types.js").Setting} Setting */
/** @typedef {import("./field.js").Field} Field */

const PRESETS = ["standard", "app", "skill-tool", "harness", "triggers", "chat"];
/** Settings that can only be changed in the file: where keys come from and where they are sent. */
const BY_HAND = ["chat.base-url", "chat.key-env"];

const PROVIDERS = ["rehearsal", "anthropic", "openai", "openai-chat"];

/** Settings with their own field, in display order. @type {[string, "select" | "text" | "number", string[]?][]} */
const KEYS = [
  ["chat.provider", "select", PROVIDERS],
  ["chat.model", "text"],
  ["chat.base-url", "text"],
  ["chat.key-env", "text"],
  ["preset", "select", PRESETS],
  ["catalog.budget-tokens", "number"],
  ["chat.context-tokens", "number"],
  ["chat.max-turn-tokens", "number"],
];

export class SettingsView extends HTMLElement {
  /** @type {Map<string, Setting>} */
  #settings = new Map();
  /** @type {Record<string, Field>} */
  #fields = {};
  #form = h("form", { class: "form settings-form", novalidate: true });
  #said = h("p", { class: "file-said", role: "status" });
  #problem = h("p", { class: "notice error", role: "alert", hidden: true });
  #rows = h("tbody");
  #filter = h("input", {
    class: "input filter",
    type: "search",
    placeholder: t.settings.filter,
    "aria-label": t.settings.filter,
  });

  connectedCallback() {
    assign(this, { class: "page-view", tabindex: "0", role: "region", "aria-label": t.settings.title });
    document.title = `${t.settings.title} · Prowess`;
    const head = h(
      "tr",
      {},
      ...[t.settings.key, t.settings.value, t.settings.origin].map((text) => h("th", { scope: "col" }, text)),
    );
    this.replaceChildren(
      h(
        "div",
        { class: "page-inner" },
        h("h1", {}, t.settings.title),
        h(
          "section",
          { class: "panel" },
          h("h2", {}, t.settings.model),
          h("p", { class: "muted" }, t.settings.modelText),
          this.#setupPlace,
          this.#form,
        ),
        h("section", { class: "panel" }, h("h2", {}, t.settings.page), this.#looks()),
        h(
          "section",
          { class: "panel" },
          h("h2", {}, t.settings.effective),
          h("p", { class: "muted" }, t.settings.effectiveText),
          this.#filter,
          h(
            "div",
            { class: "wide-table", tabindex: "0", role: "region", "aria-label": t.settings.effective },
            h("table", { class: "plain-table" }, h("thead", {}, head), this.#rows),
          ),
        ),
      ),
    );
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    this.#filter.addEventListener("input", () => this.#table());
    this.#ends = [
      app.on("about", () => {
        this.#setup();
        this.#restrict();
      }),
      // Retries a failed load, but keeps the user's input.
      app.on("connection", (event) => event.detail.back && this.#settings.size === 0 && this.#read()),
    ];
    this.#setup();
    this.#read();
  }

  /** @type {(() => void)[]} */
  #ends = [];
  #setupPlace = h("div", { hidden: true });

  disconnectedCallback() {
    for (const end of this.#ends) end();
  }

  /** The model setup, for administrators. */
  #setup() {
    const wanted = Boolean(app.about?.admin);
    if (wanted && this.#setupPlace.hidden) this.#setupPlace.replaceChildren(make(ModelSetup));
    this.#setupPlace.hidden = !wanted;
  }

  #looks() {
    const languageSelect = h(
      "select",
      { class: "input" },
      ...languages().map(([tag, name]) => h("option", { value: tag, selected: tag === language }, name)),
    );
    languageSelect.addEventListener("change", () => chooseLanguage(languageSelect.value));
    const themeSelect = h(
      "select",
      { class: "input" },
      ...themes.map((name) =>
        h("option", { value: name, selected: name === theme() }, t.settings.themes[name]),
      ),
    );
    themeSelect.addEventListener("change", () => chooseTheme(themeSelect.value));
    return h(
      "div",
      { class: "form two" },
      field(t.settings.language, languageSelect).element,
      field(t.settings.theme, themeSelect).element,
    );
  }

  async #read() {
    try {
      this.#take(await api.get("/api/settings"));
    } catch (error) {
      this.#form.replaceChildren(
        h("p", { class: "notice error", role: "alert" }, t.problem(/** @type {any} */ (error))),
      );
    }
  }

  /** @param {{ settings: Setting[] }} answer */
  #take(answer) {
    this.#settings = new Map(answer.settings.map((setting) => [setting.key, setting]));
    this.#render();
    this.#table();
  }

  #render() {
    this.#fields = {};
    for (const [key, kind, options] of KEYS) {
      const setting = this.#settings.get(key);
      if (!setting) continue;
      const value =
        typeof setting.value === "string" && setting.value === "none" && kind !== "select"
          ? ""
          : (setting.value ?? "");
      const input =
        kind === "select"
          ? h(
              "select",
              { class: "input" },
              ...(options ?? []).map((name) =>
                h(
                  "option",
                  { value: name, selected: name === value },
                  t.settings.options[/** @type {"openai"} */ (name)] ?? name,
                ),
              ),
            )
          : h("input", {
              class: "input",
              value: String(value),
              inputmode: kind === "number" ? "numeric" : "text",
              autocomplete: "off",
              spellcheck: "false",
            });
      const byHand = BY_HAND.includes(key);
      if (byHand) input.toggleAttribute("readonly", true);
      input.dataset.key = key;
      const names = t.settings.keys[/** @type {"preset"} */ (key)];
      this.#fields[key] = field(
        names?.[0] ?? key,
        input,
        [names?.[1], t.settings.from(setting.origin), byHand ? t.settings.byHand : ""]
          .filter(Boolean)
          .join(" "),
      );
    }
    this.#form.replaceChildren(
      h("div", { class: "two" }, ...Object.values(this.#fields).map((one) => one.element)),
      this.#problem,
      h("div", { class: "actions" }, this.#said, h("button", { class: "button primary" }, t.common.save)),
    );
    this.#restrict();
  }

  /** Only administrators may change settings; the server checks this again. */
  #restrict() {
    const admin = app.about?.admin ?? true;
    for (const control of this.#form.elements) /** @type {HTMLInputElement} */ (control).disabled = !admin;
  }

  async #save() {
    /** @type {Record<string, any>} */
    const change = {};
    this.#problem.hidden = true;
    this.#said.textContent = "";
    for (const [key, kind] of KEYS) {
      const input = this.#fields[key]?.input;
      const before = this.#settings.get(key)?.value ?? "";
      if (!input) continue;
      const text = input.value.trim();
      const was = before === "none" && kind !== "select" ? "" : String(before);
      if (text === was) continue;
      // An empty field removes the setting, so that the preset applies.
      change[key] = text === "" ? null : kind === "number" && /^\d+$/.test(text) ? Number(text) : text;
    }
    if (Object.keys(change).length === 0) return void (this.#said.textContent = t.settings.nothing);
    try {
      this.#take(await api.patch("/api/settings", change));
      this.#said.textContent = t.settings.saved;
      app.readAbout().catch(() => {});
    } catch (error) {
      const errors = error instanceof Problem ? error.errors : [];
      const rest = errors.length ? place(this.#fields, errors) : [t.problem(/** @type {any} */ (error))];
      this.#problem.hidden = rest.length === 0;
      this.#problem.textContent = rest.join(" ");
    }
  }

  #table() {
    const words = this.#filter.value.toLowerCase();
    const rows = [...this.#settings.values()].filter((setting) =>
      `${setting.key} ${JSON.stringify(setting.value)} ${setting.origin}`.toLowerCase().includes(words),
    );
    this.#rows.replaceChildren(
      ...rows.map((setting) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", class: "mono" }, setting.key),
          h(
            "td",
            { class: "mono value" },
            typeof setting.value === "string" ? setting.value : JSON.stringify(setting.value),
          ),
          h("td", { class: "muted" }, setting.origin),
        ),
      ),
    );
  }
}
customElements.define("settings-view", SettingsView);
