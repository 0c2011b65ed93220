"""The HTTP interface as its own description has it, tried with schemathesis.

    python tests/http/run.py PROWESS

It starts the program with an empty home and with tokens, and sends what fits the description and what does not. The last line is
`N passed, N failed`; what is left out is named with the reason.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Operations that are not run, each with the reason.
LEFT_OUT = {
    "GET /api/events": "a stream that ends with the server; crates/server/tests/operate.rs reads it",
    "GET /api/chats/{id}/events": "a stream that ends with the server; crates/server/tests/chats.rs reads it",
}

# Checks that are not made, each with the reason.
UNCHECKED = {
    "positive_data_acceptance": "what fits a schema may still be refused: a chat that does not exist, a text of blanks",
}

TOKEN = "openapi-0123456789abcdef"
SEED, EXAMPLES = 7, 25


def main() -> int:
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "project").mkdir()
        environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "PROWESS_HOME": folder, "PROWESS_ADMIN_TOKEN": TOKEN,
        }
        command = [program, "serve", "--json", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "json", "--grace", "0"]
        with open(home / "log", "w") as log:
            server = subprocess.Popen(
                command, cwd=home / "project", env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
            try:
                url = json.loads(server.stdout.readline())["url"]
                return tried(url, home)
            finally:
                server.terminate()
                server.wait(30)
                panics = [line for line in (home / "log").read_text().splitlines() if "panicked" in line]
                for line in panics:
                    print(line)
                if panics:
                    print("0 passed, 1 failed")


def tried(url: str, home: pathlib.Path) -> int:
    schemathesis = pathlib.Path(sys.executable).parent / "schemathesis"
    report = home / "report.json"
    command = [
        schemathesis, "run", f"{url}openapi.json", "-H", f"Authorization: Bearer {TOKEN}", "--checks", "all",
        "--exclude-checks", ",".join(UNCHECKED), "--seed", str(SEED), "--max-examples", str(EXAMPLES),
        "--request-timeout", "10", "--continue-on-failure", "--report", "json", "--report-json-path", report,
        "--suppress-health-check", "all", "--generation-database", "none", "--workers", "2",
    ]
    for operation in LEFT_OUT:
        command += ["--exclude-name", operation]
    run = subprocess.run([str(part) for part in command], cwd=home, env={**os.environ, "HOME": str(home)})
    passed, failed = counted(report)
    print("left out, each with the reason:")
    for name, reason in (LEFT_OUT | UNCHECKED).items():
        print(f"    {name}: {reason}")
    if run.returncode != 0 and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def counted(report: pathlib.Path) -> tuple[int, int]:
    """How many operations passed, and how many did not."""
    told = json.loads(report.read_text())
    operations = told["operations"]
    wrong = {str(operation) for failure in told["failures"] for operation in failure["operations"]}
    failed = max(len(wrong), int(bool(told["failures"]))) + operations["errored"]
    # Whatever was not tried has not passed.
    failed += operations["selected"] - operations["tested"] + int(not told["complete"])
    return max(operations["tested"] - failed, 0), failed


if __name__ == "__main__":
    sys.exit(main())
