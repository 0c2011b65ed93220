// A place for one test: a root with skills, an empty home, an empty project, and the processes started there. All of it
// is gone when the test ends, however it ends.

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

const worlds = new Set();
const processes = new Set();

const clean = () => {
  for (const child of processes) kill(child);
  for (const world of worlds) rmSync(world, { recursive: true, force: true });
};
process.on("exit", clean);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/** Ends a process and all it has started. Each is the head of its own group. */
export const kill = (child) => {
  processes.delete(child);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
};

/** Starts a process in a group of its own. */
export const start = (command, args, options) => {
  const child = spawn(command, args, { ...options, detached: true });
  processes.add(child);
  return child;
};

/** Runs a program to its end, or until the time is over; gives its exit code, and its output. */
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

/** Folders for a test: `root` with the skills named, the fixture of the crate among them, `home` and `project`. */
export const makeWorld = (skills) => {
  const world = mkdtempSync(join(tmpdir(), "prowess-mcp-"));
  worlds.add(world);
  const [root, home, project] = ["root", "home", "project"].map((name) => join(world, name));
  for (const folder of [root, home, project]) mkdirSync(folder);
  for (const skill of skills) {
    const from = skill === "skills-system-validation" ? join(bundled, skill) : join(here, skill);
    const to = join(root, skill.split("/").pop());
    cpSync(from, to, { recursive: true });
  }
  if (skills.includes("skills/pictures")) {
    mkdirSync(join(root, "pictures/assets"));
    writeFileSync(join(root, "pictures/assets/dot.png"), Buffer.from(PICTURE, "base64"));
  }
  return { world, root, home, project };
};

/** The environment of a process under test: nothing of the user's but where programs are. */
export const environment = (home, more = {}) => ({ PATH: process.env.PATH, HOME: home, ...more });

/** What the server under test is started with: over standard input and output, or at an address. */
export const serverCall = (prowess, { root, home, project }, more = []) => ({
  command: prowess,
  args: ["--home", home, "--project", project, "--root", root, "mcp", ...more],
  env: environment(home, { PROWESS_ALLOW_SCRIPTS: "1", PROWESS_SKILLS_ENABLED: "true" }),
});

/** A port that is free now. */
const freePort = () =>
  new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

const answers = (port) =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => socket.destroy() && done(true));
    socket.on("error", () => done(false));
  });

/** Starts the server over HTTP; gives its URL once it listens. */
export const startHttp = async (prowess, world, more = []) => {
  const port = await freePort();
  const { command, args, env } = serverCall(prowess, world, ["--http", `127.0.0.1:${port}`, ...more]);
  const child = start(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let ended = null;
  child.stderr.on("data", (part) => (said += part));
  child.on("error", (error) => (ended = error.message));
  child.on("exit", (code) => (ended = `it ended with ${code}`));
  for (let tries = 0; tries < 300; tries++) {
    if (ended !== null) throw new Error(`the server did not start: ${ended}: ${said}`);
    if (await answers(port)) return { url: `http://127.0.0.1:${port}/mcp`, stop: () => kill(child) };
    await new Promise((wake) => setTimeout(wake, 100));
  }
  kill(child);
  throw new Error(`the server does not listen after 30 s: ${said}`);
};
