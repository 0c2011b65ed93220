// Real agents use the server: each is started with Prowess as its only MCP server, over standard input and output, and
// with a model that follows a script. The model activates a skill, reads a file of it, and answers. What the agent sent
// to the model is the transcript, and is what is checked. Usage: run.mjs PROWESS TOOLS.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, makeWorld, run, serverCall } from "../lib/world.mjs";
import { startModel } from "./model.mjs";

const [prowess, tools] = process.argv.slice(2);
const FIXTURE = "skills-system-validation";
const BODY = "PROWESS_SKILL_MARKER_7F3A91D2";
const REFERENCE = /PROWESS_REFERENCE_MARKER_[0-9A-F]+/;
const TASK = "Validate that the skills system discloses progressively.";
const bin = (name) => join(tools, "agents/node_modules/.bin", name);

// The calls the model makes, one a turn. The names are those that the agent offers; each puts something before ours.
const CALLS = [
  ["skills_activate", { name: FIXTURE }],
  ["skills_readResource", { name: FIXTURE, path: "references/REFERENCE.md" }],
];

/** The next call, or, when all are made, an answer that quotes what was read. Some requests (for a title) offer no tools. */
const script = ({ tools: offered, results }) => {
  if (offered.length === 0) return { text: "Validation" };
  if (results.length >= CALLS.length) return { text: `Read: ${results.at(-1).text.match(REFERENCE)?.[0]}` };
  const [name, args] = CALLS[results.length];
  const tool = offered.find((tool) => tool.name.endsWith(name));
  return tool ? { call: { ...tool, arguments: args } } : { text: `there is no tool ${name}` };
};

const AGENTS = {
  codex: ({ home, project }, server, model) => {
    const text = (value) => JSON.stringify(value);
    const variables = Object.entries(server.env).map(([name, value]) => `${name} = ${text(value)}`);
    mkdirSync(join(home, ".codex"));
    writeFileSync(
      join(home, ".codex/config.toml"),
      `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
[model_providers.scripted]
name = "scripted"
base_url = ${text(model)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.prowess]
command = ${text(server.command)}
args = ${text(server.args)}
env = { ${variables.join(", ")} }
`,
    );
    const args = ["exec", "--skip-git-repo-check", "--json", TASK];
    return [
      bin("codex"),
      args,
      { cwd: project, env: environment(home, { CODEX_HOME: join(home, ".codex") }) },
    ];
  },

  opencode: ({ home, project }, server, model) => {
    const models = {
      scripted: { name: "scripted", tool_call: true, limit: { context: 100000, output: 4096 } },
    };
    const options = { baseURL: model, apiKey: "none" };
    const settings = {
      autoupdate: false,
      share: "disabled",
      model: "scripted/scripted",
      small_model: "scripted/scripted",
      enabled_providers: ["scripted"],
      provider: { scripted: { npm: "@ai-sdk/openai-compatible", name: "scripted", options, models } },
      mcp: {
        prowess: {
          type: "local",
          enabled: true,
          command: [server.command, ...server.args],
          environment: server.env,
        },
      },
    };
    writeFileSync(join(project, "opencode.json"), JSON.stringify(settings));
    const off = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"];
    const env = environment(home, Object.fromEntries(off.map((what) => [`OPENCODE_DISABLE_${what}`, "1"])));
    return [bin("opencode"), ["run", "--format", "json", TASK], { cwd: project, env }];
  },
};

for (const [agent, prepare] of Object.entries(AGENTS)) {
  const world = makeWorld([FIXTURE, "skills/greet-user"]);
  // The agent's own home and project are not those of the server, so that it can know of the skills from the server alone.
  const server = serverCall(prowess, world);
  const own = makeWorld([]);
  const model = await startModel(script);
  const [program, args, options] = prepare(own, server, model.url);
  const ended = await run(program, args, { seconds: 120, ...options });
  model.stop();
  // The requests of the conversation; others (for a title) offer no tools.
  const turns = model.asked.filter((request) => request.tools.length > 0);
  const label = `${agent}: `;

  await report.check(label + "ends well, having asked the model once for each turn", () => {
    assert(!ended.timedOut, "it was too slow");
    assert.equal(ended.code, 0, ended.stderr.slice(-400) + ended.stdout.slice(-400));
    assert.equal(turns.length, CALLS.length + 1, `${turns.length} requests; ${model.strange}`);
  });
  await report.check(label + "is offered the tools of Prowess", () => {
    for (const name of ["activate", "readResource", "listResources", "search"])
      assert(
        turns[0]?.tools.some((tool) => tool.name.endsWith(`skills_${name}`)),
        `no skills_${name} among ${turns[0]?.tools.map((tool) => tool.name)}`,
      );
  });
  await report.check(label + "discovers the skill: the catalog is in the first request, and no body", () => {
    const first = turns[0].text;
    assert(first.includes(FIXTURE), "the skill's name is missing");
    assert(
      first.includes("Conformance fixture that checks a skills system"),
      "the skill's description is missing",
    );
    assert(!first.includes(BODY) && !REFERENCE.test(first), "a body is there before it was asked for");
  });
  await report.check(label + "activates the skill: its instructions are in the second request", () => {
    assert.equal(turns[0].answer.call?.arguments.name, FIXTURE);
    assert(turns[1].results[0].text.includes(BODY), turns[1].results[0].text.slice(0, 300));
    assert(!REFERENCE.test(turns[1].text), "a file is there before it was asked for");
  });
  await report.check(label + "reads a resource: the file is in the third request", () => {
    assert.match(turns[2].results[1].text, REFERENCE);
  });
  await report.check(label + "gives the user what was read", () => assert.match(ended.stdout, REFERENCE));
}
process.exit(report.end());
