//! What a model is told of the tools.

use crate::world::{World, one, root};
use prowess::Preset;
use prowess_tools::{Session, Tool, Toolbox};
use serde_json::{Value, json};

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.definitions().into_iter().map(|tool| tool.name).collect()
}

#[test]
fn of_each_preset() {
    for preset in Preset::ALL {
        let world = World::new(preset);
        world.skill(&format!("{}/pdf", root(preset)), "x").skill(&format!("{}/gh", root(preset)), "y");
        let definitions = serde_json::to_string_pretty(&world.toolbox().definitions()).unwrap();
        insta::assert_snapshot!(format!("of_{}", preset.as_str().replace('-', "_")), definitions);
    }
}

#[test]
fn s000_06_one_tool_that_takes_a_path() {
    let (_world, toolbox) = one(Preset::App, "x");
    let [tool] = &toolbox.definitions()[..] else { panic!("one tool") };
    assert_eq!((tool.name.as_str(), &tool.input_schema["required"]), ("ReadFile", &json!(["path"])));
}

#[test]
fn s001_08_one_tool_with_a_name_and_optional_arguments() {
    let (_world, toolbox) = one(Preset::SkillTool, "x");
    let [tool] = &toolbox.definitions()[..] else { panic!("one tool") };
    assert_eq!((tool.name.as_str(), &tool.input_schema["required"]), ("Skill", &json!(["name"])));
    for parameter in ["name", "args"] {
        assert_eq!(tool.input_schema["properties"][parameter]["type"], "string");
    }
    assert_eq!(tool.input_schema["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn names_are_an_enum_up_to_256() {
    let world = World::new(Preset::Standard);
    let name = |toolbox: &Toolbox| toolbox.definitions()[0].input_schema["properties"]["name"].clone();
    for number in 0..256 {
        world.skill(&format!("~/.agents/skills/s-{number}"), "x");
    }
    let listed = name(&world.toolbox());
    assert_eq!(listed["enum"].as_array().map(Vec::len), Some(256));
    world.skill("~/.agents/skills/s-256", "x");
    assert_eq!(name(&world.toolbox()), json!({"type": "string", "description": "The skill's name."}));
}

#[test]
fn both_spellings_are_answered() {
    let (_world, toolbox) = one(Preset::Standard, "x");
    for tool in Tool::ALL {
        assert_eq!((Tool::named(tool.name()), Tool::named(&tool.dotless())), (Some(tool), Some(tool)));
        assert!(!tool.dotless().contains('.'));
    }
    let load = |name: &str| toolbox.call(&mut Session::default(), name, json!({"name": "a"})).text;
    assert_eq!(load("skills.activate"), load("skills_activate"));
}

#[test]
fn s004_18_nothing_is_offered_without_skills() {
    for preset in Preset::ALL {
        let mut world = World::new(preset);
        assert!(names(&world.toolbox()).is_empty(), "{preset}: there is none");
        world.skill(&format!("{}/a", root(preset)), "x");
        assert!(!names(&world.toolbox()).is_empty(), "{preset}");
        world.policy.enabled = false;
        let toolbox = world.toolbox();
        assert!(names(&toolbox).is_empty(), "{preset}: they are off");
        for tool in Tool::ALL {
            let answer = toolbox.call(&mut Session::default(), tool.name(), json!({"name": "a"}));
            assert_eq!(crate::world::error(&answer), ("DISABLED", "skills are switched off"));
        }
        world.policy.enabled = true;
        world.policy.selection.manual = vec!["a".to_owned()];
        assert!(names(&world.toolbox()).is_empty(), "{preset}: the model is told of none");
    }
}

#[test]
fn what_the_user_called_is_among_the_names() {
    let mut world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/deploy", "x").skill("~/.agents/skills/pdf", "x");
    world.policy.selection.manual = vec!["deploy".to_owned()];
    let toolbox = world.toolbox();
    let listed = |session: &Session| -> Value {
        toolbox.definitions_in(session)[0].input_schema["properties"]["name"]["enum"].clone()
    };
    let mut session = Session::default();
    assert_eq!(listed(&session), json!(["pdf"]));
    session.call_by_name("deploy");
    assert_eq!(listed(&session), json!(["deploy", "pdf"]));
}

#[test]
fn where_folders_count_they_are_the_names() {
    let mut world = World::new(Preset::Standard);
    world.policy.scan.identity = prowess::policy::Identity::Id;
    world.policy.manifest = prowess::Policy::preset(Preset::App).manifest;
    world.file("~/.agents/skills/reader/SKILL.md", "---\nname: PDF Reader\ndescription: d\n---\nRead.\n");
    let toolbox = world.toolbox();
    let listed = &toolbox.definitions()[0].input_schema["properties"]["name"]["enum"];
    assert_eq!(*listed, json!(["reader"]));
    for name in ["reader", "PDF Reader"] {
        assert!(world.call("skills.activate", json!({"name": name})).text.contains("Read."), "{name}");
    }
}
