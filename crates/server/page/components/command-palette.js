// The command palette: chats, skills and actions by name. The focus stays in the input.

import { h } from "../lib/dom.js";
import { bestMatches } from "../lib/fuzzy.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/**
 * @typedef {object} Command
 * @property {string} group
 * @property {string} title
 * @property {string} [hint]
 * @property {string} [words] more words that find it
 * @property {string[]} [keys] its shortcut
 * @property {import("../lib/icons.js").IconName} icon
 * @property {() => unknown} run
 */

/** The maximum number of entries per group, without and with a query. */
const FIRST = 6;
const MOST = 20;

/** Opens the palette, or closes it. @param {Command[]} commands @param {(query: string) => Command[]} forQuery commands that depend on the query */
export const openPalette = (commands, forQuery) => {
  const open = document.querySelector("dialog.palette");
  if (open instanceof HTMLDialogElement) return open.close();
  /** @type {Command[]} */
  let shown = [];
  let at = 0;
  const input = h("input", {
    class: "palette-input",
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": t.palette.label,
    placeholder: t.palette.placeholder,
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "go",
  });
  const list = h("div", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": t.palette.label, tabindex: "-1" });
  const said = h("span", { class: "unseen", role: "status" });
  const dialog = h(
    "dialog",
    { class: "dialog palette", "aria-label": t.palette.label },
    h("div", { class: "palette-head" }, icon("search"), input),
    list,
    h("p", { class: "palette-none", hidden: true }, t.palette.none),
    said,
  );
  const none = /** @type {HTMLElement} */ (dialog.querySelector(".palette-none"));

  const mark = () => {
    [...list.querySelectorAll("[role=option]")].forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === at));
      if (index === at) option.scrollIntoView({ block: "nearest" });
    });
    if (shown.length > 0) input.setAttribute("aria-activedescendant", `palette-option-${at}`);
    else input.removeAttribute("aria-activedescendant");
  };

  const choose = (/** @type {number} */ index) => {
    const command = shown[index];
    if (!command) return;
    dialog.close();
    command.run();
  };

  const render = () => {
    const query = input.value.trim();
    const found = bestMatches(query, commands, (one) => `${one.title} ${one.words ?? ""}`);
    /** @type {Map<string, Command[]>} */
    const groups = new Map();
    for (const command of [...found, ...forQuery(query)]) {
      const group = groups.get(command.group) ?? [];
      if (group.length < (query ? MOST : FIRST)) groups.set(command.group, [...group, command]);
    }
    shown = [...groups.values()].flat();
    at = 0;
    list.replaceChildren(
      ...[...groups].map(([title, some]) =>
        h(
          "div",
          { role: "group", "aria-label": title, class: "palette-group" },
          h("div", { class: "palette-title", "aria-hidden": "true" }, title),
          some.map((command) => option(command, shown.indexOf(command), choose)),
        ),
      ),
    );
    list.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    said.textContent = shown.length > 0 ? t.palette.found(shown.length) : t.palette.none;
    mark();
  };

  input.addEventListener("input", render);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length > 0) at = (at + step + shown.length) % shown.length;
    else if (event.key === "Home" && event.ctrlKey) at = 0;
    else if (event.key === "End" && event.ctrlKey) at = shown.length - 1;
    else if (event.key === "Enter") {
      event.preventDefault();
      return choose(at);
    } else return;
    event.preventDefault();
    mark();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  render();
};

/** @param {Command} command @param {number} index @param {(index: number) => void} choose */
const option = (command, index, choose) =>
  h(
    "div",
    { class: "palette-option", role: "option", id: `palette-option-${index}`, onclick: () => choose(index) },
    icon(command.icon),
    h("span", { class: "palette-name" }, command.title),
    command.hint && h("span", { class: "palette-hint" }, command.hint),
    command.keys && h("span", { class: "palette-keys" }, command.keys.map((key) => h("kbd", {}, key))),
  );
