// Measures the page in Chromium with the real server: the first paint, the time from an event to the screen, and the smoothness of
// a long chat and a large dialog. Usage: node bench/page.mjs PROWESS TOOLS, where TOOLS is the directory into which
// `scripts/test page-browser` installs the packages. Prints a table for bench/README.md.

import { startBrowser } from "../tests/page/lib/browser.mjs";
import { makeTestEnv } from "../tests/page/lib/test-env.mjs";
import { longChat, manySkills } from "../tests/page/checks/large.mjs";

const [prowess, tools] = process.argv.slice(2);
const rows = [];
const row = (what, value) => rows.push([what, value]);
const ms = (value) => `${value.toFixed(1)} ms`;
const sorted = (values) => [...values].sort((a, b) => a - b);
const percentile = (values, share) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];

const count = (list, wanted) => list.filter((one) => one === wanted).length;

/** Measures bytes and requests until the first paint and until the first view is complete. */
const firstPaint = async (browser, env) => {
  const page = await (await browser.newContext()).newPage();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  const started = new Map();
  const done = [];
  cdp.on("Network.requestWillBeSent", ({ requestId, request }) => started.set(requestId, request.url));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    done.push({ url: started.get(requestId) ?? "", bytes: encodedDataLength }),
  );
  await page.goto(env.url);
  await page.locator(".try").first().waitFor();
  await page.waitForTimeout(500);
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  );
  // The first paint waits only for the document and for render-blocking resources.
  const needed = await page.evaluate(() =>
    [
      ...performance.getEntriesByType("navigation"),
      ...performance.getEntriesByType("resource").filter((one) => one.renderBlockingStatus === "blocking"),
    ].map((one) => one.transferSize),
  );
  const sum = (list) => list.reduce((total, one) => total + one.bytes, 0);
  const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  const blocking = needed.reduce((total, bytes) => total + bytes, 0);
  row("what the first paint waits for: requests, bytes", `${needed.length}, ${kib(blocking)}`);
  const assets = done.filter((one) => !one.url.includes("/api/"));
  row("the first view in all: files, bytes", `${assets.length}, ${kib(sum(assets))}`);
  row("the first view in all: requests to the interface", `${done.length - assets.length}`);
  row("first contentful paint after the request", ms(paint));
  await page.reload();
  await page.locator(".try").first().waitFor();
  await page.waitForTimeout(300);
  const again = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((one) => one.name.includes("/assets/"))
      .reduce((total, one) => total + one.transferSize, 0),
  );
  row("the second time: bytes of files", kib(again));
};

/** Measures the time from sending a word to the frame that shows it, compared with a client that only reads the stream. */
const eventToScreen = async (browser, env) => {
  const page = await browser.open(await browser.newContext(), env.url);
  await page.evaluate(() => {
    globalThis.shownWords = [];
    const record = () => {
      const text = document.querySelector(".message.writing")?.textContent ?? "";
      const at = Date.now();
      for (const word of text.match(/t\d{13}(?=\D|$)/g) ?? []) {
        if (!globalThis.shownWords.some(([known]) => known === word)) globalThis.shownWords.push([word, at]);
      }
      requestAnimationFrame(record);
    };
    requestAnimationFrame(record);
  });
  await page.fill("#prompt", "Tell the time.");
  await page.press("#prompt", "Enter");
  await page.waitForFunction(() => location.hash.includes("/chat/"));
  const chat = (await page.evaluate(() => location.hash)).split("/").pop();
  // The floor: a client that only reads the same stream.
  const read = [];
  const stop = new AbortController();
  const follow = (async () => {
    const stream = await fetch(new URL(`/api/chats/${chat}/events?after=0`, env.url), {
      signal: stop.signal,
    });
    for await (const piece of stream.body.pipeThrough(new TextDecoderStream())) {
      for (const word of piece.match(/t\d{13}(?=\D|$)/g) ?? []) read.push([word, Date.now()]);
    }
  })().catch(() => {});
  await page.locator(".message.assistant:not(.writing) .message-tools a").waitFor({ timeout: 60_000 });
  stop.abort();
  await follow;
  const lateness = (pairs) => pairs.slice(5).map(([word, at]) => at - Number(word.slice(1)));
  const shown = lateness(await page.evaluate(() => globalThis.shownWords));
  const floor = lateness(read);
  row(
    "model's word to a client that only reads: median, 95 %",
    `${percentile(floor, 0.5)} ms, ${percentile(floor, 0.95)} ms`,
  );
  row(
    "model's word to its frame in the page: median, 95 %",
    `${percentile(shown, 0.5)} ms, ${percentile(shown, 0.95)} ms`,
  );
};

