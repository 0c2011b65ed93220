// A test environment: a home directory, a project, the real server, and a scripted model. All of it is removed when the tests end.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { environment, kill, start } from "../../mcp/lib/test-env.mjs";
import { startModel } from "./model.mjs";

const baseDirs = new Set();
process.on("exit", () => {
  for (const base of baseDirs) rmSync(base, { recursive: true, force: true });
});

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Writes files below a directory: `{ "SKILL.md": "…", "a/b.txt": "…" }`. */
export const write = (directory, files) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
};

export const skillMd = (name, description, body = "Do it.", more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}\n`;

/** Creates an environment with these user skills (`{ id: files }`) and this script of the model. `serve` starts the server. */
export const makeTestEnv = async (prowess, { script, skills = {}, args = [], env = {} } = {}) => {
  const base = mkdtempSync(join(tmpdir(), "prowess-page-"));
  baseDirs.add(base);
  const [home, project] = ["home", "project"].map((name) => join(base, name));
  for (const directory of [home, project]) mkdirSync(directory);
  const userSkills = join(home, ".agents/skills");
  for (const [id, files] of Object.entries(skills)) write(join(userSkills, id), files);
  const model = script ? await startModel(script) : null;
  if (model) {
    write(join(home, ".prowess"), {
      "config.toml": `# Kept.\n[chat]\nprovider = "openai-chat"\nmodel = "scripted"\nbase-url = "${model.url}"\n`,
    });
  }
  const port = await freePort();
  let child = null;
  const self = {
    base,
    home,
    project,
    userSkills,
    args,
    model,
    url: `http://127.0.0.1:${port}/`,
    /** Returns the standard error of the server since its last start. */
    stderr: () => "",
    /** Starts the server, always at the same address, and waits until it is ready. */
    async serve() {
      const call = ["--home", home, "--project", project, "serve", "--addr", `127.0.0.1:${port}`, ...args];
      let stderr = "";
      child = start(prowess, call, {
        env: environment(home, { PROWESS_ALLOW_SCRIPTS: "1", ...env }),
        stdio: ["ignore", "ignore", "pipe"],
      });
      child.stderr.on("data", (part) => (stderr += part));
      self.stderr = () => stderr;
      for (let tries = 0; tries < 300; tries++) {
        if (child.exitCode !== null) throw new Error(`the server exited: ${stderr}`);
        const ready = await fetch(`${self.url}readyz`).then(
          (response) => response.ok,
          () => false,
        );
        if (ready) return self;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`the server is not ready: ${stderr}`);
    },
    /** Kills the server and waits until it has exited. */
    async crash() {
      const ended = child && child.exitCode === null ? once(child, "exit") : null;
      if (child) kill(child);
      child = null;
      await ended;
    },
    end() {
      self.crash();
      model?.stop();
      rmSync(base, { recursive: true, force: true });
      baseDirs.delete(base);
    },
    /** Sends a request to the API. */
    async api(path, init) {
      const response = await fetch(new URL(path, self.url), init);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.status === 204 ? null : response.json();
    },
  };
  return self;
};
