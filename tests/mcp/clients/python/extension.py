"""The skills extension: the list is complete, and the files match it."""

import base64
import hashlib
from pathlib import Path

from tools import error_of, same

FIXTURE = "skills-system-validation"


async def list_skills(client):
    skills, params = [], {}
    while True:
        page = await client.request("skills/list", params)
        skills += page["skills"]
        if not page.get("nextCursor"):
            return {skill["frontmatter"]["name"]: skill for skill in skills}
        params = {"cursor": page["nextCursor"]}


async def declaration(client, settings):
    extensions = client.capabilities.get("extensions", {})
    same(extensions.get("io.modelcontextprotocol/skills"), {"directoryRead": True}, "extensions")


async def skills_list(client, settings):
    skill = (await list_skills(client))[FIXTURE]
    same(skill["frontmatter"]["metadata"]["author"], "Prowess", "frontmatter")
    same(len(skill["resources"]), 4, "files")
    directory = skill["uri"].removesuffix("SKILL.md")
    for entry in skill["resources"]:
        content = (await client.read(entry["uri"]))["contents"][0]
        data = base64.b64decode(content["blob"]) if "blob" in content else content["text"].encode()
        same(len(data), entry["size"], f"size of {entry['uri']}")
        same("sha256:" + hashlib.sha256(data).hexdigest(), entry["digest"], f"digest of {entry['uri']}")
        path = Path(settings["root"]) / FIXTURE / entry["uri"].removeprefix(directory)
        assert data == path.read_bytes(), f"{entry['uri']} differs from the file on disk"


async def skills_get(client, settings):
    skill = (await list_skills(client))[FIXTURE]
    same((await client.request("skills/get", {"uri": skill["uri"]}))["skill"], skill, "skill")
    unknown = client.request("skills/get", {"uri": "skill://no-such-skill/SKILL.md"})
    same(await error_of(client, unknown), -32602, "unknown skill")


async def directories(client, settings):
    uri = (await list_skills(client))[FIXTURE]["uri"]
    directory = uri.removesuffix("/SKILL.md")
    children = (await client.request("resources/directory/read", {"uri": directory}))["resources"]
    kinds = {child["uri"].removeprefix(directory + "/"): child.get("mimeType") for child in children}
    same(kinds["SKILL.md"], "text/markdown", "SKILL.md")
    for name in ["assets", "references", "scripts"]:
        same(kinds[name], "inode/directory", name)
    same(await error_of(client, client.request("resources/directory/read", {"uri": uri})), -32602, "a file")


CHECKS = [
    ("the extension is declared", declaration),
    ("skills/list: sizes and digests match resources/read", skills_list),
    ("skills/get, also of unknown skills", skills_get),
    ("resources/directory/read", directories),
]