/** Measures frames and tasks during an action with the trace of the browser. Frames are steady only during animation. */
const frames = async (page, name, work, { steady = true } = {}) => {
  const cdp = await page.context().newCDPSession(page);
  const events = [];
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const categories =
    "devtools.timeline,disabled-by-default-devtools.timeline,disabled-by-default-devtools.timeline.frame";
  await cdp.send("Tracing.start", { categories, transferMode: "ReportEvents" });
  await work();
  await new Promise((end) => {
    cdp.once("Tracing.tracingComplete", end);
    cdp.send("Tracing.end");
  });
  // The process of the page is the one that draws the most frames.
  const of = (wanted) => events.filter((one) => one.name === wanted);
  const pids = of("DrawFrame").map((one) => one.pid);
  const [pid] = [...new Set(pids)].sort((a, b) => count(pids, b) - count(pids, a));
  const main = of("thread_name").find((one) => one.pid === pid && one.args?.name === "CrRendererMain");
  const tasks = of("RunTask")
    .filter((one) => one.pid === pid && one.tid === main?.tid && one.dur)
    .map((one) => (one.tdur ?? one.dur) / 1000);
  const drawn = of("DrawFrame")
    .filter((one) => one.pid === pid)
    .map((one) => one.ts / 1000);
  const dropped = of("DroppedFrame").filter((one) => one.pid === pid).length;
  const gaps = sorted(drawn)
    .map((at, index, all) => at - (all[index - 1] ?? at))
    .slice(1);
  if (steady) {
    row(
      `${name}: frames drawn, dropped; time between two, median, 95 %, longest`,
      `${drawn.length}, ${dropped}; ${ms(percentile(gaps, 0.5))}, ${ms(percentile(gaps, 0.95))}, ${ms(Math.max(...gaps))}`,
    );
  }
  row(
    `${name}: longest task on the main thread; tasks over 50 ms`,
    `${ms(Math.max(...tasks))}; ${tasks.filter((time) => time > 50).length}`,
  );
};

/** Scrolls an element by this distance in each frame. */
const scroll = (page, selector, steps, by) =>
  page.evaluate(
    ([where, count, distance]) =>
      new Promise((done) => {
        const element = document.querySelector(where);
        let left = count;
        const step = () => {
          element.scrollTop += distance;
          if (--left > 0) requestAnimationFrame(step);
          else done();
        };
        requestAnimationFrame(step);
      }),
    [selector, steps, by],
  );

const longConversation = async (browser, env) => {
  const body = JSON.stringify(longChat(2000));
  await env.api("/api/chats/import", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const { chats } = await env.api("/api/chats?limit=50");
  const chat = chats.find((one) => one.title === "A long one");
  const page = await browser.open(await browser.newContext(), `${env.url}#/chat/${chat.id}`);
  await page.getByText("Answer 1999.").waitFor();
  for (let tries = 0; tries < 300 && (await page.locator("message-view").count()) < 2000; tries++) {
    await page.evaluate(() => document.querySelector(".transcript").scrollTo(0, 0));
    await page.waitForTimeout(60);
  }
  await frames(page, "2,000 messages, scrolled", () => scroll(page, ".transcript", 240, 400));
  await page.evaluate(() => document.querySelector(".transcript").scrollTo(0, 1e9));
  await frames(
    page,
    "2,000 messages, typing",
    () => page.locator("#prompt").pressSequentially("All of this is typed by a person.", { delay: 30 }),
    { steady: false },
  );
};

const largeDialog = async (browser, env) => {
  const page = await browser.open(await browser.newContext(), env.url);
  await page.click("#open-skills");
  await page.locator(".rows .row").first().waitFor({ timeout: 60_000 });
  await page.waitForTimeout(500);
  await frames(page, "5,000 skills, scrolled", () => scroll(page, ".table-scroll", 240, 900));
  await frames(
    page,
    "5,000 skills, filtered",
    () => page.locator("#skills-filter").pressSequentially("number 4321 of many", { delay: 60 }),
    { steady: false },
  );
};

/** Generates words that contain the time of sending. */
const timestamps = () => {
  let count = 0;
  return {
    *[Symbol.iterator]() {
      while (count++ < 120) yield ` t${Date.now()}`;
    },
  };
};

const talk = await makeTestEnv(prowess, { script: () => ({ text: timestamps(), pause: 25 }) });
const full = await makeTestEnv(prowess, { skills: manySkills(5000) });
const browser = await startBrowser(tools);
try {
  await talk.serve();
  await firstPaint(browser, talk);
  await eventToScreen(browser, talk);
  await longConversation(browser, talk);
  await full.serve();
  await largeDialog(browser, full);
} finally {
  await browser.close();
  talk.end();
  full.end();
}
const width = Math.max(...rows.map(([what]) => what.length));
console.log(`| ${"what".padEnd(width)} | measured |\n|${"-".repeat(width + 2)}|---:|`);
for (const [what, value] of rows) console.log(`| ${what.padEnd(width)} | ${value} |`);
process.exit(0);
