"""The skills extension: what is listed is complete, and what is read is what was listed."""

import base64
import hashlib
from pathlib import Path

from tools import error_of, same

FIXTURE = "skills-system-validation"


async def listed(client):
    skills, params = [], {}
    while True:
        page = await client.request("skills/list", params)
        skills += page["skills"]
        if not page.get("nextCursor"):
            return {skill["frontmatter"]["name"]: skill for skill in skills}
        params = {"cursor": page["nextCursor"]}


async def declared(client, settings):
    extensions = client.capabilities.get("extensions", {})
    same(extensions.get("io.modelcontextprotocol/skills"), {"directoryRead": True}, "extensions")


async def lists(client, settings):
    skill = (await listed(client))[FIXTURE]
    same(skill["frontmatter"]["metadata"]["author"], "Prowess", "frontmatter")
    same(len(skill["resources"]), 4, "files")
    folder = skill["uri"].removesuffix("SKILL.md")
    for entry in skill["resources"]:
        content = (await client.read(entry["uri"]))["contents"][0]
        data = base64.b64decode(content["blob"]) if "blob" in content else content["text"].encode()
        same(len(data), entry["size"], f"size of {entry['uri']}")
        same("sha256:" + hashlib.sha256(data).hexdigest(), entry["digest"], f"digest of {entry['uri']}")
        path = Path(settings["root"]) / FIXTURE / entry["uri"].removeprefix(folder)
        assert data == path.read_bytes(), f"{entry['uri']} is not what is on disk"


async def gets(client, settings):
    skill = (await listed(client))[FIXTURE]
    same((await client.request("skills/get", {"uri": skill["uri"]}))["skill"], skill, "skill")
    unknown = client.request("skills/get", {"uri": "skill://no-such-skill/SKILL.md"})
    same(await error_of(client, unknown), -32602, "a skill that is none")


async def directories(client, settings):
    uri = (await listed(client))[FIXTURE]["uri"]
    folder = uri.removesuffix("/SKILL.md")
    children = (await client.request("resources/directory/read", {"uri": folder}))["resources"]
    kinds = {child["uri"].removeprefix(folder + "/"): child.get("mimeType") for child in children}
    same(kinds["SKILL.md"], "text/markdown", "SKILL.md")
    for name in ["assets", "references", "scripts"]:
        same(kinds[name], "inode/directory", name)
    same(await error_of(client, client.request("resources/directory/read", {"uri": uri})), -32602, "a file")


CHECKS = [
    ("the extension is declared", declared),
    ("skills/list: every file with its size and digest, as resources/read gives it", lists),
    ("skills/get, also of what is not there", gets),
    ("resources/directory/read", directories),
]
