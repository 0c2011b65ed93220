// The list of chats, most recent first, loaded page by page.

import { api, at } from "../lib/api.js";
import { app } from "./app.js";

/** @typedef {import("../types.js").Chat} Chat */

const PAGE = 60;

class Chats extends EventTarget {
  /** @type {Chat[]} */
  list = [];
  /** @type {string | null} */
  next = null;
  ready = false;
  #reading = false;
  #again = false;

  constructor() {
    super();
    app.on("chats", () => this.read());
  }

  /** Reloads the pages that are shown. One reload at a time; requests meanwhile cause one more reload. */
  async read() {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      const page = await api.get("/api/chats", { limit: Math.min(200, Math.max(PAGE, this.list.length)) });
      this.list = page.chats;
      this.next = page.next;
      this.ready = true;
      this.#tell();
    } catch {
      // Retried when the event stream reconnects.
    } finally {
      this.#reading = false;
    }
    if (this.#again) {
      this.#again = false;
      await this.read();
    }
  }

  async more() {
    if (!this.next || this.#reading) return;
    this.#reading = true;
    try {
      const page = await api.get("/api/chats", { after: this.next, limit: PAGE });
      const known = new Set(this.list.map((chat) => chat.id));
      this.list.push(...page.chats.filter((/** @type {Chat} */ chat) => !known.has(chat.id)));
      this.next = page.next;
      this.#tell();
    } finally {
      this.#reading = false;
    }
  }

  /** @param {string} title @returns {Promise<Chat>} */
  async begin(title) {
    const chat = await api.post("/api/chats", { title });
    this.note(chat);
    return chat;
  }

  /** What is known of a chat has changed. @param {Chat} chat */
  note(chat) {
    this.list = [chat, ...this.list.filter((other) => other.id !== chat.id)].sort(
      (a, b) => b.updated - a.updated,
    );
    this.#tell();
  }

  /** @param {string} id @param {string} title */
  async rename(id, title) {
    this.note(await api.patch(at.chat(id), { title }));
  }

  /** @param {string} id */
  async remove(id) {
    await api.remove(at.chat(id));
    this.list = this.list.filter((chat) => chat.id !== id);
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

export const chats = new Chats();
