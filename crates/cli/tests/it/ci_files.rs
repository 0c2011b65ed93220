//! The GitHub Action and the pre-commit hooks, run as their services run them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use prowess_format::Value;
use prowess_format::yaml::{self, YamlBudget};

use crate::support::{BROKEN, TestEnv, skill_md};

const FIXABLE: &str = "---\nname: pdf\ndescription: Fills forms: fast. Use when asked.\n---\nDo it.\n";

fn read_yaml(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = fs::read_to_string(path).unwrap();
    yaml::parse(&text, YamlBudget::DEFAULT).unwrap().unwrap().value()
}

fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { panic!("{value:?} is not a mapping") };
    entries.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) | Value::Number(text) => text,
        Value::Bool(true) => "true",
        other => panic!("{other:?} is not text"),
    }
}

fn entries(value: &Value) -> Vec<(&str, &Value)> {
    let Value::Map(entries) = value else { panic!("{value:?} is not a mapping") };
    entries.iter().map(|(name, value)| (&**name, value)).collect()
}

fn list(value: &Value) -> &[Value] {
    let Value::List(items) = value else { panic!("{value:?} is not a list") };
    items
}

/// The result of an action.
struct ActionRun {
    output: String,
    code: i32,
    outputs: BTreeMap<String, String>,
}

/// Runs the steps of `action.yml` with inputs, as GitHub does: expressions in `env` are replaced, and a step that fails
/// ends the action.
fn run_action(env: &TestEnv, inputs: &[(&str, &str)]) -> ActionRun {
    let action = read_yaml("action.yml");
    let declared = entries(get(&action, "inputs").unwrap());
    for (name, _) in inputs {
        assert!(declared.iter().any(|(declared, _)| declared == name), "{name} is not an input");
    }
    let mut context: BTreeMap<String, String> = declared
        .iter()
        .map(|(name, input)| {
            let given = inputs.iter().find(|(given, _)| given == name).map(|(_, value)| *value);
            let default = get(input, "default").map(text).unwrap_or_default();
            (format!("inputs.{name}"), given.unwrap_or(default).to_owned())
        })
        .collect();
    context.insert("github.action_path".to_owned(), "/nowhere".to_owned());
    context.insert("github.action_repository".to_owned(), "example/prowess".to_owned());
    context.insert("github.server_url".to_owned(), "https://git.example".to_owned());
    let expand = |value: &str, context: &BTreeMap<String, String>| match value
        .strip_prefix("${{ ")
        .and_then(|rest| rest.strip_suffix(" }}"))
    {
        Some(expression) => {
            context.get(expression).unwrap_or_else(|| panic!("{expression} is not known")).clone()
        }
        None => value.to_owned(),
    };
    let (mut output, mut code) = (String::new(), 0);
    for step in list(get(get(&action, "runs").unwrap(), "steps").unwrap()) {
        assert_eq!(get(step, "shell").map(text), Some("bash"));
        let id = text(get(step, "id").unwrap());
        let file = env.path("../outputs");
        fs::write(&file, "").unwrap();
        let dir =
            get(step, "working-directory").map_or_else(|| ".".to_owned(), |dir| expand(text(dir), &context));
        let mut command = Command::new("bash");
        // The options that GitHub passes for `shell: bash`.
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text(get(step, "run").unwrap())]);
        command
            .current_dir(env.path(".").join(dir))
            .env("GITHUB_OUTPUT", &file)
            .env("HOME", env.path("../home"));
        command.env("PATH", path_with_prowess(env)).env("PROWESS_CONFIG", env.path("../bare.toml"));
        for (name, value) in entries(get(step, "env").unwrap()) {
            command.env(name, expand(text(value), &context));
        }
        let result = command.output().unwrap();
        output += &show(&result);
        for line in fs::read_to_string(&file).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            context.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
        code = result.status.code().unwrap();
        if code != 0 {
            break;
        }
    }
    let outputs = entries(get(&action, "outputs").unwrap()).into_iter().filter_map(|(name, output)| {
        let expression = text(get(output, "value").unwrap());
        let expression = expression.strip_prefix("${{ ").unwrap().strip_suffix(" }}").unwrap();
        context.get(expression).map(|value| (name.to_owned(), value.clone()))
    });
    ActionRun { output, code, outputs: outputs.collect() }
}

