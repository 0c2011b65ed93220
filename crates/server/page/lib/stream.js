// Reads an event stream of the server.

import { request } from "./api.js";

/** The server sends a comment every 15 s; after a longer silence the connection is considered dead. */
const SILENCE = 40_000;

/**
 * @typedef {object} Listener
 * @property {(type: string, data: any, id: string) => void} event
 * @property {() => void} [opened]
 */

/**
 * Reads events until the stream ends or is aborted. Throws if the server rejects the request or is unreachable.
 * @param {string} address @param {AbortSignal} signal @param {Listener} listener
 */
export const readEvents = async (address, signal, listener) => {
  const connection = new AbortController();
  const giveUp = () => connection.abort();
  signal.addEventListener("abort", giveUp, { once: true });
  let timer = setTimeout(giveUp, SILENCE);
  try {
    const headers = { accept: "text/event-stream" };
    const response = await request(address, { headers, signal: connection.signal, cache: "no-store" });
    if (!response.body) return;
    listener.opened?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser(listener.event);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE);
      parse(value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    connection.abort();
  }
};

/** Waits, or until the network is back or the signal is aborted. @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
export const pause = (ms, signal) =>
  new Promise((wake) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      wake();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    signal.addEventListener("abort", end, { once: true });
  });

/** Events out of text that comes in pieces. @param {Listener["event"]} tell @returns {(piece: string) => void} */
export const parser = (tell) => {
  let rest = "";
  let type = "";
  let id = "";
  /** @type {string[]} */
  let data = [];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0 || type) tell(type || "message", readJson(data.join("\n")), id);
        type = "";
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (field === "event") type = value ?? "";
      else if (field === "data") data.push(value ?? "");
      else if (field === "id") id = value ?? "";
    }
  };
};

/** @param {string} text */
const readJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
