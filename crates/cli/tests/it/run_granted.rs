//! Grants of skills, and where they are recorded.

use crate::support::TestEnv;
use insta::assert_snapshot;
use serde_json::{Value, json};

const NETWORK: &str = "#!/usr/bin/env python3\nimport os, socket\ntry: socket.socket(); print('network')\n\
                       except OSError: print('no network')\nprint(sorted(set(os.environ) & {'TOKEN', 'OTHER'}))\n";

fn manifest(env: &str) -> String {
    format!("---\nname: gh\ndescription: Does gh.\nmetadata:\n  env: {env}\n---\n\nDo it.\n")
}

fn env() -> TestEnv {
    let env = TestEnv::bare()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("TOKEN", "t")
        .variable("OTHER", "o");
    env.file("~/shelf/gh/SKILL.md", manifest("TOKEN")).file("~/shelf/gh/net.py", NETWORK);
    env
}

fn recorded(env: &TestEnv, lock: &str) -> Value {
    let lock: Value = serde_json::from_str(&env.text(lock)).unwrap();
    lock["skills"][0]["granted"].clone()
}

fn granted_row(env: &TestEnv) -> String {
    let info = env.run(&["info", "gh"]).out;
    let row = info.lines().find_map(|line| line.trim_start().strip_prefix("granted "));
    row.unwrap_or_default().trim_start().to_owned()
}

const USER: &str = "~/.prowess/state/installed.json";

#[test]
fn grants_are_recorded_in_the_user_lock_file() {
    let env = env();
    env.file("~/.prowess/config.toml", "run.network = [\"gh\"]\nrun.env = [\"gh:TOKEN\", \"OTHER\"]\n");
    assert_eq!(env.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    assert_eq!(recorded(&env, USER), json!({"network": true, "env": ["TOKEN"]}));
    assert_eq!(env.run(&["run", "gh", "net.py"]).out, "network\n['TOKEN']\n");
    assert_eq!(granted_row(&env), "the network, TOKEN");
    // A revoked grant takes effect at once and is recorded with the next change.
    env.file("~/.prowess/config.toml", "");
    assert_eq!(granted_row(&env), "nothing; the lock file has the network, TOKEN");
    assert_eq!(env.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    assert_eq!((recorded(&env, USER), granted_row(&env)), (Value::Null, String::new()));
    // A grant for one call is only recorded in the log of runs.
    assert_eq!(env.run(&["run", "gh", "net.py", "--network"]).out, "network\n[]\n");
    assert_eq!(recorded(&env, USER), Value::Null);
    let runs = env.run(&["run", "--log", "--json"]).json();
    assert_eq!(
        runs["runs"].as_array().unwrap().iter().map(|run| run["network"].clone()).collect::<Vec<_>>(),
        [json!(true), json!(false), json!(true)]
    );
    assert_eq!(env.run(&["verify"]).code, 0, "grants are not verified");
}

#[test]
fn a_lock_file_grants_nothing() {
    let env = env();
    assert_eq!(env.run(&["install", "~/shelf/gh", "--project", "--yes"]).code, 0);
    assert_eq!(recorded(&env, "skills.lock"), Value::Null);
    let mut lock: Value = serde_json::from_str(&env.text("skills.lock")).unwrap();
    lock["skills"][0]["granted"] = json!({"network": true, "env": ["TOKEN", "OTHER"]});
    env.file("skills.lock", lock.to_string());
    assert_eq!(granted_row(&env), "nothing; the lock file has the network, OTHER, TOKEN");
    let info = env.run(&["info", "gh", "--json"]).json();
    assert_eq!(
        (&info["granted"], &info["installed"]["granted"]["network"]),
        (&json!({"network": false, "env": []}), &json!(true))
    );
    assert_eq!(env.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    assert_eq!(recorded(&env, "skills.lock"), Value::Null);
    // A project skill must be allowed by directory, not by name.
    env.file("~/.prowess/config.toml", "run.network = [\"gh\"]\n");
    assert_eq!(env.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    let dir = env.path(".agents/skills/gh").display().to_string();
    env.file("~/.prowess/config.toml", format!("run.network = [\"{dir}\"]\n"));
    assert_eq!(env.run(&["run", "gh", "net.py"]).out, "network\n[]\n");
    assert_eq!(recorded(&env, "skills.lock"), json!({"network": true, "env": []}));
}

/// A variable that is granted to all skills: an update that requires it gains a grant.
#[test]
fn updates_show_changed_grants() {
    let env = env();
    env.file("~/.prowess/config.toml", "run.env = [\"TOKEN\", \"OTHER\"]\n");
    assert_eq!(env.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    env.file("~/shelf/gh/SKILL.md", manifest("OTHER"));
    assert_snapshot!(env.runs(&[&["update"], &["update", "--yes"]]));
    assert_eq!(recorded(&env, USER), json!({"network": false, "env": ["OTHER"]}));
}

#[test]
fn an_unwritable_lock_file_is_reported() {
    let env = env();
    env.file("~/.prowess/config.toml", "run.network = [\"gh\"]\n");
    assert_eq!(env.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    env.file("~/.prowess/config.toml", "");
    // The path of the lock guard file.
    std::fs::create_dir(env.path("~/.prowess/state/.installed.json.busy")).unwrap();
    let result = env.run(&["run", "gh", "net.py"]);
    assert_eq!(result.out, "no network\n[]\n");
    assert!(result.err.contains("cannot record grants in the lock file: "), "{}", result.err);
}
