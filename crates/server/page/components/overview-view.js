// Statistics about all skills: sources, token cost, usage and problems.

import { api } from "../lib/api.js";
import { assign, h } from "../lib/dom.js";
import { number, shortPath, when } from "../lib/format.js";
import { bars, stackedBar } from "../lib/plots.js";
import { editAddress } from "../lib/route.js";
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
  /** All skills, to find those that problems are about. @type {import("../types.js").Skill[]} */
  #skills = [];

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
      const [overview, all] = await Promise.all([
        /** @type {Promise<Overview>} */ (api.get("/api/overview")),
        api.get("/api/skills", { all: 1 }),
      ]);
      this.#skills = all.skills;
      this.#body.replaceChildren(
        this.#figures(overview),
        this.#statuses(overview),
        this.#sources(overview),
        this.#catalog(overview),
        this.#used(overview),
        this.#costly(overview),
        this.#bySkill(overview),
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
      href: this.#address(skill.name),
      text: t.overview.times(skill.count),
      title: when(skill.last),
    }));
    const cells = overview.most_used.map((skill) => [skill.name, number(skill.count), when(skill.last)]);
    return this.#panel(t.overview.mostUsed, [
      rows.length ? bars(rows, t.overview.mostUsed) : h("p", { class: "muted" }, t.overview.noneUsed),
      rows.length > 0 ? this.#table([t.skills.name, t.overview.uses, t.overview.lastUse], cells) : null,
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
                .map((name) =>
                  h(
                    "li",
                    {},
                    h("a", { class: "chip plain", href: this.#address(name, "routing"), title: t.overview.whyUnused }, h("span", { class: "chip-name" }, name)),
                  ),
                ),
              ...more,
            )
          : h("p", { class: "muted" }, t.overview.allUsed),
      ],
      "full",
    );
  }

  /** The address where a skill is edited. @param {string} name @param {string} [tab] */
  #address(name, tab) {
    const skill = this.#skills.find((one) => one.name === name && one.status === "enabled");
    return `${editAddress(skill?.id ?? name)}${tab ? `?tab=${tab}` : ""}`;
  }

  /** The skill that a file belongs to, and the path inside of it. @param {string} path */
  #owner(path) {
    const dir = (/** @type {string} */ location) => location.replace(/[^/]*$/, "");
    const skill = this.#skills.find((one) => path.startsWith(dir(one.location)));
    return skill ? { skill, inner: path.slice(dir(skill.location).length) } : null;
  }

  /** @param {Overview} overview */
  #costly(overview) {
    const rows = (overview.costly ?? []).map(({ name, tokens }) => ({
      label: name,
      href: this.#address(name, "preview"),
      slices: [{ label: name, value: tokens, kind: "accent" }],
      text: number(tokens),
    }));
    return this.#panel(t.overview.costly, [
      rows.length ? bars(rows, t.overview.costly) : h("p", { class: "muted" }, t.overview.noneOffered),
      rows.length > 0 ? this.#table([t.skills.name, t.skills.tokens], rows.map((row) => [row.label, row.text])) : null,
    ]);
  }

  /** Errors and warnings by skill. @param {Overview} overview */
  #bySkill(overview) {
    /** @type {Map<string, { id: string, errors: number, warnings: number }>} */
    const found = new Map();
    for (const one of overview.problems) {
      const owner = this.#owner(one.path ?? "");
      if (!owner || one.severity === "info") continue;
      const { skill } = owner;
      const entry = found.get(skill.location) ?? { id: skill.id, errors: 0, warnings: 0 };
      if (one.severity === "error") entry.errors++;
      else entry.warnings++;
      found.set(skill.location, entry);
    }
    const worst = [...found.values()].sort((a, b) => b.errors - a.errors || b.warnings - a.warnings).slice(0, 10);
    const rows = worst.map(({ id, errors, warnings }) => ({
      label: id,
      href: editAddress(id),
      slices: [
        { label: t.overview.errors, value: errors, kind: "invalid" },
        { label: t.overview.warnings, value: warnings, kind: "unavailable" },
      ],
      text: number(errors + warnings),
    }));
    const cells = worst.map(({ id, errors, warnings }) => [id, number(errors), number(warnings)]);
    return this.#panel(t.overview.bySkill, [
      rows.length ? bars(rows, t.overview.bySkill) : h("p", { class: "muted" }, t.overview.noProblems),
      rows.length > 0 ? this.#table([t.skills.name, t.overview.errors, t.overview.warnings], cells) : null,
    ]);
  }

  /** The figures behind a plot. @param {string[]} head @param {string[][]} rows */
  #table(head, rows) {
    return h(
      "details",
      { class: "fold" },
      h("summary", {}, t.overview.figures),
      h(
        "table",
        { class: "plain-table" },
        h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
        h(
          "tbody",
          {},
          ...rows.map(([first, ...rest]) =>
            h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((text) => h("td", { class: "number" }, text))),
          ),
        ),
      ),
    );
  }

  /** @param {Overview} overview */
  #problems(overview) {
    const list = overview.problems.slice(0, 200);
    const href = (/** @type {import("../types.js").Diagnostic} */ one) => {
      const owner = this.#owner(one.path ?? "");
      return owner ? editAddress(owner.skill.id, owner.inner || undefined, one.line) : null;
    };
    return this.#panel(
      t.overview.problems,
      [list.length ? diagnosticsList(list, { href }) : h("p", { class: "muted" }, t.overview.noProblems)],
      "full",
    );
  }
}
customElements.define("overview-view", OverviewView);
