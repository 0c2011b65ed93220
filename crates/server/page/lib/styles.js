// Loads stylesheets that only some views need.

import { h } from "./dom.js";

/** Loads a stylesheet, once. @param {string} name @returns {Promise<unknown>} */
export const loadStyles = (name) => {
  const href = new URL(`../${name}`, import.meta.url).href;
  const known = [...document.styleSheets].some((sheet) => sheet.href === href);
  if (known) return Promise.resolve();
  return new Promise((loaded, failed) => {
    document.head.append(h("link", { rel: "stylesheet", href, onload: loaded, onerror: failed }));
  });
};
