// Files that the user chose or dropped: one archive, or the files of a folder.

/** @typedef {{ name: string, files: { path: string, file: File }[] }} Picked */

/** @param {File[]} files @returns {Picked | null} */
export const picked = (files) => {
  const first = files[0];
  if (!first) return null;
  const paths = files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const folder = first.webkitRelativePath.split("/")[0];
  return { name: folder || first.name, files: paths };
};

/** How many empty folders a folder may have, beyond the maximum number of files. */
const FOLDERS_MAX = 1_000;

/** More files were dropped than are wanted. */
export class TooManyFiles extends Error {}

/** @param {DataTransfer} data @param {number} [max] the maximum number of files @returns {Promise<Picked | null>} */
export const dropped = async (data, max = Number.POSITIVE_INFINITY) => {
  // Entries become invalid after the event, so collect all of them first.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const plain = [...data.files];
  if (entries.length === 0) return picked(plain);
  const room = { left: max };
  const files = (await Promise.all(entries.map((entry) => filesOf(entry, "", room)))).flat();
  const first = entries[0];
  return first && files.length > 0 ? { name: first.name, files } : null;
};

/** @param {FileSystemEntry} entry @param {string} above @param {{ left: number }} room @returns {Promise<Picked["files"]>} */
const filesOf = async (entry, above, room) => {
  const path = above ? `${above}/${entry.name}` : entry.name;
  if (entry.isFile) {
    if (--room.left < 0) throw new TooManyFiles();
    const file = await new Promise((done, failed) =>
      /** @type {FileSystemFileEntry} */ (entry).file(done, failed),
    );
    return [{ path, file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const inside = [];
  for (;;) {
    // A reader returns entries in batches, and an empty batch at the end.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) break;
    inside.push(...some);
    // A large folder is not read to its end.
    if (inside.length > room.left + FOLDERS_MAX) throw new TooManyFiles();
  }
  return (await Promise.all(inside.map((one) => filesOf(one, path, room)))).flat();
};
