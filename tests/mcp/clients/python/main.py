"""Checks a server with one of the official Python clients. Usage: main.py SETTINGS.

The settings are JSON: `generation` is v1 or v2, `mode` is for v2, `expects` is the protocol version to negotiate, `server` is a
command or a URL, and `root` is the directory of the skills. Prints a line per check, and `done` at the end.
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


def report(status, name, why=None):
    line = f"{status} {name}" if why is None else f"{status} {name}: {' '.join(str(why).split())}"
    print(line, flush=True)


def reason(error):
    """Returns the innermost error, because task groups wrap errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def check_all(client, settings, remaining):
    while remaining:
        name, check = remaining[0]
        try:
            with anyio.fail_after(60):
                await check(client, settings)
            report("ok", name)
        except Skipped as skipped:
            report("skipped", name, skipped)
        except Exception as error:
            report("failed", name, reason(error))
        remaining.pop(0)


async def main():
    settings = json.loads(sys.argv[1])
    generation = importlib.import_module(settings["generation"])
    remaining = [*base.CHECKS, *changes.CHECKS, *extension.CHECKS]
    with open(os.devnull, "w") as errlog:
        settings["errlog"] = errlog
        settings["open"] = lambda: generation.Client(settings)
        try:
            async with anyio.create_task_group() as tasks:
                settings["tasks"] = tasks
                async with settings["open"]() as client:
                    await check_all(client, settings, remaining)
                tasks.cancel_scope.cancel()
            report("ok", "close")
        except Exception as error:
            for name, _ in remaining:
                report("failed", name, f"cannot connect: {reason(error)}")
            report("failed", "close", reason(error))
    report("done", "")


anyio.run(main)
