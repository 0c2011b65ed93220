// Events during a connection: logging, cancellation, subscriptions, other sessions.

import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { errorOf, running, Skipped, sleep, textOf, until, uriOf } from "./tools.mjs";

const LOG = "notifications/message";
const has = (client, method, since = 0) =>
  client.notifications.slice(since).some((notification) => notification.method === method);

/** Returns a duration that no other process uses. */
const unique = () => `300.${process.pid}${Date.now() % 100000}`;

/** Starts a proxy between the client and the server whose connections can be closed. */
const startProxy = (url) =>
  new Promise((done) => {
    const sockets = new Set();
    const server = createServer((near) => {
      const far = connect(Number(new URL(url).port), "127.0.0.1");
      for (const [one, other] of [
        [near, far],
        [far, near],
      ]) {
        sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
    server.listen(0, "127.0.0.1", () =>
      done({
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        disconnect: () => sockets.forEach((socket) => socket.destroy()),
        stop: () => server.close(),
      }),
    );
  });

export const changes = [
  [
    "logging at a level",
    async (client) => {
      const call = (level) => client.call("skills_activate", { name: "greet-user" }, { level });
      if (client.era === "legacy") {
        assert.equal((await errorOf(client.request("logging/setLevel", { level: "loud" }))).code, -32602);
        await client.setLevel("debug");
        const begin = client.notifications.length;
        await call();
        await until("log message at level debug", () => has(client, LOG, begin));
        await client.setLevel("emergency");
      } else {
        const begin = client.notifications.length;
        await call("debug");
        await until("log message at level debug", () => has(client, LOG, begin));
      }
      await sleep(200);
      const begin = client.notifications.length;
      await call();
      await sleep(500);
      assert(!has(client, LOG, begin), "a log message above the requested level");
    },
  ],
  [
    "cancelling a running script",
    async (client) => {
      const seconds = unique();
      const cancel = new AbortController();
      const args = { name: "patience", script: "scripts/wait.sh", args: [seconds] };
      const ended = errorOf(client.call("skills_run", args, { signal: cancel.signal, timeout: 60_000 }));
      await until("process of the script", () => running(`sleep ${seconds}`));
      cancel.abort("enough");
      await ended;
      await until("end of the script's process", () => !running(`sleep ${seconds}`));
      assert((await client.tools()).tools.length > 0, "no tools are listed after a cancelled call");
    },
  ],
  [
    "subscribing: a skill edited, added and removed on disk",
    async (client, { root }) => {
      const uri = await uriOf(client, "greet-user");
      const stop = await client.listen(uri);
      const begin = client.notifications.length;
      appendFileSync(`${root}/greet-user/SKILL.md`, "\nSay it twice.\n");
      const updated = ({ method, params }) =>
        method === "notifications/resources/updated" && params.uri === uri;
      await until("notifications/resources/updated", () => client.notifications.slice(begin).some(updated));
      const [{ text }] = (await client.read(uri)).contents;
      assert.match(text, /Say it twice\./);

      // Each process uses another name, because several share the directory.
      const name = `new-${process.pid}`;
      for (const exists of [true, false]) {
        const since = client.notifications.length;
        if (exists) {
          mkdirSync(`${root}/${name}`);
          writeFileSync(
            `${root}/${name}/SKILL.md`,
            `---\nname: ${name}\ndescription: Comes and goes.\n---\nHere.\n`,
          );
        } else {
          rmSync(`${root}/${name}`, { recursive: true });
        }
        for (const method of ["notifications/resources/list_changed", "notifications/prompts/list_changed"])
          await until(method, () => has(client, method, since));
        // The notification may be about a skill of another process.
        const isListed = async () => (await client.prompts()).prompts.some((prompt) => prompt.name === name);
        await until(`prompt ${name} ${exists ? "added" : "removed"}`, async () => (await isListed()) === exists);
      }
      await stop();
    },
  ],
  [
    "activating a skill adds its tools to this session only",
    async (client, { open, server }) => {
      if (client.era !== "legacy" && server.url)
        throw new Skipped(
          "over HTTP, this protocol version has no sessions to activate a skill in",
        );
      const names = async (session) => (await session.tools()).tools.map(({ name }) => name);
      assert(!(await names(client)).includes("to_kelvin"), "to_kelvin is listed before its skill is active");
      const stop = client.era === "legacy" ? null : await client.listen(await uriOf(client, "temperature"));
      const begin = client.notifications.length;
      await client.call("skills_activate", { name: "temperature" });
      const changed = "notifications/tools/list_changed";
      await until(changed, () => has(client, changed, begin));
      assert((await names(client)).includes("to_kelvin"), "to_kelvin is not listed");
      const result = await client.call("to_kelvin", { celsius: 0 });
      assert.match(textOf(result), /273\.15 K/);
      assert.equal((await client.call("to_kelvin", { celsius: -300 })).isError, true);
      const other = await open();
      assert(!(await names(other)).includes("to_kelvin"), "to_kelvin is listed in another session");
      await other.close();
      await stop?.();
    },
  ],
  [
    "a call survives a lost connection",
    async (client, { open, server, resumes }) => {
      if (!server.url) throw new Skipped("stdio cannot be resumed");
      if (client.era !== "legacy")
        throw new Skipped("this protocol version does not resume streams");
      if (!resumes) throw new Skipped("this version of the client does not resume the stream of a call");
      const proxy = await startProxy(server.url);
      const other = await open({ url: proxy.url });
      const seconds = `3.${process.pid}`;
      const args = { name: "patience", script: "scripts/wait.sh", args: [seconds] };
      const result = other.call("skills_run", args, { timeout: 60_000 });
      await until("process of the script", () => running(`sleep ${seconds}`));
      proxy.disconnect();
      assert.match(textOf(await result), /waited/);
      await other.close();
      proxy.stop();
    },
  ],
];
