// Results of `prowess test`: the list, a report with its plots, the empty state, keyboard, colours and narrow screens.

import assert from "node:assert/strict";
import { checkNoOverflow, waitForText } from "../lib/browser.mjs";
import { testReport, writeReports } from "../lib/test-reports.mjs";

const STOPPED = { info: { timestamp: "2026-02-02T09:30:00Z", stopped: "the limit of 200 requests was reached" } };
const HOSTILE = "<img src=x onerror=alert(1)>";

const writeAll = (env) =>
  writeReports(env.home, {
    "release-notes": [testReport("release-notes", { info: { timestamp: "2026-01-30T12:00:00Z" } }), testReport("release-notes", STOPPED)],
    "sql-review": [testReport("sql-review")],
  });

/** Returns the texts of a table, row by row. */
const cells = (table) =>
  table
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())));

export const tests = (env, browser, check) => [
  check("tests: without results, the page shows how to run tests", async () => {
    writeReports(env.home, {});
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await browser.open(context, env.url);
    await page.getByRole("link", { name: "Tests" }).click();
    await page.getByRole("heading", { name: "No test results yet" }).waitFor();
    await page.getByRole("button", { name: "Copy: prowess test", exact: true }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "prowess test");
    await browser.checkAccessibility(page, "no results");
    return page;
  }),

  check("tests: reports are listed by skill, and results that arrive later appear", async () => {
    writeAll(env);
    const page = await browser.open(await browser.newContext(), `${env.url}#/tests`);
    const notes = page.locator("[data-skill=release-notes]");
    await waitForText(notes.locator("h2"), "release-notes");
    const rows = await cells(notes);
    assert.deepEqual(
      rows.map(([iteration, , rate, change, state]) => [iteration, rate, change, state]),
      [
        ["Iteration 2", "86%", "+39 points", "Incomplete"],
        ["Iteration 1", "86%", "+39 points", ""],
      ],
    );
    assert.match(rows[0][1], /Feb 2, 2026/);
    assert.equal(await page.locator("[data-skill]").count(), 2);
    await browser.checkAccessibility(page, "the list of reports");
    const reports = Array.from({ length: 8 }, () => testReport("sql-review"));
    writeReports(env.home, { "sql-review": reports });
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.getByRole("button", { name: "Show 3 older reports" }).click();
    assert.equal(await page.locator("tbody tr:visible").count(), 8);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Iteration 3");
    return page;
  }),

  check("tests: a report shows the change, plots and tables with the same figures", async () => {
    writeAll(env);
    const page = await browser.open(await browser.newContext(), `${env.url}#/tests/release-notes`);
    await page.getByRole("heading", { name: "release-notes", level: 1 }).waitFor();
    await waitForText(page.locator(".notice.warn"), "Incomplete: the limit of 200 requests was reached");
    const headline = page.locator(".headline");
    await waitForText(headline.locator(".headline-value"), "+39 points");
    await waitForText(headline.locator(".headline-text"), /The skill improves the results\s+95% interval \+6 to \+72 · p = 0\.031 · 6 cases/);
    await waitForText(headline.locator(".outcomes"), /4 improved\s*1 unchanged\s*1 worsened/);

    const rates = page.locator(".panel", { hasText: "Runs that meet all expectations" });
    const label = await rates.locator("svg[role=img]").getAttribute("aria-label");
    assert.match(label, /With the skill 78%, 95% interval 55% to 91%; Without 28%, 95% interval 13% to 51%$/);
    assert.deepEqual(await cells(rates), [
      ["With the skill", "14/18", "78%", "55% to 91%"],
      ["Without", "5/18", "28%", "13% to 51%"],
    ]);
    // Marks are where the axis says.
    const placed = await rates.locator(".rate-picture").evaluate((picture) => {
      const box = picture.getBoundingClientRect();
      const middle = (element) => {
        const { left, width } = element.getBoundingClientRect();
        return Math.round(((left + width / 2 - box.left) / box.width) * 100);
      };
      const axis = [...picture.querySelectorAll(".tick")].map((tick) => [
        tick.querySelector("text").textContent,
        middle(tick.querySelector("line")),
      ]);
      return { axis, marks: [...picture.querySelectorAll(".mark")].map(middle) };
    });
    assert.deepEqual(placed, {
      axis: [["0%", 0], ["25%", 25], ["50%", 50], ["75%", 75], ["100%", 100]],
      marks: [78, 28],
    });

    const cases = page.locator(".panel", { has: page.getByRole("heading", { name: "Cases", exact: true }) });
    assert.deepEqual((await cells(cases))[4], ["5 · Leave internal changes out", "33%", "67%", "worsened", "2/3"]);
    assert.equal(await cases.locator(".connection.worsened").count(), 1);
    assert.equal(await cases.locator(".connection.improved").count(), 4);
    const unmet = page.locator(".unmet", { hasText: "Leave internal changes out" });
    await waitForText(unmet, /notes\.md has at most 20 lines\s+it has 34 lines/);

    const messages = page.locator(".panel", { has: page.getByRole("heading", { name: "Messages" }) });
    await waitForText(messages.locator(".muted").first(), "2 of 5 messages handled as expected.");
    assert.deepEqual(
      (await cells(messages)).map((row) => row.slice(1)),
      [
        ["yes", "1/3", "wrong"],
        ["no", "2/3", "wrong"],
        ["no", "–", "no result"],
        ["yes", "3/3", "as expected"],
        ["no", "0/3", "as expected"],
      ],
    );
    await page.getByText("an effect smaller than 30 points").waitFor();
    // Another report of the skill.
    await page.getByLabel("Report", { exact: true }).selectOption("Iteration 1");
    await page.locator(".notice.warn").waitFor({ state: "detached" });
    assert.match(page.url(), /#\/tests\/release-notes\?iteration=1$/);
    return page;
  }),

  check("tests: texts of reports are shown as text, and unknown reports as an error", async () => {
    const hostile = testReport(HOSTILE, {
      report: { notes: [HOSTILE], variants: {}, comparisons: [], triggers: [] },
    });
    hostile.cases = [{ ...hostile.cases[4], id: HOSTILE, prompt: HOSTILE, failed: [[HOSTILE, `${HOSTILE}\u202e`]], errors: [HOSTILE] }];
    writeReports(env.home, { hostile: [hostile] });
    const page = await browser.open(await browser.newContext(), `${env.url}#/tests/hostile?iteration=1`);
    await waitForText(page.locator("h1"), HOSTILE);
    await waitForText(page.locator(".evidence"), `${HOSTILE}\\u{202e}`);
    assert.equal(await page.locator("tests-view img").count(), 0);
    await page.goto(`${env.url}#/tests/unknown`);
    await page.getByRole("alert").getByText("no report of iteration 1 of the skill unknown").waitFor();
    await page.getByRole("link", { name: "All tests" }).click();
    await page.locator("[data-skill=hostile]").waitFor();
    return page;
  }),

  check("tests: reports can be read with the keyboard", async () => {
    writeAll(env);
    const page = await browser.open(await browser.newContext(), `${env.url}#/tests`);
    await page.locator("[data-skill=sql-review] a").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "sql-review", level: 1 }).waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    // From the heading, every table and every case can be reached.
    const reached = new Set();
    for (let steps = 0; steps < 12; steps++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName));
    }
    for (const label of ["Runs that meet all expectations", "Results and cost per run", "Cases", "SUMMARY", "Messages"])
      assert(reached.has(label), `${label}: ${[...reached]}`);
    await page.goBack();
    await page.locator("[data-skill=sql-review] a").waitFor();
    return page;
  }),

  check("tests: reports are readable in light and dark, on narrow screens and in Chinese", async () => {
    writeAll(env);
    let page;
    for (const colorScheme of ["light", "dark"]) {
      page = await browser.open(await browser.newContext({ colorScheme }), `${env.url}#/tests/release-notes`);
      await page.locator(".rate-picture").first().waitFor();
      await browser.checkAccessibility(page, `a report, ${colorScheme}`);
      const { mark, surface } = await page.locator(".mark.with_skill").first().evaluate((element) => ({
        mark: getComputedStyle(element).fill,
        surface: getComputedStyle(element.closest(".panel")).backgroundColor,
      }));
      assert.deepEqual(
        [mark, surface],
        colorScheme === "dark"
          ? ["rgb(98, 203, 182)", "rgb(31, 31, 28)"]
          : ["rgb(15, 107, 92)", "rgb(255, 255, 255)"],
      );
      assert.deepEqual(page.problems, []);
    }
    for (const width of [360, 1600]) {
      const viewport = { width, height: 740 };
      page = await browser.open(await browser.newContext({ viewport, locale: "zh-CN" }), `${env.url}#/tests`);
      await page.getByRole("heading", { name: "测试", level: 1 }).waitFor();
      await checkNoOverflow(page, `the list, ${width}`);
      await page.goto(`${env.url}#/tests/release-notes`);
      await page.getByRole("heading", { name: "用例", exact: true }).waitFor();
      await checkNoOverflow(page, `a report, ${width}`);
      await browser.checkAccessibility(page, `a report, ${width}`);
    }
    return page;
  }),
];