fn show(result: &Output) -> String {
    String::from_utf8_lossy(&result.stdout).into_owned() + &String::from_utf8_lossy(&result.stderr)
}

/// Returns a search path with the built program and the system's programs.
fn path_with_prowess(env: &TestEnv) -> String {
    let bin = env.path("../bin");
    let link = bin.join("prowess");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_prowess"), &link).unwrap();
    }
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file("skills/good/SKILL.md", skill_md("good", "Good. Use when asked."))
        .file("skills/odd one/SKILL.md", skill_md("odd", "Odd. Use when asked."))
        .file("broken/SKILL.md", BROKEN);
    env
}

#[test]
fn the_action_checks_and_audits() {
    let env = env();
    let failed = run_action(&env, &[]);
    assert_eq!((failed.code, failed.outputs["exit-code"].as_str()), (1, "1"), "{}", failed.output);
    assert!(failed.output.contains("::error file=broken/SKILL.md,line=4"), "{}", failed.output);

    let paths = "skills/good\nskills/odd one\n";
    let passed = run_action(&env, &[("paths", paths), ("sarif-file", "out.sarif")]);
    assert_eq!((passed.code, passed.outputs["exit-code"].as_str()), (0, "0"), "{}", passed.output);
    assert!(passed.output.contains("::warning file=skills/odd one/SKILL.md"), "{}", passed.output);
    assert_eq!(passed.outputs["sarif-file"], "out.sarif");
    let sarif: serde_json::Value = serde_json::from_str(&env.text("out.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "SK036");

    let denied = run_action(&env, &[("paths", paths), ("args", "--deny=warnings\n--strict")]);
    assert_eq!(denied.code, 1, "{}", denied.output);
    let audit =
        run_action(&env, &[("command", "audit"), ("format", "human"), ("working-directory", "skills")]);
    assert!(audit.code == 0 && audit.output.contains("2 skills audited"), "{}", audit.output);
}

#[test]
fn the_action_rejects_invalid_inputs() {
    let env = env();
    let unknown = run_action(&env, &[("command", "rm")]);
    assert!(unknown.code == 2 && unknown.output.contains("not check or audit"), "{}", unknown.output);
    let missing = run_action(&env, &[("binary", "bin/prowess")]);
    assert!(missing.code == 2 && missing.output.contains("does not exist"), "{}", missing.output);
    let given = run_action(&env, &[("binary", env!("CARGO_BIN_EXE_prowess")), ("paths", "skills/good")]);
    assert_eq!(given.code, 0, "{}", given.output);
    // Inputs are arguments, not code.
    let hostile =
        run_action(&env, &[("paths", "$(touch hacked)\n`touch hacked`\n"), ("args", "; touch hacked")]);
    assert!(hostile.code == 2 && !env.path("hacked").exists(), "{}", hostile.output);
}

#[test]
fn the_hooks_run_with_the_changed_files() {
    let hooks = read_yaml(".pre-commit-hooks.yaml");
    let ids: Vec<_> = list(&hooks).iter().map(|hook| text(get(hook, "id").unwrap())).collect();
    assert_eq!(ids, ["prowess-check", "prowess-check-fix", "prowess-audit"]);
    for hook in list(&hooks) {
        let env = TestEnv::bare();
        env.file("a b/pdf/SKILL.md", FIXABLE).file("broken/SKILL.md", BROKEN);
        let entry: Vec<_> = text(get(hook, "entry").unwrap()).split(' ').collect();
        assert_eq!(entry[0], "prowess");
        let run = |files: &[&str]| {
            let args: Vec<_> = entry[1..].iter().chain(files).copied().collect();
            env.run(&args).code
        };
        let is_audit = entry[1] == "audit";
        assert_eq!(run(&["a b/pdf/SKILL.md"]), 0, "{entry:?}");
        assert_eq!(run(&["a b/pdf/SKILL.md", "broken/SKILL.md"]), i32::from(!is_audit), "{entry:?}");
        let is_fixed = env.text("a b/pdf/SKILL.md") != FIXABLE;
        assert_eq!(is_fixed, entry.contains(&"--fix"), "{entry:?}");
    }
}
