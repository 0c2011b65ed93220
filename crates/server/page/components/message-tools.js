// The buttons below a message, its versions, and its costs.

import { h } from "../lib/dom.js";
import { number } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address } from "../lib/route.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";
import { endNote, isStopped } from "./message-notes.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("./message-view.js").MessageView} MessageView */

/** The text of a message as Markdown, without thinking and tool calls. @param {Message} message */
export const textOf = (message) =>
  message.parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n\n")
    .trim();

/** The selected text if it is inside an element. @param {Element} element */
const selectionIn = (element) => {
  const selection = getSelection();
  const isInside = selection?.anchorNode && element.contains(selection.anchorNode) && element.contains(selection.focusNode);
  return isInside ? selection.toString().trim() : "";
};

/** @param {MessageView} view @param {string} what @param {any} [detail] */
const tell = (view, what, detail) => view.dispatchEvent(new CustomEvent(what, { detail, bubbles: true }));

/** @param {import("../lib/icons.js").IconName} picture @param {string} label @param {(event: Event) => void} onclick @param {string} [more] */
const tool = (picture, label, onclick, more = "") =>
  h("button", { class: `icon-button small ${more}`, type: "button", title: label, "aria-label": label, onclick }, icon(picture));

/** "‹ 2/3 ›" @param {MessageView} view @param {NonNullable<Message["versions"]>} versions */
const versionSwitch = (view, { index, count, previous, next }) => {
  const step = (/** @type {string | null} */ id, /** @type {"back" | "next"} */ picture, /** @type {string} */ label) => {
    const button = tool(picture, label, () => tell(view, "branch", id), "needs-idle");
    button.disabled = id === null;
    return button;
  };
  return h(
    "span",
    { class: "versions", role: "group", "aria-label": t.message.versions },
    step(previous, "back", t.message.previousVersion),
    h("span", { class: "version" }, h("span", { "aria-hidden": "true" }, `${index}/${count}`), h("span", { class: "unseen" }, t.message.version(index, count))),
    step(next, "next", t.message.nextVersion),
  );
};

/** @param {string} chat @param {string} message */
const inspectLink = (chat, message) => {
  const href = address("inspect", null, { chat, message });
  const label = { title: t.message.inspect, "aria-label": t.message.inspect };
  return h("a", { class: "icon-button small", href, ...label }, icon("eye"));
};

/** @param {NonNullable<Message["usage"]>} usage */
const costs = (usage) => {
  const cached = usage.cached ? t.message.cached(number(usage.cached)) : "";
  const written = usage.cache_writes ? t.message.cacheWrites(number(usage.cache_writes)) : undefined;
  return h("span", { class: "message-cost", title: written }, t.message.cost(number(usage.input), number(usage.output), cached));
};

/** What is below a message. @param {MessageView} view @param {Message} message @returns {(Node | null)[]} */
export const messageFoot = (view, message) => {
  const tools = h("span", { class: "message-tools", role: "group", "aria-label": t.message.tools });
  const isStored = message.state !== "writing" && !message.id.startsWith("sending-");
  if (isStored) {
    if (message.versions && message.versions.count > 1) tools.append(versionSwitch(view, message.versions));
    tools.append(
      copyButton(() => textOf(message), t.message.copy),
      tool("quote", t.message.quote, () => tell(view, "quote", selectionIn(view) || textOf(message))),
    );
    if (message.role === "user") tools.append(tool("edit", t.message.edit, () => view.edit(), "needs-idle"));
    else if (!endNote(message)?.matches(".message-error"))
      tools.append(tool("retry", t.message.regenerate, () => tell(view, "retry"), "needs-idle retry"));
    const asked = message.role === "user" ? message.id : view.asked;
    if (asked) tools.append(inspectLink(view.chat ?? "", asked));
    tools.append(tool("trash", t.message.remove, () => tell(view, "remove"), "needs-idle"));
  }
  return [
    tools,
    message.state === "interrupted" && isStopped(message) ? h("span", { class: "message-end" }, t.message.stopped) : null,
    message.usage ? costs(message.usage) : null,
  ];
};
