// The color theme: the system preference, unless the user chose one.

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
