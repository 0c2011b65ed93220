// The skills extension: the list is complete, and the files match it.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { errorOf, Skipped } from "./tools.mjs";

const ID = "io.modelcontextprotocol/skills";
const digestOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const bytesOf = ({ text, blob }) => (blob === undefined ? Buffer.from(text) : Buffer.from(blob, "base64"));

const listSkills = async (client) => {
  const skills = [];
  for (let cursor; ;) {
    const page = await client.request("skills/list", cursor ? { cursor } : {});
    skills.push(...page.skills);
    cursor = page.nextCursor;
    if (!cursor) return skills;
  }
};

export const extension = [
  [
    "the extension is declared",
    async ({ capabilities }) => assert.deepEqual(capabilities.extensions?.[ID], { directoryRead: true }),
  ],
  [
    "skills/list: sizes and digests match resources/read",
    async (client, { root }) => {
      const skills = await listSkills(client);
      const skill = skills.find(({ frontmatter }) => frontmatter.name === "skills-system-validation");
      assert.equal(skill?.frontmatter.metadata.author, "Prowess", "frontmatter verbatim");
      assert.equal(skill.resources.length, 4, "the files of the fixture");
      const directory = skill.uri.replace(/SKILL\.md$/, "");
      for (const { uri, size, digest } of skill.resources) {
        const [content] = (await client.read(uri)).contents;
        const bytes = bytesOf(content);
        assert.equal(bytes.length, size, `${uri}: size`);
        assert.equal(digestOf(bytes), digest, `${uri}: digest`);
        const onDisk = readFileSync(`${root}/skills-system-validation/${uri.slice(directory.length)}`);
        assert(bytes.equals(onDisk), `${uri} differs from the file on disk`);
      }
    },
  ],
  [
    "skills/get, also of unknown skills",
    async (client) => {
      const [first] = await listSkills(client);
      const { skill } = await client.request("skills/get", { uri: first.uri });
      assert.deepEqual(skill, first);
      const unknown = client.request("skills/get", { uri: "skill://no-such-skill/SKILL.md" });
      assert.equal((await errorOf(unknown)).code, -32602);
    },
  ],
  [
    "resources/directory/read",
    async (client) => {
      const skills = await listSkills(client);
      const { uri } = skills.find(({ frontmatter }) => frontmatter.name === "skills-system-validation");
      const directory = uri.replace(/\/SKILL\.md$/, "");
      const { resources } = await client.request("resources/directory/read", { uri: directory });
      const kinds = Object.fromEntries(
        resources.map((child) => [child.uri.slice(directory.length + 1), child.mimeType]),
      );
      assert.equal(kinds["SKILL.md"], "text/markdown");
      for (const name of ["assets", "references", "scripts"])
        assert.equal(kinds[name], "inode/directory", name);
      assert.equal((await errorOf(client.request("resources/directory/read", { uri }))).code, -32602);
    },
  ],
  [
    "the skills helper of the client verifies each file",
    async (client) => {
      if (!client.skills) throw new Skipped("this generation of the client has no skills helper");
      assert(client.skills.supported && client.skills.directoryRead);
      const { skills, invalid } = await client.skills.list();
      assert.deepEqual(invalid, []);
      assert(skills.length >= 6, `${skills.length} skills`);
      for (const skill of skills)
        for (const { uri } of skill.resources) assert((await client.skills.read(skill, uri)).verified, uri);
    },
  ],
];
