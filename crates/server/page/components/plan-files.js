// What a skill that is not installed yet contains: its files with findings at their lines, and its capabilities in words.

import { h } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { size } from "../lib/format.js";
import { diffView } from "./diff-view.js";
import { textLines } from "./text-lines.js";

/** @typedef {import("../types.js").PlannedFile} PlannedFile */
/** @typedef {import("../types.js").Finding} Finding */
/** @typedef {import("../types.js").Capabilities} Capabilities */

/** @param {Finding} one */
export const isSevere = (one) => /^(high|critical|error)$/i.test(one.severity);

/** @param {Capabilities | null} capabilities @param {string} title */
export const capabilityList = (capabilities, title) => {
  const kinds = /** @type {const} */ (["scripts", "hosts", "tools", "env"]);
  const lines = kinds.flatMap((kind) => {
    const list = capabilities?.[kind] ?? [];
    return list.length > 0 ? [e.install[kind](list.join(", "))] : [];
  });
  return h(
    "div",
    { class: "capabilities" },
    h("h3", { class: "small-title" }, title),
    lines.length > 0
      ? h("ul", {}, ...lines.map((line) => h("li", {}, line)))
      : h("p", { class: "muted" }, e.install.nothing),
  );
};

/** All files, each of which can be opened. @param {PlannedFile[]} files @param {Finding[]} findings */
export const planFiles = (files, findings) =>
  h("div", { class: "plan-files" }, ...files.map((file) => planFile(file, findings.filter((one) => one.path === file.path))));

/** @param {PlannedFile} file @param {Finding[]} findings */
const planFile = (file, findings) => {
  const fold = h(
    "details",
    { class: "fold", "data-path": file.path },
    h(
      "summary",
      {},
      h("span", { class: "file-path" }, file.path),
      findings.length > 0 &&
        h("span", { class: `badge ${findings.some(isSevere) ? "bad" : "warn"}` }, e.install.findings(findings.length)),
      file.executable && h("span", { class: "badge" }, e.install.executable),
      file.change !== "added" && h("span", { class: "badge" }, e.install.changes[file.change] ?? file.change),
      h("span", { class: "fold-size" }, file.change === "removed" ? "" : size(file.bytes)),
    ),
  );
  // Texts are rendered when they are opened.
  fold.addEventListener("toggle", () => fold.open && fold.childElementCount === 1 && fold.append(content(file, findings)));
  // What is dangerous is seen without a click.
  if (findings.some(isSevere)) fold.open = true;
  return fold;
};

/** @param {PlannedFile} file @param {Finding[]} findings */
const content = (file, findings) => {
  const { text, before, change, path } = file;
  const changed = (change === "changed" && text !== null && before !== null) || (change === "removed" && before !== null);
  if (changed) {
    const notes = findings.map((one) => h("li", { class: "line-said" }, `${one.line ?? ""}: ${one.rule} ${one.message}`));
    return h("div", {}, notes.length > 0 && h("ul", { class: "diff-notes" }, ...notes), diffView(before ?? "", text ?? "", path).element);
  }
  if (text === null) return h("p", { class: "muted fold-text" }, e.install.noText);
  const notes = findings.map((one) => ({
    line: one.line,
    severity: isSevere(one) ? "error" : "warning",
    text: `${one.rule} ${one.message}`,
  }));
  return textLines(text, { label: path, notes });
};
