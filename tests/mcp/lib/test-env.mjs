// A test environment: a root with skills, an empty home directory, an empty project, and the processes started there. All
// of it is removed when the test process exits, even after a signal.

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const bundled = resolve(here, "../../crates/core/bundled");

// One red pixel.
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const baseDirs = new Set();
const processes = new Set();

const clean = () => {
  for (const child of processes) kill(child);
  for (const base of baseDirs) rmSync(base, { recursive: true, force: true });
};
process.on("exit", clean);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/** Kills a process and its children. Each process leads its own group. */
export const kill = (child) => {
  processes.delete(child);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group has already exited.
  }
};

/** Starts a process in its own group. */
export const start = (command, args, options) => {
  const child = spawn(command, args, { ...options, detached: true });
  processes.add(child);
  return child;
};

/** Runs a program until it exits or times out. Returns its exit code and output. */
export const run = (command, args, { seconds, onLine, ...options }) =>
  new Promise((done) => {
    const child = start(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const output = { stdout: "", stderr: "", timedOut: false };
    const timer = setTimeout(() => {
      output.timedOut = true;
      kill(child);
    }, seconds * 1000);
    let line = "";
    child.stdout.on("data", (part) => {
      output.stdout += part;
      const lines = (line + part).split("\n");
      line = lines.pop();
      if (onLine) lines.forEach(onLine);
    });
    child.stderr.on("data", (part) => (output.stderr += part));
    const end = (code) => {
      clearTimeout(timer);
      kill(child);
      done({ code, ...output });
    };
    child.on("error", (error) => end(error.message));
    child.on("close", end);
  });

/**
 * Creates directories for a test: `root` with these skills, `home` and `project` in `base`. Scripts of all skills may run, or only
 * those of `allowedSkills`.
 */
export const makeTestEnv = (skills, allowedSkills) => {
  const base = mkdtempSync(join(tmpdir(), "prowess-mcp-"));
  baseDirs.add(base);
  const [root, home, project] = ["root", "home", "project"].map((name) => join(base, name));
  for (const directory of [root, home, project]) mkdirSync(directory);
  for (const skill of skills) {
    const from = skill === "skills-system-validation" ? join(bundled, skill) : join(here, skill);
    const to = join(root, skill.split("/").pop());
    cpSync(from, to, { recursive: true });
  }
  if (skills.includes("skills/pictures")) {
    mkdirSync(join(root, "pictures/assets"));
    writeFileSync(join(root, "pictures/assets/dot.png"), Buffer.from(PICTURE, "base64"));
  }
  if (allowedSkills) {
    mkdirSync(join(home, ".prowess"));
    const directories = allowedSkills.map((skill) => join(root, skill));
    writeFileSync(join(home, ".prowess/config.toml"), `run.allowed-skills = ${JSON.stringify(directories)}\n`);
  }
  return { base, root, home, project, allowedSkills };
};

/** Returns the environment variables of a process under test. Only PATH is inherited. */
export const environment = (home, more = {}) => ({ PATH: process.env.PATH, HOME: home, ...more });

/** Returns the command that starts the MCP server, over stdio by default. */
export const serverCall = (prowess, { root, home, project, allowedSkills }, more = []) => ({
  command: prowess,
  args: ["--home", home, "--project", project, "--root", root, "mcp", ...more],
  env: environment(home, {
    ...(!allowedSkills && { PROWESS_ALLOW_SCRIPTS: "1" }),
    PROWESS_SKILLS_ENABLED: "true",
  }),
});

/** Returns a free port. */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const isListening = (port) =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => socket.destroy() && done(true));
    socket.on("error", () => done(false));
  });

/** Starts the server over HTTP and waits until it listens. Returns its URL and a function that stops it. */
export const startHttp = async (prowess, env, more = []) => {
  const port = await freePort();
  const call = serverCall(prowess, env, ["--http", `127.0.0.1:${port}`, ...more]);
  const child = start(call.command, call.args, { env: call.env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  let ended = null;
  child.stderr.on("data", (part) => (stderr += part));
  child.on("error", (error) => (ended = error.message));
  child.on("exit", (code) => (ended = `exit code ${code}`));
  for (let tries = 0; tries < 300; tries++) {
    if (ended !== null) throw new Error(`the server did not start: ${ended}: ${stderr}`);
    if (await isListening(port)) return { url: `http://127.0.0.1:${port}/mcp`, stop: () => kill(child) };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  kill(child);
  throw new Error(`the server did not listen within 30 s: ${stderr}`);
};
