// Uploads a file with progress, which `fetch` does not report.

import { Problem, signIn, Unreachable } from "./api.js";

/**
 * Uploads a file that must not exist yet.
 * @param {string} path
 * @param {File} file
 * @param {(part: number) => void} progress receives a number from 0 to 1
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export const upload = (path, file, progress, signal) =>
  new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("if-none-match", "*");
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) return done(request.response);
      if (request.status === 401) signIn.needed();
      failed(new Problem(request.status, request.response));
    };
    request.onerror = () => failed(new Unreachable("upload failed"));
    request.onabort = () => failed(new DOMException("aborted", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });

/** `report (2).csv` for the second file named `report.csv`. @param {string} path @param {number} number */
export const numbered = (path, number) => {
  if (number < 2) return path;
  const found = /^(.*[^/])(\.[^./]+)$/.exec(path);
  return found ? `${found[1]} (${number})${found[2]}` : `${path} (${number})`;
};

/**
 * The path for a new file: the wanted one, with numbers where it is taken. A folder gets a number if a file has its name.
 * @param {string} path
 * @param {Set<string>} taken the paths of the files
 */
export const freePath = (path, taken) => {
  const isFolder = (/** @type {string} */ name) => [...taken].some((other) => other.startsWith(`${name}/`));
  const steps = path.split("/");
  return steps.reduce((above, step, index) => {
    const isUsed = (/** @type {string} */ name) => taken.has(name) || (index === steps.length - 1 && isFolder(name));
    for (let number = 1; ; number++) {
      const name = above + (index > 0 ? "/" : "") + numbered(step, number);
      if (!isUsed(name)) return name;
    }
  }, "");
};
