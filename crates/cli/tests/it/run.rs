//! `prowess run`, and the output of other commands about scripts.

use crate::support::{RunOutput, TestEnv, keys};
use insta::assert_snapshot;
use serde_json::json;

const SKILL: &str = "skills-system-validation";
const SCRIPT: &str = "scripts/echo.sh";

fn env() -> TestEnv {
    let env = TestEnv::new().variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    env.file(
        "~/.prowess/skills/s/SKILL.md",
        "---\nname: s\ndescription: A skill.\nmetadata:\n  env: TOKEN SECRET\n---\n\nDo it.\n",
    )
    .file("~/.prowess/skills/s/fail.sh", "#!/bin/sh\necho out; printf '\\033[31mred\\n' >&2; exit 7\n")
    .file("~/.prowess/skills/s/cat.sh", "#!/bin/sh\ncat; echo \"$TOKEN\" \"$SECRET\"\n")
    .file("~/.prowess/skills/s/sleep.sh", "#!/bin/sh\nsleep 30\n")
    .file("~/.prowess/skills/s/flood.sh", "#!/bin/sh\nyes\n");
    env
}

fn allowed() -> TestEnv {
    env().variable("PROWESS_ALLOW_SCRIPTS", "1")
}

/// Replaces values that differ between runs and machines.
fn steady(result: &RunOutput) -> String {
    let mut output = String::new();
    for line in result.transcript().lines() {
        let line = match line.split_once("sandbox tier") {
            Some((prefix, rest)) => {
                let (tier, _) = rest.split_at(1);
                let end = rest.rsplit_once(", ").map_or(rest, |(end, _)| end);
                format!("{prefix}sandbox tier{}, [N] ms", end.replacen(tier, "[N]", 1))
            }
            None => line.to_owned(),
        };
        // The reason for a lower tier.
        if !line.starts_with("tier1 cannot be enforced") {
            output += &format!("{line}\n");
        }
    }
    output
}

#[test]
fn the_fixture_prints_its_marker() {
    let env = allowed();
    let result = env.run(&["run", SKILL, SCRIPT, "--", "hello", "two words"]);
    assert_snapshot!(steady(&result));
    let value = env.run(&["run", SKILL, SCRIPT, "--json", "--", "--json"]).json();
    assert_eq!(value["stdout"], "PROWESS_SCRIPT_MARKER_E9810C5F\narg: --json\n");
    let fields = [
        "artifacts",
        "cancelled",
        "digest",
        "duration_ms",
        "exit_code",
        "left_behind",
        "limits_hit",
        "remarks",
        "removed",
        "sandbox",
        "schema",
        "signal",
        "stderr",
        "stdout",
        "timed_out",
        "truncated",
    ];
    assert_eq!(keys(&value), fields);
    assert!(["tier1", "tier2"].contains(&value["sandbox"].as_str().unwrap()), "{value}");
    let call = json!({"name": SKILL, "script": SCRIPT, "args": ["a b"]}).to_string();
    let envelope = env.run(&["call", "skills.run", &call, "--skill", SKILL]).json();
    assert_eq!(
        (&envelope["status"], &envelope["text"]),
        (&json!("success"), &json!("PROWESS_SCRIPT_MARKER_E9810C5F\narg: a b\n"))
    );
}

/// Files of a script are not copied to where other programs would run them.
#[test]
fn output_directories_are_checked() {
    let env = allowed();
    let home = env.path("~/").display().to_string();
    let run = |dir: &str| env.run(&["run", SKILL, SCRIPT, "--output", dir]);
    for (dir, reason) in [
        (home.as_str(), "it contains your home directory"),
        (&format!("{home}.config"), "it is in a hidden directory of your home directory"),
        ("/etc", "it is a system directory"),
    ] {
        let result = run(dir);
        assert!(result.code != 0 && result.err.contains(reason), "{dir}: {}", result.err);
        assert!(!result.out.contains("PROWESS_SCRIPT_MARKER"), "{dir}: it did not run");
    }
    assert_eq!(run(&format!("{home}out")).code, 0);
}

