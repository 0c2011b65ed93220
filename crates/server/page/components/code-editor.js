// The text editor: CodeMirror in a shadow root, because it may then add its styles without weakening the content security policy.

import * as cm from "../vendor/codemirror.js";
import { e } from "../lib/editor-text.js";

/** @typedef {import("../types.js").TextDiagnostic} TextDiagnostic */

/** Marks changes that the page makes, which are not edits. */
const loaded = cm.Annotation.define();

const { tags } = cm;

/** The colors are properties of the stylesheet, so that they fit both themes. */
const colors = cm.HighlightStyle.define([
  { tag: tags.heading, color: "var(--code-heading)", fontWeight: "650" },
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--code-comment)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.attributeName], color: "var(--code-name)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--code-name)" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: tags.monospace, color: "var(--code-string)" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const looks = cm.EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", padding: "10px 0" },
  ".cm-line": { padding: "0 16px 0 6px" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--code-selection)",
  },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "0", paddingLeft: "4px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.4rem", paddingRight: "10px" },
  ".cm-activeLine": { backgroundColor: "var(--code-line)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--code-line)", color: "var(--text)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 36px 8px 12px", fontFamily: "var(--font)", fontSize: "0.8rem" },
  ".cm-panel.cm-search [name=close]": { right: "8px", top: "8px", fontSize: "1.2rem", color: "var(--muted)" },
  ".cm-textfield": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    padding: "4px 8px",
  },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    padding: "3px 8px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    maxWidth: "min(30rem, 90vw)",
    fontFamily: "var(--font)",
    fontSize: "0.8125rem",
  },
  ".cm-diagnostic": { padding: "8px 12px", marginLeft: "0", borderLeft: "3px solid var(--line-strong)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
    borderRadius: "6px",
    padding: "3px 10px",
    marginLeft: "0",
    marginTop: "6px",
    display: "block",
    font: "inherit",
  },
  ".cm-lintRange": { backgroundImage: "none", paddingBottom: "0", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad) 1.5px" },
  ".cm-lintRange-warning": { textDecoration: "underline wavy var(--warn) 1.5px" },
  ".cm-lintRange-info": { textDecoration: "underline dotted var(--muted) 1.5px" },
  ".cm-lint-marker": { width: "0.7em", height: "0.7em", marginTop: "0.45em" },
  ".cm-lint-marker-error": { content: "none", borderRadius: "50%", backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { content: "none", borderRadius: "2px", backgroundColor: "var(--warn)" },
  ".cm-lint-marker-info": { content: "none", borderRadius: "50%", border: "2px solid var(--muted)" },
});

/**
 * Browsers give text that replaces a selection inline styles, which the content security policy forbids, so that it is replaced
 * here.
 */
