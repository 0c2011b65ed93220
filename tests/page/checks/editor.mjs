// The editor of skills: text, checks, fixes, preview, saving, unsaved changes, conflicts, files, routing.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkNoOverflow, waitForText } from "../lib/browser.mjs";
import { skillMd, write } from "../lib/test-env.mjs";

const text = (page) => page.locator("code-editor .cm-content");

/** The whole text; the editor has only visible lines in the document. */
const value = (page) => page.evaluate(() => document.querySelector("code-editor").text);

/** Waits until a file is open. */
const loaded = (page, path = "SKILL.md") => page.locator(`code-editor[data-path="${path}"]`).waitFor();

/** Writes a skill of its own for a check, and opens its editor. */
const open = async (browser, env, id, files = {}, { path = "SKILL.md", options } = {}) => {
  const manifest = skillMd(id, `Does ${id}. Use when ${id} is asked for.`, `# ${id}\n\nFirst line.\n`);
  write(join(env.userSkills, id), { "SKILL.md": manifest, ...files });
  await env.api("/api/rescan", { method: "POST" });
  const page = await browser.open(await browser.newContext(options), `${env.url}#/skills/${id}/edit/${path}`);
  await loaded(page, path);
  return page;
};

const typeAtEnd = async (page, added) => {
  await text(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(added);
};

const saveWithReview = async (page) => {
  await page.keyboard.press("Control+s");
  await page.locator("dialog.review").waitFor();
  await page.locator("dialog.review").getByRole("button", { name: "Save" }).click();
};

const read = (env, id, path) => readFileSync(join(env.userSkills, id, path), "utf8");

export const editor = (env, browser, check) => [
  check("the editor has its own address; Back returns to the dialog, and the first view does not load it", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    const requested = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.click("#open-skills");
    const row = page.locator('.rows .row[data-id="notes"]');
    await row.locator(".row-open").click();
    assert.equal(requested.some((path) => path.includes("codemirror")), false, "loaded with the dialog");
    await page.locator(".detail-actions").getByRole("button", { name: "Edit" }).click();
    await loaded(page);
    assert.equal(new URL(page.url()).hash, "#/skills/notes/edit/SKILL.md");
    assert.equal(await page.locator("skills-dialog").count(), 0);
    await waitForText(page.locator(".work-name"), "notes");
    await browser.checkAccessibility(page, "the editor");
    await page.goBack();
    await page.locator("skill-editor").waitFor({ state: "detached" });
    await row.locator(".row-open[aria-expanded=true]").waitFor();
    await page.goForward();
    await loaded(page);
    await page.reload();
    await loaded(page);
    await page.click("#editor-back");
    await page.locator("#prompt").waitFor();
    return page;
  }),

  check("problems appear while typing, and are fixed with the keyboard and with a button", async () => {
    const manifest = "---\nname: fixes\ndescription: Fill forms: fast\ncolour: blue\n---\n# Fixes\n";
    const page = await open(browser, env, "fixes", { "SKILL.md": manifest });
    const problems = page.locator(".side-panel .diagnostic");
    await problems.first().waitFor();
    const before = await problems.count();
    await browser.checkAccessibility(page, "problems in the editor");
    await page.locator("code-editor .cm-lintRange").first().waitFor();
    await text(page).click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Control+.");
    await page.waitForFunction(() => document.querySelector("code-editor").text.includes('"Fill forms: fast"'));
    await page.waitForFunction(
      (count) => document.querySelectorAll(".side-panel .diagnostic").length < count,
      before,
    );
    // What is typed is checked without saving it, and a fix can be undone.
    await page.keyboard.press("Control+z");
    const fix = page.locator(".side-panel").getByRole("button", { name: /^Fix:/ }).first();
    await fix.click();
    await page.waitForFunction(() => document.querySelector("code-editor").text.includes('"Fill forms: fast"'));
    assert.equal(read(env, "fixes", "SKILL.md"), manifest);
    return page;
  }),

  check("the preview shows what a model sees, with tokens", async () => {
    const page = await open(browser, env, "previewed");
    await page.getByRole("tab", { name: "Preview" }).click();
    const panel = page.locator("#panel-preview");
    await waitForText(panel, /In every conversation[\s\S]*previewed: Does previewed\.[\s\S]*Once the skill is loaded[\s\S]*First line\./);
    await waitForText(panel.locator(".badge").first(), /^\d+ tokens$/);
    await typeAtEnd(page, "A line that is not saved.\n");
    await waitForText(panel, /A line that is not saved\./);
    await browser.checkAccessibility(page, "the preview");
    return page;
  }),

  check("changes are shown before they are saved; a manifest that would not load is not saved", async () => {
    const page = await open(browser, env, "saved");
    await typeAtEnd(page, "Added line.\n");
    await page.keyboard.press("Control+s");
    const review = page.locator("dialog.review");
    await waitForText(review.locator("tr.added"), /Added line\./);
    await waitForText(review.locator(".diff-counts"), /\+1/);
    await browser.checkAccessibility(page, "the review of changes");
    await page.keyboard.press("Escape");
    await review.waitFor({ state: "detached" });
    assert.equal(read(env, "saved", "SKILL.md").includes("Added line."), false);
    await page.keyboard.press("Control+s");
    await review.waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("Saved.", { exact: true }).waitFor();
    assert.match(read(env, "saved", "SKILL.md"), /Added line\./);
    assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText("---\nname: saved\n---\nNo description.\n");
    await saveWithReview(page);
    await page.locator(".work-notice.error").waitFor();
    assert.match(read(env, "saved", "SKILL.md"), /Added line\./);
    assert.match(await value(page), /No description\./);
    return page;
  }),

  check("unsaved changes survive a reload and another file, and can be discarded", async () => {
    const page = await open(browser, env, "kept", { "references/a.md": "Other file.\n" });
    await typeAtEnd(page, "Precious.\n");
    await page.getByText("Your changes are kept on this device.").waitFor();
    await page.locator(".tree-file", { hasText: "a.md" }).click();
    await page.waitForFunction(() => document.querySelector("code-editor").text.startsWith("Other file."));
    await page.locator(".tree-row", { hasText: "SKILL.md" }).locator(".dot").waitFor();
    await page.reload();
    await loaded(page, "references/a.md");
    await page.locator(".tree-row", { hasText: "SKILL.md" }).locator(".dot").waitFor();
    await page.locator(".tree-file", { hasText: "SKILL.md" }).click();
    await page.getByText(/Your unsaved changes were restored/).waitFor();
    assert.match(await value(page), /Precious\.\n$/);
    assert.equal(read(env, "kept", "SKILL.md").includes("Precious"), false);
    await browser.checkAccessibility(page, "restored changes");
    await page.getByRole("button", { name: "Show changes" }).click();
    await waitForText(page.locator("dialog.review tr.added"), /Precious\./);
    await page.locator("dialog.review").getByRole("button", { name: "Discard changes" }).click();
    await page.locator(".dot").waitFor({ state: "detached" });
    assert.equal((await value(page)).includes("Precious"), false);
    await page.reload();
    await loaded(page);
    assert.equal((await value(page)).includes("Precious"), false);
    return page;
  }),

  check("a file that changed on disk is compared; either text can win", async () => {
    const page = await open(browser, env, "contested");
    const manifest = read(env, "contested", "SKILL.md");
    // Without own changes the new text is shown.
    write(join(env.userSkills, "contested"), { "SKILL.md": `${manifest}From elsewhere.\n` });
    await env.api("/api/rescan", { method: "POST" });
    await page.waitForFunction(() => document.querySelector("code-editor").text.includes("From elsewhere."));
    await typeAtEnd(page, "Mine.\n");
    write(join(env.userSkills, "contested"), { "SKILL.md": `${manifest}Changed again.\n` });
    await saveConflict(page);
    await page.locator(".work-notice.warn").getByRole("button", { name: "Compare" }).click();
    const review = page.locator("dialog.review");
    await waitForText(review, /Changed again\.[\s\S]*Mine\./);
    await browser.checkAccessibility(page, "a conflict");
    await review.getByRole("button", { name: "Keep my text" }).click();
    await page.locator(".work-notice").waitFor({ state: "hidden" });
    assert.equal(read(env, "contested", "SKILL.md"), `${manifest}Changed again.\n`, "nothing is written yet");
    await saveWithReview(page);
    await page.getByText("Saved.", { exact: true }).waitFor();
    assert.equal(read(env, "contested", "SKILL.md"), `${manifest}From elsewhere.\nMine.\n`);
    await typeAtEnd(page, "Mine again.\n");
    await page.getByText("Your changes are kept on this device.").waitFor();
    write(join(env.userSkills, "contested"), { "SKILL.md": manifest });
    await page.reload();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Use the file on disk" }).click();
    await page.waitForFunction((expected) => document.querySelector("code-editor").text === expected, manifest);
    return page;
  }),

  check("files are added, renamed, uploaded and deleted", async () => {
    const page = await open(browser, env, "filed");
    const tree = page.locator(".tree");
    const dialog = page.locator("dialog.small");
    await page.getByRole("button", { name: "New file" }).click();
    await dialog.getByLabel("Path").fill("../outside.md");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.locator(".field-error:not(:empty)").waitFor();
    await browser.checkAccessibility(page, "a new file with an error");
    await dialog.getByLabel("Path").fill("references/guide.md");
    await page.keyboard.press("Enter");
    await tree.locator('[data-path="references/guide.md"][aria-current]').waitFor();
    await typeAtEnd(page, "# Guide\n");
    await saveWithReview(page);
    await page.getByText("Saved.", { exact: true }).waitFor();
    assert.equal(read(env, "filed", "references/guide.md"), "# Guide\n");
    await typeAtEnd(page, "Unsaved.\n");
    await page.getByText("Your changes are kept on this device.").waitFor();
    await tree.locator('[data-path="references/guide.md"]').hover();
    await page.getByRole("button", { name: "Rename references/guide.md" }).click();
    await dialog.getByLabel("Path").fill("SKILL.md");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await dialog.locator(".field-error:not(:empty)").waitFor();
    await dialog.getByLabel("Path").fill("docs/help.md");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await tree.locator('[data-path="docs/help.md"][aria-current]').waitFor();
    assert.equal(existsSync(join(env.userSkills, "filed/references")), false);
    await page.waitForFunction(() => document.querySelector("code-editor").text === "# Guide\nUnsaved.\n");
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    await page.setInputFiles(".work-files input[type=file]", { name: "logo.png", mimeType: "image/png", buffer: bytes });
    await tree.locator('[data-path="docs/logo.png"]').click();
    await page.getByText("This is not a text file.").waitFor();
    assert.deepEqual(readFileSync(join(env.userSkills, "filed/docs/logo.png")), bytes);
    await browser.checkAccessibility(page, "a binary file");
    await page.getByRole("button", { name: "Delete docs/logo.png" }).click();
    await page.locator("dialog.small").getByRole("button", { name: "Delete" }).click();
    await tree.locator('[data-path="SKILL.md"][aria-current]').waitFor();
    assert.equal(existsSync(join(env.userSkills, "filed/docs/logo.png")), false);
    assert.equal(await page.getByRole("button", { name: /(Rename|Delete) SKILL\.md/ }).count(), 0);
    return page;
  }),

  check("line breaks of a file are kept", async () => {
    const page = await open(browser, env, "breaks", { "dos.md": "one\r\ntwo\r\n" }, { path: "dos.md" });
    await typeAtEnd(page, "three\n");
    await saveWithReview(page);
    await page.getByText("Saved.", { exact: true }).waitFor();
    assert.equal(read(env, "breaks", "dos.md"), "one\r\ntwo\r\nthree\r\n");
    return page;
  }),

  check("a skill is tried in a new chat", async () => {
    const page = await open(browser, env, "tried");
    await page.getByRole("button", { name: "Try this skill" }).click();
    await page.locator("#prompt").waitFor();
    await waitForText(page.locator(".prompt-chips"), /tried/);
    await page.click("#open-skills");
    await page.locator('.rows .row[data-id="notes"] .row-open').click();
    await page.locator(".detail-actions").getByRole("button", { name: "Try this skill" }).click();
    await waitForText(page.locator(".prompt-chips"), /notes/);
    return page;
  }),

  check("messages are ranked, those of tests with what is expected", async () => {
    const tests = JSON.stringify([
      { query: "press my wild flowers", should_trigger: true },
      { query: "what is the capital of France", should_trigger: false },
    ]);
    const manifest = skillMd("herbarium", "Presses wild flowers for an herbarium. Use for pressing flowers.");
    const page = await open(browser, env, "herbarium", { "SKILL.md": manifest, "evals/triggers.json": tests });
    await page.getByRole("tab", { name: "Routing" }).click();
    const samples = page.locator(".sample");
    await waitForText(samples.nth(0), /^Selected[\s\S]*should be selected[\s\S]*press my wild flowers/);
    await waitForText(samples.nth(1), /should not be selected[\s\S]*capital of France/);
    await page.getByLabel("Try a message").fill("review this code change");
    await page.keyboard.press("Enter");
    await waitForText(samples.nth(0), /(Not matched|Rank \d+)[\s\S]*review this code change[\s\S]*code-review/);
    await browser.checkAccessibility(page, "routing");
    await page.reload();
    await loaded(page);
    await page.getByRole("tab", { name: "Routing" }).click();
    await waitForText(samples.nth(0), /review this code change/);
    await page.getByRole("button", { name: "Remove this message" }).click();
    await waitForText(samples.nth(0), /press my wild flowers/);
    return page;
  }),

  check("the overview and the inspector lead to the editor", async () => {
    const page = await open(browser, env, "led", { "SKILL.md": skillMd("led", "Leads. Use when led.", "Do it.", "colour: red\n") });
    await page.goto(`${env.url}#/overview`);
    await page.locator(".diagnostic", { hasText: /led\/SKILL\.md/ }).getByRole("link").first().click();
    await loaded(page);
    assert.match(new URL(page.url()).hash, /^#\/skills\/led\/edit\/SKILL\.md\?line=4$/);
    await waitForText(page.locator(".work-status"), /Line 4/);
    await page.goBack();
    await page.locator(".names a.chip", { hasText: "led" }).first().click();
    await loaded(page);
    await page.getByRole("tab", { name: "Routing", selected: true }).waitFor();
    await page.goto(`${env.url}#/inspect?query=led`);
    await page.locator("th a", { hasText: /^led$/ }).click();
    await loaded(page);
    return page;
  }),

  check("skills of the system are read-only", async () => {
    const page = await browser.open(await browser.newContext(), `${env.url}#/skills/code-review/edit/SKILL.md`);
    await loaded(page);
    await waitForText(page.locator(".work-title"), /Read-only/);
    assert.equal(await text(page).getAttribute("aria-readonly"), "true");
    const before = await value(page);
    await text(page).click();
    await page.keyboard.insertText("x");
    assert.equal(await value(page), before);
    assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "New file" }).count(), 0);
    return page;
  }),

  check("typing in a file of 1 MB sends no request for each key", async () => {
    const long = Array.from({ length: 16_000 }, (_, index) => `- Line ${index} of a file that is very long, with some words.`);
    const page = await open(browser, env, "lengthy", { "references/long.md": long.join("\n") }, { path: "references/long.md" });
    const requests = [];
    page.on("request", (request) => requests.push(request.url()));
    await text(page).click();
    for (let key = 0; key < 40; key++) await page.keyboard.type("x");
    assert.match(await value(page), /x{40}/);
    await page.getByText("Your changes are kept on this device.").waitFor();
    await page.waitForTimeout(1500);
    const checks = requests.filter((url) => url.endsWith("/api/check")).length;
    assert(checks <= 4, `${checks} checks for 40 keys`);
    const lines = await page.locator("code-editor .cm-line").count();
    assert(lines < 300, `${lines} lines in the document`);
    return page;
  }),

  check("the editor in dark colours, in Chinese, and on a phone", async () => {
    const page = await open(browser, env, "dark-one", {}, { options: { colorScheme: "dark" } });
    await page.locator("#panel-problems").waitFor();
    await browser.checkAccessibility(page, "the dark editor");
    await page.context().close();
    const phone = { viewport: { width: 360, height: 740 }, locale: "zh-CN" };
    const narrow = await open(browser, env, "dark-one", {}, { options: phone });
    await checkNoOverflow(narrow, "the text");
    await browser.checkAccessibility(narrow, "the text on a phone");
    await narrow.getByRole("button", { name: "文件" }).click();
    await narrow.getByRole("button", { name: "新建文件" }).waitFor();
    await checkNoOverflow(narrow, "the files");
    await browser.checkAccessibility(narrow, "the files on a phone");
    await narrow.getByRole("button", { name: "检查" }).click();
    await narrow.getByRole("tab", { name: "预览" }).click();
    await checkNoOverflow(narrow, "the preview");
    await narrow.getByRole("button", { name: "文本" }).click();
    await typeAtEnd(narrow, "新的一行\n");
    await narrow.keyboard.press("Control+s");
    await narrow.locator("dialog.review tr.added").waitFor();
    await checkNoOverflow(narrow, "the review");
    return narrow;
  }),
];

/** Saves a text that another program changed. The server may have announced the change before. */
const saveConflict = async (page) => {
  await page.keyboard.press("Control+s");
  const review = page.locator("dialog.review").getByRole("button", { name: "Save" });
  const notice = page.locator(".work-notice.warn");
  await review.or(notice).first().waitFor();
  if (await review.isVisible()) await review.click();
  const keep = page.locator("dialog.review").getByRole("button", { name: "Keep my text" });
  await notice.waitFor();
  if (await keep.isVisible()) await page.keyboard.press("Escape");
};
