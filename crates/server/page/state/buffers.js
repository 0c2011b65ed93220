// The open files of the skill that is edited: the text on the server, and where an edit of it began.

import { api, at, Problem } from "../lib/api.js";
import { edits } from "./edits.js";

/**
 * @typedef {object} Buffer
 * @property {string} path
 * @property {string} base the text on the server that was read last
 * @property {string} digest its digest, or empty for a file that does not exist
 * @property {any} state the state of the editor
 * @property {boolean} unsaved
 * @property {{ content: string, digest: string } | null} conflict the text on the server, if it changed during the edit
 * @property {number | null} restored when the unsaved changes that were restored were made
 */

/** A file that cannot be edited: it is not a text, or not complete. */
export class NotText extends Error {}

/**
 * Reads a file from the server. A missing file has an empty digest.
 * @param {string} skill @param {string} path
 * @returns {Promise<{ content: string, digest: string }>}
 */
export const readFile = async (skill, path) => {
  try {
    const read = await api.get(at.file(skill, path));
    if (read.truncated) throw new NotText(path);
    return { content: read.content, digest: read.digest ?? "" };
  } catch (error) {
    if (error instanceof Problem && error.code === "BINARY_FILE") throw new NotText(path);
    if (error instanceof Problem && error.status === 404) return { content: "", digest: "" };
    throw error;
  }
};

/**
 * Opens a file with its unsaved changes.
 * @param {string} skill @param {string} path @param {(text: string) => any} newState
 * @returns {Promise<Buffer>}
 */
export const openBuffer = async (skill, path, newState) => {
  const [read, edit] = await Promise.all([readFile(skill, path), edits.get(skill, path)]);
  const { content, digest } = read;
  if (!digest && !edit) throw new Problem(404, { detail: path });
  const buffer = { path, base: content, digest, unsaved: false, conflict: null, restored: null };
  if (!edit || edit.text === content) {
    if (edit) edits.remove(skill, path);
    return { ...buffer, state: newState(content) };
  }
  const isSame = edit.digest === digest;
  return {
    ...buffer,
    base: isSame ? content : edit.base,
    digest: isSame ? digest : edit.digest,
    state: newState(edit.text),
    unsaved: true,
    conflict: isSame ? null : read,
    restored: edit.at,
  };
};

/** Keeps the unsaved changes of a file. @param {string} skill @param {Buffer} buffer @param {string} text */
export const keepEdit = (skill, buffer, text) =>
  buffer.unsaved
    ? edits.set(skill, buffer.path, { text, digest: buffer.digest, base: buffer.base, at: Date.now() })
    : edits.remove(skill, buffer.path);

/** Unsaved changes follow their file. @param {string} skill @param {string} from @param {string} to */
export const moveEdit = async (skill, from, to) => {
  const edit = await edits.get(skill, from);
  if (!edit) return;
  await edits.set(skill, to, edit);
  await edits.remove(skill, from);
};
