// Compares the built-in zod with the npm package: results, issues, messages and JSON Schema, for a table of schemas and for
// generated schemas and inputs. Usage: compare.mjs BUILT_IN_DIR [ROUNDS [SEED]]. The package is imported from $ZOD or as `zod`.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { TABLE, VALUES } from "./table.mjs";
import { generated } from "./generate.mjs";

const [directory, rounds = "20000", seed = "1"] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "zod-"));
const ours = await (async () => {
  for (const name of readdirSync(directory).filter((name) => name.startsWith("zod"))) {
    const text = readFileSync(join(directory, name), "utf8");
    const linked = text.replace(/"prowess:(zod-\w+)"/g, (_, module) => `"./${module.replace("-", "_")}.mjs"`);
    writeFileSync(join(work, name.replace(/js$/, "mjs")), linked);
  }
  return (await import(pathToFileURL(join(work, "zod.mjs")))).z;
})();
const { z: theirs } = await import(process.env.ZOD ? pathToFileURL(process.env.ZOD) : "zod");
rmSync(work, { recursive: true });

// Returns everything about parsing a value that the author of a tool or a model could observe.
function observe(z, make, value) {
  try {
    const schema = make(z);
    const result = schema.safeParse(value);
    const plain = JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
    const outcome = result.success
      ? { data: result.data, keys: JSON.stringify(result.data) }
      : { issues: result.error.issues, order: JSON.stringify(result.error.issues), message: result.error.message };
    return { ...outcome, schema: JSON.parse(plain) };
  } catch (error) {
    return { thrown: error.message };
  }
}

let compared = 0;
const differences = [];
function compare(make, value, name) {
  compared++;
  const [a, b] = [observe(ours, make, value), observe(theirs, make, value)];
  if (!isDeepStrictEqual(a, b)) differences.push({ name, value, ours: a, theirs: b });
}

for (const make of TABLE) for (const value of VALUES) compare(make, value, make.toString());
for (const { make, value, name } of generated(Number(rounds), Number(seed))) compare(make, value, name);

const shown = new Set();
for (const { name, value, ours, theirs } of differences) {
  if (shown.has(name) || shown.size >= 20) continue;
  shown.add(name);
  console.log(name, value, "\n  ours:  ", JSON.stringify(ours), "\n  theirs:", JSON.stringify(theirs));
}
console.log(`${compared} compared, ${differences.length} differ`);
process.exit(differences.length ? 1 : 0);
