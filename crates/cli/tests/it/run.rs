//! `prowess run`, and what other commands say of scripts.

use crate::world::{Told, World, keys};
use insta::assert_snapshot;
use serde_json::json;

const SKILL: &str = "skills-system-validation";
const SCRIPT: &str = "scripts/echo.sh";

fn world() -> World {
    let world = World::new().variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    world
        .file(
            "~/.prowess/skills/s/SKILL.md",
            "---\nname: s\ndescription: A skill.\nmetadata:\n  env: TOKEN SECRET\n---\n\nDo it.\n",
        )
        .file("~/.prowess/skills/s/fail.sh", "#!/bin/sh\necho out; printf '\\033[31mred\\n' >&2; exit 7\n")
        .file("~/.prowess/skills/s/cat.sh", "#!/bin/sh\ncat; echo \"$TOKEN\" \"$SECRET\"\n")
        .file("~/.prowess/skills/s/sleep.sh", "#!/bin/sh\nsleep 30\n")
        .file("~/.prowess/skills/s/flood.sh", "#!/bin/sh\nyes\n");
    world
}

fn allowed() -> World {
    world().variable("PROWESS_ALLOW_SCRIPTS", "1")
}

/// Without what differs from run to run and from machine to machine.
fn steady(told: &Told) -> String {
    let mut whole = String::new();
    for line in told.whole().lines() {
        let line = match line.split_once("sandbox tier") {
            Some((before, rest)) => {
                let (tier, _) = rest.split_at(1);
                let end = rest.rsplit_once(", ").map_or(rest, |(how, _)| how);
                format!("{before}sandbox tier{}, [N] ms", end.replacen(tier, "[N]", 1))
            }
            None => line.to_owned(),
        };
        // Why there is no better tier.
        if !line.starts_with("tier1 cannot be enforced") {
            whole += &format!("{line}\n");
        }
    }
    whole
}

#[test]
fn the_fixture_prints_its_marker() {
    let world = allowed();
    let told = world.run(&["run", SKILL, SCRIPT, "--", "hello", "two words"]);
    assert_snapshot!(steady(&told));
    let answer = world.run(&["run", SKILL, SCRIPT, "--json", "--", "--json"]).json();
    assert_eq!(answer["stdout"], "PROWESS_SCRIPT_MARKER_E9810C5F\narg: --json\n");
    let fields = [
        "cancelled",
        "digest",
        "duration_ms",
        "exit_code",
        "left_behind",
        "limits_hit",
        "sandbox",
        "schema",
        "signal",
        "stderr",
        "stdout",
        "timed_out",
        "truncated",
    ];
    assert_eq!(keys(&answer), fields);
    assert!(["tier1", "tier2"].contains(&answer["sandbox"].as_str().unwrap()), "{answer}");
    let call = json!({"name": SKILL, "script": SCRIPT, "args": ["a b"]}).to_string();
    let envelope = world.run(&["call", "skills.run", &call]).json();
    assert_eq!(
        (&envelope["status"], &envelope["text"]),
        (&json!("success"), &json!("PROWESS_SCRIPT_MARKER_E9810C5F\narg: a b\n"))
    );
}

#[test]
fn scripts_are_off_until_allowed() {
    let world = world();
    assert_snapshot!(
        world
            .runs(&[
                &["run", SKILL, SCRIPT],
                &["run", SKILL, SCRIPT, "--json"],
                &["call", "skills.run", "{\"name\":\"s\",\"script\":\"fail.sh\"}"],
            ])
            .split("\"stats\"")
            .next()
            .unwrap()
    );
    assert!(!world.run(&["tools"]).out.contains("skills.run"));
    world.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    assert!(world.run(&["tools"]).out.contains("skills.run(name, script, args?)"));
    assert_eq!(world.run(&["run", "s", "fail.sh"]).code, 1);
    assert_eq!(world.run(&["run", SKILL, SCRIPT, "--json"]).error().0, "ACCESS_DENIED");
    // A project cannot allow anything, but can forbid everything.
    world.file(
        ".prowess/config.toml",
        format!("run.scripts = \"allowed\"\nrun.allowed-skills = [\"{SKILL}\"]\n"),
    );
    assert_eq!(world.run(&["run", SKILL, SCRIPT, "--json"]).error().0, "ACCESS_DENIED");
    world.file(".prowess/config.toml", "run.scripts = \"never\"\n");
    assert_eq!(world.run(&["run", "s", "fail.sh", "--json"]).error().0, "ACCESS_DENIED");
}

