//! The envelope of every response.

use crate::support::{CallTools, TestEnv, checked, one_skill};
use proptest::prelude::*;
use prowess::Preset;
use prowess_tools::{BuiltinTool, Envelope, Session};
use serde_json::{Value, json};

#[test]
fn s001_13_data_of_the_skill_tool_has_name_base_dir_and_content() {
    let (project, toolbox) = one_skill(Preset::SkillTool, "Do it.");
    let params = json!({"name": "a", "args": "x"});
    let envelope = checked(toolbox.call(&mut Session::default(), "Skill", params.clone()));
    let base = project.path("skills/a");
    let content = format!("Base directory for this skill: {}\n\nDo it.\n\nARGUMENTS: x", base.display());
    assert_eq!(Value::Object(envelope.data), json!({"name": "a", "base_dir": base, "content": content}));
    assert_eq!(envelope.text, content);
    assert_eq!(envelope.context.params_input, params);
    assert_eq!(envelope.context.cwd, project.path("").components().as_path().to_str().unwrap());
}

#[test]
fn s001_21_every_tool_returns_an_envelope() {
    for preset in Preset::ALL {
        let mut project = TestEnv::new(preset);
        let dir = format!("{}/a", project.root());
        project.skill("a", &"long ".repeat(100)).file(&format!("{dir}/big.md"), "x".repeat(500));
        project.policy.limits.skill_md_bytes = 100;
        project.policy.limits.resource_bytes = 100;
        let toolbox = project.toolbox();
        let mut statuses = Vec::new();
        for tool in BuiltinTool::ALL.map(BuiltinTool::name) {
            for params in [
                json!({"name": "a"}),
                json!({"name": "a", "path": "big.md"}),
                json!({"path": format!("{dir}/big.md")}),
                json!({"query": "a"}),
                json!({"name": "b"}),
                json!({}),
                json!(null),
                json!([1]),
            ] {
                statuses.push(checked(toolbox.call(&mut Session::default(), tool, params)).status);
            }
        }
        for status in [prowess_tools::CallStatus::Partial, prowess_tools::CallStatus::Error] {
            assert!(statuses.contains(&status), "{preset}: {status:?}");
        }
    }
}

#[test]
fn truncated_results_are_partial() {
    let mut project = TestEnv::new(Preset::Standard);
    project.skill("a", &"é".repeat(200)).file("~/.agents/skills/a/big.md", "é".repeat(200));
    project.policy.limits.skill_md_bytes = 101;
    project.policy.limits.resource_bytes = 101;
    let loaded = project.call("skills.activate", json!({"name": "a"}));
    assert_eq!(loaded.data["truncated"], true);
    assert!(loaded.text.contains("bytes"), "{}", loaded.text);
    let read = project.call("skills.readResource", json!({"name": "a", "path": "big.md"}));
    assert_eq!((&read.data["truncated"], &read.data["bytes"]), (&json!(true), &json!(400)));
    assert!(
        read.text.starts_with(&"é".repeat(50)) && read.text.contains("100 of 400 bytes"),
        "{}",
        read.text
    );
    let app = {
        let mut app = TestEnv::new(Preset::App);
        app.skill("a", "x").file("big.md", "y".repeat(200));
        app.policy.limits.resource_bytes = 100;
        app
    };
    assert_eq!(app.call("ReadFile", json!({"path": "big.md"})).data["truncated"], true);
}

#[test]
fn data_is_always_an_object() {
    for (data, expected) in
        [(json!(null), json!({})), (json!(3), json!({"value": 3})), (json!({"a": 1}), json!({"a": 1}))]
    {
        assert_eq!(Value::Object(Envelope::success(data, "").data), expected);
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "(a|b|SKILL.md|\\.\\./a|/etc/passwd|x/\\.\\./\\.\\.)".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = "(name|args|path|relativePath|query|k|[a-zé]{0,3})";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn tool_name() -> impl Strategy<Value = String> {
    let known: Vec<String> =
        BuiltinTool::ALL.into_iter().flat_map(|tool| [tool.name().to_owned(), tool.dotless_name()]).collect();
    prop_oneof![3 => prop::sample::select(known), 1 => any::<String>()]
}

#[test]
fn s001_21_any_name_and_any_parameters_give_an_envelope() {
    let worlds: Vec<_> = Preset::ALL.into_iter().map(|preset| one_skill(preset, "$ARGUMENTS")).collect();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    runner
        .run(&(0..worlds.len(), tool_name(), json_value()), |(at, tool, params)| {
            let (project, toolbox) = &worlds[at];
            let sent = params.clone();
            let envelope = toolbox.call(&mut Session::default(), &tool, params);
            prop_assert_eq!(&envelope.context.params_input, &sent);
            if envelope.error.is_some() {
                prop_assert!(!project.is_named_in(&envelope.text), "{}", envelope.text);
            }
            checked(envelope);
            Ok(())
        })
        .unwrap();
}
