// Tests `prowess hook` with real agents. The hook is installed with `prowess hook install`. The scripted model follows the hint
// in its first request, if there is one: it loads the skill with the tool or from the file that the hint names.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, makeTestEnv, run } from "../lib/test-env.mjs";
import { codexConfig, opencodeConfig, opencodeEnvironment } from "./configs.mjs";
import { startModel } from "./model.mjs";

const SKILL = "invoice-totals";
const BODY = "PROWESS_HOOK_MARKER_51C0";
const SKILL_MD = `---
name: ${SKILL}
description: Adds up the totals of invoices in a folder and reports the sum of each customer. Use for invoices.
---

# Invoice totals

${BODY}
`;
const MATCHING = "Please add up the invoices in this folder and report the totals of each customer.";
const OTHER = "Which year did the first person walk on the moon?";
const HINT = /- invoice-totals \(matches: [a-z, ]+\): (?:call the tool (\w+) with (\w+) "|read the file ")([^"]+)"/;

/** Returns how Claude Code is started, with one tool that it may use. */
const startClaude = (bin, tool) => (env, model, task) => {
  const variables = {
    ANTHROPIC_BASE_URL: model.base,
    ANTHROPIC_API_KEY: "sk-ant-none",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const args = ["-p", task, "--model", "claude-sonnet-4-5", "--allowedTools", tool];
  return [bin("claude"), args, { cwd: env.project, env: environment(env.home, variables) }];
};

/** Returns the agents: where they find skills, and how they are started. */
const AGENTS = (bin) => ({
  "claude-code": { skills: ".claude/skills", start: startClaude(bin, "Skill") },
  // Claude Code does not search this directory.
  "claude-code, other directory": {
    client: "claude-code",
    skills: ".agents/skills",
    start: startClaude(bin, "Read"),
  },
  codex: {
    skills: ".agents/skills",
    start: ({ home, project }, model, task) => {
      const config = codexConfig(model.url).replace("read-only", "danger-full-access");
      mkdirSync(join(home, ".codex"), { recursive: true });
      writeFileSync(join(home, ".codex/config.toml"), config);
      const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json", task];
      return [bin("codex"), args, { cwd: project, env: environment(home, { CODEX_HOME: join(home, ".codex") }) }];
    },
  },
  "gemini-cli": {
    skills: ".agents/skills",
    start: ({ home, project }, model, task) => {
      const file = join(home, ".gemini/settings.json");
      const settings = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
      mkdirSync(join(home, ".gemini"), { recursive: true });
      settings.security = { auth: { selectedType: "gemini-api-key" } };
      writeFileSync(file, JSON.stringify(settings));
      const variables = { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.base, GEMINI_CLI_TRUST_WORKSPACE: "true" };
      const args = ["--approval-mode", "yolo", "--model", "gemini-2.5-pro", "-p", task];
      return [bin("gemini"), args, { cwd: project, env: environment(home, variables) }];
    },
  },
  opencode: {
    skills: ".agents/skills",
    start: ({ base, home, project }, model, task) => {
      writeFileSync(join(project, "opencode.json"), JSON.stringify(opencodeConfig(model.url)));
      // It lists the other files of a skill with ripgrep, which it would download.
      mkdirSync(join(base, "bin"), { recursive: true });
      writeFileSync(join(base, "bin/rg"), "#!/bin/sh\n", { mode: 0o755 });
      const PATH = `${join(base, "bin")}:${process.env.PATH}`;
      const env = environment(home, { ...opencodeEnvironment, PATH });
      return [bin("opencode"), ["run", "--format", "json", task], { cwd: project, env }];
    },
  },
});

/** Returns the call of a tool of the agent that reads a file. */
const readCall = (tools, path) => {
  const calls = [
    ["Read", { file_path: path }],
    ["exec_command", { cmd: `cat '${path}'` }],
    ["shell_command", { command: `cat '${path}'` }],
    ["shell", { command: ["cat", path] }],
  ];
  for (const [name, args] of calls) {
    const tool = tools.find((tool) => tool.name === name);
    if (tool) return { ...tool, arguments: args };
  }
};

/** Follows the hint once, then replies. */
const script = ({ tools, results, text }) => {
  const [, name, parameter, value] = text.match(HINT) ?? [];
  if (tools.length === 0 || !value) return { text: "Nothing to load." };
  if (results.length > 0) return { text: `Loaded: ${results.at(-1).text.includes(BODY)}` };
  const tool = tools.find((tool) => tool.name === name);
  const call = name ? tool && { ...tool, arguments: { [parameter]: value } } : readCall(tools, value);
  return call ? { call } : { text: `no tool for ${name ?? value} among ${tools.map((tool) => tool.name)}` };
};

/** Returns all files below a directory that contain a text. */
const filesWith = (dir, text) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));

export const checkHooks = async (prowess, bin) => {
  for (const [agent, { client = agent, skills, start }] of Object.entries(AGENTS(bin))) {
    const label = `hook, ${agent}: `;
    const env = makeTestEnv([]);
    mkdirSync(join(env.home, skills, SKILL), { recursive: true });
    writeFileSync(join(env.home, skills, SKILL, "SKILL.md"), SKILL_MD);
    const install = await run(prowess, ["hook", "install", "--client", client, "--yes"], {
      seconds: 20,
      cwd: env.project,
      env: environment(env.home),
    });
    await report.check(label + "is installed", () => assert.equal(install.code, 0, install.stderr));

    for (const task of [MATCHING, OTHER]) {
      const model = await startModel(script);
      const [program, args, options] = start(env, model, task);
      const ended = await run(program, args, { seconds: 120, ...options });
      model.stop();
      const turns = model.requests.filter((request) => request.tools.length > 0);
      const output = () => `${ended.stderr.slice(-400)}${ended.stdout.slice(-400)} ${model.unknownRequests}`;
      const prefix = label + (task === MATCHING ? "a matching message " : "another message ");
      await report.check(prefix + "is answered", () => {
        assert(!ended.timedOut, `timed out: ${output()}`);
        assert.equal(ended.code, 0, output());
        assert(turns.length > 0, output());
      });
      if (task === OTHER) {
        await report.check(prefix + "gets no hint", () => assert(!turns.some((turn) => HINT.test(turn.text))));
        continue;
      }
      await report.check(prefix + "gets the hint with the first request", () => {
        assert.match(turns[0].text, HINT);
        assert(!turns[0].text.includes(BODY), "the body was sent before it was requested");
      });
      await report.check(prefix + "makes the model load the skill", () => {
        assert(turns[0].reply.call, turns[0].reply.text);
        assert(turns[1]?.results[0]?.text.includes(BODY) || turns[1]?.text.includes(BODY), turns[1]?.text.slice(-600));
      });
    }
    await report.check(label + "writes no message and no problem", () => {
      const state = join(env.home, ".prowess");
      assert.deepEqual(existsSync(state) ? filesWith(state, "invoices in this folder") : [], []);
      assert(!existsSync(join(state, "state/hook.log")));
    });
  }
};
