// Files of chats: attaching, dropping, errors, previews, the list of files, and names that break pages.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { deflateSync, crc32 } from "node:zlib";
import { send, waitForReply, waitForText } from "../lib/browser.mjs";

const digest = (content) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** A PNG image of one colour. */
const png = (width, height) => {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), ...Array(width).fill(Buffer.from([15, 107, 92]))]);
  const data = deflateSync(Buffer.concat(Array(height).fill(row)));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
};

/** A PDF file with one empty page. */
const PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n",
);

const ROWS = ["name,price", ...Array.from({ length: 80 }, (_, n) => `"item ${n}, <b>bold</b>",${n}`)].join("\n");

const FILES = {
  "out/chart.png": [png(40, 20), "image/png"],
  "out/prices.csv": [Buffer.from(ROWS), "text/csv"],
  "out/data.json": [Buffer.from('{"a":{"b":[1,2]}}'), "application/json"],
  "out/report.pdf": [PDF, "application/pdf"],
  "out/page.html": [Buffer.from("<script>alert(1)</script>"), "text/html"],
  "out/book.bin": [Buffer.from([0, 1, 2, 3]), "application/octet-stream"],
};

const infoOf = (path, [content, type]) => ({ path, size: content.length, media_type: type, digest: digest(content) });

/** Imports a chat in which a script wrote these files, and one that was deleted since. */
export const importChat = async (env) => {
  const artifacts = Object.entries(FILES).map(([path, file]) => infoOf(path, file));
  const gone = { path: "out/gone.txt", size: 1, media_type: "text/plain", digest: digest("x") };
  const changed = { ...artifacts[2], digest: digest("older") };
  // An export is untrusted: its paths must not become other addresses.
  const outside = { path: "../../../../api/export", size: 1, media_type: "text/plain", digest: digest("x") };
  const written = [...artifacts, gone, outside];
  const summary = { exit_code: 0, stdout: "done\n", text: "done\n", artifacts: written, removed: ["old.csv"] };
  summary.artifacts[2] = changed;
  const messages = [
    { id: "m1", role: "user", at: 1, state: "complete", parts: [{ type: "text", text: "Make a report." }] },
    {
      id: "m2",
      role: "assistant",
      at: 2,
      state: "complete",
      parts: [
        { type: "tool_call", id: "c1", name: "skills.run", arguments: { name: "report", script: "scripts/make.py" } },
        { type: "tool_result", id: "c1", name: "skills.run", status: "success", summary },
        { type: "text", text: "Here it is." },
      ],
    },
  ];
  const files = Object.entries(FILES).map(([path, file]) => ({
    ...infoOf(path, file),
    origin: "script",
    created: 1,
    changed: 1,
    content: file[0].toString("base64"),
  }));
  const chat = { id: `files-${Date.now()}`, title: "Report", created: 1, updated: 2, messages, files };
  const body = JSON.stringify({ format: "prowess-chats", version: 2, chats: [chat] });
  const imported = await env.api("/api/chats/import", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return imported.chats[0].to;
};

const fileCard = (page, path, within = "tool-card") =>
  page.locator(`${within} file-card`, { has: page.getByText(path, { exact: true }) });

/** Drops files on an element, as a person would from a file manager. */
const drop = async (page, selector, files) => {
  const data = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, text } of given) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent(selector, "dragover", { dataTransfer: data });
  await page.locator(".drop-hint").waitFor();
  await page.dispatchEvent(selector, "drop", { dataTransfer: data });
};

