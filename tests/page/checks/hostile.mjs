// Strangers' texts stay texts, the policy holds, and a token is asked for where there is one.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { answered, say } from "../lib/browser.mjs";
import { makeWorld } from "../lib/world.mjs";

export const HOSTILE = `<img src=x onerror=window.hacked=1><script>window.hacked=2</script>`;
export const BODY = `# ${HOSTILE}\n\n<script>window.hacked=3</script>\n\n[x](javascript:window.hacked=4)\n`;

/** Skills whose texts are markup: one that is refused for its name, and one that is offered. */
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

const clean = async (page, where) => {
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, where);
  assert.equal(await page.locator("img, iframe, object, embed, script:not([src])").count(), 0, where);
};

export const hostile = (world, browser, check, prowess) => [
  check(
    "a skill full of markup is text in the table, the files, the list, the cards, the inspector and the overview",
    async () => {
      const page = await browser.open(await browser.person(), world.url);
      await page.click("#open-skills");
      const row = (id) => page.locator(`.rows .row[data-id=${id}]`);
      assert.match(await row("zebra").innerText(), /<script>window\.hacked=2<\/script>/);
      assert.match(await row("hostile").innerText(), /Invalid · .*<script>window\.hacked=2<\/script>/);
      await clean(page, "the table");
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
        await clean(page, `the files of ${id}`);
      }
      await page.keyboard.press("Escape");
      await page.focus("#prompt");
      await page.keyboard.type("/stripes");
      await page.locator(".option", { hasText: "window.hacked=5" }).waitFor();
      await clean(page, "the list");
      await page.fill("#prompt", "");
      await say(page, `Repeat: ${HOSTILE}`);
      await answered(page);
      await clean(page, "a message that repeats it");
      await say(page, "load zebra");
      await answered(page, 2);
      const card = page.locator("tool-card[data-tool='skills.activate']");
      await card.locator("summary").first().click();
      await card.getByText("window.hacked=3").first().waitFor();
      await clean(page, "a card");
      await page.goto(`${world.url}#/inspect?query=zebra`);
      await page.locator("tr", { hasText: "zebra" }).first().waitFor();
      for (const fold of await page.locator(".fold > summary").all()) await fold.click();
      await page.getByText("window.hacked=5").first().waitFor();
      await clean(page, "the inspector");
      await page.goto(`${world.url}#/overview`);
      await page.locator(".diagnostic", { hasText: "<script>" }).first().waitFor();
      await clean(page, "the overview");
      return page;
    },
  ),

  check("a title and a tool's answer full of markup are text", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, `load ${HOSTILE.replaceAll(" ", "_")}`);
    await answered(page);
    await page.locator(".card.error").waitFor();
    assert.match(await page.locator(".chat-link[aria-current] .chat-title").innerText(), /<img/);
    await clean(page, "a card");
    return page;
  }),

  check("the policy refuses inline scripts, styles and requests to other hosts", async () => {
    const page = await browser.open(await browser.person(), world.url);
    const answer = await page.request.get(world.url);
    const policy = answer.headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.equal(/unsafe|\*/.test(policy), false);
    const tried = await page.evaluate(async () => {
      const script = document.createElement("script");
      let assigned = "refused";
      try {
        script.textContent = "globalThis.hacked = 7";
        document.body.append(script);
        assigned = globalThis.hacked ? "ran" : "did not run";
      } catch {
        // Trusted types refuse it before the policy on scripts is asked.
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
        // As it should be.
      }
      return { assigned, elsewhere, markup, hacked: globalThis.hacked };
    });
    assert.notEqual(tried.assigned, "ran");
    assert.deepEqual(
      { ...tried, assigned: null },
      { assigned: null, elsewhere: "refused", markup: "refused", hacked: undefined },
    );
    // These violations were ours, and so was the request that the policy stopped.
    page.told = page.told.filter(
      (line) => !/policy:|Policy|TrustedScript|TrustedHTML|127\.0\.0\.1:9/.test(line),
    );
    return page;
  }),

  check("characters that hide or reorder text are seen in what scripts print", async () => {
    const page = await browser.open(await browser.person(), world.url);
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

  check("the printed address signs in one browser, and a used one asks nobody who is let in", async () => {
    const place = await makeWorld(prowess);
    try {
      await place.serve();
      const addresses = () => place.said().match(/http:\S+\?token=\w+/g) ?? [];
      const [first] = addresses();
      const sessions = async (page) =>
        (await page.context().cookies()).filter((cookie) => cookie.name === "prowess_session").length;
      const page = await browser.open(await browser.person(), first);
      await page.locator(".model-name").waitFor();
      assert.equal(page.url().includes("token"), false, "the token leaves the address");
      assert.equal(await sessions(page), 1);
      await page.reload();
      await page.locator(".model-name").waitFor();
      // Here everybody is the user who runs the server, so that the page can be used without a session.
      const other = await browser.open(await browser.person(), first);
      await other.locator(".model-name").waitFor();
      assert.equal(await sessions(other), 0, "a used address signs in nobody");
      assert.equal(await other.locator("sign-in").count(), 0);
      const next = addresses().at(-1);
      assert.notEqual(next, first);
      const third = await browser.open(await browser.person(), next);
      await third.locator(".model-name").waitFor();
      assert.equal(await sessions(third), 1);
      // The browser itself notes the refused exchange.
      other.told = other.told.filter((line) => !line.includes("401"));
      for (const opened of [page, other, third]) assert.deepEqual(opened.told, []);
    } finally {
      place.end();
    }
  }),

  check(
    "where there is a token the page asks for it, and non-administrators cannot change skills",
    async () => {
      const place = await makeWorld(prowess);
      for (const [flag, name] of [
        ["--token-file", "token"],
        ["--admin-token-file", "admin"],
      ]) {
        const file = join(place.world, name);
        writeFileSync(file, `${name}-0123456789abcdef0123456789`, { mode: 0o600 });
        place.args.push(flag, file);
      }
      try {
        await place.serve();
        for (const [token, admin] of [
          ["token", false],
          ["admin", true],
        ]) {
          const page = await browser.open(await browser.person(), place.url);
          // The server answers; it only wants to know who asks.
          await page.waitForTimeout(900);
          assert.equal(await page.getByText("The server is not responding.").count(), 0);
          await page.getByLabel("Token").fill("wrong");
          await page.keyboard.press("Enter");
          await page.getByText("Invalid token.").waitFor();
          await browser.accessible(page, "signing in");
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
          assert.deepEqual(await page.context().cookies(), [], "nothing of the token is left");
          assert.equal(await page.inputValue("#prompt"), "");
          await page.reload();
          await page.getByLabel("Token").waitFor();
          assert.deepEqual(page.told, []);
        }
      } finally {
        place.end();
      }
    },
  ),
];
