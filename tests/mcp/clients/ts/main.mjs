// Checks a server with one of the official TypeScript clients. Usage: main.mjs SETTINGS. The settings are JSON:
// `packages` is the directory of the clients, `generation` is v1 or v2, `sdk` is the package name, `mode` is for v2, `expects`
// is the protocol version to negotiate, `server` is a command or a URL, and `root` is the directory of the skills.
// Prints a line per check, and `done` at the end.

import { createRequire } from "node:module";
import { base } from "./base.mjs";
import { changes } from "./changes.mjs";
import { extension } from "./extension.mjs";
import { Skipped } from "./tools.mjs";

const settings = JSON.parse(process.argv[2]);
const load = createRequire(`${settings.packages}/package.json`);
const { connect } = await import(`./${settings.generation}.mjs`);
const open = (server = settings.server) => connect({ ...settings, server, load });

let client;
let connectError;
try {
  client = await open();
} catch (error) {
  connectError = error;
}
const messageOf = (error) => String(error?.message ?? error).replace(/\s+/g, " ");
for (const [name, check] of [...base, ...changes, ...extension]) {
  try {
    if (connectError) throw new Error(`cannot connect: ${messageOf(connectError)}`);
    await check(client, { ...settings, open });
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(
      error instanceof Skipped ? `skipped ${name}: ${messageOf(error)}` : `failed ${name}: ${messageOf(error)}`,
    );
  }
}
try {
  await client?.close();
  console.log("ok close");
} catch (error) {
  console.log(`failed close: ${messageOf(error)}`);
}
console.log("done ");
process.exit(0);
