//! The rehearsal: everything but the model.

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;

/// Returns the reply to one message.
async fn rehearse(env: &TestEnv, message: &str) -> String {
    let mut conversation = env.start();
    let outcome = conversation.send(message).await;
    assert_eq!(outcome.end, Ok(EndReason::Finished));
    let second = {
        let mut conversation = env.start();
        conversation.send(message).await;
        conversation.reply_text()
    };
    assert_eq!(second, conversation.reply_text(), "the same each time");
    assert!(conversation.reply_text().starts_with("This is a rehearsal, not a model"));
    format!("> {message}\n\n{}", env.redact(&conversation.reply_text()))
}

#[tokio::test]
async fn first_messages_with_bundled_skills() {
    let env = TestEnv::with_bundled(Preset::Standard);
    let mut all = Vec::new();
    for message in [
        "/hello-world",
        "write my weekly report",
        "what is the weather like?",
        "what can you do?",
        "/nope hello",
    ] {
        all.push(rehearse(&env, message).await);
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn the_tools_of_every_preset() {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        let env = TestEnv::new(preset);
        env.file(
            &format!("{}/report/SKILL.md", env.root()),
            "---\nname: report\ndescription: Writes quarterly revenue reports for the board.\n---\n\nFollow `references/style.md` and run scripts/go.sh. Not `other.md`.\n",
        );
        for path in ["references/style.md", "scripts/go.sh", "other.txt"] {
            env.file(&format!("{}/report/{path}", env.root()), format!("Text of {path}.\n"));
        }
        all.push(format!(
            "=== {preset}\n{}",
            rehearse(&env, "quarterly revenue reports for the board, please").await
        ));
    }
    // The tokens of a path depend on where the test runs; with bundled skills they are exact.
    let filters = [(r"→ \d+ tokens", "→ [N] tokens"), (r"- tokens: .*", "- tokens: [N]")];
    insta::with_settings!({filters => filters}, { insta::assert_snapshot!(all.join("\n\n")) });
}

#[tokio::test]
async fn s003_05_s003_06_at_most_three_skills_are_loaded_by_triggers() {
    let env = TestEnv::new(Preset::Triggers);
    for name in ["a", "b", "c", "d"] {
        env.file(
            &format!(".agent/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\ntriggers:\n  keywords: [deploy]\n---\n\nBody {name}.\n"),
        );
    }
    let mut conversation = env.start();
    conversation.send("deploy it").await;
    assert_eq!(conversation.results().len(), 3);
    assert!(
        conversation.reply_text().contains("- tier 3: complete skills")
            && conversation.reply_text().contains("keyword: deploy")
    );
    let mut conversation = env.start();
    conversation.send("hello").await;
    assert!(
        conversation.reply_text().contains("- tier 1: the number of skills"),
        "{}",
        conversation.reply_text()
    );
}

#[tokio::test]
async fn s004_24_the_fixture_rehearsed_implicitly_and_explicitly() {
    let name = "skills-system-validation";
    for preset in
        [Preset::Chat, Preset::Standard, Preset::Harness, Preset::Triggers, Preset::App, Preset::SkillTool]
    {
        let env = TestEnv::new(preset);
        env.fixture();
        for message in [
            "please validate the skills system, discovery and activation",
            "/skills-system-validation now",
            "use the skills-system-validation skill",
        ] {
            if message.starts_with('/')
                && env.policy.mention.slash == prowess::policy::MentionSyntax::Disabled
            {
                continue;
            }
            let mut conversation = env.start();
            let outcome = conversation.send(message).await;
            assert!(
                conversation.reply_text().contains("PROWESS_SKILL_MARKER_7F3A91D2"),
                "{preset} {message}: {}",
                conversation.reply_text()
            );
            assert!(preset == Preset::App || outcome.activated == [name], "{preset} {message}");
            let stored = serde_json::to_string(&conversation.chat.messages[1].parts[..1]).unwrap();
            assert!(!stored.contains("_MARKER_"));
            let read = conversation
                .results()
                .iter()
                .filter(|(tool, status, _)| {
                    (tool.contains("read") || tool == "ReadFile") && status == "success"
                })
                .count();
            match preset {
                Preset::SkillTool => assert_eq!(read, 0),
                // The skill itself, and files with one of the readable extensions.
                Preset::App => assert!(read >= 2, "{message}: {read}"),
                _ => assert_eq!(read, 3, "{preset} {message}"),
            }
        }
    }
}

#[tokio::test]
async fn without_skills_the_reply_lists_none() {
    let mut off = TestEnv::new(Preset::Standard);
    off.policy.enabled = false;
    let none = TestEnv::new(Preset::Standard);
    insta::assert_snapshot!([rehearse(&off, "hello").await, rehearse(&none, "hello").await].join("\n\n"));
}
