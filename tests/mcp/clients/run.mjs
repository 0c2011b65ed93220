// Checks the server with the official clients over both transports. Usage: run.mjs PROWESS TOOLS [FILTER…], where TOOLS is
// the directory into which scripts/test installs the clients. With filters, only clients whose label contains one of them run.

import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, here, makeTestEnv, run, serverCall, startHttp } from "../lib/test-env.mjs";

const [prowess, tools, ...filters] = process.argv.slice(2);
const SKILLS = ["copies", "greet-user", "kept-from-people", "patience", "pictures", "temperature"];
const MODERN = "2026-07-28";
const FIXTURE = "skills-system-validation";

// Each client, with each protocol version that it supports.
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

/** Runs the program of one client and reports its lines. The check fails if the program does not print `done`. */
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
    const [, status, name, why] = line.match(/^(ok|failed|skipped|done) (.*?)(?:: (.*))?$/) ?? [];
    if (status === "ok") report.ok(`${label}: ${line.slice(3)}`);
    if (status === "failed") report.failed(`${label}: ${name}`, why);
    if (status === "skipped") report.skipped(`${label}: ${name}`, why);
    done ||= status === "done";
  };
  const ended = await run(program, args, { seconds: 180, onLine, env: environment(root) });
  if (!done)
    report.failed(
      `${label}: exit`,
      ended.timedOut ? "timed out" : ended.stderr.slice(-400),
    );
};

for (const client of CLIENTS) {
  for (const transport of ["stdio", "http"]) {
    const label = `${client.label}, ${transport}, ${client.expects}`;
    if (filters.length > 0 && !filters.some((filter) => label.includes(filter))) continue;
    const skills = [FIXTURE, ...SKILLS.map((skill) => `skills/${skill}`)];
    const env = makeTestEnv(skills, [FIXTURE, "patience"]);
    if (transport === "stdio") {
      await check(label, client, serverCall(prowess, env), env.root);
      continue;
    }
    try {
      const server = await startHttp(prowess, env);
      await check(label, client, { url: server.url }, env.root);
      server.stop();
    } catch (error) {
      report.failed(`${label}: the server`, error);
    }
  }
}
process.exit(report.end());
