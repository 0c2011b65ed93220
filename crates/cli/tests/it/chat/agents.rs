//! What the founding documents promise of agents, held to their word through `prowess chat`. The number is the line of the
//! checklist.

use prowess::bundled::BUNDLED;
use prowess_config::Provider;
use prowess_testing::model::speech::{call, results, system, text};
use prowess_testing::model::{Asked, Blocking};
use serde_json::{Value, json};

use crate::chat::talking::{configure, latest, messages, saying};
use crate::world::{World, skill_md};

const CHAT: Provider = Provider::OpenAiChat;

/// A world of this preset, with a model that says these things.
fn world(preset: &str, server: &Blocking) -> World {
    let world = World::new().variable("KEY", "sk-SECRET-123").variable("PROWESS_PRESET", preset);
    let world = world.variable("PROWESS_SKILLS_ENABLED", "true");
    configure(&world, CHAT, &server.base, "");
    // Preset harness reads no file of the user's for this.
    let config = world.path("~/.prowess/config.toml").to_str().unwrap().to_owned();
    world.variable("PROWESS_CONFIG", &config)
}

fn fixture(world: &World, root: &str) {
    let skill = BUNDLED.iter().find(|skill| skill.id == "skills-system-validation").unwrap();
    for (path, bytes) in skill.files {
        world.file(&format!("{root}/{}/{path}", skill.id), bytes);
    }
}

fn tools(asked: &Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn s004_24_s004_12_the_fixture_implicitly() {
    let name = json!({"name": "skills-system-validation"});
    let reference = json!({"name": "skills-system-validation", "path": "references/REFERENCE.md"});
    let calls = [call("1", "skills_activate", name), call("2", "skills_readResource", reference)];
    let server = saying(CHAT, &[&calls, &[text("Done.")]]);
    let world = world("chat", &server);
    fixture(&world, ".skills");
    let told = world.run(&["chat", "Validate the skills system"]);
    assert_eq!((told.out.as_str(), told.code), ("Done.\n", 0), "{}", told.whole());
    let asked = server.asked();
    // Before: a name and a description, without a path. After: all of it.
    let prompt = system(CHAT, &asked[0]);
    assert!(
        prompt.contains("\"available_skills\"") && !prompt.contains(world.path("").to_str().unwrap()),
        "{prompt}"
    );
    let results = results(CHAT, &asked[1]);
    assert_eq!(results.len(), 2);
    assert!(results[0].1.contains("skills-system-validation"), "{results:?}");
    assert_eq!(messages(&world)[1]["parts"][2]["status"], "success");
}

#[test]
fn s004_24_s004_13_the_fixture_explicitly_and_what_no_skill_is_called() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("chat", &server);
    fixture(&world, ".skills");
    world.run(&["chat", "/skills-system-validation now"]);
    let asked = server.asked();
    let said: Vec<&Value> = asked[0].body["messages"].as_array().unwrap().iter().collect();
    let person = said.iter().find(|message| message["role"] == "user").unwrap();
    assert_eq!(person["content"], "now");
    assert_eq!(results(CHAT, &asked[0]).len(), 1);
    world.run(&["chat", "/no-such-skill now"]);
    let asked = server.asked();
    assert_eq!(
        asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"],
        "/no-such-skill now"
    );
}

#[test]
fn s004_24_s004_14_without_tools_the_file_is_in_that_one_request() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("chat", &server);
    configure(&world, CHAT, &server.base, "tools = \"off\"");
    world.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    world.run(&["chat", "/notes milk"]);
    world.run(&["chat", "--continue", "and bread"]);
    let asked = server.asked();
    assert!(tools(&asked[0]).is_empty() && tools(&asked[1]).is_empty());
    assert!(system(CHAT, &asked[0]).contains("WRITE IT DOWN."));
    assert!(!asked[1].body.to_string().contains("WRITE IT DOWN."));
}

#[test]
fn s004_19_names_are_kept_and_told_in_the_next_call_of_the_program() {
    let calls = [call("1", "skills_activate", json!({"name": "notes"}))];
    let server = saying(CHAT, &[&calls, &[text("Done.")]]);
    let world = world("chat", &server);
    world.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    world.run(&["chat", "milk"]);
    world.run(&["chat", "--continue", "bread"]);
    let chat = world.run(&["chats", "show", &latest(&world), "--json"]).json()["chat"].clone();
    assert_eq!(chat["activated_skill_names"], json!(["notes"]));
    let prompt = system(CHAT, server.asked().last().unwrap());
    assert!(prompt.contains("Skills already active in this conversation: notes."), "{prompt}");
    // Names only: the instructions are in no file of the state.
    for file in std::fs::read_dir(world.path("~/.prowess/state")).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(14).any(|window| window == b"WRITE IT DOWN."));
    }
}

