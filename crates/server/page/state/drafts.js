// Unsent drafts. A draft belongs to its chat in all tabs; the draft of a new chat belongs to its tab. Signing out deletes all.

import { EDITS } from "../lib/workspace.js";

const PREFIX = "prowess.draft.";

/** The key of the new chat. */
const NEW = `${PREFIX}new`;

/** @param {string | null} chat */
const storeOf = (chat) => (chat === null ? sessionStorage : localStorage);

/** @param {string | null} chat */
const keyOf = (chat) => (chat === null ? NEW : PREFIX + chat);

export const drafts = {
  /** @param {string | null} chat @returns {string} */
  get: (chat) => storeOf(chat).getItem(keyOf(chat)) ?? "",

  /** @param {string | null} chat @param {string} text */
  set(chat, text) {
    try {
      if (text) storeOf(chat).setItem(keyOf(chat), text);
      else storeOf(chat).removeItem(keyOf(chat));
    } catch {
      // The storage is full: the text stays in the input, but does not survive a reload.
    }
  },

  clear() {
    for (const store of [sessionStorage, localStorage])
      for (const key of Object.keys(store)) if (key.startsWith(PREFIX)) store.removeItem(key);
    // Unsaved changes of skills belong to the person who signs out, too.
    indexedDB.deleteDatabase(EDITS);
  },

  /**
   * Calls a function when another tab changes the draft of a chat. Returns a function that ends it.
   * @param {(chat: string, text: string, before: string) => void} call
   */
  onChange(call) {
    const changed = (/** @type {StorageEvent} */ { key, newValue, oldValue }) => {
      if (key?.startsWith(PREFIX)) call(key.slice(PREFIX.length), newValue ?? "", oldValue ?? "");
    };
    addEventListener("storage", changed);
    return () => removeEventListener("storage", changed);
  },
};
