// Results of `prowess test`: the list of reports, or one report.

import { api, at } from "../lib/api.js";
import { assign, h } from "../lib/dom.js";
import { fullTime, percent } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { address, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { copyButton } from "./copy-button.js";
import { pointsText } from "./report-table.js";
import { reportSections, SIGNIFICANT } from "./test-report.js";

/** @typedef {import("../types.js").StoredReport} StoredReport */
/** @typedef {import("../types.js").TestReport} TestReport */

/** The number of reports of a skill that are listed at first. */
const SHOWN = 5;

/** @param {string} timestamp */
const time = (timestamp) => {
  const ms = Date.parse(timestamp);
  return h("time", { datetime: timestamp }, Number.isNaN(ms) ? timestamp : fullTime(ms));
};

/** @param {StoredReport} report */
const reportAddress = ({ skill, iteration }) => address("tests", skill, { iteration: String(iteration) });

export class TestsView extends HTMLElement {
  #body = h("div", { class: "page-inner wide tests" });
  #asked = 0;
  /** What is shown, so that an unchanged view keeps its focus. */
  #shown = "";
  /** @type {(() => void)[]} */
  #ends = [];

  connectedCallback() {
    assign(this, { class: "page-view", tabindex: "0", role: "region", "aria-label": t.tests.title });
    this.replaceChildren(this.#body);
    const onHash = () => {
      if (route().view === "tests") this.#show(this.contains(document.activeElement));
    };
    // Tests run in a terminal, so new results are looked for when the user returns.
    const onVisible = () => document.visibilityState === "visible" && this.#show();
    addEventListener("hashchange", onHash);
    document.addEventListener("visibilitychange", onVisible);
    this.#ends = [
      () => removeEventListener("hashchange", onHash),
      () => document.removeEventListener("visibilitychange", onVisible),
      app.on("connection", (event) => event.detail.back && this.#show()),
    ];
    this.#show();
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
  }

  /** @param {boolean} [moveFocus] */
  async #show(moveFocus = false) {
    const { id: skill, params } = route();
    const mine = ++this.#asked;
    try {
      const { reports } = /** @type {{ reports: StoredReport[] }} */ (await api.get("/api/tests"));
      const newest = reports.find((report) => report.skill === skill)?.iteration;
      const iteration = Number(params.get("iteration") ?? newest ?? 1);
      const report = skill && /** @type {TestReport} */ (await api.get(at.testReport(skill, iteration)));
      if (mine !== this.#asked) return;
      const shown = JSON.stringify([skill, iteration, reports]);
      if (shown === this.#shown) return;
      this.#shown = shown;
      document.title = `${skill ? `${visible(skill)} · ` : ""}${t.tests.title} · Prowess`;
      this.#body.replaceChildren(...(report ? this.#report(report, iteration, reports) : this.#list(reports)));
      this.scrollTop = 0;
    } catch (error) {
      if (mine !== this.#asked) return;
      this.#shown = "";
      this.#body.replaceChildren(
        h("h1", { tabindex: "-1" }, t.tests.title),
        h("p", { class: "notice error", role: "alert" }, t.problem(/** @type {any} */ (error))),
        h("p", {}, h("a", { href: address("tests") }, t.tests.all)),
      );
    }
    if (moveFocus) this.#body.querySelector("h1")?.focus();
  }

  /** @param {StoredReport[]} reports */
  #list(reports) {
    const bySkill = Map.groupBy(reports, (report) => report.skill);
    return [
      h("h1", { tabindex: "-1" }, t.tests.title),
      h("p", { class: "lead" }, t.tests.lead),
      ...(reports.length
        ? [...bySkill].map(([skill, list]) => this.#skill(skill, list))
        : [this.#empty()]),
    ];
  }

  #empty() {
    const commands = [
      { text: t.tests.dryRun, command: "prowess test --dry-run" },
      { text: t.tests.run, command: "prowess test" },
    ];
    return h(
      "section",
      { class: "panel tests-empty" },
      h("h2", {}, t.tests.none),
      h("p", {}, t.tests.noneText),
      h(
        "ol",
        { class: "setup-steps" },
        h("li", {}, h("p", {}, t.tests.write, " ", h("code", {}, "evals/evals.json"))),
        ...commands.map(({ text, command }) =>
          h(
            "li",
            {},
            h("p", {}, text),
            h(
              "div",
              { class: "setup-code" },
              h("pre", { tabindex: "0", "aria-label": text }, command),
              copyButton(() => command, `${t.copy.copy}: ${command}`),
            ),
          ),
        ),
      ),
    );
  }

  /** @param {string} skill @param {StoredReport[]} reports */
  #skill(skill, reports) {
    const rows = reports.map((report, index) =>
      h(
        "tr",
        { hidden: index >= SHOWN },
        h("th", { scope: "row" }, h("a", { href: reportAddress(report) }, t.tests.iteration(report.iteration))),
        h("td", {}, time(report.timestamp)),
        h("td", { class: "number" }, report.pass_rate === null ? "–" : percent(report.pass_rate)),
        h("td", { class: "number" }, changeBadge(report)),
        h("td", {}, report.complete ? "" : h("span", { class: "badge warn" }, t.tests.incomplete)),
      ),
    );
    const hidden = rows.filter((row) => row.hidden);
    const more = h(
      "button",
      {
        class: "button small quiet",
        onclick: () => {
          for (const row of hidden) row.hidden = false;
          more.remove();
          hidden[0]?.querySelector("a")?.focus();
        },
      },
      t.tests.older(hidden.length),
    );
    return h(
      "section",
      { class: "panel", "data-skill": skill },
      h("h2", { class: "skill-title" }, visible(skill)),
      h(
        "div",
        { class: "wide-table", tabindex: "0", role: "region", "aria-label": t.tests.reportsOf(visible(skill)) },
        h(
          "table",
          { class: "plain-table reports" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, t.tests.report),
              h("th", { scope: "col" }, t.tests.date),
              h("th", { scope: "col", class: "number" }, t.tests.expectations),
              h("th", { scope: "col", class: "number" }, t.tests.change),
              h("th", { scope: "col" }, h("span", { class: "unseen" }, t.tests.state)),
            ),
          ),
          h("tbody", {}, ...rows),
        ),
      ),
      hidden.length ? h("p", {}, more) : null,
    );
  }

  /** @param {TestReport} report @param {number} iteration @param {StoredReport[]} reports */
  #report(report, iteration, reports) {
    const { agent, model, judge, runs, timestamp, stopped, against } = report.info;
    const ofSkill = reports.filter((one) => one.skill === route().id);
    const choice = h(
      "select",
      { class: "input", "aria-label": t.tests.report },
      ...ofSkill.map((one) =>
        h(
          "option",
          { value: reportAddress(one), selected: one.iteration === iteration },
          t.tests.iteration(one.iteration),
        ),
      ),
    );
    choice.addEventListener("change", () => go(choice.value));
    return [
      h(
        "header",
        { class: "report-head" },
        h("a", { class: "report-back", href: address("tests") }, t.tests.all),
        h("h1", { tabindex: "-1" }, visible(report.skill)),
        ofSkill.length > 1 ? choice : h("span", { class: "muted" }, t.tests.iteration(iteration)),
        h(
          "p",
          { class: "lead" },
          time(timestamp),
          ` · ${visible(t.tests.made(agent, model, runs))}`,
          judge ? ` · ${visible(t.tests.judgedBy(judge))}` : "",
          against ? ` · ${visible(t.tests.comparedWith(against))}` : "",
        ),
      ),
      stopped
        ? h("p", { class: "notice warn", role: "status" }, h("strong", {}, t.tests.incomplete), `: ${visible(stopped)}`)
        : "",
      ...reportSections(report),
    ].filter(Boolean);
  }
}
customElements.define("tests-view", TestsView);

/** Only changes that are unlikely to be due to chance have a color. @param {StoredReport} report */
const changeBadge = ({ change, p_value: p }) => {
  if (change === null) return "–";
  const kind = p === null || p >= SIGNIFICANT ? "" : change > 0 ? "ok" : "bad";
  return h("span", { class: `badge ${kind}` }, pointsText(change));
};
