//! The tools of skills: their availability, names and results.

#![cfg(feature = "toolsets")]

use std::os::unix::fs::symlink;

use crate::support::{CallTools, TestEnv, requesting, skill_tools};
use prowess::Preset;
use prowess_tools::{Envelope, Session};
use serde_json::{Value, json};

const ROOT: &str = "~/.agents/skills";

/// Creates a skill with these tools, each of which returns the skill's name.
fn skill(project: &TestEnv, name: &str, tools: &[&str]) {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| {
            format!(
                "Tool.define('{tool}', {{ description: 'Does {tool}.', parameters: z.object({{ a: z.string().optional() }}), \
                 execute: async (args, ctx) => ({{ title: 'T', metadata: {{ n: 1 }}, output: `{name}/{tool} ${{args.a ?? ''}}` }}) }})"
            )
        })
        .collect();
    toolset(project, name, &format!("export const Set = [{}];", tools.join(", ")));
}

fn toolset(project: &TestEnv, name: &str, module: &str) {
    let head =
        format!("---\nname: {name}\ndescription: Does {name}.\ntoolsets: [\"toolsets/index:Set\"]\n---\nB\n");
    let imports = "import { Tool } from '@agent/tools';\nimport { z } from 'zod';\n";
    project.file(&format!("{ROOT}/{name}/SKILL.md"), head);
    project.file(&format!("{ROOT}/{name}/toolsets/index.ts"), format!("{imports}{module}\n"));
}

/// Creates a skill `a` whose tool `t` has this body.
fn doing(body: &str) -> TestEnv {
    let project = TestEnv::new(Preset::Standard);
    toolset(
        &project,
        "a",
        &format!(
            "export const Set = [Tool.define('t', {{ description: 'T.', execute: async (args, ctx) => {{ {body} }} }})];"
        ),
    );
    project
}

fn call_tool(project: &TestEnv) -> Envelope {
    project.toolbox().call(&mut requesting(&["a"]), "t", json!({}))
}

