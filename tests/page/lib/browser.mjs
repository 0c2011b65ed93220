// Debian's Chromium, and pages in it that tell on themselves: errors, violations of the policy, and requests to other hosts.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Starts the browser; `tools` is the folder that the packages are installed in. */
export const startBrowser = async (tools, more = []) => {
  const require = createRequire(resolve(tools, "page/package.json"));
  const { chromium } = require("playwright-core");
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [...FLAGS, ...more],
  });
  return new Browser(browser, axe);
};

class Browser {
  #contexts = new Set();

  constructor(browser, axe) {
    this.browser = browser;
    this.axe = axe;
  }

  /** A person with a browser of their own. */
  async person(options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 800 },
      locale: "en-GB",
      ...options,
    });
    context.setDefaultTimeout(30_000);
    if (process.env.PAGE_FROM) await fromDisk(context, process.env.PAGE_FROM);
    this.#contexts.add(context);
    return context;
  }

  /** A page that is watched. `told` collects what should not be. */
  async open(context, url) {
    const page = await context.newPage();
    page.told = [];
    const host = new URL(url).host;
    page.on("pageerror", (error) => page.told.push(`error: ${error.message}`));
    page.on("console", (message) => {
      const text = message.text();
      // What the server refuses, or does not answer, is the page's to show; browsers write it down as well.
      if (message.type() === "error" && !/Failed to load resource|net::ERR_/.test(text))
        page.told.push(`console: ${text}`);
    });
    page.on("request", (request) => {
      const asked = new URL(request.url());
      if (asked.protocol !== "data:" && asked.host !== host) page.told.push(`request to ${asked.href}`);
    });
    page.on("dialog", (dialog) => {
      page.told.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
      );
    });
    await page.goto(url);
    return page;
  }

  /** Nothing is wrong for those who cannot see or point. */
  async accessible(page, where) {
    await page.evaluate(`${this.axe};0`);
    const violations = await page.evaluate(async () => {
      const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
      return result.violations.map(
        (one) =>
          `${one.id}: ${one.nodes
            .slice(0, 3)
            .map((node) => node.target.join(" "))
            .join(", ")}`,
      );
    });
    assert.deepEqual(violations, [], where);
  }

  /** What is on the screens of this check, for whoever wonders why it failed: `PAGE_SHOTS` names the folder. */
  async picture(name) {
    const pages = [...this.#contexts].flatMap((context) => context.pages());
    for (const [index, page] of pages.entries()) {
      const path = join(process.env.PAGE_SHOTS, `${name.replace(/\W+/g, "-").slice(0, 60)}-${index}.png`);
      await page.screenshot({ path }).catch(() => {});
    }
  }

  /** Ends what this check opened. */
  async clear() {
    for (const context of this.#contexts) await context.close().catch(() => {});
    this.#contexts.clear();
  }

  close() {
    return this.browser.close();
  }
}

/** While the page is being written: its files as they are on the disk, without building the server again. */
const fromDisk = (context, folder) =>
  context.route(/\/assets\//, async (route) => {
    const path = new URL(route.request().url()).pathname.replace(/^\/assets\/([0-9a-f]{16}\/)?/, "");
    await route.fulfill({ path: join(folder, path) });
  });

/** Says something and sends it with the keyboard. */
export const say = async (page, text) => {
  await page.fill("#prompt", text);
  await page.press("#prompt", "Enter");
};

/** Waits until the last answer is complete. */
export const answered = (page, count = 1) =>
  page.waitForFunction(
    (wanted) =>
      document.querySelectorAll(".message.assistant:not(.writing) .message-tools a").length >= wanted,
    count,
  );

/** Nothing is wider than the screen. */
export const fits = async (page, where) => {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element) => {
      for (let up = element.parentElement; up; up = up.parentElement) {
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX)) return true;
      }
      return false;
    };
    const beyond = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return (
        box.width > 0 && box.right > width + 1 && !element.closest(".unseen, .side") && !scrolls(element)
      );
    });
    return [
      document.documentElement.scrollWidth > width ? "the document" : "",
      ...beyond.map((one) => one.className || one.tagName),
    ].filter(Boolean);
  });
  assert.deepEqual(wide, [], where);
};
