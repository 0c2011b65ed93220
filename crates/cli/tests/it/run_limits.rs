//! Limits and environment of scripts.

use crate::support::TestEnv;
use serde_json::{Value, json};

/// Prints the limits of the shell: memory in KiB, file size in blocks of 512 bytes, open files.
const LIMITS: &str = "#!/bin/sh\nulimit -d; ulimit -f; ulimit -n\n";

fn env() -> TestEnv {
    let env = TestEnv::bare()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1");
    env
        .skill("~/.agents/skills/s")
        .file("~/.agents/skills/s/limits.sh", LIMITS)
        .file("~/.agents/skills/s/x.sh", "#!/bin/sh\nprintf 0123456789\n")
        .file("~/.agents/skills/s/sleep.sh", "#!/bin/sh\nsleep 30\n")
        .file("~/.agents/skills/s/fill.sh", "#!/bin/sh\nhead -c 300000 /dev/zero > \"$HOME/f\"; sleep 30\n")
        .file(
            "~/.agents/skills/s/hog.py",
            "import mmap, time\nm = mmap.mmap(-1, 100 << 20)\nfor i in range(0, 100 << 20, 4096): m[i] = 1\ntime.sleep(30)\n",
        )
        .file(
            "~/.agents/skills/s/many.sh",
            "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do sleep 30 & done 2>/dev/null\nsleep 30\n",
        );
    env
}

fn run(env: &TestEnv, call: &[&str]) -> Value {
    let mut args = vec!["run", "s"];
    args.extend(call);
    args.insert(3, "--json");
    env.run(&args).json()
}

/// Valid values are tested with the configuration. This tests that the limits apply to scripts.
#[test]
fn projects_can_lower_limits_and_only_users_can_raise_them() {
    let (usual, out) = ("2097152\n131072\n256\n", |env: &TestEnv| run(env, &["limits.sh"])["stdout"].clone());
    assert_eq!(out(&env()), usual);
    let lower = "run.memory-bytes = 104857600\nrun.file-bytes = 1048576\nrun.open-files = 20\n";
    let higher = "run.memory-bytes = 4294967296\nrun.file-bytes = 134217728\nrun.open-files = 300\n";
    let lowered = env();
    lowered.file(".prowess/config.toml", lower);
    assert_eq!(out(&lowered), "102400\n2048\n20\n");
    let raised = env();
    raised.file(".prowess/config.toml", higher);
    assert_eq!(out(&raised), usual);
    assert_eq!(raised.run(&["run", "s", "limits.sh"]).err.matches("warning[SK095]").count(), 3);
    let by_user = env();
    by_user.file("~/.prowess/config.toml", higher);
    assert_eq!(out(&by_user), "4194304\n262144\n300\n");

    // Limits that Prowess enforces itself and reports.
    for (key, value, call, hit) in [
        ("run.output-bytes", 4, "x.sh", json!(["output"])),
        ("run.script-timeout-ms", 200, "sleep.sh", json!(["time"])),
        ("run.scratch-bytes", 100_000, "fill.sh", json!(["scratch"])),
        ("run.memory-bytes", 50_000_000, "hog.py", json!(["memory"])),
    ] {
        let env = env();
        env.file(".prowess/config.toml", format!("{key} = {value}\n"));
        assert_eq!(run(&env, &[call])["limits_hit"], hit, "{key}");
    }
    let env = env();
    env.file(".prowess/config.toml", "run.processes = 4\nrun.script-timeout-ms = 1500\n");
    let answer = run(&env, &["many.sh"]);
    // Other processes of the same user count, unless the tests run as root.
    if rustix::process::geteuid().is_root() {
        assert!(answer["limits_hit"].as_array().unwrap().contains(&json!("processes")), "{answer}");
    }
    env.file(".prowess/config.toml", "run.arguments = 1\nrun.argument-bytes = 3\n");
    let refused = |args: &[&str]| run(&env, args)["error"]["message"].clone();
    assert_eq!(refused(&["x.sh", "--", "a", "b"]), "too many arguments: 2; the maximum is 1");
    assert_eq!(refused(&["x.sh", "--", "abcd"]), "the arguments have 4 bytes; the maximum is 3");
    env.file(".prowess/config.toml", "run.arguments = 101\n");
    assert_eq!(
        refused(&[&["x.sh", "--"][..], &["a"; 101]].concat()),
        "too many arguments: 101; the maximum is 100"
    );
    env.file("~/.prowess/config.toml", "run.arguments = 101\n");
    assert_eq!(run(&env, &[&["x.sh", "--"][..], &["a"; 101]].concat())["exit_code"], 0);
}

