// The question whether a script may run: what it may read, write and reach, and the possible answers.

import { api, at } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { visible } from "../lib/hidden.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Question} Question */

/** The answers, in the order of the buttons. */
const DECISIONS = /** @type {const} */ (["once", "always", "never", "not_now"]);

/** The element of a question. @param {string} chat @param {Question} question */
export const consentQuestion = (chat, question) => {
  const titles = /** @type {Record<string, string>} */ (t.consent.titles);
  const rows = question.access.flatMap(({ title, text }) => [
    h("dt", {}, titles[title] ?? visible(title)),
    h("dd", {}, visible(text)),
  ]);
  const problem = h("p", { class: "card-error", role: "alert", hidden: true });
  const buttons = DECISIONS.map((decision) => {
    const kind = decision === "once" ? "button primary" : "button";
    const button = h("button", { type: "button", class: kind, title: t.consent.help[decision] }, t.consent.answers[decision]);
    button.addEventListener("click", () => decide(decision));
    return button;
  });
  const decide = async (/** @type {string} */ decision) => {
    for (const button of buttons) button.disabled = true;
    problem.hidden = true;
    try {
      await api.post(at.consent(chat, question.id), { decision });
    } catch (error) {
      problem.textContent = t.problem(/** @type {any} */ (error));
      problem.hidden = false;
      for (const button of buttons) button.disabled = false;
    }
  };
  return h(
    "div",
    { class: "consent", role: "group", "aria-label": t.consent.label(visible(question.script), visible(question.skill)) },
    h("p", { class: "consent-ask" }, t.consent.ask(visible(question.skill), visible(question.script))),
    h("dl", { class: "consent-access" }, ...rows),
    h("div", { class: "consent-answers" }, ...buttons),
    problem,
  );
};
