// Chromium, with pages that record problems: errors, violations of the content security policy, and requests to other hosts.

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

/** Starts the browser. `tools` is the directory of the installed packages. */
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

  /** Creates a browser context, which shares no state with others. */
  async newContext(options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 800 },
      locale: "en-GB",
      ...options,
    });
    context.setDefaultTimeout(30_000);
    if (process.env.PAGE_FROM) await serveAssetsFrom(context, process.env.PAGE_FROM);
    this.#contexts.add(context);
    return context;
  }

  /** Opens a page. Errors, policy violations, dialogs and requests to other hosts are added to `problems`. */
  async open(context, url) {
    const page = await context.newPage();
    page.problems = [];
    const host = new URL(url).host;
    page.on("pageerror", (error) => page.problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      const text = message.text();
      // Failed requests are expected: the page shows them, and browsers log them as well.
      if (message.type() === "error" && !/Failed to load resource|net::ERR_/.test(text))
        page.problems.push(`console: ${text}`);
    });
    page.on("request", (request) => {
      const target = new URL(request.url());
      // The viewer for PDF files is a part of the browser.
      if (["chrome-extension:", "chrome:"].includes(target.protocol)) return;
      if (target.protocol !== "data:" && target.host !== host) page.problems.push(`request to ${target.href}`);
    });
    page.on("dialog", (dialog) => {
      page.problems.push(`dialog: ${dialog.message()}`);
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

  /** Checks the accessibility of a page with axe. */
  async checkAccessibility(page, where) {
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

  /** Saves screenshots of all pages of this check in the directory `PAGE_SHOTS`. */
  async saveScreenshots(name) {
    const pages = [...this.#contexts].flatMap((context) => context.pages());
    for (const [index, page] of pages.entries()) {
      const path = join(process.env.PAGE_SHOTS, `${name.replace(/\W+/g, "-").slice(0, 60)}-${index}.png`);
      await page.screenshot({ path }).catch(() => {});
    }
  }

  /** Closes all contexts of this check. */
  async closeContexts() {
    for (const context of this.#contexts) await context.close().catch(() => {});
    this.#contexts.clear();
  }

  close() {
    return this.browser.close();
  }
}

/** Serves the files of the page from a directory, so that the server need not be rebuilt during development. */
const serveAssetsFrom = async (context, directory) => {
  await context.route(/\/assets\//, async (route) => {
    const path = new URL(route.request().url()).pathname.replace(/^\/assets\/([0-9a-f]{16}\/)?/, "");
    await route.fulfill({ path: join(directory, path) });
  });
  // The document keeps the headers of the server.
  await context.route(
    (url) => url.pathname === "/",
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: readFileSync(join(directory, "index.html"), "utf8") });
    },
  );
};

/** Types a message and sends it with the keyboard. */
export const send = async (page, text) => {
  await page.fill("#prompt", text);
  await page.press("#prompt", "Enter");
};

/** Chooses an item of the menu of a chat in the list. */
export const chatMenu = async (page, row, item) => {
  await row.hover();
  await row.getByRole("button", { name: /^More actions/ }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

/** Waits until this many replies are complete. */
export const waitForReply = (page, count = 1) =>
  page.waitForFunction(
    (expected) =>
      document.querySelectorAll(".message.assistant:not(.writing) .message-tools a").length >= expected,
    count,
  );

/**
 * Waits until the text of an element is as expected. A message that was just completed has no text until the browser has
 * laid it out (`content-visibility`), and lists are filled a moment after they appear.
 */
export const waitForText = async (locator, expected) => {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const text = (await locator.innerText()).trim();
    const fits = typeof expected === "string" ? text === expected : expected.test(text);
    if (fits) return;
    if (Date.now() > deadline)
      return typeof expected === "string" ? assert.equal(text, expected) : assert.match(text, expected);
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

/** Checks that nothing is wider than the screen. */
export const checkNoOverflow = async (page, where) => {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element) => {
      for (let parent = element.parentElement; parent; parent = parent.parentElement) {
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(parent).overflowX)) return true;
      }
      return false;
    };
    const overflowing = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return (
        box.width > 0 && box.right > width + 1 && !element.closest(".unseen, .side") && !scrolls(element)
      );
    });
    return [
      document.documentElement.scrollWidth > width ? "the document" : "",
      ...overflowing.map((one) => one.className || one.tagName),
    ].filter(Boolean);
  });
  assert.deepEqual(wide, [], where);
};
