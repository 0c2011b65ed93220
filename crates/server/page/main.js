// The beginning: texts first, then who serves us, then the views.

import { AppShell } from "./components/app-shell.js";
import { SignIn } from "./components/sign-in.js";
import { Problem, signIn } from "./lib/api.js";
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

/**
 * The address that `prowess serve` prints carries a token: it is exchanged for a session, once, and leaves the address.
 * A browser that has a session already does not need it, so that a refusal alone is no reason to ask for a token.
 */
const exchangeToken = async () => {
  const here = new URL(location.href);
  const token = here.searchParams.get("token");
  if (!token) return;
  here.searchParams.delete("token");
  history.replaceState(null, "", here);
  const body = JSON.stringify({ token });
  const headers = { "content-type": "application/json" };
  const answer = await fetch("/api/session", { method: "POST", credentials: "same-origin", headers, body }).catch(
    () => null,
  );
  signIn.refused = answer?.status === 401;
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
