"""Helpers for the checks."""

import subprocess

import anyio


class Skipped(Exception):
    """Raised by a check that does not apply, with the reason."""


async def until(what, condition, seconds=15):
    """Waits until a condition holds. Fails with a description of the missing event."""
    for _ in range(seconds * 20):
        if condition():
            return
        await anyio.sleep(0.05)
    raise AssertionError(f"no {what} within {seconds} s")


def same(actual, expected, what=""):
    assert actual == expected, f"{what}: {actual!r} instead of {expected!r}"


def text_of(result):
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


async def error_of(client, request):
    """Returns the error code of a request. Fails if it succeeds."""
    try:
        await request
    except client.Error as error:
        return error.error.code
    raise AssertionError("the request succeeded")


def running(text):
    """Returns whether a process with this text in its command line is running."""
    return text in subprocess.run(["ps", "-A", "-ww", "-o", "args"], capture_output=True, text=True, check=True).stdout


async def uri_of(client, skill):
    """Returns the URI of the `SKILL.md` of a skill from the resources of the server."""
    uris = [resource["uri"] for resource in (await client.resources())["resources"]]
    found = [uri for uri in uris if uri.endswith(f"/{skill}/SKILL.md")]
    assert found, f"no resource is the SKILL.md of {skill}: {uris}"
    return found[0]
