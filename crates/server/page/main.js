// Entry point: loads the texts, then the server information, then the views.

import { AppShell } from "./components/app-shell.js";
import { SignIn } from "./components/sign-in.js";
import { Problem, signIn } from "./lib/api.js";
import { make } from "./lib/dom.js";
import { loadTexts } from "./lib/text.js";
import { applyTheme } from "./lib/theme.js";
import { startWorkspace } from "./lib/workspace.js";
import { app } from "./state/app.js";

applyTheme();
await loadTexts();

signIn.needed = () => {
  if (!document.querySelector("sign-in")) document.body.append(make(SignIn));
};

startWorkspace(() => customElements.define("app-shell", AppShell));

/**
 * Exchanges the token in the address that `prowess serve` prints for a session, and removes it from the address. A browser with
 * a session does not need the token, so a rejected token alone does not open the sign-in form.
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

/** Retries until the server responds, so that a page that was opened too early needs no reload. */
const begin = async (wait = 500) => {
  try {
    await app.start();
  } catch (error) {
    // The server requires a token; signing in restarts the page.
    if (error instanceof Problem && error.status === 401) return;
    app.answers(false);
    setTimeout(begin, wait, Math.min(wait * 2, 10_000));
    return;
  }
};
begin();
