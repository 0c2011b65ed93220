// Events from the server, for as long as somebody listens: connects again after a break, slower each time.

import { Problem, request } from "./api.js";

const FIRST_WAIT = 400;
const LONGEST_WAIT = 10_000;
/** The server sends a comment every 15 s; when nothing at all comes for longer, the connection is dead. */
const SILENCE = 40_000;

/**
 * @typedef {object} Listener
 * @property {() => string} address asked anew for each connection, so that it can say where to go on
 * @property {(type: string, data: any, id: string) => void} event
 * @property {() => void} [opened]
 * @property {(error: unknown) => void} [lost] before the next try
 * @property {(problem: Problem) => void} [refused] the server said no; it is not asked again
 */

/**
 * Listens until the function that it returns is called.
 * @param {Listener} listener
 * @returns {() => void}
 */
export const listen = (listener) => {
  const stop = new AbortController();
  let wait = FIRST_WAIT;
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await once(listener, stop.signal, () => (wait = FIRST_WAIT));
        if (!stop.signal.aborted) listener.lost?.(new Error("the stream ended"));
      } catch (error) {
        if (stop.signal.aborted) return;
        // What is busy or starting up is asked again; a no is a no.
        if (error instanceof Problem && error.status < 500 && error.status !== 429)
          return listener.refused?.(error);
        listener.lost?.(error);
      }
      await pause(wait * (0.75 + Math.random() / 2), stop.signal);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  };
  run();
  return () => stop.abort();
};

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
const pause = (ms, signal) =>
  new Promise((wake) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      wake();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    signal.addEventListener("abort", end, { once: true });
  });

/** @param {Listener} listener @param {AbortSignal} signal @param {() => void} alive */
const once = async (listener, signal, alive) => {
  const connection = new AbortController();
  const give_up = () => connection.abort();
  signal.addEventListener("abort", give_up, { once: true });
  let timer = setTimeout(give_up, SILENCE);
  try {
    const headers = { accept: "text/event-stream" };
    const response = await request(listener.address(), {
      headers,
      signal: connection.signal,
      cache: "no-store",
    });
    if (!response.body) return;
    listener.opened?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser(listener.event);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(give_up, SILENCE);
      alive();
      parse(value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", give_up);
    connection.abort();
  }
};

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
