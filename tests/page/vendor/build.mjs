// Bundles CodeMirror for the page: one minified module and the licences of all packages in it. The lock file fixes all versions,
// so that the result is always the same. Usage: npm ci && node build.mjs [--check]; `--check` fails if the files differ.

import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "../../../crates/server/page/vendor");

const result = await build({
  absWorkingDir: here,
  entryPoints: ["codemirror.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  write: false,
  banner: { js: "/* CodeMirror 6, MIT licence; see codemirror.LICENSE.txt. Built by tests/page/vendor/build.mjs. */" },
});

const packages = new Set(
  Object.keys(result.metafile.inputs)
    .map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
    .filter(Boolean),
);
// Most packages have the same licence text, which is written once.
const byText = new Map();
for (const name of [...packages].sort()) {
  const file = join(here, "node_modules", name, "LICENSE");
  if (!existsSync(file)) throw new Error(`${name} has no LICENSE`);
  const text = readFileSync(file, "utf8").trim();
  byText.set(text, [...(byText.get(text) ?? []), name]);
}
const licences = [...byText].map(([text, names]) => `${names.join(", ")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`);

const outputs = {
  "codemirror.js": Buffer.from(result.outputFiles[0].contents),
  "codemirror.LICENSE.txt": Buffer.from(licences),
};
for (const [name, bytes] of Object.entries(outputs)) {
  const path = join(page, name);
  if (process.argv.includes("--check")) {
    if (!existsSync(path) || !readFileSync(path).equals(bytes)) throw new Error(`${name} differs; run node build.mjs`);
  } else writeFileSync(path, bytes);
}
