// Statistics about all skills: sources, token cost, usage and problems.

import { api } from "../lib/api.js";
import { assign, h } from "../lib/dom.js";
import { number, shortPath, when } from "../lib/format.js";
import { bars, stackedBar } from "../lib/plots.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { diagnosticsList } from "./diagnostics-list.js";

/** @typedef {import("../types.js").Overview} Overview */

const STATUSES = /** @type {const} */ ([
  "enabled",
  "disabled",
  "unavailable",
  "untrusted",
  "modified",
  "shadowed",
  "invalid",
]);
const MOST = 30;

export class OverviewView extends HTMLElement {
  #body = h("div", { class: "overview-grid" });
  /** @type {(() => void)[]} */
  #ends = [];

  connectedCallback() {
    assign(this, { class: "page-view", tabindex: "0", role: "region", "aria-label": t.overview.title });
    this.replaceChildren(
      h(
        "div",
        { class: "page-inner wide" },
        h("h1", {}, t.overview.title),
        h("p", { class: "lead" }, t.overview.lead),
        this.#body,
      ),
    );
    document.title = `${t.overview.title} · Prowess`;
    this.#ends = [app.on("skills-changed", () => this.#read()), app.on("chats", () => this.#read())];
    this.#read();
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
  }

  async #read() {
    try {
      const overview = /** @type {Overview} */ (await api.get("/api/overview"));
      this.#body.replaceChildren(
        this.#figures(overview),
        this.#statuses(overview),
        this.#sources(overview),
        this.#catalog(overview),
        this.#used(overview),
        this.#unused(overview),
        this.#problems(overview),
      );
    } catch (error) {
      this.#body.replaceChildren(
        h("p", { class: "notice error", role: "alert" }, t.problem(/** @type {any} */ (error))),
      );
    }
  }

  /** @param {string} title @param {(Node | string | null)[]} content @param {string} [kind] */
  #panel(title, content, kind = "") {
    return h("section", { class: `panel ${kind}` }, h("h2", {}, title), ...content);
  }

  /** @param {Overview} overview */
  #figures(overview) {
    const total = Object.values(overview.statuses).reduce((sum, count) => sum + count, 0);
    const figure = (/** @type {number} */ value, /** @type {string} */ text) =>
      h(
        "div",
        { class: "figure" },
        h("span", { class: "figure-value" }, number(value)),
        h("span", { class: "figure-text" }, text),
      );
    return h(
      "div",
      { class: "figures" },
      figure(overview.statuses.enabled ?? 0, t.overview.offered),
      figure(total, t.overview.found),
      figure(overview.catalog.tokens, t.overview.perTurn),
      figure(overview.chats, t.overview.chats),
      figure(overview.problems.length, t.overview.toFix),
    );
  }

  /** @param {Overview} overview */
  #statuses(overview) {
    const slices = STATUSES.map((status) => ({
      label: t.skills.statuses[status] ?? status,
      value: overview.statuses[status] ?? 0,
      kind: status,
    }));
    return this.#panel(t.overview.byStatus, [stackedBar(slices, { label: t.overview.byStatus })]);
  }

  /** @param {Overview} overview */
  #sources(overview) {
    const rows = overview.sources.map((source) => ({
      label:
        source.scope === "bundled" ? (t.skills.scopes.bundled ?? source.source) : shortPath(source.source),
      title: `${source.source} (${t.skills.scopes[/** @type {"user"} */ (source.scope)] ?? source.scope})`,
      slices: STATUSES.map((status) => ({
        label: t.skills.statuses[status] ?? status,
        value: source.by_status[status] ?? 0,
        kind: status,
      })),
      text: number(source.count),
    }));
    return this.#panel(t.overview.bySource, [bars(rows, t.overview.bySource)]);
  }

  /** @param {Overview} overview */
  #catalog(overview) {
    const { tokens, characters, budget, shown, cut } = overview.catalog;
    const slices = [
      { label: t.overview.spent, value: tokens, kind: "accent" },
      ...(budget && budget > tokens
        ? [{ label: t.overview.free, value: budget - tokens, kind: "rest" }]
        : []),
    ];
    return this.#panel(t.overview.catalog, [
      stackedBar(slices, { label: t.overview.catalog, whole: budget ?? tokens }),
      h("p", { class: "muted" }, t.overview.catalogText(number(shown), number(cut), number(characters))),
    ]);
  }

  /** @param {Overview} overview */
  #used(overview) {
    const rows = overview.most_used.slice(0, 10).map((skill) => ({
      label: skill.name,
      slices: [{ label: skill.name, value: skill.count, kind: "accent" }],
      text: t.overview.times(skill.count),
      title: when(skill.last),
    }));
    return this.#panel(t.overview.mostUsed, [
      rows.length ? bars(rows, t.overview.mostUsed) : h("p", { class: "muted" }, t.overview.noneUsed),
    ]);
  }

  /** @param {Overview} overview */
  #unused(overview) {
    const names = overview.never_used;
    const more =
      names.length > MOST ? [h("li", { class: "muted" }, t.overview.more(names.length - MOST))] : [];
    return this.#panel(
      t.overview.neverUsed,
      [
        names.length
          ? h(
              "ul",
              { class: "names" },
              ...names
                .slice(0, MOST)
                .map((name) => h("li", { class: "chip plain" }, h("span", { class: "chip-name" }, name))),
              ...more,
            )
          : h("p", { class: "muted" }, t.overview.allUsed),
      ],
      "full",
    );
  }

  /** @param {Overview} overview */
  #problems(overview) {
    const list = overview.problems.slice(0, 200);
    return this.#panel(
      t.overview.problems,
      [list.length ? diagnosticsList(list) : h("p", { class: "muted" }, t.overview.noProblems)],
      "full",
    );
  }
}
customElements.define("overview-view", OverviewView);
