//! What is typed: help, wrong calls, completions, the manual.

use std::process::Command;

use crate::world::World;
use insta::assert_snapshot;

/// Every command, as help lists them.
const COMMANDS: [&str; 38] = [
    "list",
    "show",
    "info",
    "why",
    "check",
    "audit",
    "prompt",
    "match",
    "activate",
    "files",
    "read",
    "run",
    "tools",
    "call",
    "mcp",
    "serve",
    "chat",
    "chats",
    "eval",
    "lint",
    "new",
    "install",
    "import",
    "update",
    "remove",
    "verify",
    "pack",
    "index",
    "enable",
    "disable",
    "plugins",
    "trust",
    "untrust",
    "config",
    "doctor",
    "skill",
    "completions",
    "man",
];

#[test]
fn help() {
    assert_snapshot!(World::new().run(&["help"]).whole());
}

#[test]
fn short_help() {
    assert_snapshot!(World::new().run(&["-h"]).whole());
}

/// What is the same for all commands is left out.
#[test]
fn help_of_each_command() {
    let world = World::new();
    let help = COMMANDS.map(|command| {
        let told = world.run(&[command, "-h"]);
        assert_eq!((told.err.as_str(), told.code), ("", 0), "{command}");
        told.out.split("Global options:").next().unwrap().to_owned()
    });
    assert_snapshot!(help.join("----------\n"));
}

#[test]
fn no_arguments() {
    let world = World::new();
    let told = world.run(&[]);
    assert_eq!((told.out.as_str(), told.code), ("", 2));
    assert_eq!(told.err, world.run(&["-h"]).out);
    let told = world.run(&["skill"]);
    assert_eq!((told.err, told.code), (world.run(&["skill", "-h"]).out, 2));
}

#[test]
fn wrong_calls() {
    let world = World::new();
    assert_snapshot!(world.runs(&[
        &["lst"],
        &["frobnicate"],
        &["list", "--frobnicate"],
        &["list", "surplus"],
        &["info"],
        &["check", "--format", "xml"],
        &["audit", "--format", "github"],
        &["prompt", "--format", "yaml"],
        &["prompt", "--budget-chars", "-1"],
        &["match"],
        &["match", "x", "-k", "0"],
        &["activate"],
        &["read", "x"],
        &["run", "x"],
        &["run", "x", "y", "--timeout", "0"],
        &["run", "--log", "x", "y"],
        &["call", "skills.activate"],
        &["eval"],
        &["lint"],
        &["enable"],
        &["disable", "x", "--project", "--user"],
        &["disable", "x", "--source", "y"],
        &["skill", "manage", "frobnicate"],
        &["list", "-q", "-v"],
        &["completions", "tcsh"],
        &["man", "frobnicate"],
    ]));
}

#[test]
fn with_json_wrong_calls_are_json_and_exit_2() {
    let world = World::new();
    let calls: [&[&str]; 13] = [
        &["--json"],
        &["--json", "skill"],
        &["lst", "--json"],
        &["list", "--json", "--frobnicate"],
        &["list", "--json", "surplus"],
        &["info", "--json"],
        &["new", "--json"],
        &["check", "--json", "--format", "xml"],
        &["match", "--json"],
        &["prompt", "--json", "--format", "yaml"],
        &["call", "--json", "Skill", "{"],
        &["eval", "--json"],
        &["--json", "--color", "sometimes", "list"],
    ];
    for args in calls {
        let told = world.run(args);
        assert_eq!(
            (told.error().0.as_str(), told.code, told.err.as_str()),
            ("INVALID_PARAM", 2, ""),
            "{args:?}"
        );
    }
    assert_snapshot!(world.runs(&calls));
}

#[test]
fn the_version() {
    assert_snapshot!(World::new().run(&["--version"]).whole());
}

#[test]
fn completions_know_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let told = world.run(&["completions", shell]);
        assert_eq!((told.err.as_str(), told.code), ("", 0));
        for command in COMMANDS {
            assert!(told.out.contains(command), "{command} is missing for {shell}");
        }
    }
}

#[test]
fn completions_and_the_manual_answer_in_json() {
    let world = World::new();
    for call in [&["completions", "bash"][..], &["man", "skill", "show"]] {
        let plain = world.run(call);
        let told = world.run(&[call, &["--json"]].concat());
        let answer: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!((told.code, &answer["schema"]), (0, &1.into()));
        assert_eq!(answer["content"], plain.out);
    }
}

#[test]
fn bash_takes_the_completions() {
    let Ok(bash) = Command::new("bash").arg("--version").output() else { return };
    assert!(bash.status.success());
    let world = World::new();
    world.file("prowess.bash", world.run(&["completions", "bash"]).out);
    let ask = "source ./prowess.bash && COMP_WORDS=(prowess unt) COMP_CWORD=1 && _prowess prowess unt prowess && \
               echo \"${COMPREPLY[@]}\"";
    let told = Command::new("bash").args(["--norc", "-c", ask]).current_dir(world.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stderr), "");
    assert_eq!(String::from_utf8_lossy(&told.stdout), "untrust\n");
}

/// `--project` is an option with a value, but for the commands that change something.
#[test]
fn completions_and_the_manual_know_both_meanings_of_project() {
    let world = World::new();
    let page = world.run(&["man", "disable"]).out;
    assert!(page.contains("\\fB\\-\\-project\\fR\n"), "{page}");
    assert!(page.contains("\\fB\\-\\-project\\-dir\\fR \\fI<DIR>\\fR\n"), "{page}");
    assert!(world.run(&["man", "list"]).out.contains("\\fB\\-\\-project\\fR \\fI<DIR>\\fR\n"));
    let script = world.run(&["completions", "zsh"]).out;
    assert!(script.contains(")--project[In the project]'"), "{script}");
}

#[test]
fn the_manual_has_every_command() {
    let world = World::new();
    let told = world.run(&["man"]);
    assert_eq!((told.err.as_str(), told.code), ("", 0));
    for command in COMMANDS {
        assert!(told.out.contains(&format!("prowess\\-{command}(1)")), "{command}");
        let page = world.run(&["man", command]);
        assert!(
            page.out.contains(&format!(".TH prowess-{command} 1  \"prowess [VERSION]\"")),
            "{}",
            page.out
        );
    }
    assert_eq!(world.run(&["man", "skill", "show"]).code, 0);
    assert_eq!(world.run(&["man", "mcp", "install"]).code, 0);
    assert_eq!(world.run(&["man", "chats", "export"]).code, 0);
    assert_eq!(world.run(&["man", "skill", "manage", "enable"]).code, 0);
}