#[test]
fn scripts_do_not_run_until_allowed() {
    let env = env();
    assert_snapshot!(
        env.runs(&[
            &["run", SKILL, SCRIPT],
            &["run", SKILL, SCRIPT, "--json"],
            &["call", "skills.run", "{\"name\":\"s\",\"script\":\"fail.sh\"}"],
        ])
        .split("\"stats\"")
        .next()
        .unwrap()
    );
    assert!(!env.run(&["tools"]).out.contains("skills.run"));
    env.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    assert!(env.run(&["tools"]).out.contains("skills.run(name, script, args?, inputs?)"));
    assert_eq!(env.run(&["run", "s", "fail.sh"]).code, 1);
    assert_eq!(env.run(&["run", SKILL, SCRIPT, "--json"]).error().0, "ACCESS_DENIED");
    // A project cannot allow scripts, but it can forbid them.
    env.file(
        ".prowess/config.toml",
        format!("run.scripts = \"allowed\"\nrun.allowed-skills = [\"{SKILL}\"]\n"),
    );
    assert_eq!(env.run(&["run", SKILL, SCRIPT, "--json"]).error().0, "ACCESS_DENIED");
    env.file(".prowess/config.toml", "run.scripts = \"never\"\n");
    assert_eq!(env.run(&["run", "s", "fail.sh", "--json"]).error().0, "ACCESS_DENIED");
}

#[test]
fn script_exit_states() {
    let env = allowed();
    let calls: [&[&str]; 5] = [
        &["run", "s", "fail.sh"],
        &["run", "s", "sleep.sh", "--timeout", "1"],
        &["run", "s", "SKILL.md"],
        &["run", "s", "../x"],
        &["run", "s", "fial.sh"],
    ];
    let result: Vec<_> = calls.iter().map(|call| steady(&env.run(call))).collect();
    assert_snapshot!(result.join("\n"));
    let flood = env.run(&["run", "s", "flood.sh", "--json"]);
    let value = flood.json();
    assert_eq!(
        (flood.code, &value["truncated"], &value["limits_hit"]),
        (1, &json!(true), &json!(["output"]))
    );
    let call = |script: &str| {
        let call = json!({"name": "s", "script": script}).to_string();
        let envelope = env.run(&["call", "skills.run", &call]).json();
        (envelope["status"].clone(), envelope["error"]["code"].clone(), envelope["data"]["exit_code"].clone())
    };
    assert_eq!(call("fail.sh"), (json!("error"), json!("EXECUTION_ERROR"), json!(7)));
    assert_eq!(call("flood.sh"), (json!("partial"), json!(null), json!(null)));
    assert_eq!(call("none.sh"), (json!("error"), json!("NOT_FOUND"), json!(null)));
    env.file("~/.prowess/config.toml", "run.script-timeout-ms = 300\n");
    assert_eq!(call("sleep.sh"), (json!("error"), json!("TIMEOUT"), json!(null)));
}

#[test]
fn json_input_and_granted_variables() {
    let env = allowed().variable("TOKEN", "t0ken").variable("SECRET", "s3cret");
    env.file("~/.prowess/config.toml", "run.env = [\"s:TOKEN\"]\n");
    let result = env.run_with(&["run", "s", "cat.sh", "--stdin-json", "-"], " {\"a\" : [1]} ");
    assert_eq!(result.out, "{\"a\":[1]}\nt0ken \n");
    let result = env.run(&["run", "s", "cat.sh", "--stdin-json", "{", "--json"]);
    assert_eq!(result.error().0, "INVALID_PARAM");
    let info = env.run(&["info", "s", "--json"]).json();
    assert_eq!(
        info["env"],
        json!([{"name": "TOKEN", "granted": true, "set": true}, {"name": "SECRET", "granted": false, "set": true}])
    );
    let result = env.run(&["info", "s"]).out;
    assert!(result.contains("needs SECRET             set, but not granted (see run.env)\n"), "{result}");
    let result = env.run(&["doctor"]).out;
    assert!(result.contains("SECRET is not granted to s, which requires it"), "{result}");
    assert!(!result.contains("TOKEN"), "{result}");
}

#[test]
fn the_log_lists_runs() {
    let env = allowed();
    env.run(&["run", "s", "fail.sh"]);
    env.run(&["run", SKILL, SCRIPT]);
    let runs = env.run(&["run", "--log", "--json"]).json();
    let result: Vec<_> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["skill"].clone(), run["end"]["exit_code"].clone()))
        .collect();
    assert_eq!(result, [(json!(SKILL), json!(0)), (json!("s"), json!(7))]);
    let result = env.run(&["run", "--log", "-n", "1"]);
    assert!(result.out.contains(&format!("{SKILL} {SCRIPT}  exit code 0\n")), "{}", result.out);
    assert_eq!(result.out.lines().count(), 1);
    assert_eq!(TestEnv::new().run(&["run", "--log"]).err, "no runs recorded\n");
}
