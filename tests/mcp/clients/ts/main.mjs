// Checks a server with one of the official TypeScript clients. Usage: main.mjs SETTINGS, which are JSON:
// `packages` where the clients are installed, `generation` (v1 or v2), `sdk` its name there, `mode` for v2, `expects` the
// version of the protocol to be agreed on, `server` (a command or a URL), `root` where the skills are.
// Prints a line for each check, and `done` at the end.

import { createRequire } from "node:module";
import { base } from "./base.mjs";
import { changes } from "./changes.mjs";
import { extension } from "./extension.mjs";
import { skipped } from "./tools.mjs";

const settings = JSON.parse(process.argv[2]);
const load = createRequire(`${settings.packages}/package.json`);
const { connect } = await import(`./${settings.generation}.mjs`);
const open = (server = settings.server) => connect({ ...settings, server, load });

let client;
let broken;
try {
  client = await open();
} catch (error) {
  broken = error;
}
const one = (error) => String(error?.message ?? error).replace(/\s+/g, " ");
for (const [name, check] of [...base, ...changes, ...extension]) {
  try {
    if (broken) throw new Error(`there is no connection: ${one(broken)}`);
    await check(client, { ...settings, open });
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(
      error instanceof skipped ? `left out ${name}: ${one(error)}` : `failed ${name}: ${one(error)}`,
    );
  }
}
try {
  await client?.close();
  console.log("ok close");
} catch (error) {
  console.log(`failed close: ${one(error)}`);
}
console.log("done ");
process.exit(0);
