// A tool call and its result. Chats do not store texts of skills: an opened card loads them from the skill, and shows a note
// if they differ from what the model received.

import { api, at, isInnerPath } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { digestOf, size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { copyButton } from "./copy-button.js";
import { consentQuestion } from "./consent-question.js";
import { FileCard } from "./file-card.js";

/** @typedef {import("../types.js").CallPart} CallPart */
/** @typedef {import("../types.js").ResultPart} ResultPart */

/** The maximum length of texts that are shown open. */
const SMALL = 1500;

/** The name with dots, whichever way the model's interface spells it. @param {string} name */
const plain = (name) => name.replace(/^skills_/, "skills.");

/** The text key for each tool. @type {Record<string, keyof typeof t.card.did>} */
const WHAT = {
  "skills.activate": "activate",
  Skill: "activate",
  "skills.readResource": "read",
  ReadFile: "read",
  "skills.run": "run",
  "skills.search": "search",
  "skills.listResources": "list",
};

const SOON = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      SOON.unobserve(target);
      target.dispatchEvent(new Event("soon"));
    }
  },
  { rootMargin: "600px 0px" },
);

/** The maximum number of files that are shown as cards. */
const FILES_MAX = 20;

export class ToolCard extends HTMLElement {
  /** The chat's id. */
  chat = "";
  /** The last rendered state, so that an update does not close open sections. */
  #key = "";