#[test]
fn how_scripts_end() {
    let world = allowed();
    let calls: [&[&str]; 5] = [
        &["run", "s", "fail.sh"],
        &["run", "s", "sleep.sh", "--timeout", "1"],
        &["run", "s", "SKILL.md"],
        &["run", "s", "../x"],
        &["run", "s", "fial.sh"],
    ];
    let told: Vec<_> = calls.iter().map(|call| steady(&world.run(call))).collect();
    assert_snapshot!(told.join("\n"));
    let flood = world.run(&["run", "s", "flood.sh", "--json"]);
    let answer = flood.json();
    assert_eq!(
        (flood.code, &answer["truncated"], &answer["limits_hit"]),
        (1, &json!(true), &json!(["output"]))
    );
    let call = |script: &str| {
        let call = json!({"name": "s", "script": script}).to_string();
        let envelope = world.run(&["call", "skills.run", &call]).json();
        (envelope["status"].clone(), envelope["error"]["code"].clone(), envelope["data"]["exit_code"].clone())
    };
    assert_eq!(call("fail.sh"), (json!("error"), json!("EXECUTION_ERROR"), json!(7)));
    assert_eq!(call("flood.sh"), (json!("partial"), json!(null), json!(null)));
    assert_eq!(call("none.sh"), (json!("error"), json!("NOT_FOUND"), json!(null)));
    world.file("~/.prowess/config.toml", "run.script-timeout-ms = 300\n");
    assert_eq!(call("sleep.sh"), (json!("error"), json!("TIMEOUT"), json!(null)));
}

#[test]
fn json_and_granted_variables_go_in() {
    let world = allowed().variable("TOKEN", "t0ken").variable("SECRET", "s3cret");
    world.file("~/.prowess/config.toml", "run.env = [\"s:TOKEN\"]\n");
    let told = world.run_with(&["run", "s", "cat.sh", "--stdin-json", "-"], " {\"a\" : [1]} ");
    assert_eq!(told.out, "{\"a\":[1]}\nt0ken \n");
    let told = world.run(&["run", "s", "cat.sh", "--stdin-json", "{", "--json"]);
    assert_eq!(told.error().0, "INVALID_PARAM");
    let info = world.run(&["info", "s", "--json"]).json();
    assert_eq!(
        info["env"],
        json!([{"name": "TOKEN", "granted": true, "set": true}, {"name": "SECRET", "granted": false, "set": true}])
    );
    let told = world.run(&["info", "s"]).out;
    assert!(told.contains("needs SECRET             set, not granted: see run.env\n"), "{told}");
    let told = world.run(&["doctor"]).out;
    assert!(told.contains("SECRET is not granted to s, which needs it"), "{told}");
    assert!(!told.contains("TOKEN"), "{told}");
}

#[test]
fn the_log_tells_what_was_run() {
    let world = allowed();
    world.run(&["run", "s", "fail.sh"]);
    world.run(&["run", SKILL, SCRIPT]);
    let runs = world.run(&["run", "--log", "--json"]).json();
    let told: Vec<_> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["skill"].clone(), run["end"]["exit_code"].clone()))
        .collect();
    assert_eq!(told, [(json!(SKILL), json!(0)), (json!("s"), json!(7))]);
    let told = world.run(&["run", "--log", "-n", "1"]);
    assert!(told.out.contains(&format!("{SKILL} {SCRIPT}  exit code 0\n")), "{}", told.out);
    assert_eq!(told.out.lines().count(), 1);
    assert_eq!(World::new().run(&["run", "--log"]).err, "nothing was run yet\n");
}
