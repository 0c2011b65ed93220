# Runs inside the sandbox: starts the installer, then compiles what it installed.
import json
import os
import subprocess
import sys

NO_PIP = 97

with open(sys.argv[1], encoding="utf-8") as file:
    plan = json.load(file)


def find_pip():
    """Returns the command of pip: that of the interpreter, or one in a throw-away virtual environment."""
    try:
        import pip

        if tuple(int(part) for part in pip.__version__.split(".")[:2]) >= (22, 2):
            return [sys.executable, "-I", "-m", "pip"]
    except Exception:
        pass
    target = os.path.join(plan["scratch"], "venv")
    made = subprocess.run([sys.executable, "-I", "-m", "venv", target], stdout=subprocess.DEVNULL)
    if made.returncode != 0:
        sys.exit(NO_PIP)
    return [os.path.join(target, "bin", "python"), "-I", "-m", "pip"]


command = plan["command"]
if command[0] == "pip":
    command = find_pip() + command[1:]
done = subprocess.run(command)
if done.returncode != 0:
    sys.exit(done.returncode if done.returncode > 0 else 1)

installed = plan.get("installed")
if installed:
    packages = os.path.join(installed, "site-packages")
    os.makedirs(packages, exist_ok=True)
    # With a target directory, programs are installed into it.
    programs = os.path.join(packages, "bin")
    if os.path.isdir(programs):
        os.rename(programs, os.path.join(installed, "bin"))
    # The files are read-only later, and times are not compared then.
    compile_all = [sys.executable, "-I", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    if sys.version_info >= (3, 9):
        compile_all += ["-s", installed, "-p", plan["final"]]
    # Some packages contain files for other versions, which do not compile.
    subprocess.run(compile_all + [packages], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
