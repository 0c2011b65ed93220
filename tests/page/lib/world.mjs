// A home, a project and a server that is the real one, with a model that follows a script. All of it is gone when the tests end.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { environment, kill, start } from "../../mcp/lib/test-env.mjs";
import { startModel } from "./model.mjs";

const worlds = new Set();
process.on("exit", () => {
  for (const world of worlds) rmSync(world, { recursive: true, force: true });
});

const freePort = () =>
  new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

/** Writes files below a folder: `{ "SKILL.md": "…", "a/b.txt": "…" }`. */
export const write = (folder, files) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
};

export const skillMd = (name, description, body = "Do it.", more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}\n`;

/** A world with these user skills (`{ id: files }`) and this script of the model; `serve` starts the server. */
export const makeWorld = async (prowess, { script, skills = {}, args = [], env = {} } = {}) => {
  const world = mkdtempSync(join(tmpdir(), "prowess-page-"));
  worlds.add(world);
  const [home, project] = ["home", "project"].map((name) => join(world, name));
  for (const folder of [home, project]) mkdirSync(folder);
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
    world,
    home,
    project,
    userSkills,
    args,
    model,
    url: `http://127.0.0.1:${port}/`,
    /** What the server has printed on standard error since it was started. */
    said: () => "",
    /** Starts the server, at the same address each time, and waits until it is well. */
    async serve() {
      const call = ["--home", home, "--project", project, "serve", "--addr", `127.0.0.1:${port}`, ...args];
      let said = "";
      child = start(prowess, call, {
        env: environment(home, { PROWESS_ALLOW_SCRIPTS: "1", ...env }),
        stdio: ["ignore", "ignore", "pipe"],
      });
      child.stderr.on("data", (part) => (said += part));
      self.said = () => said;
      for (let tries = 0; tries < 300; tries++) {
        if (child.exitCode !== null) throw new Error(`the server ended: ${said}`);
        const well = await fetch(`${self.url}readyz`).then(
          (answer) => answer.ok,
          () => false,
        );
        if (well) return self;
        await new Promise((wake) => setTimeout(wake, 100));
      }
      throw new Error(`the server does not answer: ${said}`);
    },
    /** Ends it at once, as a machine that fails would; done when it is gone. */
    async crash() {
      const ended = child && child.exitCode === null ? once(child, "exit") : null;
      if (child) kill(child);
      child = null;
      await ended;
    },
    end() {
      self.crash();
      model?.stop();
      rmSync(world, { recursive: true, force: true });
      worlds.delete(world);
    },
    /** A request of the test itself. */
    async api(path, init) {
      const answer = await fetch(new URL(path, self.url), init);
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.status === 204 ? null : answer.json();
    },
  };
  return self;
};
