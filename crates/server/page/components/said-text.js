// A message of the user: Markdown with the skill that it calls as a chip; long messages are folded.

import { h, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { MarkdownView } from "./markdown-view.js";

/** Messages with more lines or letters than this are folded. */
const LINES_MAX = 40;
const LETTERS_MAX = 4_000;

/** @param {string} text */
export const isLong = (text) => text.length > LETTERS_MAX || text.split("\n").length > LINES_MAX;

/** The name of the skill that a message calls at its beginning, if it is available. @param {string} text */
export const calledSkill = (text) => {
  const name = /^\/(\S+)(?:\s|$)/.exec(text)?.[1];
  return name && app.skill(name) ? name : null;
};

/** Removes the call of a skill from the beginning of the rendered text. @param {Element} view @param {string} call */
const removeCall = (view, call) => {
  const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
  const first = /** @type {Text | null} */ (texts.nextNode());
  if (!first?.data.startsWith(call)) return false;
  first.data = first.data.slice(call.length).trimStart();
  const block = first.parentElement;
  if (block?.tagName === "P" && !block.textContent) block.remove();
  return true;
};

/** @param {string} text @param {string | undefined} html what the server has made of this text @returns {HTMLElement} */
export const saidText = (text, html) => {
  const skill = calledSkill(text);
  const rest = skill ? text.slice(skill.length + 1).trimStart() : text;
  const content = h("div", { class: "said-content" });
  if (skill)
    content.append(h("span", { class: "chip said-skill" }, icon("bolt"), h("span", { class: "chip-name" }, `/${skill}`)), " ");
  content.append(rendered(text, html, skill) ?? h("span", { class: "said-text" }, rest));
  const said = h("div", { class: "said" }, content);
  if (isLong(text)) fold(said, content);
  return said;
};

/** @param {string} text @param {string | undefined} html @param {string | null} skill */
const rendered = (text, html, skill) => {
  if (html === undefined) return null;
  const view = make(MarkdownView);
  view.classList.add("said-text");
  view.show(text, html, false);
  return skill && !removeCall(view, `/${skill}`) ? null : view;
};

/** @param {HTMLElement} said @param {HTMLElement} content */
const fold = (said, content) => {
  const button = h("button", { class: "link said-more", type: "button" });
  const set = (/** @type {boolean} */ open) => {
    content.classList.toggle("folded", !open);
    button.textContent = open ? t.message.showLess : t.message.showMore;
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => {
    const open = content.classList.contains("folded");
    set(open);
    if (!open) said.scrollIntoView({ block: "nearest" });
  });
  set(false);
  said.append(button);
};
