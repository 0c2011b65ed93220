// Checks the text of the editor after a pause, shows the diagnostics, and makes their fixes.

import { api } from "../lib/api.js";
import { afterPause } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { app } from "../state/app.js";

/** @typedef {import("../types.js").TextDiagnostic} TextDiagnostic */
/** @typedef {import("../types.js").CheckedText} CheckedText */
/** @typedef {import("./code-editor.js").CodeEditor} CodeEditor */
/** @typedef {import("./editor-side.js").EditorSide} EditorSide */

/**
 * @typedef {object} Surroundings
 * @property {() => { skill: string, path: string, editable: boolean } | null} file the file in the editor
 * @property {(text: string) => void} say announces what was done
 * @property {(tokens: number) => void} counted receives the number of tokens
 */

/** How long to wait after the last change. Long texts are checked less often. */
const CHECK_AFTER = 250;
const CHECK_LONG_AFTER = 1200;
const LONG = 200_000;

export class EditorChecks {
  #editor;
  #side;
  #around;
  /** @type {CheckedText | null} */
  #checked = null;
  /** The text that was checked. @type {any} */
  #version = null;
  /** @type {AbortController | null} */
  #checking = null;
  #soon = afterPause(CHECK_AFTER, () => this.now());
  #muchLater = afterPause(CHECK_LONG_AFTER, () => this.now());

  /** @param {CodeEditor} editor @param {EditorSide} side @param {Surroundings} around */
  constructor(editor, side, around) {
    this.#editor = editor;
    this.#side = side;
    this.#around = around;
  }

  /** Checks another file. */
  begin() {
    this.#checked = null;
    this.#version = null;
    this.#side.check(null, this.#around.file()?.path === "SKILL.md");
    this.now();
  }

  /** Checks the text after a pause, so that typing is never slowed down. */
  later() {
    (this.#editor.version.length > LONG ? this.#muchLater : this.#soon)();
  }

  stop() {
    this.#checking?.abort();
  }

  async now() {
    const file = this.#around.file();
    if (!app.about?.admin || !file) return;
    this.#checking?.abort();
    const checking = (this.#checking = new AbortController());
    const version = this.#editor.version;
    const { skill, path } = file;
    try {
      const checked = await api.post("/api/check", { text: this.#editor.plainText, skill, path }, checking.signal);
      if (this.#checking !== checking || path !== this.#around.file()?.path || version !== this.#editor.version) return;
      this.#checked = checked;
      this.#version = version;
      this.#editor.diagnose(checked.diagnostics, (one) => this.fix(one));
      this.#side.check(checked, path === "SKILL.md");
      this.#around.counted(checked.tokens);
    } catch {
      // A newer check has begun, or the server is unreachable; the banner says so.
    }
  }

  /** The diagnostics of the text as it is now. */
  async #current() {
    if (this.#version !== this.#editor.version) await this.now();
    return this.#version === this.#editor.version ? (this.#checked?.diagnostics ?? []) : [];
  }

  /** Makes the fix of one diagnostic, or those of all. @param {TextDiagnostic | null} one */
  async fix(one) {
    if (!this.#around.file()?.editable) return;
    const list = await this.#current();
    const same = (/** @type {TextDiagnostic} */ other) => other.code === one?.code && other.message === one.message;
    const near = (/** @type {TextDiagnostic} */ other) => Math.abs(other.start - (one?.start ?? 0));
    const chosen = one ? list.filter(same).toSorted((a, b) => near(a) - near(b)).slice(0, 1) : list;
    let end = -1;
    const changes = chosen
      .flatMap((other) => (other.fix ? [other.fix] : []))
      .sort((a, b) => a.start - b.start)
      // Of fixes that overlap, the first is made; the next check shows what is left.
      .filter((fix) => {
        const free = fix.start > end;
        if (free) end = fix.end;
        return free;
      });
    if (changes.length === 0) return this.#around.say(e.nothingToFix);
    this.#editor.apply(changes);
    this.#around.say(e.fixed(changes.length));
    this.#editor.focus();
    this.now();
  }

  /** Fixes the problem at the cursor, or else the next one that has a fix. */
  fixHere() {
    const { from, to, offset } = this.#editor.position;
    const list = (this.#checked?.diagnostics ?? []).filter((one) => one.fix);
    const here = list.find((one) => one.end >= from && one.start <= to);
    const next = here ?? list.find((one) => one.start > offset) ?? list[0];
    if (next) this.fix(next);
    else this.#around.say(e.nothingToFix);
    return true;
  }
}
