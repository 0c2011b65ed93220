// The exact model input for a message of a chat, or for any text without sending it.

import { api, withQuery } from "../lib/api.js";
import { afterPause, assign, h } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { stackedBar } from "../lib/plots.js";
import { address, editAddress, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { chats } from "../state/chats.js";
import { copyButton } from "./copy-button.js";

/** @typedef {import("../types.js").Inspection} Inspection */

const PARTS = /** @type {const} */ (["rules", "catalog", "active", "history", "message", "tools"]);
const SKILLS = 100;

export class InspectorView extends HTMLElement {
  #query = h("textarea", {
    class: "input",
    rows: 2,
    id: "inspect-query",
    placeholder: t.inspect.placeholder,
  });
  #chat = h("select", { class: "input", id: "inspect-chat" });
  #about = h("p", { class: "lead" });
  #ask = h("div", { class: "inspect-ask" });
  #result = h("div", { class: "inspect-result", "aria-live": "polite" });
  #asked = 0;

  connectedCallback() {
    assign(this, { class: "page-view", tabindex: "0", role: "region", "aria-label": t.inspect.title });
    this.#ask.replaceChildren(
      h(
        "div",
        { class: "field" },
        h("label", { class: "label", for: "inspect-query" }, t.inspect.query),
        this.#query,
      ),
      h(
        "div",
        { class: "field" },
        h("label", { class: "label", for: "inspect-chat" }, t.inspect.chat),
        this.#chat,
      ),
    );
    this.replaceChildren(
      h(
        "div",
        { class: "page-inner wide" },
        h("h1", {}, t.inspect.title),
        this.#about,
        this.#ask,
        this.#result,
      ),
    );
    document.title = `${t.inspect.title} · Prowess`;
    const ask = afterPause(350, () => this.#written());
    this.#query.addEventListener("input", ask);
    this.#chat.addEventListener("change", () => this.#written());
    this.onHash = () => route().view === "inspect" && this.#show();
    addEventListener("hashchange", this.onHash);
    chats.addEventListener("change", this.onChats);
    this.#end = app.on("connection", (event) => event.detail.back && this.#show());
    this.#show();
  }

  /** @type {(() => void) | null} */
  #end = null;

  disconnectedCallback() {
    this.#end?.();
    if (this.onHash) removeEventListener("hashchange", this.onHash);
    chats.removeEventListener("change", this.onChats);
  }

  /** @type {(() => void) | null} */
  onHash = null;
  onChats = () => this.#options();

  #options() {
    const chosen = route().params.get("chat") ?? "";
    const options = chats.list.map((chat) => h("option", { value: chat.id }, chat.title || t.chats.untitled));
    this.#chat.replaceChildren(h("option", { value: "" }, t.inspect.noChat), ...options);
    this.#chat.value = chosen;
  }

  /** Reflects the query in the address, for bookmarks and navigation. */
  #written() {
    const params = Object.fromEntries(
      Object.entries({ query: this.#query.value.trim(), chat: this.#chat.value }).filter(
        ([, value]) => value,
      ),
    );
    go(address("inspect", null, params), { replace: true });
  }

  async #show() {
    const { params } = route();
    const message = params.get("message");
    this.#options();
    this.#ask.hidden = Boolean(message);
    this.#about.replaceChildren(
      message ? t.inspect.leadMessage : t.inspect.lead,
      ...(message ? [" ", h("a", { href: address("chat", params.get("chat")) }, t.inspect.backToChat)] : []),
    );
    if (document.activeElement !== this.#query) this.#query.value = params.get("query") ?? "";
    const mine = ++this.#asked;
    try {
      const query = { query: params.get("query"), chat: params.get("chat"), message };
      const inspection = await api.get(withQuery("/api/inspect", query));
      if (mine === this.#asked) this.#render(inspection);
    } catch (error) {
      if (mine === this.#asked)
        this.#result.replaceChildren(
          h("p", { class: "notice error", role: "alert" }, t.problem(/** @type {any} */ (error))),
        );
    }
  }

  /** @param {Inspection} inspection */
  #render(inspection) {
    const slices = inspection.parts.map((part) => ({
      label: this.#part(part.part),
      value: part.tokens,
      kind: `part-${part.part}`,
    }));
    const unit = (/** @type {number} */ value) => t.inspect.tokens(number(value));
    this.#result.replaceChildren(
      h(
        "section",
        { class: "panel" },
        h("h2", {}, t.inspect.cost),
        h(
          "p",
          { class: "inspect-total" },
          h("strong", {}, t.inspect.tokens(number(inspection.tokens))),
          ` · ${inspection.model || t.shell.rehearsal}`,
          inspection.tier === null || inspection.tier === undefined
            ? ""
            : ` · ${t.inspect.tier(inspection.tier)}`,
        ),
        stackedBar(slices, { label: t.inspect.cost, unit }),
      ),
      h(
        "section",
        { class: "panel" },
        h("h2", {}, t.inspect.given),
        ...inspection.parts.map((part) => this.#fold(part)),
      ),
      this.#skills(inspection),
      this.#tools(inspection),
    );
  }

  /** @param {string} part */
  #part(part) {
    return PARTS.includes(/** @type {any} */ (part))
      ? t.inspect.parts[/** @type {(typeof PARTS)[number]} */ (part)]
      : part;
  }

  /** @param {Inspection["parts"][number]} part */
  #fold(part) {
    const text = part.text || t.inspect.nothing;
    // Open sections stay open while the user types.
    const open = this.#result
      .querySelector(`.fold[data-part="${CSS.escape(part.part)}"]`)
      ?.hasAttribute("open");
    return h(
      "details",
      { class: "fold", "data-part": part.part, open },
      h(
        "summary",
        {},
        this.#part(part.part),
        h("span", { class: "fold-size" }, t.inspect.tokens(number(part.tokens))),
      ),
      h(
        "div",
        { class: "fold-tools" },
        copyButton(() => part.text),
      ),
      h("pre", { class: "card-text", tabindex: "0" }, visible(text)),
    );
  }

  /** @param {Inspection} inspection */
  #skills(inspection) {
    const ranked = [...inspection.skills].sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity) || 0);
    const shown = ranked.slice(0, SKILLS);
    const id = (/** @type {string} */ name) => app.skill(name)?.id ?? name;
    const rows = shown.map((skill, index) =>
      h(
        "tr",
        {},
        h("td", { class: "number" }, typeof skill.score === "number" ? number(index + 1) : "–"),
        h("th", { scope: "row", class: "mono" }, h("a", { href: editAddress(id(skill.name)) }, skill.name)),
        h(
          "td",
          {},
          h(
            "span",
            { class: `badge ${skill.disclosed === "no" ? "quiet" : "ok"}` },
            t.inspect.disclosed[/** @type {"full"} */ (skill.disclosed)] ?? skill.disclosed,
          ),
        ),
        h("td", { class: "number" }, typeof skill.score === "number" ? skill.score.toFixed(2) : "–"),
        h("td", {}, [skill.why, ...(skill.reasons ?? [])].filter(Boolean).join(" · ")),
      ),
    );
    const head = h(
      "tr",
      {},
      ...[t.inspect.rank, t.skills.name, t.inspect.shown, t.inspect.score, t.inspect.why].map((text) =>
        h("th", { scope: "col" }, text),
      ),
    );
    const more =
      inspection.skills.length > SKILLS
        ? [h("p", { class: "muted" }, t.overview.more(inspection.skills.length - SKILLS))]
        : [];
    return h(
      "section",
      { class: "panel" },
      h("h2", {}, t.inspect.considered(inspection.skills.length)),
      h(
        "div",
        {
          class: "wide-table",
          tabindex: "0",
          role: "region",
          "aria-label": t.inspect.considered(inspection.skills.length),
        },
        h("table", { class: "plain-table" }, h("thead", {}, head), h("tbody", {}, ...rows)),
      ),
      ...more,
    );
  }

  /** @param {Inspection} inspection */
  #tools(inspection) {
    const list = inspection.tools.map((tool) =>
      h(
        "details",
        { class: "fold" },
        h("summary", {}, h("code", {}, tool.name)),
        h("p", { class: "fold-text" }, tool.description),
        h("pre", { class: "card-text", tabindex: "0" }, JSON.stringify(tool.input_schema, null, 2)),
      ),
    );
    return h(
      "section",
      { class: "panel" },
      h("h2", {}, t.inspect.tools(inspection.tools.length)),
      ...(list.length ? list : [h("p", { class: "muted" }, t.inspect.noTools)]),
    );
  }
}
customElements.define("inspector-view", InspectorView);
