"""Basic operations: initialize, list, read, call, complete."""

import base64
import json
import re

from tools import Skipped, error_of, same, text_of, uri_of

FIXTURE = "skills-system-validation"
BODY = "PROWESS_SKILL_MARKER_7F3A91D2"
READERS = ["skills_activate", "skills_readResource", "skills_listResources", "skills_search"]


async def initialise(client, settings):
    same(client.version, settings["expects"], "version")
    same(client.server["name"], "prowess", "name")
    assert re.match(r"\d+\.\d+\.\d+", client.server["version"]), client.server["version"]


async def instructions(client, settings):
    assert FIXTURE in (client.instructions or ""), f"no {FIXTURE} in {client.instructions!r}"
    assert "MARKER_" not in client.instructions, "the instructions contain the marker of a body"


async def capabilities(client, settings):
    capabilities = client.capabilities
    for what in ["tools", "prompts", "resources"]:
        same(capabilities[what].get("listChanged"), True, what)
    same(capabilities["resources"].get("subscribe"), True, "subscribe")
    assert "completions" in capabilities, "no completions"
    assert "logging" in capabilities or client.era != "legacy", "no logging"


async def ping(client, settings):
    if client.era != "legacy":
        raise Skipped("this version of the protocol has no ping")
    await client.ping()


async def tools(client, settings):
    named = {tool["name"]: tool for tool in (await client.tools())["tools"]}
    for name in [*READERS, "skills_run"]:
        assert name in named, f"no {name} among {list(named)}"
        same(named[name]["inputSchema"]["type"], "object", name)
        same(named[name].get("outputSchema", {}).get("type"), "object", f"output schema of {name}")
    for name in READERS:
        same(named[name].get("annotations", {}).get("readOnlyHint"), True, f"readOnlyHint of {name}")


async def activate(client, settings):
    result = await client.call("skills_activate", {"name": FIXTURE})
    assert not result.get("isError"), text_of(result)
    assert BODY in text_of(result), "the body's marker is missing"
    assert not re.search(r"PROWESS_REFERENCE_MARKER_\w", text_of(result)), "the body contains the marker of another file"
    assert BODY in json.dumps(result.get("structuredContent")), "the structured content has no body"


async def read_resource(client, settings):
    result = await client.call("skills_readResource", {"name": FIXTURE, "path": "references/REFERENCE.md"})
    assert re.search(r"PROWESS_REFERENCE_MARKER_\w+", text_of(result)), text_of(result)


async def image(client, settings):
    result = await client.call("skills_readResource", {"name": "pictures", "path": "assets/dot.png"})
    images = [part for part in result["content"] if part["type"] == "image"]
    assert images, json.dumps(result)[:200]
    same(images[0]["mimeType"], "image/png", "type")
    same(base64.b64decode(images[0]["data"])[1:4], b"PNG", "data")


async def list_and_search(client, settings):
    assert "scripts/echo.sh" in text_of(await client.call("skills_listResources", {"name": FIXTURE}))
    assert "temperature" in text_of(await client.call("skills_search", {"query": "convert a temperature", "k": 1}))


async def invalid_calls(client, settings):
    for name, arguments in [
        ("skills_activate", {"name": "no-such-skill-here"}),
        ("skills_readResource", {"name": FIXTURE, "path": "../SKILL.md"}),
        ("skills_readResource", {"name": FIXTURE, "path": "/etc/passwd"}),
    ]:
        result = await client.call(name, arguments)
        same(result.get("isError"), True, f"{name} {arguments}")
        assert BODY not in text_of(result) and "root:" not in text_of(result), "the result contains file content"
    same(await error_of(client, client.call("no_such_tool", {})), -32602, "unknown tool")


async def run(client, settings):
    steps = []

    async def progress(done, total, message):
        steps.append((done, total, message))

    arguments = {"name": FIXTURE, "script": "scripts/echo.sh", "args": ["hello", "two words"]}
    result = await client.call("skills_run", arguments, progress=progress)
    assert not result.get("isError"), text_of(result)
    for expected in ["PROWESS_SCRIPT_MARKER_", "arg: hello", "arg: two words"]:
        assert expected in text_of(result), f"no {expected} in {text_of(result)}"
    assert steps, "no progress was reported"


