// The list of chats, pinned and most recent first, loaded page by page; and the list that a search or the archive shows instead.

import { api, at } from "../lib/api.js";
import { app } from "./app.js";
import { drafts } from "./drafts.js";

/** @typedef {import("../types.js").Chat} Chat */
/** @typedef {{ search: string, archived: boolean }} Filter */

const PAGE = 60;
const PAGE_MAX = 200;

/** @param {Chat} a @param {Chat} b */
const byOrder = (a, b) => Number(Boolean(b.pinned)) - Number(Boolean(a.pinned)) || b.updated - a.updated;

/** A list of chats that is loaded page by page. */
class Pages {
  /** @type {Chat[]} */
  list = [];
  /** @type {string | null} */
  next = null;
  ready = false;

  /** @param {Partial<Filter>} filter */
  constructor(filter = {}) {
    this.query = { search: filter.search || undefined, archived: filter.archived ? 1 : undefined };
  }

  /** Reloads the pages that are shown. */
  async read() {
    const limit = Math.min(PAGE_MAX, Math.max(PAGE, this.list.length));
    const page = await api.get("/api/chats", { ...this.query, limit });
    this.list = page.chats;
    this.next = page.next ?? null;
    this.ready = true;
  }

  async more() {
    const page = await api.get("/api/chats", { ...this.query, after: this.next, limit: PAGE });
    const known = new Set(this.list.map((chat) => chat.id));
    this.list.push(...page.chats.filter((/** @type {Chat} */ chat) => !known.has(chat.id)));
    this.next = page.next ?? null;
  }
}

class Chats extends EventTarget {
  #all = new Pages();
  /** What a search or the archive shows. @type {Pages | null} */
  #some = null;
  /** @type {Filter} */
  filter = { search: "", archived: false };
  /** Why the search failed. @type {Error | null} */
  problem = null;
  #reading = false;
  #again = false;

  constructor() {
    super();
    app.on("chats", () => this.read());
  }

  /** All chats that are loaded, except archived ones. */
  get list() {
    return this.#all.list;
  }

  /** The chats that the list shows. */
  get shown() {
    return (this.#some ?? this.#all).list;
  }

  get ready() {
    return (this.#some ?? this.#all).ready;
  }

  /** @param {string} id */
  find(id) {
    return this.list.find((chat) => chat.id === id) ?? this.#some?.list.find((chat) => chat.id === id);
  }

  /** @param {Partial<Filter>} change */
  async show(change) {
    this.filter = { ...this.filter, ...change };
    const { search, archived } = this.filter;
    this.#some = search || archived ? new Pages(this.filter) : null;
    this.problem = null;
    if (!this.#some) this.#tell();
    else await this.#readSome();
  }

  async #readSome() {
    const some = this.#some;
    if (!some) return;
    const problem = await some.read().then(
      () => null,
      (error) => error,
    );
    // Another search was started meanwhile.
    if (this.#some !== some) return;
    this.problem = problem;
    this.#tell();
  }

  /** Reloads the pages that are shown. One reload at a time; requests meanwhile cause one more reload. */
  async read() {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      await this.#all.read();
      this.#tell();
      await this.#readSome();
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
    const pages = this.#some ?? this.#all;
    if (!pages.next || this.#reading) return;
    this.#reading = true;
    try {
      await pages.more();
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
    for (const pages of [this.#all, this.#some]) {
      if (!pages) continue;
      const known = pages.list.find((other) => other.id === chat.id);
      const others = pages.list.filter((other) => other.id !== chat.id);
      const belongs = pages === this.#all ? !chat.archived : known && Boolean(chat.archived) === this.filter.archived;
      pages.list = belongs ? [{ ...chat, excerpt: known?.excerpt }, ...others] : others;
      if (pages === this.#all || !this.filter.search) pages.list.sort(byOrder);
    }
    this.#tell();
  }

  /** Changes the title, or whether the chat is pinned or archived. @param {string} id @param {Partial<Pick<Chat, "title" | "pinned" | "archived">>} change */
  async change(id, change) {
    this.note(await api.patch(at.chat(id), change));
  }

  /** @param {string} id */
  async remove(id) {
    await api.remove(at.chat(id));
    drafts.set(id, "");
    for (const pages of [this.#all, this.#some]) if (pages) pages.list = pages.list.filter((chat) => chat.id !== id);
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

export const chats = new Chats();
