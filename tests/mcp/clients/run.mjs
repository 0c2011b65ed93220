// Checks the server with the official clients, over both transports. Usage: run.mjs PROWESS TOOLS [WORDS…], where TOOLS
// is the folder that scripts/test installs the clients into; with words, only the clients whose label has one of them.

import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, here, makeWorld, run, serverCall, startHttp } from "../lib/world.mjs";

const [prowess, tools, ...words] = process.argv.slice(2);
const SKILLS = ["greet-user", "kept-from-people", "patience", "pictures", "temperature"];
const MODERN = "2026-07-28";
const FIXTURE = "skills-system-validation";

// Each client in each version of the protocol that it can be had for.
const CLIENTS = [
  {
    label: "TypeScript sdk 1.22",
    kind: "ts",
    generation: "v1",
    sdk: "sdk-2025-06-18",
    expects: "2025-06-18",
  },
  {
    label: "TypeScript sdk 1.32",
    kind: "ts",
    generation: "v1",
    sdk: "sdk-2025-11-25",
    expects: "2025-11-25",
    resumes: true,
  },
  {
    label: "TypeScript client 2.4",
    kind: "ts",
    generation: "v2",
    mode: "legacy",
    expects: "2025-11-25",
    resumes: true,
  },
  { label: "TypeScript client 2.4", kind: "ts", generation: "v2", mode: "auto", expects: MODERN },
  { label: "Python mcp 1.22", kind: "python", generation: "v1", venv: "2025-06-18", expects: "2025-06-18" },
  { label: "Python mcp 1.30", kind: "python", generation: "v1", venv: "2025-11-25", expects: "2025-11-25" },
  {
    label: "Python mcp 2.3",
    kind: "python",
    generation: "v2",
    venv: MODERN,
    mode: "legacy",
    expects: "2025-11-25",
  },
  { label: "Python mcp 2.3", kind: "python", generation: "v2", venv: MODERN, mode: "auto", expects: MODERN },
];

const PROGRAMS = {
  ts: () => [process.execPath, join(here, "clients/ts/main.mjs")],
  python: ({ venv }) => [
    join(tools, `python-${venv}/bin/python`),
    "-B",
    join(here, "clients/python/main.py"),
  ],
};

/** Runs one client's program, and passes its lines on. A program that does not come to its end has failed. */
const check = async (label, client, server, root) => {
  const settings = {
    sdk: "@modelcontextprotocol/client",
    ...client,
    packages: join(tools, "clients"),
    server,
    root,
  };
  const [program, ...args] = [...PROGRAMS[client.kind](client), JSON.stringify(settings)];
  let done = false;
  const onLine = (line) => {
    const [, verdict, name, why] = line.match(/^(ok|failed|left out|done) (.*?)(?:: (.*))?$/) ?? [];
    if (verdict === "ok") report.ok(`${label}: ${line.slice(3)}`);
    if (verdict === "failed") report.failed(`${label}: ${name}`, why);
    if (verdict === "left out") report.leftOut(`${label}: ${name}`, why);
    done ||= verdict === "done";
  };
  const ended = await run(program, args, { seconds: 180, onLine, env: environment(root) });
  if (!done)
    report.failed(
      `${label}: the client's end`,
      ended.timedOut ? "it was too slow" : ended.stderr.slice(-400),
    );
};

for (const client of CLIENTS) {
  for (const transport of ["stdio", "http"]) {
    const label = `${client.label}, ${transport}, ${client.expects}`;
    if (words.length > 0 && !words.some((word) => label.includes(word))) continue;
    const world = makeWorld([FIXTURE, ...SKILLS.map((skill) => `skills/${skill}`)]);
    if (transport === "stdio") {
      await check(label, client, serverCall(prowess, world), world.root);
      continue;
    }
    try {
      const server = await startHttp(prowess, world);
      await check(label, client, { url: server.url }, world.root);
      server.stop();
    } catch (error) {
      report.failed(`${label}: the server`, error);
    }
  }
}
process.exit(report.end());
