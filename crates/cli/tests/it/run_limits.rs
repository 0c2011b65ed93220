//! The limits of scripts as they are configured, and what does not get to a script.

use crate::world::World;
use serde_json::{Value, json};

/// What a shell is told about its own limits: memory in KiB, the largest file in blocks of 512 bytes, open files.
const LIMITS: &str = "#!/bin/sh\nulimit -d; ulimit -f; ulimit -n\n";

fn world() -> World {
    let world =
        World::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin").variable("PROWESS_ALLOW_SCRIPTS", "1");
    world
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
    world
}

fn run(world: &World, call: &[&str]) -> Value {
    let mut args = vec!["run", "s"];
    args.extend(call);
    args.insert(3, "--json");
    world.run(&args).json()
}

/// Which values are taken is tested with the configuration; here, that they are what holds a script.
#[test]
fn a_project_lowers_limits_and_only_the_user_raises_them() {
    let (usual, out) =
        ("2097152\n131072\n256\n", |world: &World| run(world, &["limits.sh"])["stdout"].clone());
    assert_eq!(out(&world()), usual);
    let lower = "run.memory-bytes = 104857600\nrun.file-bytes = 1048576\nrun.open-files = 20\n";
    let higher = "run.memory-bytes = 4294967296\nrun.file-bytes = 134217728\nrun.open-files = 300\n";
    let lowered = world();
    lowered.file(".prowess/config.toml", lower);
    assert_eq!(out(&lowered), "102400\n2048\n20\n");
    let raised = world();
    raised.file(".prowess/config.toml", higher);
    assert_eq!(out(&raised), usual);
    assert_eq!(raised.run(&["run", "s", "limits.sh"]).err.matches("warning[SK095]").count(), 3);
    let by_user = world();
    by_user.file("~/.prowess/config.toml", higher);
    assert_eq!(out(&by_user), "4194304\n262144\n300\n");

    // What Prowess itself ends for it, and says so.
    for (key, value, call, hit) in [
        ("run.output-bytes", 4, "x.sh", json!(["output"])),
        ("run.script-timeout-ms", 200, "sleep.sh", json!(["time"])),
        ("run.scratch-bytes", 100_000, "fill.sh", json!(["scratch"])),
        ("run.memory-bytes", 50_000_000, "hog.py", json!(["memory"])),
    ] {
        let world = world();
        world.file(".prowess/config.toml", format!("{key} = {value}\n"));
        assert_eq!(run(&world, &[call])["limits_hit"], hit, "{key}");
    }
    let world = world();
    world.file(".prowess/config.toml", "run.processes = 4\nrun.script-timeout-ms = 1500\n");
    let answer = run(&world, &["many.sh"]);
    // Whom else this user has running counts, where the tests are not run by root.
    if rustix::process::geteuid().is_root() {
        assert!(answer["limits_hit"].as_array().unwrap().contains(&json!("processes")), "{answer}");
    }
    world.file(".prowess/config.toml", "run.arguments = 1\nrun.argument-bytes = 3\n");
    let refused = |args: &[&str]| run(&world, args)["error"]["message"].clone();
    assert_eq!(refused(&["x.sh", "--", "a", "b"]), "there are 2 arguments; at most 1 are passed");
    assert_eq!(refused(&["x.sh", "--", "abcd"]), "the arguments have 4 bytes; at most 3 are passed");
    world.file(".prowess/config.toml", "run.arguments = 101\n");
    assert_eq!(
        refused(&[&["x.sh", "--"][..], &["a"; 101]].concat()),
        "there are 101 arguments; at most 100 are passed"
    );
    world.file("~/.prowess/config.toml", "run.arguments = 101\n");
    assert_eq!(run(&world, &[&["x.sh", "--"][..], &["a"; 101]].concat())["exit_code"], 0);
}

#[test]
fn s002_16_the_time_that_the_harness_configures_holds_a_script() {
    let world = World::new()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("PROWESS_PRESET", "harness");
    world
        .skill("~/.agent/skills/s")
        .file("~/.agent/skills/s/sleep.sh", "#!/bin/sh\nsleep 30\n")
        .file("~/.agent/config.yaml", "skills:\n  scriptTimeout: 200\n");
    let answer = run(&world, &["sleep.sh"]);
    assert_eq!((&answer["timed_out"], &answer["limits_hit"]), (&json!(true), &json!(["time"])), "{answer}");
}

/// Variables and files by which programs are made to run something else first.
#[test]
fn neither_variables_nor_files_beside_a_script_run_something_else() {
    let evil = "~/.agents/skills/s/evil";
    let mut world = world();
    let at = world.path(evil).display().to_string();
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
        world = world.variable(name, &value);
    }
    for ending in ["sh", "js", "py"] {
        let text = if ending == "sh" { "echo EVIL\n" } else { "print('EVIL')\n" };
        world.file(&format!("{evil}.{ending}"), text);
    }
    world
        .file(&format!("{evil}/sitecustomize.py"), "print('EVIL')\n")
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
        world.file(&format!("~/.agents/skills/s/{name}"), text);
    }
    for (name, text) in [
        ("a.sh", "#!/bin/sh\nenv | cut -d= -f1 | sort\n"),
        ("a.bash", "#!/bin/bash\nenv | cut -d= -f1 | sort\n"),
        ("a.py", "import os\nprint(*sorted(os.environ), sep='\\n')\n"),
        ("a.js", "console.log(Object.keys(process.env).sort().join('\\n'))\n"),
        ("a.pl", "print join(\"\\n\", sort keys %ENV), \"\\n\";\n"),
    ] {
        world.file(&format!("~/.agents/skills/s/{name}"), text);
        let answer = run(&world, &[name]);
        let told = answer["stdout"].as_str().unwrap();
        // Shells add these by themselves.
        let names: Vec<_> =
            told.lines().filter(|name| !["PWD", "SHLVL", "_", "LC_CTYPE"].contains(name)).collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR"], "{name}: {answer}");
    }
}
