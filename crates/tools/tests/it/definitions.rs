//! The tool definitions for models.

use crate::support::{CallTools, TestEnv, one_skill};
use prowess::Preset;
use prowess_tools::{BuiltinTool, Session, Toolbox};
use serde_json::{Value, json};

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.definitions().into_iter().map(|tool| tool.name).collect()
}

#[test]
fn of_each_preset() {
    for preset in Preset::ALL {
        let project = TestEnv::new(preset);
        project.skill("pdf", "x").skill("gh", "y");
        let definitions = serde_json::to_string_pretty(&project.toolbox().definitions()).unwrap();
        insta::assert_snapshot!(format!("of_{}", preset.as_str().replace('-', "_")), definitions);
    }
}

#[test]
fn s000_06_one_tool_that_takes_a_path() {
    let (_env, toolbox) = one_skill(Preset::App, "x");
    let [tool] = &toolbox.definitions()[..] else { panic!("one tool") };
    assert_eq!((tool.name.as_str(), &tool.input_schema["required"]), ("ReadFile", &json!(["path"])));
}

#[test]
fn s001_08_one_tool_with_a_name_and_optional_arguments() {
    let (_env, toolbox) = one_skill(Preset::SkillTool, "x");
    let [tool] = &toolbox.definitions()[..] else { panic!("one tool") };
    assert_eq!((tool.name.as_str(), &tool.input_schema["required"]), ("Skill", &json!(["name"])));
    for parameter in ["name", "args"] {
        assert_eq!(tool.input_schema["properties"][parameter]["type"], "string");
    }
    assert_eq!(tool.input_schema["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn names_are_an_enum_up_to_256() {
    let project = TestEnv::new(Preset::Standard);
    let name = |toolbox: &Toolbox| toolbox.definitions()[0].input_schema["properties"]["name"].clone();
    for number in 0..256 {
        project.skill(&format!("s-{number}"), "x");
    }
    let listed = name(&project.toolbox());
    assert_eq!(listed["enum"].as_array().map(Vec::len), Some(256));
    project.skill("s-256", "x");
    assert_eq!(name(&project.toolbox()), json!({"type": "string", "description": "The skill's name."}));
}

#[test]
fn names_with_and_without_dots_are_accepted() {
    let (_env, toolbox) = one_skill(Preset::Standard, "x");
    for tool in BuiltinTool::ALL {
        assert_eq!(
            (BuiltinTool::from_name(tool.name()), BuiltinTool::from_name(&tool.dotless_name())),
            (Some(tool), Some(tool))
        );
        assert!(!tool.dotless_name().contains('.'));
    }
    let load = |name: &str| toolbox.call(&mut Session::default(), name, json!({"name": "a"})).text;
    assert_eq!(load("skills.activate"), load("skills_activate"));
}

#[test]
fn s004_18_nothing_is_offered_without_skills() {
    for preset in Preset::ALL {
        let mut project = TestEnv::new(preset);
        assert!(names(&project.toolbox()).is_empty(), "{preset}: there are no skills");
        project.skill("a", "x");
        assert!(!names(&project.toolbox()).is_empty(), "{preset}");
        project.policy.enabled = false;
        let toolbox = project.toolbox();
        assert!(names(&toolbox).is_empty(), "{preset}: they are off");
        for tool in BuiltinTool::ALL {
            let envelope = toolbox.call(&mut Session::default(), tool.name(), json!({"name": "a"}));
            assert_eq!(crate::support::error(&envelope), ("DISABLED", "skills are disabled"));
        }
        project.policy.enabled = true;
        project.policy.selection.manual = vec!["a".to_owned()];
        assert!(names(&project.toolbox()).is_empty(), "{preset}: the model is told of none");
    }
}

#[test]
fn requested_skills_are_among_the_names() {
    let mut project = TestEnv::new(Preset::Standard);
    project.skill("deploy", "x").skill("pdf", "x");
    project.policy.selection.manual = vec!["deploy".to_owned()];
    let toolbox = project.toolbox();
    let listed = |session: &Session| -> Value {
        toolbox.definitions_in(session)[0].input_schema["properties"]["name"]["enum"].clone()
    };
    let mut session = Session::default();
    assert_eq!(listed(&session), json!(["pdf"]));
    session.mark_invoked("deploy");
    assert_eq!(listed(&session), json!(["deploy", "pdf"]));
}

#[test]
fn directory_names_are_used_if_they_are_the_identity() {
    let mut project = TestEnv::new(Preset::Standard);
    project.policy.scan.identity = prowess::policy::SkillIdentity::Id;
    project.policy.manifest = prowess::Policy::from_preset(Preset::App).manifest;
    project.file("~/.agents/skills/reader/SKILL.md", "---\nname: PDF Reader\ndescription: d\n---\nRead.\n");
    let toolbox = project.toolbox();
    let listed = &toolbox.definitions()[0].input_schema["properties"]["name"]["enum"];
    assert_eq!(*listed, json!(["reader"]));
    for name in ["reader", "PDF Reader"] {
        assert!(project.call("skills.activate", json!({"name": name})).text.contains("Read."), "{name}");
    }
}