const typeOverSelection = cm.EditorView.domEventHandlers({
  beforeinput: (/** @type {InputEvent} */ event, /** @type {any} */ view) => {
    const { state } = view;
    const { data } = event;
    const isTyped = event.inputType === "insertText" && data !== null && !event.isComposing && !view.composing;
    if (!isTyped || state.readOnly || state.selection.ranges.every((/** @type {any} */ range) => range.empty)) return false;
    event.preventDefault();
    const { from, to } = state.selection.main;
    const text = data.replace(/\r?\n/g, state.lineBreak);
    const insert = () => state.update(state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handlers = state.facet(cm.EditorView.inputHandler);
    if (!handlers.some((/** @type {any} */ handler) => handler(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

/** @param {string} name of a language in Markdown, or the end of a file name */
const languageNamed = (name) => {
  switch (name.toLowerCase()) {
    case "py":
    case "python":
      return cm.python();
    case "js":
    case "mjs":
    case "cjs":
    case "jsx":
    case "javascript":
      return cm.javascript({ jsx: true });
    case "ts":
    case "tsx":
    case "mts":
    case "typescript":
      return cm.javascript({ jsx: true, typescript: true });
    case "json":
    case "jsonc":
      return cm.json();
    case "yaml":
    case "yml":
      return cm.yaml();
    case "sh":
    case "bash":
    case "zsh":
    case "shell":
    case "console":
      return cm.StreamLanguage.define(cm.shell);
    case "toml":
      return cm.StreamLanguage.define(cm.toml);
    default:
      return null;
  }
};

/** @param {string} path */
const languageFor = (path) => {
  const end = /\.([^./]+)$/.exec(path)?.[1] ?? "";
  if (!/^(md|markdown|mdx)$/i.test(end)) return languageNamed(end) ?? [];
  const nested = (/** @type {string} */ info) => {
    const found = languageNamed(/^\S*/.exec(info)?.[0] ?? "");
    return found?.language ?? found;
  };
  return cm.yamlFrontmatter({ content: cm.markdown({ codeLanguages: nested }) });
};

export class CodeEditor extends HTMLElement {
  #root = this.attachShadow({ mode: "open" });
  /** @type {any} */
  #view = null;
  /** Called with Ctrl+S. */
  save = () => {};
  /** Called with Ctrl+. and returns whether it did something. */
  fix = () => false;

  connectedCallback() {
    if (this.#view) return;
    this.#view = new cm.EditorView({ root: this.#root, parent: this.#root, state: this.#state("", "", true) });
  }

  /** @param {string} text @param {string} path @param {boolean} readOnly */
  #state(text, path, readOnly) {
    // A file keeps its line breaks. If it has both kinds, carriage returns stay as characters of their lines.
    const breaks = text.match(/\r?\n/g) ?? [];
    const separator = breaks.length > 0 && breaks.every((one) => one === "\r\n") ? "\r\n" : "\n";
    const shortcut = (/** @type {() => unknown} */ call) => () => {
      call();
      return true;
    };
    return cm.EditorState.create({
      doc: text,
      extensions: [
        cm.EditorState.lineSeparator.of(separator),
        cm.keymap.of([
          { key: "Mod-s", run: shortcut(() => this.save()), preventDefault: true },
          { key: "Mod-.", run: () => this.fix(), preventDefault: true },
          { key: "F8", run: cm.nextDiagnostic },
        ]),
        cm.lineNumbers(),
        cm.lintGutter(),
        typeOverSelection,
        cm.highlightSpecialChars(),
        cm.history(),
        cm.drawSelection(),
        cm.indentOnInput(),
        cm.indentUnit.of(/\.py$/.test(path) ? "    " : "  "),
        cm.bracketMatching(),
        cm.closeBrackets(),
        cm.highlightActiveLine(),
        cm.highlightActiveLineGutter(),
        cm.highlightSelectionMatches(),
        cm.search({ top: true }),
        cm.keymap.of([
          ...cm.closeBracketsKeymap,
          ...cm.searchKeymap,
          ...cm.historyKeymap,
          ...cm.defaultKeymap,
          cm.indentWithTab,
        ]),
        languageFor(path),
        cm.syntaxHighlighting(colors),
        looks,
        cm.EditorView.lineWrapping,
        cm.EditorState.readOnly.of(readOnly),
        cm.EditorState.phrases.of(e.phrases),
        cm.EditorView.contentAttributes.of({
          "aria-label": readOnly ? e.readOnlyText(path) : e.text(path),
          "aria-multiline": "true",
          tabindex: "0",
          ...(readOnly ? { "aria-readonly": "true" } : {}),
          spellcheck: "false",
        }),
        cm.EditorView.updateListener.of((/** @type {any} */ update) => {
          if (update.docChanged && !update.transactions.some((/** @type {any} */ one) => one.annotation(loaded)))
            this.dispatchEvent(new Event("edited"));
          if (update.selectionSet || update.docChanged) this.dispatchEvent(new Event("moved"));
        }),
      ],
    });
  }

  /** The state of a file, which a view can return to. @param {string} text @param {string} path @param {boolean} readOnly */
  newState(text, path, readOnly) {
    return this.#state(text, path, readOnly);
  }

  get state() {
    return this.#view.state;
  }

  set state(state) {
    this.#view.setState(state);
  }

  /** The text as it is saved. */
  get text() {
    return this.#view.state.sliceDoc();
  }

  /** The text with `\n` at the ends of lines, whose positions are those of the editor. */
  get plainText() {
    return this.#view.state.doc.toString();
  }

  /** A value that is equal as long as the text is the same. */
  get version() {
    return this.#view.state.doc;
  }

  /** Whether the text differs from another. @param {string} text */
  differsFrom(text) {
    const { state } = this.#view;
    return !state.doc.eq(state.toText(text));
  }

  /** Replaces the text with one from elsewhere. @param {string} text */
  replace(text) {
    const { state } = this.#view;
    this.#view.dispatch({
      changes: { from: 0, to: state.doc.length, insert: state.toText(text) },
      annotations: loaded.of(true),
    });
  }

  /** Makes an edit, which can be undone. @param {{ start: number, end: number, text: string }[]} edits */
  apply(edits) {
    const changes = edits.map(({ start, end, text }) => ({ from: start, to: end, insert: text }));
    this.#view.dispatch({ changes, userEvent: "input.fix", scrollIntoView: true });
  }

  /** The line and the column of the cursor, from 1. */
  get position() {
    const { doc, selection } = this.#view.state;
    const line = doc.lineAt(selection.main.head);
    return { line: line.number, column: selection.main.head - line.from + 1, offset: selection.main.head, from: line.from, to: line.to };
  }

  /** Moves the cursor to an offset, or to the start of a line. @param {{ offset?: number, line?: number }} where */
  goTo({ offset, line }) {
    const { doc } = this.#view.state;
    const at = Math.min(offset ?? doc.line(Math.max(1, Math.min(line ?? 1, doc.lines))).from, doc.length);
    this.#view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: "center" }) });
    this.focus();
  }

  /** Shows diagnostics of the current text. @param {TextDiagnostic[]} list @param {(one: TextDiagnostic) => void} fix */
  diagnose(list, fix) {
    const { state } = this.#view;
    const within = (/** @type {number} */ offset) => Math.min(offset, state.doc.length);
    const diagnostics = list.map((one) => ({
      from: within(one.start),
      to: within(one.end),
      severity: one.severity,
      message: `${one.code} ${one.message}${one.help ? `\n${one.help}` : ""}`,
      actions: one.fix ? [{ name: e.fix, apply: () => fix(one) }] : [],
    }));
    this.#view.dispatch(cm.setDiagnostics(state, diagnostics));
  }

  find() {
    cm.openSearchPanel(this.#view);
  }

  focus() {
    this.#view.focus();
  }
}
customElements.define("code-editor", CodeEditor);
