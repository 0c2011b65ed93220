// Light or dark: as the system prefers, unless the person says otherwise here.

const KEY = "prowess.theme";

export const themes = /** @type {const} */ (["auto", "light", "dark"]);

export const theme = () => localStorage.getItem(KEY) ?? "auto";

export const applyTheme = () => {
  document.documentElement.dataset.theme = theme();
};

/** @param {string} name */
export const chooseTheme = (name) => {
  localStorage.setItem(KEY, name);
  applyTheme();
};
