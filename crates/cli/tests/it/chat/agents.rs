//! Requirements of the founding documents, tested with `prowess chat`. The number is the item of the
//! checklist.

use prowess::bundled::BundledSkill;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{call, system_prompt, text, tool_results};
use prowess_testing::model::{BlockingModelServer, RecordedRequest};
use serde_json::{Value, json};

use crate::chat::support::{configure, latest_chat, messages, scripted_model};
use crate::support::{TestEnv, skill_md};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

/// Returns an environment with this preset and a model with these answers.
fn env(preset: &str, server: &BlockingModelServer) -> TestEnv {
    let env = TestEnv::new().variable("KEY", "sk-SECRET-123").variable("PROWESS_PRESET", preset);
    let env = env.variable("PROWESS_SKILLS_ENABLED", "true");
    configure(&env, CHAT, &server.base, "");
    // Preset harness does not read the user's configuration file for this.
    let config = env.path("~/.prowess/config.toml").to_str().unwrap().to_owned();
    env.variable("PROWESS_CONFIG", &config)
}

fn fixture(env: &TestEnv, root: &str) {
    let skill = BundledSkill::find("skills-system-validation").unwrap();
    for (path, bytes) in skill.files {
        env.file(&format!("{root}/{}/{path}", skill.id), bytes);
    }
}

fn tools(request: &RecordedRequest) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn s004_24_s004_12_the_fixture_is_activated_implicitly() {
    let name = json!({"name": "skills-system-validation"});
    let reference = json!({"name": "skills-system-validation", "path": "references/REFERENCE.md"});
    let calls = [call("1", "skills_activate", name), call("2", "skills_readResource", reference)];
    let server = scripted_model(CHAT, &[&calls, &[text("Done.")]]);
    let env = env("chat", &server);
    fixture(&env, ".skills");
    let result = env.run(&["chat", "Validate the skills system"]);
    assert_eq!((result.out.as_str(), result.code), ("Done.\n", 0), "{}", result.transcript());
    let requests = server.requests();
    // Before: name and description without a path. After: the whole skill.
    let prompt = system_prompt(CHAT, &requests[0]);
    assert!(
        prompt.contains("\"available_skills\"") && !prompt.contains(env.path("").to_str().unwrap()),
        "{prompt}"
    );
    let results = tool_results(CHAT, &requests[1]);
    assert_eq!(results.len(), 2);
    assert!(results[0].1.contains("skills-system-validation"), "{results:?}");
    assert_eq!(messages(&env)[1]["parts"][2]["status"], "success");
}

#[test]
fn s004_24_s004_13_the_fixture_is_activated_explicitly_and_unknown_names_are_text() {
    let server = scripted_model(CHAT, &[&[text("Done.")]]);
    let env = env("chat", &server);
    fixture(&env, ".skills");
    env.run(&["chat", "/skills-system-validation now"]);
    let requests = server.requests();
    let request_messages: Vec<&Value> = requests[0].body["messages"].as_array().unwrap().iter().collect();
    let person = request_messages.iter().find(|message| message["role"] == "user").unwrap();
    assert_eq!(person["content"], "now");
    assert_eq!(tool_results(CHAT, &requests[0]).len(), 1);
    env.run(&["chat", "/no-such-skill now"]);
    let requests = server.requests();
    assert_eq!(
        requests[1].body["messages"].as_array().unwrap().last().unwrap()["content"],
        "/no-such-skill now"
    );
}

#[test]
fn s004_24_s004_14_without_tools_the_skill_is_in_the_request() {
    let server = scripted_model(CHAT, &[&[text("Done.")]]);
    let env = env("chat", &server);
    configure(&env, CHAT, &server.base, "tools = \"off\"");
    env.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    env.run(&["chat", "/notes milk"]);
    env.run(&["chat", "--continue", "and bread"]);
    let requests = server.requests();
    assert!(tools(&requests[0]).is_empty() && tools(&requests[1]).is_empty());
    assert!(system_prompt(CHAT, &requests[0]).contains("WRITE IT DOWN."));
    assert!(!requests[1].body.to_string().contains("WRITE IT DOWN."));
}

#[test]
fn s004_19_activated_names_are_stored_across_runs() {
    let calls = [call("1", "skills_activate", json!({"name": "notes"}))];
    let server = scripted_model(CHAT, &[&calls, &[text("Done.")]]);
    let env = env("chat", &server);
    env.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    env.run(&["chat", "milk"]);
    env.run(&["chat", "--continue", "bread"]);
    let chat = env.run(&["chats", "show", &latest_chat(&env), "--json"]).json()["chat"].clone();
    assert_eq!(chat["activated_skill_names"], json!(["notes"]));
    let prompt = system_prompt(CHAT, server.requests().last().unwrap());
    assert!(prompt.contains("Skills already active in this conversation: notes."), "{prompt}");
    // Only names are stored, not instructions.
    for file in std::fs::read_dir(env.path("~/.prowess/state")).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(14).any(|window| window == b"WRITE IT DOWN."));
    }
}

