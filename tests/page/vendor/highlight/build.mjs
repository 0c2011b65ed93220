// Bundles highlight.js for the page: one minified module with the languages of highlight.js, and its licence. The lock file fixes
// all versions, so that the result is always the same. Usage: npm ci && node build.mjs [--check]; `--check` fails if the files differ.

import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "../../../../crates/server/page/vendor");
const { version } = JSON.parse(readFileSync(join(here, "node_modules/highlight.js/package.json"), "utf8"));

/** The page creates elements from the tokens itself. The function that writes HTML into the page is never called, and left out. */
const withoutHtml = {
  name: "without-html",
  setup: ({ onLoad }) =>
    onLoad({ filter: /highlight\.js\/lib\/core\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text
        .replace("element.innerHTML = result.value;", 'throw new Error("not available");')
        .replace("element.innerHTML\n", '""\n');
      if (contents.includes("innerHTML")) throw new Error("highlight.js has changed");
      return { contents, loader: "js" };
    }),
};

const result = await build({
  absWorkingDir: here,
  entryPoints: ["highlight.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  plugins: [withoutHtml],
  write: false,
  banner: { js: `/* highlight.js ${version}, BSD 3-Clause licence; see highlight.LICENSE.txt. Built by tests/page/vendor/highlight/build.mjs. */` },
});

const outputs = {
  "highlight.js": Buffer.from(result.outputFiles[0].contents),
  "highlight.LICENSE.txt": readFileSync(join(here, "node_modules/highlight.js/LICENSE")),
};
for (const [name, bytes] of Object.entries(outputs)) {
  const path = join(page, name);
  if (process.argv.includes("--check")) {
    if (!existsSync(path) || !readFileSync(path).equals(bytes)) throw new Error(`${name} differs; run node build.mjs`);
  } else writeFileSync(path, bytes);
}
