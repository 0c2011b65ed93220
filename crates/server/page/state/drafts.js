// Unsent drafts for each chat. They survive a reload, but not closing the tab.

const PREFIX = "prowess.draft.";

/** The key of the new chat. */
const NEW = "new";

/** @param {string | null} chat */
const keyOf = (chat) => PREFIX + (chat ?? NEW);

export const drafts = {
  /** @param {string | null} chat @returns {string} */
  get: (chat) => sessionStorage.getItem(keyOf(chat)) ?? "",

  /** @param {string | null} chat @param {string} text */
  set(chat, text) {
    if (text) sessionStorage.setItem(keyOf(chat), text);
    else sessionStorage.removeItem(keyOf(chat));
  },

  clear() {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  },
};
