// Writes a chat as Markdown: the title, who said what, and tool calls in short.

import { api, at } from "./api.js";
import { downloadText } from "./download.js";
import { fullTime } from "./format.js";
import { t } from "./text.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("../types.js").Chat} Chat */

const PAGE = 200;

/** A value in a code span, with a fence that is longer than its backticks. @param {unknown} value */
const code = (value) => {
  const text = String(value ?? "").replace(/\s+/g, " ").trim();
  const fence = "`".repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${space}${text}${space}${fence}`;
};

/** @param {Message} message @returns {string[]} */
const blocks = (message) =>
  message.parts.flatMap((part) => {
    if (part.type === "text") return part.text.trim() ? [part.text.trim()] : [];
    if (part.type === "file") return [`- ${t.files.label(code(part.path))}`];
    if (part.type !== "tool_call") return [];
    const given = part.arguments ?? {};
    const subject = given.script ?? given.path ?? given.query ?? given.name;
    const of = (given.script ?? given.path) !== undefined && given.name ? ` (${code(given.name)})` : "";
    const result = message.parts.find((other) => other.type === "tool_result" && other.id === part.id);
    const status = result?.type === "tool_result" ? result.status : t.card.noAnswer;
    const what = subject === undefined ? "" : ` ${code(subject)}${of}`;
    return [`> ${code(part.name)}${what}: ${status}`];
  });

/** @param {Pick<Chat, "title">} chat @param {Message[]} messages */
export const toMarkdown = (chat, messages) => {
  const parts = messages.flatMap((message) => [
    `## ${t.message.by(message.role, fullTime(message.at))}`,
    ...blocks(message),
    ...(message.state === "interrupted" && message.reason ? [`*${t.message.broken(message.reason)}*`] : []),
  ]);
  return `${[`# ${chat.title || t.chats.untitled}`, ...parts].join("\n\n")}\n`;
};

/** A file name from a title. @param {string} title */
export const fileName = (title) => {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${[...name].slice(0, 60).join("") || "chat"}.md`;
};

/** Loads all messages of a chat and saves them. @param {string} id */
export const exportMarkdown = async (id) => {
  /** @type {Message[]} */
  let messages = [];
  let chat;
  /** @type {number | null} */
  let before = null;
  do {
    const page = /** @type {Chat & { messages: Message[], before: number | null }} */ (
      await api.get(at.chat(id), { before, limit: PAGE })
    );
    chat = page;
    messages = [...page.messages, ...messages];
    before = page.before ?? null;
  } while (before !== null);
  downloadText(toMarkdown(chat, messages), fileName(chat.title || t.chats.untitled), "text/markdown");
};