#[test]
fn s004_20_a_tool_call_is_shown_as_one_line() {
    let calls = [call("1", "skills_activate", json!({"name": "notes"}))];
    let server = scripted_model(CHAT, &[&calls, &[text("Done.")]]);
    let env = env("chat", &server);
    env.file(".skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWRITE IT DOWN.\n");
    let result = env.run(&["chat", "milk"]);
    assert_eq!(result.err, "[1] skills.activate name=notes\n");
    let data = messages(&env)[1]["parts"][1]["summary"].clone();
    assert_eq!((&data["name"], data["text_digest"].is_string()), (&json!("notes"), true));
}

#[test]
fn s004_21_scripts_run_only_if_the_user_allows_them() {
    let calls = [call("1", "skills_run", json!({"name": "notes", "script": "x.sh"}))];
    let server = scripted_model(CHAT, &[&calls, &[text("Done.")]]);
    let env = env("standard", &server);
    env.skill("~/.agents/skills/notes").file("~/.agents/skills/notes/x.sh", "#!/bin/sh\ntouch owned\n");
    let result = env.run(&["chat", "milk"]);
    assert!(!tools(&server.requests()[0]).contains(&"skills_run".to_owned()));
    assert!(
        result
            .err
            .starts_with("[1] skills_run name=notes script=x.sh · error: scripts are not allowed to run"),
        "{}",
        result.err
    );
}

#[test]
fn s001_17_a_dollar_loads_a_skill() {
    let server = scripted_model(CHAT, &[&[text("Done.")]]);
    let env = env("skill-tool", &server);
    env.skill("skills/code-review");
    env.run(&["chat", "Please $code-review this"]);
    let results = tool_results(CHAT, &server.requests()[0]);
    assert!(results.len() == 1 && results[0].1.contains("Do it."), "{results:?}");
}

#[test]
fn s002_06_s002_08_the_catalog_has_names_descriptions_and_locations() {
    let server = scripted_model(CHAT, &[&[text("Done.")]]);
    let env = env("harness", &server);
    env.skill(".agent/skills/pdf");
    env.run(&["chat", "hello"]);
    let prompt = system_prompt(CHAT, &server.requests()[0]);
    let location = env.path(".agent/skills/pdf/SKILL.md");
    assert!(prompt.contains("<available_skills>") && prompt.contains(location.to_str().unwrap()), "{prompt}");
    assert!(!prompt.contains("Do it."));
}

#[test]
fn s003_03_s003_04_s003_05_the_tier_follows_the_message() {
    let server = scripted_model(CHAT, &[&[text("Done.")]]);
    let env = env("triggers", &server);
    let skill = "---\nname: pdf\ndescription: Forms.\ntriggers:\n  keywords: [form]\n---\n\nFILL IT IN.\n";
    env.file(".agent/skills/pdf/SKILL.md", skill).file(".agent/config.yaml", "");
    env.run(&["chat", "Fill in this form"]);
    env.run(&["chat", "Good morning"]);
    env.run(&["chat", "What can you do?"]);
    let requests = server.requests();
    assert!(system_prompt(CHAT, &requests[0]).contains("FILL IT IN."));
    let prompt = system_prompt(CHAT, &requests[1]);
    assert!(prompt.contains("skills available]") && !prompt.contains("FILL IT IN."), "{prompt}");
    let prompt = system_prompt(CHAT, &requests[2]);
    assert!(prompt.contains("- pdf: Forms.") && !prompt.contains("FILL IT IN."), "{prompt}");
}

#[test]
fn s000_05_s000_06_s000_16_preset_app_reads_files_and_sees_new_skills() {
    let read = [call("1", "ReadFile", json!({"path": ".agents/skills/added/SKILL.md"}))];
    let server = scripted_model(CHAT, &[&[text("Nothing.")], &read, &[text("Done.")]]);
    let env = env("app", &server);
    env.run(&["chat", "hello"]);
    env.file(".agents/skills/added/SKILL.md", skill_md("Added", "Was added."));
    assert_eq!(env.run(&["chat", "hello"]).out, "Done.\n");
    let requests = server.requests();
    assert!(
        !system_prompt(CHAT, &requests[0]).contains("Was added.")
            && system_prompt(CHAT, &requests[1]).contains("added")
    );
    assert!(tool_results(CHAT, &requests[2])[0].1.contains("Do it."));
}
