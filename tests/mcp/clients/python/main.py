"""Checks a server with one of the official Python clients. Usage: main.py SETTINGS, which are JSON.

`generation` (v1 or v2), `mode` for v2, `expects` the version of the protocol to be agreed on, `server` (a command or a
URL), `root` where the skills are. Prints a line for each check, and `done` at the end.
"""

import importlib
import json
import os
import sys

import anyio
import base
import changes
import extension
from tools import Skipped


def say(verdict, name, why=None):
    line = f"{verdict} {name}" if why is None else f"{verdict} {name}: {' '.join(str(why).split())}"
    print(line, flush=True)


def reason(error):
    """The innermost reason: task groups wrap what went wrong in them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def check_all(client, settings, left):
    while left:
        name, check = left[0]
        try:
            with anyio.fail_after(60):
                await check(client, settings)
            say("ok", name)
        except Skipped as skipped:
            say("left out", name, skipped)
        except Exception as error:
            say("failed", name, reason(error))
        left.pop(0)


async def main():
    settings = json.loads(sys.argv[1])
    generation = importlib.import_module(settings["generation"])
    left = [*base.CHECKS, *changes.CHECKS, *extension.CHECKS]
    with open(os.devnull, "w") as errlog:
        settings["errlog"] = errlog
        settings["open"] = lambda: generation.Client(settings)
        try:
            async with anyio.create_task_group() as tasks:
                settings["tasks"] = tasks
                async with settings["open"]() as client:
                    await check_all(client, settings, left)
                tasks.cancel_scope.cancel()
            say("ok", "close")
        except Exception as error:
            for name, _ in left:
                say("failed", name, f"there is no connection: {reason(error)}")
            say("failed", "close", reason(error))
    say("done", "")


anyio.run(main)