async def run_with_files(client, settings):
    inputs = [{"name": "in.txt", "text": "hello\n"}]
    arguments = {"name": "copies", "script": "scripts/copy.sh", "args": ["in.txt"], "inputs": inputs}
    result = await client.call("skills_run", arguments)
    assert not result.get("isError"), text_of(result)
    same(len(client.questions), 1, "the number of questions")
    message = client.questions[0]["message"]
    assert message.startswith("copies wants to run scripts/copy.sh") and "in.txt" in message, message
    link = next(block for block in result["content"] if block["type"] == "resource_link")
    same((link["name"], link["mimeType"], link["size"]), ("out/copy.txt", "text/plain", 6), "the link")
    same((await client.read(link["uri"]))["contents"][0]["text"], "hello\n", "the content")


async def resources(client, settings):
    uri = await uri_of(client, FIXTURE)
    content = (await client.read(uri))["contents"][0]
    same((content["uri"], content["mimeType"]), (uri, "text/markdown"), "content")
    assert content["text"].startswith("---\nname: skills-system-validation\n"), "the content differs from the file"
    dot = (await uri_of(client, "pictures")).removesuffix("SKILL.md") + "assets/dot.png"
    content = (await client.read(dot))["contents"][0]
    same(content["mimeType"], "image/png", "type")
    same(base64.b64decode(content["blob"])[1:4], b"PNG", "blob")


async def missing_resources(client, settings):
    directory = (await uri_of(client, FIXTURE)).removesuffix("SKILL.md")
    missing = -32002 if client.era == "legacy" else -32602
    for uri, code in [
        (directory + "no-such.md", missing),
        ("skill://no-such-skill/SKILL.md", missing),
        (directory + "../pictures/SKILL.md", -32602),
        (directory + "..%2fpictures%2fSKILL.md", -32602),
        (directory + "a%00b", -32602),
        ("file:///etc/passwd", -32602),
    ]:
        same(await error_of(client, client.read(uri)), code, uri)


async def templates(client, settings):
    found = [template["uriTemplate"] for template in (await client.templates())["resourceTemplates"]]
    found = [template for template in found if template.startswith("skill://")]
    assert found, "no template for skills"
    name, path = re.findall(r"\{[+#./;?&]?(\w+)\*?\}", found[0])[:2]
    names = await client.complete(found[0], name, "skills-sys")
    same(names["completion"]["values"], [FIXTURE], "names")
    paths = await client.complete(found[0], path, "ref", {name: FIXTURE})
    same(paths["completion"]["values"], ["references/REFERENCE.md"], "paths")


async def prompts(client, settings):
    named = {prompt["name"]: prompt for prompt in (await client.prompts())["prompts"]}
    assert "greet-user" in named, list(named)
    assert "kept-from-people" not in named, "a skill that users cannot invoke is a prompt"
    [argument] = named["greet-user"]["arguments"]
    messages = (await client.prompt("greet-user", {argument["name"]: "Ada Lovelace"}))["messages"]
    text = "\n".join(message["content"]["text"] for message in messages)
    assert "GREETING_MARKER_51C0" in text and "Greet Ada Lovelace in one" in text, text
    same(await error_of(client, client.prompt("kept-from-people")), -32602, "unknown prompt")


CHECKS = [
    ("initialise", initialise),
    ("instructions contain the catalog but no bodies", instructions),
    ("capabilities", capabilities),
    ("ping", ping),
    ("tools/list", tools),
    ("tools/call skills_activate", activate),
    ("tools/call skills_readResource", read_resource),
    ("tools/call skills_readResource of an image", image),
    ("tools/call skills_listResources and skills_search", list_and_search),
    ("invalid tools/call requests", invalid_calls),
    ("tools/call skills_run, with progress", run),
    ("tools/call skills_run, with a question, an input and an artifact", run_with_files),
    ("resources/list and resources/read", resources),
    ("resources/read of missing resources", missing_resources),
    ("resources/templates/list and completion of names and paths", templates),
    ("prompts/list and prompts/get", prompts),
]
