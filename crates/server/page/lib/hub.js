// The event stream that all tabs of a browser share, because browsers open at most six connections to a server. It carries
// general notifications and the events of every chat that a tab shows. It runs in a shared worker, or in the tab itself if
// shared workers are not supported.
//
// A tab sends `follow` with its chats and the last event number of each, whenever they change and every half minute; a tab
// that is silent for longer is considered closed. The hub sends `open`, `lost`, `refused` and `event`.

import { Problem } from "./api.js";
import { pause, readEvents } from "./stream.js";

const FIRST_WAIT = 400;
const LONGEST_WAIT = 10_000;
/** Browsers throttle timers of hidden tabs to once a minute. */
const GONE = 200_000;

/** @typedef {{ chats: Map<string, number>, seen: number }} Tab */

export class Hub {
  /** @type {Map<MessagePort, Tab>} */
  #tabs = new Map();
  /** What tabs were told last. @type {{ type: string, [more: string]: any }} */
  #state = { type: "lost" };
  /** The number of the last event of each chat. @type {Map<string, number>} */
  #position = new Map();
  /** The chats of the latest connection. @type {string | null} */
  #wanted = null;
  /** The attempt that counts; others end by themselves. @type {AbortController} */
  #attempt = new AbortController();
  /** The connection that events come from. @type {AbortController | null} */
  #live = null;
  /** Whether the connection was interrupted since the last one was opened. */
  #gap = false;

  /** @param {MessagePort} port */
  attach(port) {
    port.onmessage = ({ data }) => this.#hear(port, data);
  }

  /** @param {MessagePort} port @param {any} message */
  #hear(port, message) {
    if (message.type === "bye") this.#tabs.delete(port);
    else if (message.type === "again") this.#wanted = null;
    else this.#follow(port, new Map(message.chats));
    this.#settle();
  }

  /** @param {MessagePort} port @param {Map<string, number>} chats */
  #follow(port, chats) {
    const isNew = !this.#tabs.has(port);
    this.#tabs.set(port, { chats, seen: Date.now() });
    if (isNew && this.#live) port.postMessage({ type: "open", missed: false });
    else if (isNew && this.#state.type === "refused") this.#wanted = null;
    for (const [chat, seq] of chats) {
      // The tab has missed earlier events.
      if (seq < (this.#position.get(chat) ?? 0)) port.postMessage({ type: "event", name: "missed", chat });
    }
  }

  /** Reconnects when the set of chats changes; the current connection stays open until then. */
  #settle() {
    const now = Date.now();
    for (const [port, tab] of this.#tabs) if (now - tab.seen > GONE) this.#tabs.delete(port);
    if (this.#tabs.size === 0) return this.#close();
    const wanted = [...new Set([...this.#tabs.values()].flatMap((tab) => [...tab.chats.keys()]))]
      .sort()
      .join();
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#attempt.abort();
    this.#attempt = new AbortController();
    this.#run(this.#attempt.signal);
  }

  #close() {
    this.#attempt.abort();
    this.#live?.abort();
    this.#live = null;
    this.#wanted = null;
    this.#gap = false;
    this.#position.clear();
    this.#state = { type: "lost" };
  }

  #address() {
    /** @type {Map<string, number>} */
    const chats = new Map();
    for (const tab of this.#tabs.values())
      for (const [chat, seq] of tab.chats) chats.set(chat, Math.max(seq, chats.get(chat) ?? 0));
    for (const chat of [...this.#position.keys()]) if (!chats.has(chat)) this.#position.delete(chat);
    for (const [chat, seq] of chats)
      this.#position.set(chat, Math.max(seq, this.#live ? (this.#position.get(chat) ?? 0) : 0));
    const list = [...this.#position].map(([chat, seq]) => `${chat}:${seq}`).join();
    return list ? `/api/events?${new URLSearchParams({ chats: list })}` : "/api/events";
  }

  /** @param {AbortSignal} replaced */
  async #run(replaced) {
    let wait = FIRST_WAIT;
    while (!replaced.aborted) {
      const connection = new AbortController();
      const before = this.#live;
      // A connection that is still opening can be replaced; once open, it replaces the current one.
      const giveUp = () => connection !== this.#live && connection.abort();
      replaced.addEventListener("abort", giveUp);
      try {
        await readEvents(this.#address(), connection.signal, {
          opened: () => {
            wait = FIRST_WAIT;
            before?.abort();
            this.#live = connection;
            this.#tell({ type: "open", missed: this.#gap });
            this.#gap = false;
          },
          event: (name, data, id) => {
            if (name === "broken") connection.abort();
            else this.#event(name, data, Number(id));
          },
        });
      } catch (error) {
        if (!replaced.aborted && error instanceof Problem && error.status < 500 && error.status !== 429)
          return this.#refused(error.status);
      } finally {
        replaced.removeEventListener("abort", giveUp);
      }
      // Another connection has replaced this one.
      if (this.#live !== connection && replaced.aborted) return;
      if (this.#live === connection) {
        this.#live = null;
        this.#gap = true;
      }
      if (replaced.aborted) return;
      this.#gap = true;
      this.#tell({ type: "lost" });
      await pause(wait * (0.75 + Math.random() / 2), replaced);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  /** What is busy or starting up is asked again; a no is a no, until a tab asks again. @param {number} status */
  #refused(status) {
    this.#live?.abort();
    this.#live = null;
    this.#gap = true;
    this.#tell({ type: "refused", status });
  }

  /** @param {string} name @param {any} data @param {number} seq */
  #event(name, data, seq) {
    const chat = data?.chat;
    if (chat === undefined) return this.#tell({ type: "event", name, data }, false);
    if (seq) {
      // During the replacement, both connections deliver the same events.
      if (seq <= (this.#position.get(chat) ?? 0)) return;
      this.#position.set(chat, seq);
    }
    for (const [port, tab] of this.#tabs) {
      if (!tab.chats.has(chat)) continue;
      if (seq) tab.chats.set(chat, seq);
      port.postMessage({ type: "event", name, data, chat, seq });
    }
  }

  /** @param {{ type: string, [more: string]: any }} message @param {boolean} [isState] */
  #tell(message, isState = true) {
    if (isState) this.#state = message;
    for (const port of this.#tabs.keys()) port.postMessage(message);
  }
}
