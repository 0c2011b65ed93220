"""Tests the HTTP API against its OpenAPI description with schemathesis.

    python tests/http/run.py PROWESS

Starts the server with an empty home directory and an access token, and sends valid and invalid requests. Skipped operations and
checks are listed with the reason. The last line is `N passed, N failed`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Operations that are not tested, with the reason.
SKIPPED_OPERATIONS = {
    "GET /api/events": "an endless stream; tested by crates/server/tests/it/operations.rs",
    "GET /api/chats/{id}/events": "an endless stream; tested by crates/server/tests/it/chats.rs",
}

# Checks that are disabled, with the reason.
SKIPPED_CHECKS = {
    "positive_data_acceptance": "a request that matches its schema may be rejected, for example for an unknown chat or a blank text",
}

TOKEN = "openapi-0123456789abcdef"
SEED, EXAMPLES = 7, 25


def main() -> int:
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        (home / "project").mkdir()
        environment = {
            "PATH": os.environ["PATH"], "HOME": directory, "PROWESS_HOME": directory, "PROWESS_ADMIN_TOKEN": TOKEN,
        }
        command = [program, "serve", "--json", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "json", "--grace", "0"]
        with open(home / "log", "w") as log:
            server = subprocess.Popen(
                command, cwd=home / "project", env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
            try:
                url = json.loads(server.stdout.readline())["url"]
                return run_schemathesis(url, home)
            finally:
                server.terminate()
                server.wait(30)
                panics = [line for line in (home / "log").read_text().splitlines() if "panicked" in line]
                for line in panics:
                    print(line)
                if panics:
                    print("0 passed, 1 failed")


def run_schemathesis(url: str, home: pathlib.Path) -> int:
    schemathesis = pathlib.Path(sys.executable).parent / "schemathesis"
    report = home / "report.json"
    command = [
        schemathesis, "run", f"{url}openapi.json", "-H", f"Authorization: Bearer {TOKEN}", "--checks", "all",
        "--exclude-checks", ",".join(SKIPPED_CHECKS), "--seed", str(SEED), "--max-examples", str(EXAMPLES),
        "--request-timeout", "10", "--continue-on-failure", "--report", "json", "--report-json-path", report,
        "--suppress-health-check", "all", "--generation-database", "none", "--workers", "2",
    ]
    for operation in SKIPPED_OPERATIONS:
        command += ["--exclude-name", operation]
    run = subprocess.run([str(part) for part in command], cwd=home, env={**os.environ, "HOME": str(home)})
    passed, failed = count_operations(report)
    print("skipped: see the reason of each")
    for name, reason in (SKIPPED_OPERATIONS | SKIPPED_CHECKS).items():
        print(f"    {name}: {reason}")
    if run.returncode != 0 and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def count_operations(report: pathlib.Path) -> tuple[int, int]:
    """Returns how many operations passed and failed."""
    results = json.loads(report.read_text())
    operations = results["operations"]
    failing = {str(operation) for failure in results["failures"] for operation in failure["operations"]}
    failed = max(len(failing), int(bool(results["failures"]))) + operations["errored"]
    # Operations that were not tested count as failed.
    failed += operations["selected"] - operations["tested"] + int(not results["complete"])
    return max(operations["tested"] - failed, 0), failed


if __name__ == "__main__":
    sys.exit(main())
