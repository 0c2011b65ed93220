//! The requirements of each document for tools and prompts.

use std::os::unix::fs::symlink;

use crate::support::{CallTools, TestEnv, checked, error, one_skill};
use prowess::Preset;
use prowess::activation::activate;
use prowess::policy::ActivationMode;
use prowess_routing::mention::slash;
use prowess_tools::{PromptRequest, Session, render_prompt, system_prompt, tokens};
use serde_json::{Value, json};

#[test]
fn s000_05_the_prompt_of_the_app() {
    let project = TestEnv::new(Preset::App);
    project.file(
        ".agents/skills/report/SKILL.md",
        "---\nname: Weekly Report\ndescription: Writes it.\n---\nBODY\n",
    );
    insta::assert_snapshot!(system_prompt(&project.toolbox(), &Session::default(), Some("write the report")));
}

#[test]
fn s000_06_s000_07_s000_08_s000_09_s000_10_read_file() {
    let (project, toolbox) = one_skill(Preset::App, "Body.");
    project
        .file("notes.txt", "N")
        .file("run.sh", "touch ran")
        .file("~/secret.md", "S")
        .file(".agents/skills/broken/SKILL.md", "no frontmatter")
        .file(".agents/skills/a/tool.py", "open('ran', 'w')");
    symlink(project.path("~/secret.md"), project.path("out.md")).unwrap();
    let read = |params: Value| checked(toolbox.call(&mut Session::default(), "ReadFile", params));
    for key in ["path", "relativePath"] {
        let envelope = read(json!({key: ".agents/skills/a/SKILL.md"}));
        assert!(envelope.text.contains("Body."));
        assert_eq!(envelope.data["path"], ".agents/skills/a/SKILL.md");
    }
    assert_eq!(read(json!({"path": "notes.txt"})).text, "N", "any allowed file under the run directory");
    assert_eq!(read(json!({"path": ".agents/skills/broken/SKILL.md"})).text, "no frontmatter");
    assert_eq!(
        read(json!({"path": ".agents/skills/a/tool.py"})).text,
        "open('ran', 'w')",
        "read and not run"
    );
    assert!(!project.path("ran").exists());
    for (path, code) in [
        ("../home/secret.md", "ACCESS_DENIED"),
        ("/etc/passwd", "ACCESS_DENIED"),
        ("a/../../home/secret.md", "ACCESS_DENIED"),
        ("out.md", "ACCESS_DENIED"),
        ("run.sh", "ACCESS_DENIED"),
        ("LICENSE", "ACCESS_DENIED"),
        ("none.md", "NOT_FOUND"),
        (".agents", "IS_DIRECTORY"),
        (".", "IS_DIRECTORY"),
    ] {
        let envelope = read(json!({"path": path}));
        assert_eq!(error(&envelope).0, code, "{path}: {}", envelope.text);
        assert!(envelope.text.len() < 200 && !project.is_named_in(&envelope.text), "{}", envelope.text);
    }
    assert_eq!(error(&read(json!({}))), ("INVALID_PARAM", "path is missing"));
}

#[test]
fn s000_08_the_extensions_can_be_configured() {
    let (mut project, _) = one_skill(Preset::App, "x");
    project.policy.read_extensions = vec![".rs".to_owned()];
    project.file("main.rs", "fn main() {}");
    assert_eq!(project.call("ReadFile", json!({"path": "main.rs"})).text, "fn main() {}");
    assert_eq!(
        error(&project.call("ReadFile", json!({"path": ".agents/skills/a/SKILL.md"}))).0,
        "ACCESS_DENIED"
    );
    assert!(project.toolbox().definitions()[0].description.contains(".rs."));
}

#[test]
fn s001_09_s001_10_s001_11_s001_12_the_text_of_the_skill_tool() {
    let project = TestEnv::new(Preset::SkillTool);
    project.skill("with", "Do $ARGUMENTS.").skill("without", "Do it.").skill("only", "$ARGUMENTS");
    let load = |name: &str, args: Option<&str>| {
        let text = project.call("Skill", json!({"name": name, "args": args})).text;
        let base = format!(
            "Base directory for this skill: {}\n\n",
            project.path(&format!("skills/{name}")).display()
        );
        text.strip_prefix(&base).unwrap().to_owned()
    };
    assert_eq!(load("with", Some("this")), "Do this.");
    assert_eq!(load("with", None), "Do $ARGUMENTS.");
    assert_eq!(load("with", Some("")), "Do $ARGUMENTS.");
    assert_eq!(load("without", Some("this")), "Do it.\n\nARGUMENTS: this");
    assert_eq!(load("without", None), "Do it.");
    assert_eq!(load("only", Some("this")), "this");
}

#[test]
fn s001_16_s001_17_the_system_prompt_has_the_rules_and_the_tool_s_text() {
    let (_env, toolbox) = one_skill(Preset::SkillTool, "BODY");
    let text = system_prompt(&toolbox, &Session::default(), None);
    insta::assert_snapshot!(text);
    assert!(text.contains(&toolbox.definitions()[0].description));
}