#[test]
fn s004_05_s004_18_switched_off_there_is_no_word_of_skills() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("chat", &server).variable("PROWESS_SKILLS_ENABLED", "false");
    fixture(&world, ".skills");
    assert_eq!(world.run(&["chat", "Validate the skills system"]).out, "Done.\n");
    let asked = server.asked();
    assert!(tools(&asked[0]).is_empty());
    assert!(!asked[0].body.to_string().contains("skills-system-validation"));
}

#[test]
fn s004_20_a_call_is_a_line_and_its_text_is_not_dumped() {
    let calls = [call("1", "skills_activate", json!({"name": "notes"}))];
    let server = saying(CHAT, &[&calls, &[text("Done.")]]);
    let world = world("chat", &server);
    world.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    let told = world.run(&["chat", "milk"]);
    assert_eq!(told.err, "[1] skills.activate name=notes\n");
    let data = messages(&world)[1]["parts"][1]["summary"].clone();
    assert_eq!((&data["name"], data["text_digest"].is_string()), (&json!("notes"), true));
}

#[test]
fn s004_21_scripts_run_only_where_the_user_said_so() {
    let calls = [call("1", "skills_run", json!({"name": "notes", "script": "x.sh"}))];
    let server = saying(CHAT, &[&calls, &[text("Done.")]]);
    let world = world("standard", &server);
    world.skill("~/.agents/skills/notes").file("~/.agents/skills/notes/x.sh", "#!/bin/sh\ntouch owned\n");
    let told = world.run(&["chat", "milk"]);
    assert!(
        told.err.starts_with("[1] skills_run name=notes script=x.sh · error: scripts are not allowed to run"),
        "{}",
        told.err
    );
}

#[test]
fn s001_17_a_dollar_loads_a_skill() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("skill-tool", &server);
    world.skill("skills/code-review");
    world.run(&["chat", "Please $code-review this"]);
    let results = results(CHAT, &server.asked()[0]);
    assert!(results.len() == 1 && results[0].1.contains("Do it."), "{results:?}");
}

#[test]
fn s002_06_s002_08_names_descriptions_and_locations_before_anything_is_asked_for() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("harness", &server);
    world.skill(".agent/skills/pdf");
    world.run(&["chat", "hello"]);
    let prompt = system(CHAT, &server.asked()[0]);
    let location = world.path(".agent/skills/pdf/SKILL.md");
    assert!(prompt.contains("<available_skills>") && prompt.contains(location.to_str().unwrap()), "{prompt}");
    assert!(!prompt.contains("Do it."));
}

#[test]
fn s003_03_s003_05_the_tier_follows_the_message() {
    let server = saying(CHAT, &[&[text("Done.")]]);
    let world = world("triggers", &server);
    let skill = "---\nname: pdf\ndescription: Forms.\ntriggers:\n  keywords: [form]\n---\n\nFILL IT IN.\n";
    world.file(".agent/skills/pdf/SKILL.md", skill).file(".agent/config.yaml", "");
    world.run(&["chat", "Fill in this form"]);
    world.run(&["chat", "Good morning"]);
    let asked = server.asked();
    assert!(system(CHAT, &asked[0]).contains("FILL IT IN."));
    let prompt = system(CHAT, &asked[1]);
    assert!(prompt.contains("skills available]") && !prompt.contains("FILL IT IN."), "{prompt}");
}

#[test]
fn s000_05_s000_06_s000_16_an_app_reads_files_and_knows_what_was_added() {
    let read = [call("1", "ReadFile", json!({"path": ".agents/skills/added/SKILL.md"}))];
    let server = saying(CHAT, &[&[text("Nothing.")], &read, &[text("Done.")]]);
    let world = world("app", &server);
    world.run(&["chat", "hello"]);
    world.file(".agents/skills/added/SKILL.md", skill_md("Added", "Was added."));
    assert_eq!(world.run(&["chat", "hello"]).out, "Done.\n");
    let asked = server.asked();
    assert!(!system(CHAT, &asked[0]).contains("Was added.") && system(CHAT, &asked[1]).contains("added"));
    assert!(results(CHAT, &asked[2])[0].1.contains("Do it."));
}
