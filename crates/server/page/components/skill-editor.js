// The editor of a skill at `#/skills/ID/edit/PATH`: files, text, problems, preview and routing. Unsaved changes are kept.

import { api, at, Problem } from "../lib/api.js";
import { afterPause, h, make } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { number, when } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address, editAddress, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { workspace } from "../lib/workspace.js";
import { app } from "../state/app.js";
import { keepEdit, moveEdit, NotText, openBuffer, readFile } from "../state/buffers.js";
import { drafts } from "../state/drafts.js";
import { edits } from "../state/edits.js";
import { CodeEditor } from "./code-editor.js";
import { confirmDialog } from "./confirm-dialog.js";
import { EditorChecks } from "./editor-checks.js";
import { EditorFiles } from "./editor-files.js";
import { EditorSide } from "./editor-side.js";
import { reviewDialog, reviewSave } from "./review-dialog.js";
import { StatusBanner } from "./status-banner.js";

/** @typedef {import("../types.js").Skill} Skill */
/** @typedef {import("../state/buffers.js").Buffer} Buffer */

/** How long to wait after the last change before it is kept. */
const KEEP_AFTER = 400;

const PANES = /** @type {const} */ (["files", "text", "side"]);

export class SkillEditor extends HTMLElement {
  /** @type {Skill | null} */
  #skill = null;
  /** @type {import("../types.js").SkillFile[]} */
  #files = [];
  /** @type {Map<string, Buffer>} */
  #buffers = new Map();
  /** @type {Buffer | null} */
  #buffer = null;
  #path = "";
  #editable = false;
  /** The paths of unsaved changes that were kept earlier. @type {Set<string>} */
  #kept = new Set();
  /** @type {(() => void)[]} */
  #ends = [];

