"""What the checks have in common."""

import subprocess

import anyio


class Skipped(Exception):
    """Raised by a check that does not apply, with the reason."""


async def until(what, condition, seconds=15):
    """Waits until a condition holds; says what was missing if it never does."""
    for _ in range(seconds * 20):
        if condition():
            return
        await anyio.sleep(0.05)
    raise AssertionError(f"after {seconds} s there is still no {what}")


def same(seen, wanted, what=""):
    assert seen == wanted, f"{what}: {seen!r} instead of {wanted!r}"


def text_of(result):
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


async def error_of(client, request):
    """The error that a request ends with."""
    try:
        await request
    except client.Error as error:
        return error.error.code
    raise AssertionError("it succeeded")


def running(words):
    """Whether a process with these words in its call is there."""
    return words in subprocess.run(["ps", "-A", "-ww", "-o", "args"], capture_output=True, text=True, check=True).stdout


async def uri_of(client, skill):
    """Where the `SKILL.md` of a skill is, by what the server lists."""
    uris = [resource["uri"] for resource in (await client.resources())["resources"]]
    found = [uri for uri in uris if uri.endswith(f"/{skill}/SKILL.md")]
    assert found, f"no resource is the SKILL.md of {skill}: {uris}"
    return found[0]
