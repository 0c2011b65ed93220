// Requests to the server, and its errors.

/** An error response (RFC 9457) with an error code. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(String(body?.detail || body?.title || `HTTP ${status}`));
    this.status = status;
    /** @type {string} */
    this.code = String(body?.code ?? "");
    /** @type {{ field: string, message: string }[]} */
    this.errors = Array.isArray(body?.errors) ? body.errors : [];
    this.body = body ?? {};
  }
}

/** The server cannot be reached. */
export class Unreachable extends Error {}

/**
 * Notified when the server requires authentication. `refused` means that the token in the address was rejected.
 * @type {{ needed: () => void, refused: boolean }}
 */
export const signIn = { needed: () => {}, refused: false };

/**
 * Sends a request, and returns the response if it succeeded.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
export const request = async (path, init) => {
  const response = await fetch(path, { credentials: "same-origin", ...init }).catch((error) => {
    if (error?.name === "AbortError") throw error;
    throw new Unreachable(String(error?.message ?? error));
  });
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  if (response.status === 401) signIn.needed();
  throw new Problem(response.status, body);
};

/** @param {string} method @param {string} path @param {any} [body] @param {AbortSignal} [signal] @returns {Promise<any>} */
const json = async (method, path, body, signal) => {
  const init = /** @type {RequestInit} */ ({ method, signal, headers: { accept: "application/json" } });
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { accept: "application/json", "content-type": "application/json" };
  }
  const response = await request(path, init);
  return response.status === 204 ? null : response.json();
};

/** @param {string} path @param {Record<string, string | number | boolean | null | undefined>} [query] */
export const withQuery = (path, query = {}) => {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
};

/**
 * Whether a path stays inside a skill or a chat. Results of tools are untrusted, and a browser resolves `..` in an address, however
 * it is written.
 * @param {string} path
 */
export const isInnerPath = (path) => path.split("/").every((step) => step !== "" && step !== "." && step !== "..");

/** A path inside a skill or a chat, each step written so that it stays one. @param {string} path */
const steps = (path) => path.split("/").map(encodeURIComponent).join("/");

export const at = {
  /** @param {string} id */
  chat: (id) => `/api/chats/${encodeURIComponent(id)}`,
  /** @param {string} id */
  chatFiles: (id) => `/api/chats/${encodeURIComponent(id)}/files`,
  /** @param {string} id @param {string} question */
  consent: (id, question) => `/api/chats/${encodeURIComponent(id)}/consents/${encodeURIComponent(question)}`,
  /** @param {string} id @param {string} path */
  chatFile: (id, path) => `/api/chats/${encodeURIComponent(id)}/files/${steps(path)}`,
  /** @param {string} id */
  skill: (id) => `/api/skills/${encodeURIComponent(id)}`,
  /** @param {string} skill @param {number} iteration */
  testReport: (skill, iteration) => `/api/tests/${encodeURIComponent(skill)}/${iteration}`,
  /** @param {string} id @param {string} path */
  file: (id, path) => `/api/skills/${encodeURIComponent(id)}/files/${steps(path)}`,
};

export const api = {
  /** @param {string} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] */
  get: (path, query, signal) => json("GET", withQuery(path, query), undefined, signal),
  /** @param {string} path @param {any} [body] @param {AbortSignal} [signal] */
  post: (path, body = {}, signal) => json("POST", path, body, signal),
  /** @param {string} path @param {any} body */
  patch: (path, body) => json("PATCH", path, body),
  /** @param {string} path @param {any} body */
  put: (path, body) => json("PUT", path, body),
  /** @param {string} path */
  remove: (path) => json("DELETE", path),
  /** @param {string} path @param {FormData} form */
  form: async (path, form) => (await request(path, { method: "POST", body: form })).json(),
};