/// Formats an envelope without values that differ between runs.
fn shown(envelope: &Envelope) -> String {
    let mut value = serde_json::to_value(envelope).unwrap();
    value["stats"]["time_ms"] = json!("[TIME]");
    value["context"]["cwd"] = json!("[CWD]");
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn s003_08_tools_are_registered_when_their_skill_becomes_active() {
    let project = TestEnv::new(Preset::Standard);
    skill(&project, "greet", &["hello", "bye"]);
    skill(&project, "other", &["else"]);
    let (toolbox, mut session) = (project.toolbox(), Session::default());
    assert!(skill_tools(&toolbox, &session).is_empty());
    assert_eq!(toolbox.call(&mut session, "hello", json!({})).error.unwrap().code.as_str(), "NOT_FOUND");
    toolbox.call(&mut session, "skills.activate", json!({"name": "greet"}));
    assert_eq!(skill_tools(&toolbox, &session), ["hello", "bye"]);
    assert_eq!(toolbox.call(&mut session, "hello", json!({"a": "x"})).text, "greet/hello x");
    session.ledger.remove("greet");
    assert!(skill_tools(&toolbox, &session).is_empty());
}

#[test]
fn s003_09_definition_and_envelopes() {
    let project = TestEnv::new(Preset::Standard);
    skill(&project, "greet", &["hello"]);
    let (toolbox, mut session) = (project.toolbox(), requesting(&["greet"]));
    let definition = toolbox.definitions_in(&session).pop().unwrap();
    insta::assert_snapshot!("definition", serde_json::to_string_pretty(&definition).unwrap());
    insta::assert_snapshot!("success", shown(&toolbox.call(&mut session, "hello", json!({"a": "you"}))));
    insta::assert_snapshot!("rejected", shown(&toolbox.call(&mut session, "hello", json!({"a": 5}))));
}

#[test]
fn a_thrown_error_is_an_error() {
    insta::assert_snapshot!("thrown", shown(&call_tool(&doing("throw new RangeError('no such thing');"))));
}

#[test]
fn an_error_in_the_metadata_is_a_failure() {
    let failed = call_tool(&doing(
        "return { title: 'Error', metadata: { error: 'NOT_FOUND' }, output: 'Error: no file\\nof that name' };",
    ));
    insta::assert_snapshot!("failed", shown(&failed));
    let failed = call_tool(&doing("return { title: 'E', metadata: { error: true }, output: '' };"));
    assert_eq!(failed.error.unwrap().code.as_str(), "EXECUTION_ERROR");
    let fine = call_tool(&doing("return { title: 'E', metadata: { error: false }, output: 'fine' };"));
    assert!(fine.error.is_none());
}

#[test]
fn attachments_and_console_output_are_returned() {
    let body = "console.log('seen'); return { title: 'P', metadata: {}, output: 'o', attachments: [{ mime: 'image/png', url: 'data:image/png;base64,AA==' }] };";
    insta::assert_snapshot!("attachments", shown(&call_tool(&doing(body))));
}

#[test]
fn output_beyond_the_limit_is_partial() {
    let envelope = call_tool(&doing("return 'x'.repeat(2 * 1024 * 1024);"));
    let value = serde_json::to_value(&envelope).unwrap();
    assert_eq!((&value["status"], &value["data"]["truncated"]), (&json!("partial"), &json!(true)));
    assert!(envelope.text.ends_with("x\n\n[truncated: 1048576 bytes shown]"));
}

#[test]
fn ambiguous_names_are_qualified() {
    let project = TestEnv::new(Preset::Standard);
    skill(&project, "a", &["greet", "only", "Skill", "skills.activate", "x.y"]);
    skill(&project, "b", &["greet", "x_y"]);
    let (toolbox, mut session) = (project.toolbox(), requesting(&["a", "b"]));
    assert_eq!(
        skill_tools(&toolbox, &session),
        ["a.greet", "only", "a.Skill", "a.skills.activate", "a.x.y", "b.greet", "b.x_y"]
    );
    for (name, text) in [
        ("a.greet", "a/greet "),
        ("a_greet", "a/greet "),
        ("b_greet", "b/greet "),
        ("only", "a/only "),
        ("a.only", "a/only "),
        ("a_only", "a/only "),
        ("a.skills.activate", "a/skills.activate "),
        ("a_x_y", "a/x.y "),
    ] {
        assert_eq!(toolbox.call(&mut session, name, json!({})).text, text, "{name}");
    }
    let near = toolbox.call(&mut session, "onyl", json!({}));
    assert_eq!(near.text, "no tool named onyl; did you mean only?");
    assert_eq!(skill_tools(&toolbox, &requesting(&["a"]))[0], "greet");
}

#[test]
fn a_broken_toolset_is_reported_with_its_location() {
    let project = TestEnv::new(Preset::Standard);
    toolset(&project, "a", "type T = 1;\nexport const Set = [nowhere];");
    let (toolbox, mut session) = (project.toolbox(), requesting(&["a"]));
    assert!(skill_tools(&toolbox, &session).is_empty());
    let diagnostics = toolbox.take_diagnostics();
    let location = diagnostics[0].diagnostic.location.unwrap();
    assert_eq!(
        (diagnostics.len(), diagnostics[0].diagnostic.code.as_str(), location.line, location.column),
        (1, "SK064", 4, 21)
    );
    assert!(diagnostics[0].path.ends_with("a/toolsets/index.ts"));
    let failed = toolbox.call(&mut session, "t", json!({}));
    assert_eq!(
        failed.text,
        "cannot load a toolset of a: toolsets/index.ts:4:21: ReferenceError: nowhere is not defined"
    );
    assert!(!project.is_named_in(&failed.text));
}

#[test]
fn skills_that_are_not_enabled_provide_no_tools() {
    // Untrusted: a project's skill.
    let project = TestEnv::new(Preset::Standard);
    skill(&project, "a", &["t"]);
    for file in ["SKILL.md", "toolsets/index.ts"] {
        let content = std::fs::read(project.path(&format!("{ROOT}/a/{file}"))).unwrap();
        project.file(
            &format!(".agents/skills/b/{file}"),
            String::from_utf8(content).unwrap().replace("name: a", "name: b"),
        );
    }
    assert_eq!(skill_tools(&project.toolbox(), &requesting(&["a", "b"])), ["t"]);
    // Disabled.
    let mut off = TestEnv::new(Preset::Standard);
    skill(&off, "a", &["t"]);
    off.policy.selection.disabled = vec!["a".into()];
    assert!(skill_tools(&off.toolbox(), &requesting(&["a"])).is_empty());
    // Deleted after discovery, or replaced by a symlink.
    let (toolbox, mut session) = (project.toolbox(), requesting(&["a"]));
    assert_eq!(skill_tools(&toolbox, &session), ["t"]);
    let path = project.path(&format!("{ROOT}/a/toolsets/index.ts"));
    std::fs::rename(&path, project.path("elsewhere.ts")).unwrap();
    symlink(project.path("elsewhere.ts"), &path).unwrap();
    let refused = toolbox.call(&mut session, "t", json!({}));
    assert_eq!(refused.error.unwrap().code.as_str(), "ACCESS_DENIED", "{}", refused.text);
}

#[test]
fn parameters_must_be_an_object() {
    let project = TestEnv::new(Preset::Standard);
    skill(&project, "a", &["t"]);
    for params in [json!(null), json!([]), json!("x"), json!(5)] {
        let refused = project.toolbox().call(&mut requesting(&["a"]), "t", params);
        assert_eq!(refused.error.unwrap().code.as_str(), "INVALID_PARAM");
    }
}

#[test]
fn tools_receive_information_about_the_session() {
    let project = doing(
        "return JSON.stringify([ctx.sessionID, ctx.messageID, ctx.agent, ctx.extra, ctx.callID.slice(0, 5)]);",
    );
    let mut session = requesting(&["a"]);
    session.info.session_id = "s-1".into();
    session.info.agent = "helper".into();
    session.info.extra.insert("k".into(), Value::from(1));
    let result = project.toolbox().call(&mut session, "t", json!({}));
    assert_eq!(result.text, r#"["s-1","","helper",{"k":1},"call-"]"#);
}
