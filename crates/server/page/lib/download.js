// Saves content as files.

import { h } from "./dom.js";

/** @param {string} href @param {string} name */
export const download = (href, name) => {
  const link = h("a", { href, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
};

/** @param {string} text @param {string} name @param {string} type */
export const downloadText = (text, name, type) => {
  const href = URL.createObjectURL(new Blob([text], { type }));
  download(href, name);
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
};
