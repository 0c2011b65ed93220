// The current route: `#/chat/ID`, `#/overview`, `#/tests/SKILL?iteration=N`, `#/inspect?query=…`, `#/settings`,
// `#/skills/ID/edit/PATH`.

/** @typedef {{ view: string, id: string | null, rest: string[], params: URLSearchParams }} Route */

/** A part of an address. One that is not valid stays as it is. @param {string} part */
const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** @returns {Route} */
export const route = () => {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, id, ...rest] = (path ?? "").split("/");
  return {
    view: view || "chat",
    id: id ? decoded(id) : null,
    rest: rest.map(decoded),
    params: new URLSearchParams(query ?? ""),
  };
};

/** @param {string} view @param {string | null} [id] @param {Record<string, string>} [params] */
export const address = (view, id, params) => {
  const query = params ? `?${new URLSearchParams(params)}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${query}`;
};

/** The address of the editor of a file of a skill. @param {string} id @param {string} [path] @param {number} [line] */
export const editAddress = (id, path = "SKILL.md", line) =>
  `#/skills/${encodeURIComponent(id)}/edit/${path.split("/").map(encodeURIComponent).join("/")}${line ? `?line=${line}` : ""}`;

/** @param {string} hash @param {{ replace?: boolean }} [how] */
export const go = (hash, how = {}) => {
  if (how.replace) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = hash;
};