#[test]
fn s002_16_the_configured_timeout_applies_to_scripts() {
    let env = TestEnv::new()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("PROWESS_PRESET", "harness");
    env.skill("~/.agent/skills/s")
        .file("~/.agent/skills/s/sleep.sh", "#!/bin/sh\nsleep 30\n")
        .file("~/.agent/config.yaml", "skills:\n  scriptTimeout: 200\n");
    let answer = run(&env, &["sleep.sh"]);
    assert_eq!((&answer["timed_out"], &answer["limits_hit"]), (&json!(true), &json!(["time"])), "{answer}");
}

/// Variables and files that make programs run other code first.
#[test]
fn variables_and_adjacent_files_cannot_inject_code() {
    let evil = "~/.agents/skills/s/evil";
    let mut env = env();
    let at = env.path(evil).display().to_string();
    for (name, value) in [
        ("BASH_ENV", format!("{at}.sh")),
        ("ENV", format!("{at}.sh")),
        ("LD_PRELOAD", format!("{at}.so")),
        ("LD_LIBRARY_PATH", at.clone()),
        ("NODE_OPTIONS", format!("--require {at}.js")),
        ("PYTHONSTARTUP", format!("{at}.py")),
        ("PYTHONPATH", at.clone()),
        ("PERL5OPT", format!("-I{at} -Mevil")),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
    ] {
        env = env.variable(name, &value);
    }
    for ending in ["sh", "js", "py"] {
        let text = if ending == "sh" { "echo EVIL\n" } else { "print('EVIL')\n" };
        env.file(&format!("{evil}.{ending}"), text);
    }
    env.file(&format!("{evil}/sitecustomize.py"), "print('EVIL')\n")
        .file(&format!("{evil}/evil.pm"), "print \"EVIL\\n\"; 1;\n");
    for (name, text) in [
        (".bashrc", "echo EVIL\n"),
        (".profile", "echo EVIL\n"),
        (".bash_profile", "echo EVIL\n"),
        ("sitecustomize.py", "print('EVIL')\n"),
        ("usercustomize.py", "print('EVIL')\n"),
        (".npmrc", "node-options=--require ./evil.js\n"),
        ("package.json", "{\"main\": \"evil.js\"}"),
    ] {
        env.file(&format!("~/.agents/skills/s/{name}"), text);
    }
    for (name, text) in [
        ("a.sh", "#!/bin/sh\nenv | cut -d= -f1 | sort\n"),
        ("a.bash", "#!/bin/bash\nenv | cut -d= -f1 | sort\n"),
        ("a.py", "import os\nprint(*sorted(os.environ), sep='\\n')\n"),
        ("a.js", "console.log(Object.keys(process.env).sort().join('\\n'))\n"),
        ("a.pl", "print join(\"\\n\", sort keys %ENV), \"\\n\";\n"),
    ] {
        env.file(&format!("~/.agents/skills/s/{name}"), text);
        let answer = run(&env, &[name]);
        let result = answer["stdout"].as_str().unwrap();
        // Shells set these themselves. PYTHONPATH contains only directories of the run.
        let names: Vec<_> = result
            .lines()
            .filter(|name| {
                !["PWD", "SHLVL", "_", "LC_CTYPE", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "XDG_CONFIG_HOME"]
                    .contains(name)
            })
            .collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR"], "{name}: {answer}");
    }
}
