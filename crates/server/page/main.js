// The beginning: texts first, then who serves us, then the views.

import { AppShell } from "./components/app-shell.js";
import { SignIn } from "./components/sign-in.js";
import { Problem, api, signIn } from "./lib/api.js";
import { make } from "./lib/dom.js";
import { loadTexts } from "./lib/text.js";
import { applyTheme } from "./lib/theme.js";
import { app } from "./state/app.js";

applyTheme();
await loadTexts();

signIn.needed = () => {
  if (!document.querySelector("sign-in")) document.body.append(make(SignIn));
};

customElements.define("app-shell", AppShell);

/** The address that `prowess serve` prints carries a token: it is exchanged for a session, and leaves the address. */
const exchangeToken = async () => {
  const here = new URL(location.href);
  const token = here.searchParams.get("token");
  if (!token) return;
  here.searchParams.delete("token");
  history.replaceState(null, "", here);
  await api.post("/api/session", { token }).catch(() => {});
};
await exchangeToken();

/** Asks until somebody answers: a page that was opened a moment too early needs no reload. */
const begin = async (wait = 500) => {
  try {
    await app.start();
  } catch (error) {
    // The server answers, and wants a token first: signing in begins anew.
    if (error instanceof Problem && error.status === 401) return;
    app.answers(false);
    setTimeout(begin, wait, Math.min(wait * 2, 10_000));
    return;
  }
};
begin();
