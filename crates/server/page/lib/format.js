// Formats numbers, sizes and times.

import { language, t } from "./text.js";

/** @param {number} value */
export const number = (value) => new Intl.NumberFormat(language).format(value);

/** A number with one digit after the decimal point. @param {number} value */
export const decimal = (value) =>
  new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(value);

/** @param {number} share from 0 to 1 */
export const percent = (share) => new Intl.NumberFormat(language, { style: "percent" }).format(share);

/** A difference of shares in percentage points, with its sign. @param {number} difference */
export const points = (difference) =>
  new Intl.NumberFormat(language, { signDisplay: "exceptZero", maximumFractionDigits: 0 })
    .format(difference * 100)
    .replace("-", "−");

/** @param {number} p */
export const pValue = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`);

/** @param {number} bytes */
export const size = (bytes) => {
  if (bytes < 1024) return `${number(bytes)} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: value < 10 ? 1 : 0 }).format(value)} ${units[unit]}`;
};

/** @param {number} ms since 1970 */
export const when = (ms) => {
  const date = new Date(ms);
  const age = Date.now() - ms;
  if (age < 60_000) return t.time.now;
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  if (age < 3_600_000) return relative.format(-Math.floor(age / 60_000), "minute");
  if (date.toDateString() === new Date().toDateString())
    return relative.format(-Math.floor(age / 3_600_000), "hour");
  if (age < 6 * 86_400_000) return relative.format(-Math.max(1, Math.round(age / 86_400_000)), "day");
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(date);
};

/** @param {number} ms since 1970 */
export const fullTime = (ms) =>
  new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(ms));

/** "sha256:…" of a text, or null where the browser does not offer it. @param {string} text */
export const digestOf = async (text) => {
  if (!globalThis.crypto?.subtle) return null;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256:${[...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

/** The first line of a text, for a title. @param {string} text @param {number} max */
export const firstLine = (text, max = 60) => {
  const line = text.trim().split("\n", 1)[0] ?? "";
  const letters = [...line];
  return letters.length > max
    ? `${letters
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`
    : line;
};

/** The end of a path, which says more than its beginning. @param {string} path */
export const shortPath = (path) => {
  const steps = path.split("/").filter(Boolean);
  return steps.length > 2 ? `…/${steps.slice(-2).join("/")}` : path;
};