  /** @param {CallPart} call @param {ResultPart | undefined} result @param {boolean} writing */
  show(call, result, writing) {
    const key = JSON.stringify([call, result, writing && !result]);
    if (key === this.#key) return;
    this.#key = key;
    const tool = plain(call.name);
    const given = call.arguments ?? {};
    const data = result?.summary ?? {};
    const failed = result?.status === "error" || Boolean(data.error);
    const state = result ? (failed ? "error" : result.status) : writing ? "running" : "broken";
    this.className = `card ${state}`;
    this.dataset.tool = tool;
    this.setAttribute("role", "group");
    const isSkill = tool === "skills.activate" || tool === "Skill";
    const isFile = tool === "skills.readResource" || tool === "ReadFile";
    const isRun = tool === "skills.run";
    const subject = isSkill
      ? (data.name ?? given.name)
      : isFile
        ? (data.path ?? given.path)
        : isRun
          ? given.script
          : (given.query ?? given.name);
    this.setAttribute("aria-label", t.card.label(tool, String(subject ?? "")));
    const head = h(
      "div",
      { class: "card-head" },
      icon(failed ? "alert" : isSkill ? "bolt" : isFile ? "file" : isRun ? "terminal" : "gear"),
      h("span", { class: "card-what" }, this.#what(tool, call, state)),
      subject !== undefined && h("code", { class: "card-subject" }, visible(String(subject))),
      (isFile || isRun) && given.name && h("span", { class: "card-of" }, t.card.of(visible(String(given.name)))),
      h("span", { class: "card-badges" }, ...this.#badges(state, data, isRun, isSkill || isFile)),
    );
    this.replaceChildren(head);
    if (call.question && !result && writing) this.append(consentQuestion(this.chat, call.question));
    if (failed) this.append(this.#error(data));
    else if (result && isSkill)
      this.append(this.#text(String(data.name ?? given.name), "SKILL.md", data, t.card.instructions, false));
    else if (result && isFile)
      this.append(
        this.#text(String(given.name ?? ""), String(subject), data, t.card.content, data.bytes <= SMALL),
      );
    else if (result && isRun) this.append(...this.#streams(data));
    else if (result)
      this.append(
        this.#fold(t.card.answer, typeof data.text === "string" ? data.text : JSON.stringify(data, null, 2)),
      );
    const rest = Object.fromEntries(
      Object.entries(given).filter(([key]) => !(key === "name" || key === "path" || key === "script")),
    );
    if (Object.keys(rest).length > 0)
      this.append(this.#fold(t.card.arguments, JSON.stringify(rest, null, 2)));
    if (result) this.append(...this.#files(data));
  }

  /** The files that a script created, changed and removed. @param {Record<string, any>} data */
  #files(data) {
    const list = (/** @type {any} */ value) => (Array.isArray(value) ? value : []);
    const isFile = (/** @type {any} */ file) => typeof file?.path === "string" && isInnerPath(file.path);
    const files = list(data.artifacts).filter(isFile);
    const cards = files.slice(0, FILES_MAX).map((file) => {
      const { path, media_type: type, digest } = file;
      const card = make(FileCard);
      const bytes = Number(file.size ?? file.bytes) || 0;
      card.show(this.chat, { path, size: bytes, media_type: String(type ?? ""), digest: String(digest ?? "") });
      return h("li", {}, card);
    });
    const parts = [];
    if (cards.length > 0) parts.push(h("ul", { class: "artifacts", "aria-label": t.files.written }, ...cards));
    const more = list(data.artifacts).length - cards.length;
    if (more > 0) parts.push(h("p", { class: "artifacts-note" }, t.files.more(more)));
    const removed = list(data.removed).filter((path) => typeof path === "string");
    if (removed.length > 0) parts.push(h("p", { class: "artifacts-note" }, t.files.removed(visible(removed.join(", ")))));
    return parts;
  }

  /** What is done, was done, or could not be done. @param {string} tool @param {CallPart} call @param {string} state */
  #what(tool, call, state) {
    if (call.id.startsWith("mention_") && state !== "error") return t.card.called;
    const what = WHAT[tool];
    if (!what) return h("code", {}, call.name);
    const { running, failed, done } = t.card.did[what];
    return state === "running" ? running : state === "error" || state === "broken" ? failed : done;
  }

  /** @param {string} state @param {Record<string, any>} data @param {boolean} isRun @param {boolean} isText */
  #badges(state, data, isRun, isText) {
    const badge = (/** @type {string} */ kind, /** @type {string} */ text) =>
      h("span", { class: `badge ${kind}` }, text);
    const badges = [];
    if (state === "running") badges.push(badge("quiet running", t.card.running));
    if (state === "broken") badges.push(badge("warn", t.card.noAnswer));
    if (isRun && Number.isInteger(data.exit_code))
      badges.push(badge(data.exit_code === 0 ? "ok" : "bad", t.card.exit(data.exit_code)));
    if (data.timed_out) badges.push(badge("bad", t.card.timedOut));
    if (data.sandbox) badges.push(badge("quiet", t.card.sandbox(String(data.sandbox))));
    if (data.already_active) badges.push(badge("quiet", t.card.alreadyActive));
    if (data.truncated) badges.push(badge("warn", t.card.truncated));
    else if (isText && state === "success") badges.push(badge("quiet", t.card.whole));
    if (state === "error") badges.push(badge("bad", String(data.error?.code ?? t.card.failed)));
    if (state === "partial" && !data.truncated) badges.push(badge("warn", t.card.partial));
    return badges;
  }

  /** @param {Record<string, any>} data */
  #error(data) {
    const message = String(data.error?.message ?? data.text ?? t.card.failed);
    return h("p", { class: "card-error" }, visible(message));
  }

  /** A collapsible text. @param {string} title @param {string} text @param {boolean} [open] */
  #fold(title, text, open = false) {
    const pre = h("pre", { class: "card-text", tabindex: "0" }, visible(text));
    return h(
      "details",
      { class: "fold", open },
      h("summary", {}, title),
      h(
        "div",
        { class: "fold-tools" },
        copyButton(() => text),
      ),
      pre,
    );
  }

  /** @param {Record<string, any>} data */
  #streams(data) {
    const streams = /** @type {const} */ ([
      ["stdout", t.card.stdout],
      ["stderr", t.card.stderr],
    ])
      .filter(([key]) => typeof data[key] === "string" && data[key] !== "")
      .map(([key, title]) => this.#fold(title, data[key], data[key].length <= SMALL));
    if (streams.length > 0) return streams;
    return typeof data.text === "string" && data.text
      ? [this.#fold(t.card.output, data.text, data.text.length <= SMALL)]
      : [];
  }

  /**
   * A text of a skill, loaded on demand.
   * @param {string} name @param {string} path @param {Record<string, any>} data @param {string} title @param {boolean} open
   */
  #text(name, path, data, title, open) {
    const body = h("div", { class: "fold-body" });
    let text = "";
    const bytes = Number.isFinite(data.bytes) ? h("span", { class: "fold-size" }, size(data.bytes)) : null;
    const fold = h(
      "details",
      { class: "fold" },
      h("summary", {}, title, bytes),
      h(
        "div",
        { class: "fold-tools" },
        copyButton(async () => text || (text = (await this.#fetch(name, path)).content)),
      ),
      body,
    );
    const load = async () => {
      if (body.firstChild) return;
      try {
        const file = await this.#fetch(name, path);
        text = file.content;
        const pre = h("pre", { class: "card-text", tabindex: "0" }, visible(text));
        const known = path === "SKILL.md" ? data.digest : undefined;
        const changed = known && !file.truncated && (file.digest ?? (await digestOf(text))) !== known;
        body.replaceChildren(...(changed ? [h("p", { class: "card-note" }, t.card.changed)] : []), pre);
      } catch (error) {
        body.replaceChildren(h("p", { class: "card-note" }, t.problem(/** @type {any} */ (error))));
      }
    };
    fold.addEventListener("toggle", () => fold.open && load());
    if (open) {
      fold.addEventListener("soon", async () => {
        await load();
        fold.open = true;
      });
      SOON.observe(fold);
    }
    return fold;
  }

  /** @param {string} name @param {string} path @returns {Promise<{ content: string, truncated?: boolean, digest?: string }>} */
  #fetch(name, path) {
    return api.get(at.file(app.skill(name)?.id ?? name, path));
  }
}
customElements.define("tool-card", ToolCard);
