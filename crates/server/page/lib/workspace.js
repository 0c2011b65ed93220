// The editor of skills covers the page, which keeps its state below. It is loaded when its address is opened.

import { h, make } from "./dom.js";
import { route } from "./route.js";

/** The database of unsaved changes. */
export const EDITS = "prowess.edits";

/** Loads a stylesheet once. @param {string} name @returns {Promise<unknown>} */
export const loadStyles = (name) => {
  const href = new URL(`../${name}`, import.meta.url).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  return new Promise((loaded, failed) => {
    document.head.append(h("link", { rel: "stylesheet", href, onload: loaded, onerror: failed }));
  });
};

export const workspace = {
  /** Whether an entry of the history before the editor belongs to this page. */
  hasOrigin: false,
  /** Whether the dialog of skills opens again when the editor closes. */
  fromDialog: false,
  /** The skill that was edited. @type {string | null} */
  edited: null,
};

/** @type {(HTMLElement & { show(): void }) | null} */
let editor = null;
let shellDefined = false;

const shell = () => /** @type {(HTMLElement & { openSkills(): Promise<void> }) | null} */ (document.querySelector("app-shell"));

/** @param {() => void} defineShell */
const close = async (defineShell) => {
  if (!shellDefined) {
    shellDefined = true;
    defineShell();
  }
  if (!editor) return;
  editor.remove();
  editor = null;
  shell()?.removeAttribute("inert");
  const { fromDialog, edited } = workspace;
  workspace.fromDialog = false;
  if (!fromDialog || !edited) return;
  await shell()?.openSkills();
  /** @type {any} */ (document.querySelector("skills-dialog"))?.reveal(edited);
};

const open = async () => {
  if (editor) return editor.show();
  const [loaded] = await Promise.all([import("../components/skill-editor.js"), loadStyles("editor.css")]);
  if (editor || route().view !== "skills") return;
  editor = make(loaded.SkillEditor);
  shell()?.setAttribute("inert", "");
  document.body.append(editor);
};

/**
 * Shows the editor at its addresses, and the rest of the page at all others. The rest begins with the first address that needs it.
 * @param {() => void} defineShell
 */
export const startWorkspace = (defineShell) => {
  const isEditor = () => route().view === "skills" && route().id !== null;
  addEventListener("hashchange", (event) => {
    if (!isEditor()) return void close(defineShell);
    // The rest of the page stays as it is.
    event.stopImmediatePropagation();
    workspace.hasOrigin ||= shellDefined;
    open();
  });
  if (isEditor()) open();
  else close(defineShell);
};