fn triggered(project: &TestEnv, name: &str, triggers: &str) {
    let text =
        format!("---\nname: {name}\ndescription: Does {name}. And more.\n{triggers}---\nBody of {name}.\n");
    project.file(&format!(".agent/skills/{name}/SKILL.md"), text);
}

#[test]
fn s003_02_s003_03_s003_04_s003_05_each_tier_of_the_prompt() {
    let project = TestEnv::new(Preset::Triggers);
    let say = |query: &str| system_prompt(&project.toolbox(), &Session::default(), Some(query));
    assert_eq!(say("merge"), "");
    triggered(&project, "pdf", "triggers: {keywords: [pdf], verbs: [merge]}\n");
    triggered(&project, "gh", "triggers: {patterns: ['issue #\\d+']}\n");
    assert_eq!(say("good morning"), "[2 skills available]\n");
    assert_eq!(say("what can you do?"), "Available skills:\n- gh: Does gh.\n- pdf: Does pdf.\n");
    let full = say("please merge and look at issue #3");
    assert!(full.contains("Body of pdf.") && full.contains("Body of gh."), "{full}");
    assert!(!say("pdfs").contains("Body"));
}

#[test]
fn s003_06_at_most_three_are_pushed() {
    let project = TestEnv::new(Preset::Triggers);
    for name in ["a1", "b2", "c3", "d4"] {
        triggered(&project, name, "triggers: {keywords: [merge]}\n");
    }
    let text = system_prompt(&project.toolbox(), &Session::default(), Some("merge"));
    assert_eq!(text.matches("Body of").count(), 3);
    assert!(!text.contains("Body of d4."));
}

#[test]
fn only_skills_in_the_prompt_are_active() {
    let project = TestEnv::new(Preset::Triggers);
    for name in ["a", "b"] {
        triggered(&project, name, "triggers: {keywords: [merge]}\n");
    }
    let (toolbox, session) = (project.toolbox(), Session::default());
    std::fs::write(project.path(".agent/skills/b/SKILL.md"), "not a skill").unwrap();
    let text = system_prompt(&toolbox, &session, Some("merge"));
    assert!(text.contains("Body of a.") && !text.contains("Body of b."), "{text}");
    assert_eq!(session.active_skills(), ["a"]);
}

#[test]
fn cuts_of_the_tiers_are_reported() {
    let project = TestEnv::new(Preset::Triggers);
    for number in 0..50 {
        triggered(&project, &format!("skill-{number}"), "");
    }
    let request = PromptRequest { budget_chars: Some(300), ..PromptRequest::default() };
    let prompt = render_prompt(&project.toolbox(), &request);
    assert!(prompt.text.chars().count() <= 300, "{}", prompt.text);
    assert_eq!(prompt.plan.total(), 50);
    assert!(prompt.plan.cuts().count() > 0);
}

#[test]
fn s004_11_the_prompt_of_the_chat_has_no_paths() {
    let (project, toolbox) = one_skill(Preset::Chat, "BODY");
    let text = system_prompt(&toolbox, &Session::default(), None);
    let list: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(list, json!({"available_skills": [{"name": "a", "description": "Does a."}]}));
    assert!(!project.is_named_in(&text) && !text.contains("BODY"));
}

#[test]
fn s004_15_activation_returns_name_frontmatter_and_body() {
    let (_env, toolbox) = one_skill(Preset::Chat, "Body.");
    let call =
        |name: &str| checked(toolbox.call(&mut Session::default(), "skills.activate", json!({"name": name})));
    let envelope = call("a");
    assert_eq!(envelope.data["name"], "a");
    assert_eq!(envelope.data["frontmatter"], json!({"name": "a", "description": "Does a."}));
    assert_eq!(envelope.data["body"].as_str().unwrap().trim(), "Body.");
    assert_eq!(envelope.text, "Body.");
    assert_eq!(error(&call("no-such-skill-here")).0, "NOT_FOUND");
}

#[test]
fn s004_16_a_resource_has_name_path_and_content() {
    let (project, toolbox) = one_skill(Preset::Chat, "x");
    project.file(".skills/a/references/r.md", "R");
    let params = json!({"name": "a", "path": "./references/r.md"});
    let envelope = checked(toolbox.call(&mut Session::default(), "skills.readResource", params));
    let expected = json!({"name": "a", "path": "references/r.md", "content": "R", "bytes": 1});
    assert_eq!((Value::Object(envelope.data), envelope.text.as_str()), (expected, "R"));
}

#[test]
fn s004_22_long_files_are_truncated_with_a_notice() {
    let (mut project, _) = one_skill(Preset::Chat, &"x".repeat(1_000));
    project.policy.limits.skill_md_bytes = 500;
    let envelope = project.call("skills.activate", json!({"name": "a"}));
    assert_eq!(envelope.data["truncated"], true);
    assert!(envelope.text.contains("500 of 1039 bytes"), "{}", envelope.text);
    let toolbox = project.toolbox();
    for _ in 0..3 {
        toolbox.call(&mut Session::default(), "skills.activate", json!({"name": "a"}));
    }
    assert_eq!(
        toolbox.take_notices(),
        ["SKILL.md of a is too long: 500 of 1039 bytes are shown"],
        "told once"
    );
    assert_eq!(toolbox.take_notices(), [] as [&str; 0]);
}

