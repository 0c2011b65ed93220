// Which messages select the skill: those of its tests and ones that are typed in, each with its rank.

import { api, at } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { percent } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address } from "../lib/route.js";
import { samplesIn } from "../lib/samples.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../lib/samples.js").Sample} Sample */

const KEY = "prowess.samples.";
const MATCHES = 20;
const SAMPLES_MAX = 60;

export class EditorRouting extends HTMLElement {
  #skill = { id: "", name: "" };
  /** @type {string[]} */
  #testFiles = [];
  /** @type {Sample[]} */
  #tests = [];
  /** @type {string[]} */
  #typed = [];
  #asked = 0;
  #input = h("input", { class: "input", id: "routing-message", autocomplete: "off", placeholder: e.sample });
  #list = h("ul", { class: "samples", "aria-live": "polite" });
  #shown = false;

  connectedCallback() {
    const form = h(
      "form",
      { class: "sample-form", novalidate: true },
      h("label", { class: "label", for: "routing-message" }, e.sampleLabel),
      h("div", { class: "sample-row" }, this.#input, h("button", { class: "button" }, e.sampleAdd)),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.#input.value.trim();
      if (!text) return;
      this.#typed = [text, ...this.#typed.filter((one) => one !== text)].slice(0, SAMPLES_MAX);
      this.#input.value = "";
      this.#keep();
      this.ask();
    });
    this.replaceChildren(h("p", { class: "muted" }, e.routingText), form, this.#list);
  }

  /** @param {{ id: string, name: string }} skill @param {string[]} files */
  show(skill, files) {
    const tests = files.filter((path) => /^evals\/[^/]+\.json$/.test(path));
    const same = skill.id === this.#skill.id && tests.join() === this.#testFiles.join();
    this.#skill = skill;
    this.#testFiles = tests;
    if (same) return;
    this.#typed = JSON.parse(localStorage.getItem(KEY + skill.id) ?? "[]");
    this.#readTests();
  }

  async #readTests() {
    const { id } = this.#skill;
    const read = this.#testFiles.map(async (path) => {
      try {
        return samplesIn(JSON.parse((await api.get(at.file(id, path))).content));
      } catch {
        // A file that is not valid has no messages.
        return [];
      }
    });
    const all = (await Promise.all(read)).flat();
    if (id !== this.#skill.id) return;
    this.#tests = all.filter((one, index) => all.findIndex((other) => other.text === one.text) === index);
    if (this.#shown) this.ask();
  }

  #keep() {
    if (this.#typed.length > 0) localStorage.setItem(KEY + this.#skill.id, JSON.stringify(this.#typed));
    else localStorage.removeItem(KEY + this.#skill.id);
  }

  /** Asks the server again: the skill or others may have changed. */
  async ask() {
    this.#shown = true;
    const mine = ++this.#asked;
    /** @type {Sample[]} */
    const samples = [...this.#typed.map((text) => ({ text, expected: null })), ...this.#tests].slice(0, SAMPLES_MAX);
    if (samples.length === 0) return this.#list.replaceChildren(h("li", { class: "muted" }, e.noSamples));
    const rows = await Promise.all(
      samples.map(async (sample) => {
        try {
          const found = await api.get("/api/match", { query: sample.text, k: MATCHES });
          return this.#row(sample, found.matches, found.fits);
        } catch (error) {
          return h("li", { class: "sample" }, t.problem(/** @type {any} */ (error)));
        }
      }),
    );
    if (mine === this.#asked) this.#list.replaceChildren(...rows);
  }

  /** @param {Sample} sample @param {Match[]} matches @param {boolean} fits */
  #row(sample, matches, fits) {
    const { id, name } = this.#skill;
    const index = matches.findIndex((one) => one.name === name || one.name === id);
    const [match, first] = [matches[index], matches[0]];
    const won = index === 0 && fits;
    const wrong = sample.expected !== null && sample.expected !== won;
    const kind = wrong ? "bad" : won ? "ok" : index >= 0 ? "warn" : "quiet";
    const verdict = won ? e.won : index >= 0 ? e.rank(index + 1) : e.lost;
    const before = won ? matches[1] : first;
    const typed = sample.expected === null;
    return h(
      "li",
      { class: "sample" },
      h(
        "div",
        { class: "sample-head" },
        h("span", { class: `badge ${kind}` }, verdict),
        match && h("span", { class: "muted" }, percent(match.confidence)),
        !typed && h("span", { class: "muted" }, sample.expected ? e.shouldWin : e.shouldLose),
        h("span", { class: "spring" }),
        h("a", { class: "small-link", href: address("inspect", null, { query: sample.text }) }, e.inspect),
        typed &&
          h(
            "button",
            {
              class: "icon-button small",
              title: e.sampleRemove,
              "aria-label": `${e.sampleRemove}: ${sample.text}`,
              onclick: () => {
                this.#typed = this.#typed.filter((one) => one !== sample.text);
                this.#keep();
                this.ask();
              },
            },
            icon("close"),
          ),
      ),
      h("p", { class: "sample-text" }, sample.text),
      before &&
        before !== match &&
        h("p", { class: "muted" }, won ? e.next(before.name, percent(before.confidence)) : e.ahead(before.name, percent(before.confidence))),
      match && match.reasons.length > 0 && h("p", { class: "muted" }, match.reasons.join(" · ")),
    );
  }
}
customElements.define("editor-routing", EditorRouting);