  #name = h("h1", { class: "work-name" });
  #crumb = h("span", { class: "work-path" });
  #badge = h("span", { class: "badge", role: "status" });
  #try = h("button", { class: "button", onclick: () => this.#tryIt() }, icon("chat"), h("span", {}, t.skills.try));
  #discard = h("button", { class: "button quiet", onclick: () => this.#revert() }, e.discard);
  #save = h("button", { class: "button primary", title: e.saveHint, onclick: () => this.save() }, t.common.save);
  #notice = h("div", { class: "work-notice", hidden: true });
  #tree = make(EditorFiles);
  #editor = make(CodeEditor);
  #other = h("div", { class: "work-other", hidden: true });
  #side = make(EditorSide);
  #body = h("main", { class: "work-body", "data-pane": "text" });
  #place = h("span", { class: "status-item" });
  #tokens = h("span", { class: "status-item" });
  #state = h("span", { class: "status-item", role: "status" });
  #checks = new EditorChecks(this.#editor, this.#side, {
    file: () => (this.#buffer ? { skill: this.#id(), path: this.#path, editable: this.#editable } : null),
    say: (text) => (this.#state.textContent = text),
    counted: (tokens) => (this.#tokens.textContent = t.inspect.tokens(number(tokens))),
  });

  connectedCallback() {
    this.className = "workspace";
    const back = h(
      "button",
      { class: "icon-button", id: "editor-back", title: t.common.back, "aria-label": t.common.back, onclick: () => this.#leave() },
      icon("back"),
    );
    const title = h("div", { class: "work-title" }, this.#name, this.#crumb, this.#badge);
    this.#body.replaceChildren(
      this.#tree,
      h("div", { class: "work-text" }, this.#editor, this.#other),
      this.#side,
    );
    const pane = (/** @type {(typeof PANES)[number]} */ name) =>
      h("button", { class: "pane-button", "data-pane": name, onclick: () => this.#showPane(name) }, e.panes[name]);
    const help = h("span", { class: "status-item wide-only" }, e.keys);
    this.replaceChildren(
      make(StatusBanner),
      h("header", { class: "work-bar" }, back, title, this.#discard, this.#try, this.#save),
      this.#notice,
      h("nav", { class: "pane-buttons", "aria-label": e.parts }, ...PANES.map(pane)),
      this.#body,
      h("footer", { class: "work-status" }, this.#place, this.#tokens, this.#state, h("span", { class: "spring" }), help),
    );
    this.#showPane("text");
    this.#listen();
    this.show();
  }

  #listen() {
    const keep = afterPause(KEEP_AFTER, () => this.#keep());
    this.#editor.addEventListener("edited", () => {
      if (this.#buffer && !this.#buffer.unsaved) this.#setUnsaved(true);
      keep();
      this.#checks.later();
    });
    this.#editor.addEventListener("moved", () => this.#showPosition());
    this.#editor.save = () => this.save();
    this.#editor.fix = () => this.#checks.fixHere();
    this.#side.fix = (one) => this.#checks.fix(one);
    this.#side.open = (one) => {
      this.#showPane("text");
      this.#editor.goTo({ offset: one.start });
    };
    const on = (/** @type {string} */ what, /** @type {(detail: any) => void} */ call) =>
      this.#tree.addEventListener(what, (event) => call(/** @type {CustomEvent} */ (event).detail));
    on("open", (path) => this.#go(path));
    on("created", async (path) => {
      await this.#readFiles();
      this.#go(path);
    });
    on("uploaded", () => this.#readFiles());
    on("renamed", ({ from, to }) => this.#renamed(from, to));
    on("removed", (path) => this.#removed(path));
    const hidden = () => document.hidden && this.#keep();
    const leaving = () => this.#keep();
    const keys = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) this.save();
    };
    document.addEventListener("visibilitychange", hidden);
    addEventListener("pagehide", leaving);
    addEventListener("keydown", keys);
    this.#ends = [
      app.on("skills-changed", () => this.#changedOutside()),
      app.on("about", () => this.#readSkill()),
      () => document.removeEventListener("visibilitychange", hidden),
      () => removeEventListener("pagehide", leaving),
      () => removeEventListener("keydown", keys),
    ];
  }

  disconnectedCallback() {
    this.#keep();
    for (const end of this.#ends) end();
    this.#checks.stop();
  }

  /** @param {(typeof PANES)[number]} name */
  #showPane(name) {
    this.#body.dataset.pane = name;
    for (const button of this.querySelectorAll(".pane-button"))
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.pane === name));
  }

  /** Shows the file of the address. */
  async show() {
    const { id, rest, params } = route();
    const path = rest.slice(1).join("/") || "SKILL.md";
    if (id === null) return;
    workspace.edited = id;
    if (this.#skill?.id !== id) {
      this.#keep();
      this.#buffers.clear();
      this.#kept.clear();
      this.#buffer = null;
      this.#skill = null;
      this.#name.textContent = id;
      await this.#readSkill();
      await this.#readFiles();
    }
    await this.#open(path, Number(params.get("line")) || null);
    const tab = params.get("tab");
    if (tab === "preview" || tab === "routing") {
      this.#side.select(tab);
      this.#showPane("side");
    }
  }

  #id() {
    return route().id ?? "";
  }

  async #readSkill() {
    const id = this.#id();
    try {
      const info = await api.get(at.skill(id));
      const editable = Boolean(info.editable && app.about?.admin);
      const changed = editable !== this.#editable && this.#skill !== null;
      this.#skill = { ...info.skill, id };
      this.#editable = editable;
      this.#name.textContent = info.skill.name || id;
      document.title = `${info.skill.name || id} · Prowess`;
      // The access level may become known after the file was opened.
      if (changed && this.#buffer && !this.#buffer.unsaved) {
        this.#buffers.clear();
        this.#open(this.#path, null);
      }
      this.#render();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #readFiles() {
    try {
      const [{ files }, unsaved] = await Promise.all([api.get(`${at.skill(this.#id())}/files`), edits.paths(this.#id())]);
      this.#files = files;
      this.#kept = new Set(unsaved);
      this.#renderFiles();
      if (this.#skill) this.#side.routing.show(this.#skill, this.#files.map((file) => file.path));
    } catch {
      // The error of the skill itself is shown.
    }
  }

  #renderFiles() {
    const unsaved = new Set([...this.#kept].filter((path) => !this.#buffers.has(path)));
    for (const buffer of this.#buffers.values()) if (buffer.unsaved) unsaved.add(buffer.path);
    this.#tree.show({ skill: this.#id(), files: this.#files, current: this.#path, editable: this.#editable, unsaved });
  }

  /** @param {string} path */
  #go(path) {
    this.#showPane("text");
    if (path === this.#path) return this.#editor.focus();
    go(editAddress(this.#id(), path), { replace: true });
  }

  /** @param {string} path @param {number | null} line */
  async #open(path, line) {
    const id = this.#id();
    if (this.#buffer && this.#buffer.path !== path) {
      this.#buffer.state = this.#editor.state;
      this.#keep();
    }
    const isAgain = this.#buffer?.path === path;
    this.#path = path;
    this.#crumb.textContent = path;
    if (!isAgain) {
      try {
        const newState = (/** @type {string} */ text) => this.#editor.newState(text, path, !this.#editable);
        const buffer = this.#buffers.get(path) ?? (await openBuffer(id, path, newState));
        if (this.#path !== path || this.#id() !== id) return;
        this.#buffers.set(path, buffer);
        this.#buffer = buffer;
        this.#editor.hidden = false;
        this.#other.hidden = true;
        this.#editor.state = buffer.state;
        this.#editor.dataset.path = path;
      } catch (error) {
        if (this.#path === path) this.#notText(error);
        return;
      }
      this.#checks.begin();
    }
    if (line) this.#editor.goTo({ line });
    else this.#editor.focus();
    this.#render();
  }

  /** @param {any} error */
  #notText(error) {
    this.#buffer = null;
    this.#editor.hidden = true;
    this.#other.hidden = false;
    const save = h("a", { class: "button", href: `${at.file(this.#id(), this.#path)}?raw=1`, download: true }, icon("download"), t.skills.download);
    const missing = error instanceof Problem && error.status === 404;
    this.#other.replaceChildren(
      h("p", {}, error instanceof NotText ? t.skills.binary : missing ? e.missing(this.#path) : t.problem(error)),
      error instanceof NotText ? save : "",
    );
    this.#side.check(null, false);
    this.#render();
  }

  /** @param {any} error */
  #fail(error) {
    this.#tell("error", t.problem(error));
  }

  /** Shows a notice above the text. @param {"error" | "warn" | "info" | null} kind @param {string} [text] @param {(Node | string)[]} actions */
  #tell(kind, text = "", ...actions) {
    this.#notice.hidden = kind === null;
    this.#notice.className = `work-notice ${kind ?? ""}`;
    this.#notice.setAttribute("role", kind === "info" ? "status" : "alert");
    this.#notice.replaceChildren(h("span", { class: "work-notice-text" }, text), ...actions);
  }

  #render() {
    const buffer = this.#buffer;
    const unsaved = Boolean(buffer?.unsaved);
    this.#badge.textContent = !this.#skill ? "" : !this.#editable ? t.skills.readOnly : unsaved ? e.unsaved : "";
    this.#badge.className = `badge ${unsaved ? "warn" : ""}`;
    this.#badge.hidden = this.#badge.textContent === "";
    this.#save.hidden = !this.#editable;
    this.#save.disabled = !unsaved;
    this.#discard.hidden = !unsaved;
    this.#try.hidden = this.#skill?.status !== "enabled";
    this.#renderNotice();
    this.#renderFiles();
    this.#showPosition();
  }

  #renderNotice() {
    const buffer = this.#buffer;
    const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { class: "button small", onclick }, text);
    if (buffer?.conflict)
      this.#tell("warn", buffer.conflict.digest ? e.conflict : e.conflictDeleted, button(e.compare, () => this.#resolve()));
    else if (buffer?.restored)
      this.#tell(
        "info",
        e.restored(when(buffer.restored)),
        button(e.showChanges, () => this.#showChanges()),
        button(e.dismiss, () => {
          buffer.restored = null;
          this.#renderNotice();
          this.#editor.focus();
        }),
      );
    else this.#tell(null);
  }

  #showPosition() {
    if (!this.#buffer) return this.#place.replaceChildren();
    const { line, column } = this.#editor.position;
    this.#place.textContent = e.position(number(line), number(column));
  }

  /** @param {boolean} unsaved */
  #setUnsaved(unsaved) {
    if (!this.#buffer) return;
    this.#buffer.unsaved = unsaved;
    if (!unsaved) this.#buffer.restored = null;
    this.#state.textContent = "";
    this.#render();
  }

  /** Keeps what is not saved on this device. */
  async #keep() {
    const buffer = this.#buffer;
    if (!buffer || !this.#editable) return;
    const unsaved = this.#editor.differsFrom(buffer.base);
    if (unsaved !== buffer.unsaved) this.#setUnsaved(unsaved);
    if (!unsaved && !buffer.conflict) return edits.remove(this.#id(), buffer.path);
    if (!unsaved) return;
    await keepEdit(this.#id(), buffer, this.#editor.text);
    if (this.#buffer === buffer && buffer.unsaved) this.#state.textContent = e.kept;
  }

  /** Shows the changes, then saves them. */
  async save() {
    const buffer = this.#buffer;
    if (!buffer || !this.#editable) return;
    if (buffer.conflict) return this.#resolve();
    await this.#keep();
    if (!buffer.unsaved) return void (this.#state.textContent = e.nothingToSave);
    const text = this.#editor.text;
    if (!(await reviewSave(buffer.path, buffer.base, text))) return this.#editor.focus();
    try {
      const saved = await api.put(at.file(this.#id(), buffer.path), { content: text, digest: buffer.digest });
      buffer.base = text;
      buffer.digest = saved.digest;
      buffer.restored = null;
      this.#tell(null);
      await this.#keep();
      this.#state.textContent = t.skills.saved;
      this.#readFiles();
      this.#readSkill();
      app.readSkills();
      this.#side.routing.ask();
    } catch (error) {
      if (error instanceof Problem && error.status === 409) await this.#changedOutside();
      else this.#refused(error);
    }
    this.#editor.focus();
  }

  /** What the server would not write, with the lines that it is about. @param {any} error */
  #refused(error) {
    const lines = error instanceof Problem ? error.errors : [];
    const text = lines.map((one) => `${one.field.replace(/^content:?/, `${this.#path}:`).replace(/:$/, "")} ${one.message}`);
    this.#tell("error", text.length > 0 ? `${e.notSaved} ${text.join("; ")}` : t.problem(error));
    if (lines.length > 0) this.#side.select("problems");
  }

  /** The file may have been changed by another program. */
  async #changedOutside() {
    const buffer = this.#buffer;
    await this.#readFiles();
    if (!buffer) return;
    try {
      const read = await readFile(this.#id(), buffer.path);
      if (this.#buffer !== buffer || read.digest === buffer.digest) return;
      if (!this.#editor.differsFrom(buffer.base) && read.digest) {
        buffer.base = read.content;
        buffer.digest = read.digest;
        this.#editor.replace(read.content);
        this.#setUnsaved(false);
        this.#checks.now();
      } else {
        buffer.conflict = read;
        if (!buffer.unsaved) this.#setUnsaved(true);
        this.#render();
      }
    } catch {
      // Tried again with the next change.
    }
  }

  /** Shows both texts, and lets one of them win. */
  async #resolve() {
    const buffer = this.#buffer;
    if (!buffer?.conflict) return;
    const theirs = buffer.conflict;
    const choice = await reviewDialog({
      title: e.conflictTitle(buffer.path),
      text: e.conflictText,
      before: theirs.content,
      after: this.#editor.text,
      choices: [
        { value: "theirs", label: e.takeTheirs, danger: true },
        { value: "mine", label: e.keepMine },
      ],
    });
    if (choice === null || this.#buffer !== buffer) return this.#editor.focus();
    buffer.conflict = null;
    buffer.base = theirs.content;
    buffer.digest = theirs.digest;
    if (choice === "theirs") this.#editor.replace(theirs.content);
    await this.#keep();
    this.#render();
    this.#checks.now();
    this.#editor.focus();
  }

  async #showChanges() {
    const buffer = this.#buffer;
    if (!buffer) return;
    const choice = await reviewDialog({
      title: e.changes(buffer.path),
      before: buffer.base,
      after: this.#editor.text,
      choices: [
        { value: "discard", label: e.discard, danger: true },
        { value: "keep", label: e.keepEditing },
      ],
    });
    if (choice === "discard") await this.#discardNow();
    this.#editor.focus();
  }

  async #revert() {
    const yes = await confirmDialog({ title: t.unsaved.title, text: e.discardText(this.#path), yes: t.unsaved.discard, no: t.unsaved.keep, danger: true });
    if (yes) await this.#discardNow();
    this.#editor.focus();
  }

  async #discardNow() {
    const buffer = this.#buffer;
    if (!buffer) return;
    const now = buffer.conflict ?? { content: buffer.base, digest: buffer.digest };
    Object.assign(buffer, { base: now.content, digest: now.digest, conflict: null, restored: null });
    this.#editor.replace(now.content);
    await this.#keep();
    this.#setUnsaved(false);
    this.#checks.now();
  }

  /** @param {string} from @param {string} to */
  async #renamed(from, to) {
    await moveEdit(this.#id(), from, to);
    this.#buffers.delete(from);
    const open = this.#path === from;
    if (open) this.#buffer = null;
    await this.#readFiles();
    if (open) go(editAddress(this.#id(), to), { replace: true });
  }

  /** @param {string} path */
  async #removed(path) {
    if (this.#path === path) this.#buffer = null;
    this.#buffers.delete(path);
    this.#kept.delete(path);
    await edits.remove(this.#id(), path);
    await this.#readFiles();
    if (this.#path === path) this.#go("SKILL.md");
  }

  /** Opens a new chat with the skill. */
  #tryIt() {
    drafts.set(null, `/${this.#skill?.name ?? this.#id()} `);
    workspace.fromDialog = false;
    go(address("chat"));
  }

  #leave() {
    if (workspace.hasOrigin) history.back();
    else go(address("chat"));
  }
}
customElements.define("skill-editor", SkillEditor);
