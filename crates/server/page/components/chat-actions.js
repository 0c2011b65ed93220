// What can be done with a chat, in the menu of its row and in the command palette.

import { at } from "../lib/api.js";
import { download } from "../lib/download.js";
import { address, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { chats } from "../state/chats.js";
import { confirmDialog } from "./confirm-dialog.js";

/** @typedef {import("../types.js").Chat} Chat */
/** @typedef {import("./popup-menu.js").MenuItem} MenuItem */

/** Reports an error of an action in the banner. @param {Promise<unknown>} work */
const report = (work) => work.catch((error) => app.tell("problem", t.problem(error)));

/** @param {Chat} chat @returns {MenuItem[]} */
export const chatActions = (chat) => [
  {
    label: chat.pinned ? t.chats.unpin : t.chats.pin,
    icon: "pin",
    run: () => report(chats.change(chat.id, { pinned: !chat.pinned })),
  },
  {
    label: chat.archived ? t.chats.unarchive : t.chats.archive,
    icon: "archive",
    run: () => report(chats.change(chat.id, { archived: !chat.archived })),
  },
  { label: t.chats.exportMarkdown, icon: "download", run: () => report(exportMarkdown(chat.id)) },
  { label: t.chats.export, icon: "download", run: () => download(`${at.chat(chat.id)}/export`, `chat-${chat.id}.json`) },
  { label: t.chats.remove, icon: "trash", danger: true, run: () => removeChats([chat]) },
];

/** @param {string} id */
const exportMarkdown = async (id) => (await import("../lib/export-markdown.js")).exportMarkdown(id);

/** Deletes chats after a confirmation. Returns whether they were deleted. @param {Chat[]} some */
export const removeChats = async (some) => {
  const [first] = some;
  if (!first) return false;
  const yes = await confirmDialog({
    title: some.length === 1 ? t.chats.removeTitle : t.chats.removeManyTitle(some.length),
    text: some.length === 1 ? t.chats.removeText(first.title || t.chats.untitled) : t.chats.removeManyText,
    yes: t.common.delete,
    danger: true,
  });
  if (!yes) return false;
  const remove = async () => {
    for (const { id } of some) {
      await chats.remove(id);
      if (route().id === id) go(address("chat"), { replace: true });
    }
  };
  await report(remove());
  return true;
};
