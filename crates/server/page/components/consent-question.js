// The question whether a script may run: what it may read, write and reach, and the possible answers.

import { api, at, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { visible } from "../lib/hidden.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

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
  const [skill, script] = [visible(question.skill), visible(question.script)];
  const element = h(
    "div",
    { class: "consent", role: "group", "aria-label": t.consent.label(skill, script) },
    // Announced, because the reply waits for the answer.
    h("p", { class: "consent-ask", role: "alert" }, t.consent.ask(skill, script)),
    h("dl", { class: "consent-access" }, ...rows),
  );
  const offer = () => element.append(...answers(chat, question.question));
  // After a reload, the question may be shown before the access level is known.
  if (app.about) offer();
  else app.addEventListener("about", offer, { once: true });
  return element;
};

/** The buttons, or where the question can be answered. @param {string} chat @param {string | undefined} id */
const answers = (chat, id) => {
  const note = (/** @type {string} */ text) => h("p", { class: "card-note" }, text);
  if (!id) return [note(t.consent.elsewhere)];
  if (!app.about?.admin) return [note(t.consent.adminOnly)];
  const problem = h("p", { class: "card-error", role: "alert", hidden: true });
  const buttons = DECISIONS.map((decision) => {
    const kind = decision === "once" ? "button primary" : "button";
    const button = h("button", { type: "button", class: kind, title: t.consent.help[decision] }, t.consent.answers[decision]);
    button.addEventListener("click", () => decide(decision));
    return button;
  });
  const row = h("div", { class: "consent-answers" }, ...buttons);
  const decide = async (/** @type {typeof DECISIONS[number]} */ decision) => {
    for (const button of buttons) button.disabled = true;
    problem.hidden = true;
    try {
      await api.post(at.consent(chat, id), { decision });
      row.replaceWith(h("p", { class: "card-note", role: "status" }, t.consent.given[decision]));
      // The buttons are gone, and the focus with them.
      dispatchEvent(new Event("prowess:write"));
    } catch (error) {
      // Another tab was faster, or the reply has ended.
      const closed = error instanceof Problem && error.status === 404;
      problem.textContent = closed ? t.consent.closed : t.problem(/** @type {any} */ (error));
      problem.hidden = false;
      for (const button of buttons) button.disabled = closed;
    }
  };
  return [row, problem];
};
