"""Events during a connection: logging, cancellation, subscriptions, other sessions."""

import os
import shutil
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from tools import Skipped, error_of, running, same, text_of, until, uri_of

LOG = "notifications/message"


def has(client, method, since=0):
    return any(notification["method"] == method for notification in client.notifications[since:])


async def logging(client, settings):
    async def call(level=None):
        await client.call("skills_activate", {"name": "greet-user"}, level=level)

    if client.era == "legacy":
        same(await error_of(client, client.request("logging/setLevel", {"level": "loud"})), -32602, "unknown level")
        await client.set_level("debug")
    begin = len(client.notifications)
    await call("debug")
    await until("log message at level debug", lambda: has(client, LOG, begin))
    if client.era == "legacy":
        await client.set_level("emergency")
    await anyio.sleep(0.2)
    begin = len(client.notifications)
    await call()
    await anyio.sleep(0.5)
    assert not has(client, LOG, begin), "a log message above the requested level"


async def cancelling(client, settings):
    # A duration that no other process uses.
    seconds = f"300.{os.getpid()}{int(time.time()) % 100000}"
    arguments = {"name": "patience", "script": "scripts/wait.sh", "args": [seconds]}

    async def call():
        try:
            await client.call("skills_run", arguments)
        except client.Error:
            pass

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await until("process of the script", lambda: running(f"sleep {seconds}"))
        await client.cancel_last()
        tasks.cancel_scope.cancel()
    await until("end of the script's process", lambda: not running(f"sleep {seconds}"))
    assert (await client.tools())["tools"], "no tools are listed after a cancelled call"


@asynccontextmanager
async def listening(client, uri):
    await client.listen(uri)
    try:
        yield
    finally:
        await client.unlisten(uri)


async def subscribing(client, settings):
    root = Path(settings["root"])
    uri = await uri_of(client, "greet-user")
    async with listening(client, uri):
        await follow_changes(client, root, uri)


async def follow_changes(client, root, uri):
    begin = len(client.notifications)
    with open(root / "greet-user/SKILL.md", "a", encoding="utf-8") as file:
        file.write("\nSay it twice.\n")
    expected = ("notifications/resources/updated", uri)

    def updated():
        notifications = client.notifications[begin:]
        return any((entry["method"], (entry.get("params") or {}).get("uri")) == expected for entry in notifications)

    await until(expected[0], updated)
    assert "Say it twice." in (await client.read(uri))["contents"][0]["text"], "the text was not updated"

    name = f"new-{os.getpid()}"
    for exists in [True, False]:
        since = len(client.notifications)
        if exists:
            (root / name).mkdir()
            text = f"---\nname: {name}\ndescription: Comes and goes.\n---\nHere.\n"
            (root / name / "SKILL.md").write_text(text, encoding="utf-8")
        else:
            shutil.rmtree(root / name)
        for method in ["notifications/resources/list_changed", "notifications/prompts/list_changed"]:
            await until(method, lambda method=method, since=since: has(client, method, since))

        # The notification may be about a skill of another process.
        for _ in range(300):
            names = [prompt["name"] for prompt in (await client.prompts())["prompts"]]
            if (name in names) == exists:
                break
            await anyio.sleep(0.05)
        same(name in names, exists, f"the prompt {name}")


async def toolsets(client, settings):
    if client.era != "legacy" and "url" in settings["server"]:
        raise Skipped("over HTTP, this protocol version has no sessions to activate a skill in")

    async def names(session):
        return [tool["name"] for tool in (await session.tools())["tools"]]

    assert "to_kelvin" not in await names(client), "to_kelvin is listed before its skill is active"
    async with listening(client, await uri_of(client, "temperature")):
        begin = len(client.notifications)
        await client.call("skills_activate", {"name": "temperature"})
        changed = "notifications/tools/list_changed"
        await until(changed, lambda: has(client, changed, begin))
    assert "to_kelvin" in await names(client), "to_kelvin is not listed"
    assert "273.15 K" in text_of(await client.call("to_kelvin", {"celsius": 0}))
    async with settings["open"]() as other:
        assert "to_kelvin" not in await names(other), "to_kelvin is listed in another session"


CHECKS = [
    ("logging at a level", logging),
    ("cancelling a running script", cancelling),
    ("subscribing: a skill edited, added and removed on disk", subscribing),
    ("activating a skill adds its tools to this session only", toolsets),
]