export const files = (env, browser, check) => [
  check("files are attached with the button, and the model is told their names", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Attach files" }).click(),
    ]);
    await chooser.setFiles([
      { name: "prices.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") },
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") },
    ]);
    await page.locator(".file-chip", { hasText: "prices.csv" }).locator(".file-progress").waitFor({ state: "detached" });
    await waitForText(page.locator(".files-count"), "2 files, 13 B");
    await browser.checkAccessibility(page, "attached files");
    await page.getByRole("button", { name: "Remove notes.txt" }).click();
    await waitForText(page.locator(".files-count"), "1 file, 8 B");
    await send(page, "What is in it?");
    await waitForReply(page);
    const sent = page.locator(".message.user .file-chip");
    assert.deepEqual(await sent.locator(".chip-name").allInnerTexts(), ["prices.csv"]);
    assert.equal(await page.locator(".prompt-box .file-chip").count(), 0);
    const asked = env.model.requests.at(-1).messages.at(-1).content;
    assert.match(asked, /\[Files attached to this message:\n- "prices.csv" \(8 bytes, text\/csv\)\]/);
    assert.match(asked, /has 1 file\./);
    await page.reload();
    await waitForReply(page);
    assert.deepEqual(await sent.locator(".chip-name").allInnerTexts(), ["prices.csv"]);
    const title = page.locator(".chat-name");
    await waitForText(title, "What is in it?");
    return page;
  }),

  check("dropped files get numbered names, errors are shown, and files can be deleted", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.locator("#prompt").waitFor();
    await drop(page, ".chat-view", [{ name: "a.txt", text: "one" }]);
    await page.locator(".file-chip", { hasText: "a.txt" }).waitFor();
    await waitForText(page.locator(".files-count"), "1 file, 3 B");
    await drop(page, ".chat-view", [{ name: "a.txt", text: "two!" }, { name: "bad:name.txt", text: "x" }]);
    await waitForText(page.locator(".file-chip.failed"), /bad:name\.txt.*not allowed/s);
    const names = await page.locator(".prompt-box .file-chip:not(.failed) .chip-name").allInnerTexts();
    assert.deepEqual(names, ["a.txt", "a (2).txt"]);
    await browser.checkAccessibility(page, "a file that was refused");
    // A message is not sent without a file that belongs to it.
    await send(page, "Look at these.");
    await waitForText(page.locator(".notice.error"), "A file was not uploaded. Remove it before you send your message.");
    assert.equal(await page.locator("#prompt").inputValue(), "Look at these.");
    assert.equal(await page.locator(".message.user").count(), 0);
    await page.getByRole("button", { name: "Remove bad:name.txt" }).click();
    await page.locator(".files-fold > summary").click();
    await page.getByRole("button", { name: "Delete a (2).txt" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await waitForText(page.locator(".files-count"), "1 file, 3 B");
    return page;
  }),

  check("too many files, empty files, pasted pictures and an empty drop", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.locator("#prompt").waitFor();
    const many = Array.from({ length: 101 }, (_, n) => ({ name: `${n}.txt`, text: "x" }));
    await drop(page, ".chat-view", many);
    const notice = page.locator(".notice.error");
    await waitForText(notice, "A message can have at most 100 files. Attach fewer, or pack them into an archive.");
    assert.equal(await page.locator(".file-chip").count(), 0);
    await drop(page, ".chat-view", [{ name: "empty.txt", text: "" }]);
    await waitForText(page.locator(".files-count"), "1 file, 0 B");
    assert.equal(await notice.isVisible(), false);
    const paste = (types) =>
      page.evaluate((given) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array([137, 80, 78, 71])], "image.png", { type: "image/png" }));
        for (const type of given) data.setData(type, "text");
        const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.querySelector("#prompt").dispatchEvent(event);
      }, types);
    await paste([]);
    // A file manager adds the name of the file, an office program the text that was copied.
    await paste(["text/plain"]);
    await paste(["text/plain", "text/html"]);
    await waitForText(page.locator(".files-count"), "3 files, 8 B");
    const names = await page.locator(".prompt-box .chip-name").allInnerTexts();
    assert.deepEqual(names, ["empty.txt", "image.png", "image (2).png"]);
    return page;
  }),

  check("files that a script wrote have cards with previews, also after a reload", async () => {
    const chat = await importChat(env);
    const page = await browser.open(await browser.newContext(), `${env.url}#/chat/${chat}`);
    await waitForReply(page);
    for (const _ of [1, 2]) {
      const image = fileCard(page, "out/chart.png").locator("img");
      await image.waitFor();
      await page.waitForFunction((shown) => shown.naturalWidth === 40, await image.elementHandle());
      const csv = fileCard(page, "out/prices.csv");
      await csv.locator("summary").click();
      await csv.locator("table").waitFor();
      assert.equal(await csv.locator("tbody tr").count(), 49);
      assert.equal(await csv.locator("tbody td").first().innerText(), "item 0, <b>bold</b>");
      await waitForText(csv, /The first 50 rows/);
      const json = fileCard(page, "out/data.json");
      await json.locator("summary").click();
      await waitForText(json.locator("pre"), /"b": \[/);
      await waitForText(json.locator(".badge"), "changed since then");
      const html = fileCard(page, "out/page.html");
      await html.locator("summary").click();
      await waitForText(html.locator("pre"), "<script>alert(1)</script>");
      assert.equal(await fileCard(page, "out/book.bin").locator("summary").count(), 0);
      await waitForText(fileCard(page, "out/gone.txt").locator(".badge"), "deleted");
      await waitForText(page.locator(".artifacts-note").last(), "Deleted by the script: old.csv");
      assert.equal(await page.getByText("api/export").count(), 0);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        fileCard(page, "out/prices.csv").getByRole("link", { name: "Download out/prices.csv" }).click(),
      ]);
      assert.equal(download.suggestedFilename(), "prices.csv");
      await browser.checkAccessibility(page, "cards of files");
      await page.reload();
      await waitForReply(page);
    }
    return page;
  }),

  check("PDF files are shown by the browser, and never as a page", async () => {
    const chat = await importChat(env);
    const page = await browser.open(await browser.newContext(), `${env.url}#/chat/${chat}`);
    await waitForReply(page);
    const pdf = fileCard(page, "out/report.pdf");
    await pdf.locator("summary").click();
    await pdf.getByRole("link", { name: "Open in a new tab" }).waitFor();
    const viewer = await page.evaluate(() => navigator.pdfViewerEnabled);
    assert.equal(await pdf.locator("iframe").count(), viewer ? 1 : 0);
    const response = await fetch(`${env.url}api/chats/${chat}/files/out/page.html?inline=1`);
    assert.match(response.headers.get("content-disposition"), /^attachment/);
    assert.match(response.headers.get("content-security-policy"), /^sandbox/);
    return page;
  }),

  check("files in dark colours, on a narrow screen and in Chinese", async () => {
    const chat = await importChat(env);
    const context = await browser.newContext({
      colorScheme: "dark",
      locale: "zh-CN",
      viewport: { width: 380, height: 800 },
    });
    const page = await browser.open(context, `${env.url}#/chat/${chat}`);
    await waitForReply(page);
    await page.locator(".files-fold > summary").click();
    await waitForText(page.locator(".files-count"), /^6 个文件/);
    await fileCard(page, "out/prices.csv", "files-panel").locator("summary").click();
    await fileCard(page, "out/prices.csv", "files-panel").locator("table").waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, "the page does not scroll sideways");
    await browser.checkAccessibility(page, "files in the dark");
    return page;
  }),
];
