// Unsaved changes of files of skills, in a database of the browser, so that they survive a reload, a crash and a closed tab.

import { EDITS } from "../lib/workspace.js";

/**
 * @typedef {object} Edit
 * @property {string} text the changed text
 * @property {string} digest the digest of the text that was changed; empty for a new file
 * @property {string} base the text that was changed
 * @property {number} at when, in milliseconds since 1970
 */

const STORE = "edits";

/** Used where the browser has no database, as in some private windows. @type {Map<string, Edit>} */
const memory = new Map();

/** @type {Promise<IDBDatabase | null> | null} */
let opened = null;

/** @returns {Promise<IDBDatabase | null>} */
const database = () =>
  (opened ??= new Promise((done) => {
    try {
      const request = indexedDB.open(EDITS, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => {
        // Signing out deletes the database.
        request.result.onversionchange = () => {
          request.result.close();
          opened = null;
        };
        done(request.result);
      };
      request.onerror = () => done(null);
    } catch {
      done(null);
    }
  }));

/**
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} work @returns {Promise<T | undefined>}
 */
const run = async (mode, work) => {
  const db = await database();
  if (!db) return undefined;
  return new Promise((done) => {
    try {
      const request = work(db.transaction(STORE, mode, { durability: "strict" }).objectStore(STORE));
      request.onsuccess = () => done(request.result);
      request.onerror = () => done(undefined);
    } catch {
      done(undefined);
    }
  });
};

/** @param {string} skill @param {string} path */
const key = (skill, path) => `${skill}/${path}`;

export const edits = {
  /** @param {string} skill @param {string} path @returns {Promise<Edit | undefined>} */
  async get(skill, path) {
    return (await run("readonly", (store) => store.get(key(skill, path)))) ?? memory.get(key(skill, path));
  },

  /** @param {string} skill @param {string} path @param {Edit} edit */
  async set(skill, path, edit) {
    const kept = await run("readwrite", (store) => store.put(edit, key(skill, path)));
    if (kept === undefined) memory.set(key(skill, path), edit);
    else memory.delete(key(skill, path));
  },

  /** @param {string} skill @param {string} path */
  async remove(skill, path) {
    memory.delete(key(skill, path));
    await run("readwrite", (store) => store.delete(key(skill, path)));
  },

  /** The paths with unsaved changes. @param {string} skill @returns {Promise<string[]>} */
  async paths(skill) {
    const start = key(skill, "");
    const range = IDBKeyRange.bound(start, `${start}\uffff`);
    const keys = (await run("readonly", (store) => store.getAllKeys(range))) ?? [];
    const all = [...keys.map(String), ...[...memory.keys()].filter((one) => one.startsWith(start))];
    return all.map((one) => one.slice(start.length));
  },
};
