//! Completion.

use serde_json::{Value, json};

use crate::support::{Session, apply_edits, capabilities, skill};

fn labels(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

fn complete(session: &mut Session, marked: &str) -> Value {
    session.ask("textDocument/completion", "pdf/SKILL.md", marked).unwrap()
}

#[test]
fn keys_are_completed_with_documentation_and_without_those_that_are_present() {
    let mut session = Session::start();
    let list = complete(&mut session, "---\nname: pdf\n|\n---\n");
    let mut items: Vec<_> = list["items"].as_array().unwrap().clone();
    items.sort_by_key(|item| item["sortText"].as_str().unwrap().to_owned());
    let first: Vec<_> = items.iter().take(8).map(|item| item["label"].as_str().unwrap()).collect();
    assert_eq!(first[..5], ["allowed-tools", "compatibility", "description", "license", "metadata"]);
    assert!(!labels(&list).contains(&"name".to_owned()) && labels(&list).contains(&"mode".to_owned()));
    let description = items.iter().find(|item| item["label"] == "user-invocable").unwrap();
    insta::assert_snapshot!(description["documentation"]["value"].as_str().unwrap(), @r"
    **user-invocable**

    `false` hides the skill from users; the model can still load it. Read by Prowess. Read by Claude Code, Qwen Code, Copilot CLI, VS Code, droid, Crush and OpenClaw.

    Value: `true` or `false`.

    Ignored by Codex, Gemini CLI, opencode, Roo Code, Cline, goose, Cursor, Hermes and Windsurf.
    ");
    let edited = apply_edits(&[description["textEdit"].clone()], "---\nname: pdf\n\n---\n");
    assert_eq!(edited, "---\nname: pdf\nuser-invocable: \n---\n");
}

#[test]
fn a_key_before_a_colon_is_replaced_alone() {
    let mut session = Session::start();
    let list = complete(&mut session, "---\nlic|: MIT\n---\n");
    let item =
        list["items"].as_array().unwrap().iter().find(|item| item["label"] == "license").unwrap().clone();
    assert_eq!(apply_edits(&[item["textEdit"].clone()], "---\nlic: MIT\n---\n"), "---\nlicense: MIT\n---\n");
}

#[test]
fn values_are_completed() {
    let mut session = Session::start();
    let mut values = |marked: &str| labels(&complete(&mut session, marked)).join(" ");
    assert_eq!(values("---\nuser-invocable: |\n---\n"), "true false");
    assert_eq!(values("---\ncontext: f|\n---\n"), "fork");
    assert_eq!(values("---\nname: |\n---\n"), "pdf");
    assert_eq!(values("---\nversion: |\n---\n"), "1.0.0");
    assert_eq!(values("---\ndescription: |\n---\n"), "What it does. Use when …");
    assert!(values("---\nallowed-tools: Read B|\n---\n").contains("Bash"));
    assert!(values("---\nallowed-tools:\n  - |\n---\n").contains("WebFetch"));
    assert_eq!(values("---\ntriggers:\n  |\n---\n"), "keywords verbs patterns");
    assert!(values("---\nmetadata:\n  |\n---\n").starts_with("author version"));
    assert_eq!(values("---\nlicense: |\n---\n"), "");
    assert_eq!(values("---\n# |\n---\n"), "");
}

#[test]
fn files_are_completed_in_links_code_and_toolsets() {
    let mut session = Session::start();
    for file in ["SKILL.md", "guide.md", "references/a.md", "scripts/x.py", ".git/config"] {
        session.write(&format!("pdf/{file}"), "x");
    }
    std::fs::write(session.path("secret.md"), "x").unwrap();
    let mut files = |marked: &str| labels(&complete(&mut session, marked)).join(" ");
    assert_eq!(files(&skill("pdf", "[a](|")), "guide.md references/a.md scripts/x.py");
    assert_eq!(files(&skill("pdf", "Run `scr|")), "scripts/x.py");
    assert_eq!(files(&skill("pdf", "Run ./sc|")), "scripts/x.py");
    assert_eq!(files(&skill("pdf", "[a](../|")), "");
    assert_eq!(files(&skill("pdf", "Run wo|")), "");
    assert_eq!(files("---\nname: pdf\ntoolsets: [scr|]\n---\n"), "scripts/x.py");
}

#[test]
fn skills_are_completed_after_a_slash_or_dollar() {
    let mut session = Session::start();
    session.open("csv/SKILL.md", &skill("csv", "x"));
    session.open("csv-tools/SKILL.md", &skill("csv-tools", "x"));
    let mut names = |marked: &str| labels(&complete(&mut session, marked)).join(" ");
    assert_eq!(names(&skill("pdf", "Then use /cs|")), "csv csv-tools");
    assert_eq!(names(&skill("pdf", "Then use $csv-|")), "csv-tools");
    assert_eq!(names("---\nname: pdf\nmetadata:\n  requires: cs|\n---\n"), "csv csv-tools");
}

#[test]
fn documentation_is_plain_text_for_simple_clients() {
    let mut session = Session::with(json!({}), json!({}));
    let list = complete(&mut session, "---\ncontex|\n---\n");
    let item = list["items"].as_array().unwrap().iter().find(|item| item["label"] == "context").unwrap();
    assert_eq!(item["documentation"]["kind"], "plaintext");
    assert!(!item["documentation"]["value"].as_str().unwrap().contains('`'));
    assert_eq!(
        capabilities()["textDocument"]["completion"]["completionItem"]["documentationFormat"][0],
        "markdown"
    );
}
