// Untrusted text stays text, the content security policy is enforced, and a configured token is required.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { send, waitForReply, waitForText } from "../lib/browser.mjs";
import { makeTestEnv } from "../lib/test-env.mjs";

export const HOSTILE = `<img src=x onerror=window.hacked=1><script>window.hacked=2</script>`;
export const BODY = `# ${HOSTILE}\n\n<script>window.hacked=3</script>\n\n[x](javascript:window.hacked=4)\n`;

/** Skills whose texts are markup: one with an invalid name, and one that is available. */
export const hostileSkills = {
  hostile: {
    "SKILL.md": `---\nname: '${HOSTILE}'\ndescription: '${HOSTILE}'\n---\n${BODY}`,
    [`references/<img src=x onerror=window.hacked=6>.md`]: BODY,
  },
  zebra: {
    "SKILL.md": `---\nname: zebra\ndescription: 'Stripes ${HOSTILE} "onmouseover="window.hacked=5'\n---\n${BODY}`,
    [`references/<img src=x onerror=window.hacked=6>.md`]: BODY,
  },
};

const checkClean = async (page, where) => {
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, where);
  assert.equal(await page.locator("img, iframe, object, embed, script:not([src])").count(), 0, where);
};

export const hostile = (env, browser, check, prowess) => [
  check(
    "markup in a skill is shown as text in the table, the files, the list, the cards, the inspector and the overview",
    async () => {
      const page = await browser.open(await browser.newContext(), env.url);
      await page.click("#open-skills");
      const row = (id) => page.locator(`.rows .row[data-id=${id}]`);
      await waitForText(row("zebra"), /<script>window\.hacked=2<\/script>/);
      await waitForText(row("hostile"), /Invalid · .*<script>window\.hacked=2<\/script>/);
      await checkClean(page, "the table");
      for (const id of ["zebra", "hostile"]) {
        await row(id).locator(".row-open").click();
        await row(id).locator(".file").first().waitFor();
        assert.equal(
          await row(id).locator(".file-path", { hasText: "<img src=x onerror=window.hacked=6>.md" }).count(),
          1,
        );
        for (const file of await row(id).locator(".file").all()) {
          await file.click();
          await page.locator(".lines", { hasText: "window.hacked=3" }).waitFor();
        }
        await checkClean(page, `the files of ${id}`);
      }
      await page.keyboard.press("Escape");
      await page.focus("#prompt");
      await page.keyboard.type("/stripes");
      await page.locator(".option", { hasText: "window.hacked=5" }).waitFor();
      await checkClean(page, "the list");
      await page.fill("#prompt", "");
      await send(page, `Repeat: ${HOSTILE}`);
      await waitForReply(page);
      await checkClean(page, "a message that repeats it");
      await send(page, "load zebra");
      await waitForReply(page, 2);
      const card = page.locator("tool-card[data-tool='skills.activate']");
      await card.locator("summary").first().click();
      await card.getByText("window.hacked=3").first().waitFor();
      await checkClean(page, "a card");
      await page.goto(`${env.url}#/inspect?query=zebra`);
      await page.locator("tr", { hasText: "zebra" }).first().waitFor();
      for (const fold of await page.locator(".fold > summary").all()) await fold.click();
      await page.getByText("window.hacked=5").first().waitFor();
      await checkClean(page, "the inspector");
      await page.goto(`${env.url}#/overview`);
      await page.locator(".diagnostic", { hasText: "<script>" }).first().waitFor();
      await checkClean(page, "the overview");
      return page;
    },
  ),

  check("markup in titles and tool results is shown as text", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, `load ${HOSTILE.replaceAll(" ", "_")}`);
    await waitForReply(page);
    await page.locator(".card.error").waitFor();
    await waitForText(page.locator(".chat-link[aria-current] .chat-title"), /<img/);
    await checkClean(page, "a card");
    return page;
  }),

  check("the policy blocks inline scripts, styles and requests to other hosts", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    const answer = await page.request.get(env.url);
    const policy = answer.headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.equal(/unsafe|\*/.test(policy), false);
    const attempts = await page.evaluate(async () => {
      const script = document.createElement("script");
      let assigned = "refused";
      try {
        script.textContent = "globalThis.hacked = 7";
        document.body.append(script);
        assigned = globalThis.hacked ? "ran" : "did not run";
      } catch {
        // Trusted Types reject it before the script policy applies.
      }
      const elsewhere = await fetch("http://127.0.0.1:9/").then(
        () => "sent",
        () => "refused",
      );
      const marked = document.createElement("div");
      let markup = "refused";
      try {
        marked.innerHTML = "<b>x</b>";
        markup = "taken";
      } catch {
        // Expected.
      }
      return { assigned, elsewhere, markup, hacked: globalThis.hacked };
    });
    assert.notEqual(attempts.assigned, "ran");
    assert.deepEqual(
      { ...attempts, assigned: null },
      { assigned: null, elsewhere: "refused", markup: "refused", hacked: undefined },
    );
    // These violations and the blocked request are expected.
    page.problems = page.problems.filter(
      (line) => !/policy:|Policy|TrustedScript|TrustedHTML|127\.0\.0\.1:9/.test(line),
    );
    return page;
  }),

  check("characters that hide or reorder text are escaped in script output", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.locator(".model-name").waitFor();
    const text = await page.evaluate(async () => {
      await customElements.whenDefined("tool-card");
      const card = /** @type {any} */ (document.createElement("tool-card"));
      document.body.append(card);
      const call = { id: "1", name: "skills.run", arguments: { name: "x", script: "a\u202e.sh" } };
      const summary = { stdout: "one\u202etwo\u001b[31m\n\tthree", stderr: "\u2066four", exit_code: 0 };
      card.show(call, { status: "success", summary }, false);
      const text = card.textContent;
      card.remove();
      return text;
    });
    for (const part of ["a\\u{202e}.sh", "one\\u{202e}two\\u{1b}[31m\n\tthree", "\\u{2066}four"]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
    assert.doesNotMatch(text, /[\u202e\u2066\u001b]/);
    return page;
  }),

  check("the printed URL signs in one browser, and a used one does not ask for a token", async () => {
    const other = await makeTestEnv(prowess);
    try {
      await other.serve();
      const addresses = () => other.stderr().match(/http:\S+\?token=\w+/g) ?? [];
      const [first] = addresses();
      const sessions = async (page) =>
        (await page.context().cookies()).filter((cookie) => cookie.name === "prowess_session").length;
      const page = await browser.open(await browser.newContext(), first);
      await page.locator(".model-name").waitFor();
      assert.equal(page.url().includes("token"), false, "the token is removed from the URL");
      assert.equal(await sessions(page), 1);
      await page.reload();
      await page.locator(".model-name").waitFor();
      // All clients run as the user of the server, so the page works without a session.
      const second = await browser.open(await browser.newContext(), first);
      await second.locator(".model-name").waitFor();
      assert.equal(await sessions(second), 0, "a used URL does not sign in");
      assert.equal(await second.locator("sign-in").count(), 0);
      const next = addresses().at(-1);
      assert.notEqual(next, first);
      const third = await browser.open(await browser.newContext(), next);
      await third.locator(".model-name").waitFor();
      assert.equal(await sessions(third), 1);
      // The browser logs the rejected token exchange.
      second.problems = second.problems.filter((line) => !line.includes("401"));
      for (const opened of [page, second, third]) assert.deepEqual(opened.problems, []);
    } finally {
      other.end();
    }
  }),

  check(
    "the page asks for a configured token, and non-administrators cannot change skills",
    async () => {
      const other = await makeTestEnv(prowess);
      for (const [flag, name] of [
        ["--token-file", "token"],
        ["--admin-token-file", "admin"],
      ]) {
        const file = join(other.base, name);
        writeFileSync(file, `${name}-0123456789abcdef0123456789`, { mode: 0o600 });
        other.args.push(flag, file);
      }
      try {
        await other.serve();
        for (const [token, admin] of [
          ["token", false],
          ["admin", true],
        ]) {
          const page = await browser.open(await browser.newContext(), other.url);
          // The server responds, but requires a token.
          await page.waitForTimeout(900);
          assert.equal(await page.getByText("The server is not responding.").count(), 0);
          await page.getByLabel("Token").fill("wrong");
          await page.keyboard.press("Enter");
          await page.getByText("Invalid token.").waitFor();
          await browser.checkAccessibility(page, "signing in");
          await page.getByLabel("Token").fill(`${token}-0123456789abcdef0123456789`);
          await page.keyboard.press("Enter");
          await page.locator(".model-name").waitFor();
          await page.click("#open-skills");
          await page.locator(".rows .row").first().waitFor();
          assert.equal(await page.locator("#add-skill").count(), admin ? 1 : 0);
          assert.equal(await page.evaluate(() => document.cookie), "", "no script can read the token");
          await page.keyboard.press("Escape");
          await page.fill("#prompt", "A secret draft");
          await page.getByRole("button", { name: "Sign out" }).click();
          await page.getByLabel("Token").waitFor();
          assert.deepEqual(await page.context().cookies(), [], "no cookie is left");
          assert.equal(await page.inputValue("#prompt"), "");
          await page.reload();
          await page.getByLabel("Token").waitFor();
          assert.deepEqual(page.problems, []);
        }
      } finally {
        other.end();
      }
    },
  ),
];
