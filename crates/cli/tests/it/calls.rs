//! Help, usage errors, completions and the manual.

use std::process::Command;

use crate::support::TestEnv;
use insta::assert_snapshot;

/// Every command in the order of the help.
const COMMANDS: [&str; 42] = [
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
    "find",
    "install",
    "import",
    "update",
    "outdated",
    "remove",
    "verify",
    "diff",
    "sync",
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
    assert_snapshot!(TestEnv::new().run(&["help"]).transcript());
}

#[test]
fn short_help() {
    assert_snapshot!(TestEnv::new().run(&["-h"]).transcript());
}

/// The global options are omitted.
#[test]
fn help_of_each_command() {
    let env = TestEnv::new();
    let help = COMMANDS.map(|command| {
        let result = env.run(&[command, "-h"]);
        assert_eq!((result.err.as_str(), result.code), ("", 0), "{command}");
        result.out.split("Global options:").next().unwrap().to_owned()
    });
    assert_snapshot!(help.join("----------\n"));
}

#[test]
fn no_arguments() {
    let env = TestEnv::new();
    let result = env.run(&[]);
    assert_eq!((result.out.as_str(), result.code), ("", 2));
    assert_eq!(result.err, env.run(&["-h"]).out);
    let result = env.run(&["skill"]);
    assert_eq!((result.err, result.code), (env.run(&["skill", "-h"]).out, 2));
}

#[test]
fn usage_errors() {
    let env = TestEnv::new();
    assert_snapshot!(env.runs(&[
        &["lst"],
        &["frobnicate"],
        &["list", "--frobnicate"],
        &["list", "surplus"],
        &["info"],
        &["check", "--format", "xml"],
        &["audit", "--format", "html"],
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
fn usage_errors_are_json_with_json() {
    let env = TestEnv::new();
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
        let result = env.run(args);
        assert_eq!(
            (result.error().0.as_str(), result.code, result.err.as_str()),
            ("INVALID_PARAM", 2, ""),
            "{args:?}"
        );
    }
    assert_snapshot!(env.runs(&calls));
}

#[test]
fn version() {
    assert_snapshot!(TestEnv::new().run(&["--version"]).transcript());
}

#[test]
fn completions_include_every_command() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let result = env.run(&["completions", shell]);
        assert_eq!((result.err.as_str(), result.code), ("", 0));
        for command in COMMANDS {
            assert!(result.out.contains(command), "{command} is missing for {shell}");
        }
    }
}

#[test]
fn completions_and_manual_support_json() {
    let env = TestEnv::new();
    for call in [&["completions", "bash"][..], &["man", "skill", "show"]] {
        let plain = env.run(call);
        let result = env.run(&[call, &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&result.out).unwrap();
        assert_eq!((result.code, &json["schema"]), (0, &1.into()));
        assert_eq!(json["content"], plain.out);
    }
}

/// Returns what a shell shows for a line, as fish calls the program.
fn completed(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let args = [&["--", "prowess"], words].concat();
    let output = env.command(&args).env("PROWESS_COMPLETE", "fish").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

#[test]
fn shells_complete_names_dynamically() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill("~/.agents/skills/pdf-forms").skill("~/shelf/csv");
    env.file("~/.agents/skills/pdf/references/fields.md", "x").file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "~/shelf/csv"]).code, 0);
    assert_eq!(completed(&env, &["info", "p"]), ["pdf\tDoes pdf.", "pdf-forms\tDoes pdf-forms."]);
    assert_eq!(completed(&env, &["disable", "csv", "pdf-"]), ["pdf-forms\tDoes pdf-forms."]);
    assert_eq!(completed(&env, &["update", ""])[0].split('\t').next(), Some("csv"));
    assert_eq!(completed(&env, &["read", "pdf", "ref"]), ["references/fields.md"]);
    assert_eq!(completed(&env, &["--preset", "ha"]), ["harness"]);
    assert_eq!(completed(&env, &["install", "x", "--agent", "claude"]), ["claude-code\tClaude Code"]);
    assert_eq!(completed(&env, &["hook", "install", "--client", "dro"]), ["droid\tFactory droid"]);
    assert_eq!(
        completed(&env, &["config", "set", "catalog.form"]),
        ["catalog.format\tthe format of the catalog"]
    );
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = env.run(&["completions", shell, "--dynamic"]);
        assert!(script.code == 0 && script.out.contains("PROWESS_COMPLETE"), "{}", script.transcript());
    }
    // Without the variable, nothing is different.
    assert_eq!(env.run(&["--", "prowess", "info", "p"]).code, 2);
}

#[test]
fn bash_loads_the_completions() {
    let Ok(bash) = Command::new("bash").arg("--version").output() else { return };
    assert!(bash.status.success());
    let env = TestEnv::new();
    env.file("prowess.bash", env.run(&["completions", "bash"]).out);
    let ask = "source ./prowess.bash && COMP_WORDS=(prowess unt) COMP_CWORD=1 && _prowess prowess unt prowess && \
               echo \"${COMPREPLY[@]}\"";
    let result = Command::new("bash").args(["--norc", "-c", ask]).current_dir(env.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&result.stderr), "");
    assert_eq!(String::from_utf8_lossy(&result.stdout), "untrust\n");
}

/// `--project` takes a value, except after commands with a scope.
#[test]
fn completions_and_manual_have_both_meanings_of_project() {
    let env = TestEnv::new();
    let page = env.run(&["man", "disable"]).out;
    assert!(page.contains("\\fB\\-\\-project\\fR\n"), "{page}");
    assert!(page.contains("\\fB\\-\\-project\\-dir\\fR \\fI<DIR>\\fR\n"), "{page}");
    assert!(env.run(&["man", "list"]).out.contains("\\fB\\-\\-project\\fR \\fI<DIR>\\fR\n"));
    let script = env.run(&["completions", "zsh"]).out;
    assert!(script.contains(")--project[Apply to the project]'"), "{script}");
}

#[test]
fn the_manual_includes_every_command() {
    let env = TestEnv::new();
    let result = env.run(&["man"]);
    assert_eq!((result.err.as_str(), result.code), ("", 0));
    for command in COMMANDS {
        assert!(result.out.contains(&format!("prowess\\-{command}(1)")), "{command}");
        let page = env.run(&["man", command]);
        assert!(
            page.out.contains(&format!(".TH prowess-{command} 1  \"prowess [VERSION]\"")),
            "{}",
            page.out
        );
    }
    assert_eq!(env.run(&["man", "skill", "show"]).code, 0);
    assert_eq!(env.run(&["man", "mcp", "install"]).code, 0);
    assert_eq!(env.run(&["man", "chats", "export"]).code, 0);
    assert_eq!(env.run(&["man", "skill", "manage", "enable"]).code, 0);
}
