//! What is granted to skills, and where it is written down.

use crate::world::World;
use insta::assert_snapshot;
use serde_json::{Value, json};

const NETWORK: &str = "#!/usr/bin/env python3\nimport os, socket\ntry: socket.socket(); print('network')\n\
                       except OSError: print('no network')\nprint(sorted(set(os.environ) & {'TOKEN', 'OTHER'}))\n";

fn manifest(env: &str) -> String {
    format!("---\nname: gh\ndescription: Does gh.\nmetadata:\n  env: {env}\n---\n\nDo it.\n")
}

fn world() -> World {
    let world = World::bare()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("TOKEN", "t")
        .variable("OTHER", "o");
    world.file("~/shelf/gh/SKILL.md", manifest("TOKEN")).file("~/shelf/gh/net.py", NETWORK);
    world
}

fn recorded(world: &World, lock: &str) -> Value {
    let lock: Value = serde_json::from_str(&world.text(lock)).unwrap();
    lock["skills"][0]["granted"].clone()
}

fn granted_row(world: &World) -> String {
    let info = world.run(&["info", "gh"]).out;
    let row = info.lines().find_map(|line| line.trim_start().strip_prefix("granted "));
    row.unwrap_or_default().trim_start().to_owned()
}

const USER: &str = "~/.prowess/state/installed.json";

#[test]
fn what_is_granted_is_in_the_lock_of_the_user() {
    let world = world();
    world.file("~/.prowess/config.toml", "run.network = [\"gh\"]\nrun.env = [\"gh:TOKEN\", \"OTHER\"]\n");
    assert_eq!(world.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    assert_eq!(recorded(&world, USER), json!({"network": true, "env": ["TOKEN"]}));
    assert_eq!(world.run(&["run", "gh", "net.py"]).out, "network\n['TOKEN']\n");
    assert_eq!(granted_row(&world), "the network, TOKEN");
    // What was taken back is taken back at once, and written down when it next counts.
    world.file("~/.prowess/config.toml", "");
    assert_eq!(granted_row(&world), "nothing; the lock still says the network, TOKEN");
    assert_eq!(world.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    assert_eq!((recorded(&world, USER), granted_row(&world)), (Value::Null, String::new()));
    // A word for one call is in the log of runs, and nowhere else.
    assert_eq!(world.run(&["run", "gh", "net.py", "--network"]).out, "network\n[]\n");
    assert_eq!(recorded(&world, USER), Value::Null);
    let runs = world.run(&["run", "--log", "--json"]).json();
    assert_eq!(
        runs["runs"].as_array().unwrap().iter().map(|run| run["network"].clone()).collect::<Vec<_>>(),
        [json!(true), json!(false), json!(true)]
    );
    assert_eq!(world.run(&["verify"]).code, 0, "it is no part of what is verified");
}

#[test]
fn a_lock_grants_nothing_whatever_it_says() {
    let world = world();
    assert_eq!(world.run(&["install", "~/shelf/gh", "--project", "--yes"]).code, 0);
    assert_eq!(recorded(&world, "skills.lock"), Value::Null);
    let mut lock: Value = serde_json::from_str(&world.text("skills.lock")).unwrap();
    lock["skills"][0]["granted"] = json!({"network": true, "env": ["TOKEN", "OTHER"]});
    world.file("skills.lock", lock.to_string());
    assert_eq!(granted_row(&world), "nothing; the lock still says the network, OTHER, TOKEN");
    let info = world.run(&["info", "gh", "--json"]).json();
    assert_eq!(
        (&info["granted"], &info["installed"]["granted"]["network"]),
        (&json!({"network": false, "env": []}), &json!(true))
    );
    assert_eq!(world.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    assert_eq!(recorded(&world, "skills.lock"), Value::Null);
    // A name is not enough for a project's skill; its folder is.
    world.file("~/.prowess/config.toml", "run.network = [\"gh\"]\n");
    assert_eq!(world.run(&["run", "gh", "net.py"]).out, "no network\n[]\n");
    let folder = world.path(".agents/skills/gh").display().to_string();
    world.file("~/.prowess/config.toml", format!("run.network = [\"{folder}\"]\n"));
    assert_eq!(world.run(&["run", "gh", "net.py"]).out, "network\n[]\n");
    assert_eq!(recorded(&world, "skills.lock"), json!({"network": true, "env": []}));
}

/// A variable that is granted to whoever asks for it: an update that asks for it gets more than before.
#[test]
fn an_update_that_changes_what_is_granted_shows_it() {
    let world = world();
    world.file("~/.prowess/config.toml", "run.env = [\"TOKEN\", \"OTHER\"]\n");
    assert_eq!(world.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    world.file("~/shelf/gh/SKILL.md", manifest("OTHER"));
    assert_snapshot!(world.runs(&[&["update"], &["update", "--yes"]]));
    assert_eq!(recorded(&world, USER), json!({"network": false, "env": ["OTHER"]}));
}

#[test]
fn a_lock_that_cannot_be_written_is_told() {
    let world = world();
    world.file("~/.prowess/config.toml", "run.network = [\"gh\"]\n");
    assert_eq!(world.run(&["install", "~/shelf/gh", "--user", "--yes"]).code, 0);
    world.file("~/.prowess/config.toml", "");
    // Where the guard's file would be.
    std::fs::create_dir(world.path("~/.prowess/state/.installed.json.busy")).unwrap();
    let told = world.run(&["run", "gh", "net.py"]);
    assert_eq!(told.out, "no network\n[]\n");
    assert!(told.err.contains("the lock cannot be told what is granted: "), "{}", told.err);
}
