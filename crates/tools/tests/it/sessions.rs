//! The state of a conversation, and changes between calls.

use crate::support::{TestEnv, error, one_skill};
use prowess::Preset;
use prowess::policy::RefreshPolicy;
use prowess_tools::{Session, Toolbox, system_prompt};
use serde_json::json;

fn load(toolbox: &Toolbox, session: &mut Session, name: &str) -> String {
    let tool = toolbox.definitions()[0].name.clone();
    crate::support::checked(toolbox.call(session, &tool, json!({"name": name}))).text
}

#[test]
fn loading_twice_returns_a_reminder_unless_the_skill_changed() {
    for preset in [Preset::Standard, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat] {
        let (project, toolbox) = one_skill(preset, "First text.");
        let (mut session, mut other) = (Session::default(), Session::default());
        assert!(load(&toolbox, &mut session, "a").contains("First text."), "{preset}");
        let reminder = load(&toolbox, &mut session, "a");
        assert!(reminder.contains("already loaded") && !reminder.contains("First"), "{preset}: {reminder}");
        assert!(load(&toolbox, &mut other, "a").contains("First text."), "conversations are apart");
        project.skill("a", "Second text.");
        assert!(load(&toolbox, &mut session, "a").contains("Second text."), "{preset}");
        assert!(load(&toolbox, &mut session, "a").contains("already loaded"));
    }
}

#[test]
fn arguments_return_the_text_again() {
    let (_env, toolbox) = one_skill(Preset::SkillTool, "Do $ARGUMENTS.");
    let mut session = Session::default();
    let mut with = |args: &str| toolbox.call(&mut session, "Skill", json!({"name": "a", "args": args}));
    assert!(with("x").text.contains("Do x."));
    assert!(with("x").text.contains("Do x."));
    assert!(with("y").text.contains("Do y."));
    let reminder = with("");
    assert_eq!(reminder.data["already_active"], true);
    assert_eq!(reminder.data["content"], reminder.text);
    assert!(reminder.data.contains_key("base_dir"));
}

#[test]
fn s004_12_s004_19_active_skills_are_in_the_next_prompt_by_name_only() {
    let (_env, toolbox) = one_skill(Preset::Chat, "SECRET BODY");
    let mut session = Session::default();
    let before = system_prompt(&toolbox, &session, None);
    assert!(before.contains("before you use its instructions") && !before.contains("already active"));
    load(&toolbox, &mut session, "a");
    assert!(toolbox.call(&mut session, "skills.activate", json!({"name": "b"})).error.is_some());
    let after = system_prompt(&toolbox, &session, None);
    assert_eq!(after, format!("{before}Skills already active in this conversation: a.\n"));
    assert!(!after.contains("SECRET"));
    let kept = serde_json::to_string(&session.ledger).unwrap();
    assert!(kept.contains("\"a\"") && !kept.contains("SECRET"), "{kept}");
}

#[test]
fn active_skills_are_not_mentioned_when_skills_are_disabled() {
    let (mut project, toolbox) = one_skill(Preset::Standard, "x");
    let mut session = Session::default();
    load(&toolbox, &mut session, "a");
    project.policy.enabled = false;
    assert_eq!(system_prompt(&project.toolbox(), &session, Some("a")), "");
}

#[test]
fn s001_18_an_added_skill_is_available_on_the_next_call() {
    for (preset, seen) in [
        (Preset::SkillTool, true),
        (Preset::Standard, true),
        (Preset::Harness, false),
        (Preset::Triggers, false),
        (Preset::Chat, false),
    ] {
        let (project, toolbox) = one_skill(preset, "x");
        project.skill("added", "Added.");
        let tool = toolbox.definitions()[0].name.clone();
        let envelope = toolbox.call(&mut Session::default(), &tool, json!({"name": "added"}));
        assert_eq!(envelope.error.is_none(), seen, "{preset}: {}", envelope.text);
        assert_eq!(toolbox.definitions()[0].input_schema.to_string().contains("added"), seen, "{preset}");
    }
}

#[test]
fn s001_18_refreshing_can_be_disabled() {
    let mut project = TestEnv::new(Preset::SkillTool);
    project.skill("a", "x");
    project.policy.refresh = RefreshPolicy::AtStart;
    let toolbox = project.toolbox();
    project.skill("added", "x");
    let envelope = toolbox.call(&mut Session::default(), "Skill", json!({"name": "added"}));
    assert_eq!(error(&envelope).0, "NOT_FOUND");
}

#[test]
fn manual_skills_are_hidden_until_the_user_requests_them() {
    let mut project = TestEnv::new(Preset::Standard);
    let own = "---\nname: ship\ndescription: Ships it.\ndisable-model-invocation: true\n---\nShip.\n";
    project.skill("a", "x").skill("deploy", "Deploy.");
    project.file("~/.agents/skills/ship/SKILL.md", own);
    project.policy.selection.manual = vec!["deploy".to_owned()];
    let toolbox = project.toolbox();
    let mut session = Session::default();
    for name in ["deploy", "ship"] {
        assert!(!serde_json::to_string(&toolbox.definitions()).unwrap().contains(name));
        assert!(!system_prompt(&toolbox, &session, Some("deploy and ship it")).contains(name));
        let mut call = |tool: &str, params| toolbox.call(&mut session, tool, params);
        let envelope = call("skills.activate", json!({"name": name}));
        assert_eq!(error(&envelope), ("NOT_FOUND", &*format!("skill {name} not found")));
        assert!(call("skills.listResources", json!({"name": name})).error.is_some());
        assert!(call("skills.readResource", json!({"name": name, "path": "SKILL.md"})).error.is_some());
        assert_eq!(call("skills.search", json!({"query": name})).data["matches"], json!([]));
        // A suggestion for a misspelled name does not reveal it, either.
        let near = call("skills.activate", json!({"name": format!("{name}x")}));
        assert!(!near.text.contains("did you mean"), "{}", near.text);
        session.mark_invoked(name);
        assert!(toolbox.call(&mut session, "skills.activate", json!({"name": name})).error.is_none());
    }
}

#[test]
fn s003_06_loaded_skills_count_as_recently_used() {
    let project = TestEnv::new(Preset::Triggers);
    for name in ["b", "a"] {
        let text = format!(
            "---\nname: {name}\ndescription: d\ntriggers: {{keywords: [merge]}}\n---\nBody of {name}.\n"
        );
        project.file(&format!(".agent/skills/{name}/SKILL.md"), text);
    }
    let first = |toolbox: &Toolbox| {
        let text = system_prompt(toolbox, &Session::default(), Some("merge"));
        text.find("Body of a.") < text.find("Body of b.")
    };
    let toolbox = project.toolbox();
    assert!(first(&toolbox));
    load(&toolbox, &mut Session::default(), "b");
    assert!(!first(&project.toolbox()));
}