#[test]
fn s004_23_every_activation_includes_allowed_tools() {
    let project = TestEnv::new(Preset::Chat);
    let text = "---\nname: a\ndescription: d\nallowed-tools: Bash(git:*) Read\n---\nx\n";
    project.file(".skills/a/SKILL.md", text);
    let envelope = project.call("skills.activate", json!({"name": "a"}));
    assert_eq!(envelope.data["allowed_tools"], json!(["Bash(git:*)", "Read"]));
}

#[test]
fn search_returns_the_best_match_first_with_reasons() {
    let project = TestEnv::new(Preset::Standard);
    for (name, about) in [("pdf", "Fills forms."), ("notes", "Takes notes."), ("forms", "Draws web pages.")] {
        project.file(
            &format!("~/.agents/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {about}\n---\nx\n"),
        );
    }
    let found = project.call("skills.search", json!({"query": "fills forms"}));
    let names: Vec<_> =
        found.data["matches"].as_array().unwrap().iter().map(|found| &found["name"]).collect();
    assert_eq!(names, ["pdf", "forms"]);
    assert!(found.data["matches"][0]["reasons"][0].as_str().unwrap().starts_with("lexical: "));
    assert_eq!(found.text, "- pdf: Fills forms.\n- forms: Draws web pages.\n");
    let one = project.call("skills.search", json!({"query": "fills forms", "k": 1}));
    assert_eq!(one.data["matches"].as_array().unwrap().len(), 1);
    assert_eq!(project.call("skills.search", json!({"query": "zzz"})).text, "No matching skill found.\n");
    for k in [json!(0), json!(51), json!(-1), json!("3"), json!(1.5)] {
        let envelope = project.call("skills.search", json!({"query": "x", "k": k}));
        assert_eq!(error(&envelope), ("INVALID_PARAM", "k must be an integer from 1 to 50"));
    }
}

#[test]
fn listing_is_sorted_with_sizes() {
    let (project, toolbox) = one_skill(Preset::Standard, "x");
    project.file("~/.agents/skills/a/scripts/b.sh", "12").file("~/.agents/skills/a/references/a.md", "123");
    let envelope =
        checked(toolbox.call(&mut Session::default(), "skills.listResources", json!({"name": "a"})));
    let files: Vec<_> = envelope.text.lines().collect();
    assert_eq!(files[1..], ["references/a.md (3 bytes)", "scripts/b.sh (2 bytes)"]);
    assert_eq!(envelope.data["files"][1], json!({"path": "references/a.md", "bytes": 3}));
}

#[test]
fn s002_06_the_token_costs_of_each_tier() {
    let project = TestEnv::with_bundled(Preset::Harness);
    let toolbox = project.toolbox();
    let (snapshot, catalog) = (toolbox.snapshot(), system_prompt(&toolbox, &Session::default(), None));
    let skills: Vec<_> = snapshot.enabled().filter(|skill| !skill.is_example()).collect();
    let each = tokens::count(&catalog) / skills.len();
    assert!((20..=150).contains(&each), "about a hundred tokens a skill: {each}");
    for skill in skills {
        let name = skill.name();
        let text = project.call("skills.activate", json!({"name": name})).text;
        assert!((50..5_000).contains(&tokens::count(&text)), "{name}");
        assert!(!catalog.contains(text.lines().last().unwrap()), "{name}");
    }
}

/// For models without tools, the server adds the requested skill to that one request.
#[test]
fn s004_14_a_requested_skill_can_be_added_to_one_request() {
    let (_env, toolbox) = one_skill(Preset::Chat, "BODY");
    let snapshot = toolbox.snapshot();
    let called = slash("/a now", |name| snapshot.get(name).is_some()).unwrap();
    assert_eq!((called.name, called.rest), ("a", "now"));
    let active = activate(snapshot.get(called.name).unwrap(), None, toolbox.registry().policy()).unwrap();
    let request = system_prompt(&toolbox, &Session::default(), Some("/a now")) + &active.content();
    assert!(request.ends_with("BODY"));
    assert!(!system_prompt(&toolbox, &Session::default(), Some("and then?")).contains("BODY"));
}

#[test]
fn prompts_only_mention_available_tools() {
    for (activation, called) in
        [(ActivationMode::ReadFile, "ReadFile"), (ActivationMode::SkillTool, "tool Skill")]
    {
        let (mut project, _) = one_skill(Preset::Standard, "Body.");
        project.policy.activation = activation;
        let toolbox = project.toolbox();
        let prompt = system_prompt(&toolbox, &Session::default(), Some("do it"));
        assert!(prompt.contains(called) && !prompt.contains("skills."), "{prompt}");
        let tools = toolbox.definitions_in(&Session::default());
        assert!(tools.iter().all(|tool| !tool.name.starts_with("skills.")), "{tools:?}");
        insta::assert_snapshot!(prompt.lines().next().unwrap_or_default().to_owned());
    }
}
