// Icons: strokes on a 20 by 20 grid.

import { svg } from "./dom.js";

const PATHS = {
  add: "M10 4v12M4 10h12",
  alert: "M10 3 18 17H2ZM10 8v4M10 14.5v.2",
  archive: "M2.5 4h15v4h-15zM4 8v9h12V8M8 11.5h4",
  back: "M12 4 6 10l6 6",
  bolt: "M11 2 4 11h5l-1 7 7-9h-5z",
  chart: "M3 17h14M5 14V9M10 14V4M15 14v-7",
  chat: "M3 4h14v10H9l-4 3v-3H3z",
  check: "M4 10.5 8 14.5 16 6",
  clip: "M15.5 9.5 9.8 15.2a3.6 3.6 0 0 1-5-5L11 4a2.4 2.4 0 0 1 3.4 3.4l-6 6a1.2 1.2 0 0 1-1.7-1.7L12 6.4",
  close: "M5 5l10 10M15 5 5 15",
  copy: "M7 7h10v10H7zM13 7V3H3v10h4",
  down: "M4 7l6 6 6-6",
  download: "M10 3v10M5.5 9 10 13.5 14.5 9M3 17h14",
  edit: "M3 17l1-4L13.5 3.5l3 3L7 16zM12 5l3 3",
  eye: "M2 10c4-6.5 12-6.5 16 0-4 6.5-12 6.5-16 0zM10 8a2 2 0 1 0 .1 0z",
  file: "M5 2h7l4 4v12H5zM12 2v4h4",
  flask: "M7 2h6M8 2v6L3.5 16a1.4 1.4 0 0 0 1.2 2h10.6a1.4 1.4 0 0 0 1.2-2L12 8V2M5.8 12.5h8.4",
  folder: "M2 5h6l2 2h8v9H2z",
  gear: "M10 7a3 3 0 1 0 .1 0zM10 1.5v3M10 15.5v3M1.5 10h3M15.5 10h3M4 4l2 2M14 14l2 2M4 16l2-2M14 6l2-2",
  info: "M10 2.5a7.5 7.5 0 1 0 .1 0zM10 9v5M10 6v.2",
  keyboard: "M2 5h16v10H2zM5 8h.2M8 8h.2M11 8h.2M14 8h.2M5.5 12h9",
  leave: "M8 3H3v14h5M8 10h9M13.5 6 17.5 10l-4 4",
  menu: "M3 5h14M3 10h14M3 15h14",
  more: "M4.5 9.4a.6.6 0 1 0 .1 0zM10 9.4a.6.6 0 1 0 .1 0zM15.5 9.4a.6.6 0 1 0 .1 0z",
  next: "M8 4l6 6-6 6",
  pin: "M7 3h6l-1 6 3 3H5l3-3zM10 12v6",
  quote: "M8 5H4v6h4V5v7l-2 3M16 5h-4v6h4V5v7l-2 3",
  retry: "M16 10a6 6 0 1 1-2-4.5M16 3v4h-4",
  search: "M9 3a6 6 0 1 0 .1 0zM13.5 13.5 18 18",
  select: "M3 3h14v14H3zM6 10l3 3 5-6",
  send: "M10 17V4M4.5 9 10 3.5 15.5 9",
  skills: "M10 2 18 6l-8 4-8-4zM2 10l8 4 8-4M2 14l8 4 8-4",
  stop: "M6 6h8v8H6z",
  terminal: "M2 4h16v12H2zM5 8l3 2-3 2M10 13h4",
  trash: "M3 5h14M8 5V3h4v2M5 5l1 12h8l1-12M8.5 8.5v5M11.5 8.5v5",
  upload: "M10 14V4M5.5 8 10 3.5 14.5 8M3 17h14",
};

/** @typedef {keyof typeof PATHS} IconName */

/** @param {IconName} name */
export const icon = (name) =>
  svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
