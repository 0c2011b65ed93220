// The current route: `#/chat/ID`, `#/overview`, `#/tests/SKILL?iteration=N`, `#/inspect?query=…`, `#/settings`.

/** @typedef {{ view: string, id: string | null, params: URLSearchParams }} Route */

/** @returns {Route} */
export const route = () => {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, id] = (path ?? "").split("/");
  return {
    view: view || "chat",
    id: id ? decodeURIComponent(id) : null,
    params: new URLSearchParams(query ?? ""),
  };
};

/** @param {string} view @param {string | null} [id] @param {Record<string, string>} [params] */
export const address = (view, id, params) => {
  const query = params ? `?${new URLSearchParams(params)}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${query}`;
};

/** @param {string} hash @param {{ replace?: boolean }} [how] */
export const go = (hash, how = {}) => {
  if (how.replace) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = hash;
};
