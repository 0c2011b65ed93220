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

/** @param {DataTransfer} data @returns {Promise<Picked | null>} */
export const dropped = async (data) => {
  // Entries become invalid after the event, so collect all of them first.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const plain = [...data.files];
  if (entries.length === 0) return picked(plain);
  const files = (await Promise.all(entries.map((entry) => filesOf(entry, "")))).flat();
  const first = entries[0];
  return first && files.length > 0 ? { name: first.name, files } : null;
};

/** @param {FileSystemEntry} entry @param {string} above @returns {Promise<Picked["files"]>} */
const filesOf = async (entry, above) => {
  const path = above ? `${above}/${entry.name}` : entry.name;
  if (entry.isFile) {
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
  }
  return (await Promise.all(inside.map((one) => filesOf(one, path)))).flat();
};
