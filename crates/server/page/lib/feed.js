// The events that this tab receives, through the stream that all tabs of the browser share.

import { Hub } from "./hub.js";
import { scriptAddress } from "./html.js";

/** @typedef {{ seq: () => number, event: (type: string, data: any, seq: number) => void }} Follower */

/**
 * @typedef {object} Listener
 * @property {(missed: boolean) => void} opened `missed`: whether events may have been lost
 * @property {() => void} lost the server is unreachable; the feed reconnects
 * @property {(status: number) => void} refused the server rejected the request; the feed does not reconnect
 * @property {(type: string) => void} event a general notification
 */

const BEAT = 30_000;

class Feed {
  /** @type {Listener | null} */
  #listener = null;
  /** @type {Map<string, Set<Follower>>} */
  #chats = new Map();
  /** @type {MessagePort | null} */
  #port = null;
  #on = false;

  /** @param {Listener} listener */
  start(listener) {
    this.#listener = listener;
    this.#port = this.#connect();
    this.resume();
    setInterval(() => this.#tell(), BEAT);
    addEventListener("pagehide", () => this.pause());
  }

  /** Closes the stream until `resume`. */
  pause() {
    this.#on = false;
    this.#port?.postMessage({ type: "bye" });
  }

  resume() {
    this.#on = true;
    this.#tell();
  }

  /** Reconnects with new credentials: after signing out, the tab must not receive events of the old session. */
  again() {
    this.#port?.postMessage({ type: "again" });
  }

  /** Follows a chat until the function that it returns is called. @param {string} chat @param {Follower} follower */
  follow(chat, follower) {
    const followers = this.#chats.get(chat) ?? new Set();
    this.#chats.set(chat, followers.add(follower));
    this.#tell();
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#chats.get(chat) === followers) this.#chats.delete(chat);
      this.#tell();
    };
  }

  #tell() {
    if (!this.#on) return;
    const chats = [...this.#chats].map(([chat, followers]) => [
      chat,
      Math.min(...[...followers].map((one) => one.seq())),
    ]);
    this.#port?.postMessage({ type: "follow", chats });
  }

  /** @returns {MessagePort} */
  #connect() {
    const hear = (/** @type {{ data: any }} */ event) => this.#hear(event.data);
    const own = () => {
      const { port1, port2 } = new MessageChannel();
      new Hub().attach(port2);
      port1.onmessage = hear;
      return port1;
    };
    if (!("SharedWorker" in globalThis)) return own();
    try {
      const address = scriptAddress(new URL("../worker.js", import.meta.url).href);
      const worker = new SharedWorker(address, { type: "module", name: "prowess" });
      // Browsers without module workers report that only now.
      worker.onerror = () => {
        worker.onerror = null;
        this.#port = own();
        this.#tell();
      };
      worker.port.onmessage = hear;
      return worker.port;
    } catch {
      return own();
    }
  }

  /** @param {any} message */
  #hear(message) {
    if (!this.#on) return;
    if (message.type === "open") this.#listener?.opened(message.missed);
    else if (message.type === "lost") this.#listener?.lost();
    else if (message.type === "refused") this.#listener?.refused(message.status);
    else if (message.chat === undefined) this.#listener?.event(message.name);
    else
      for (const one of this.#chats.get(message.chat) ?? [])
        one.event(message.name, message.data, message.seq ?? 0);
  }
}

export const feed = new Feed();
