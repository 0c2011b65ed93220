//! Without a provider: everything but the model.

use crate::world::{Talks, World};
use prowess::Preset;
use prowess_chat::End;

/// The answer to one message, with the calls that were made for it.
async fn rehearse(world: &World, message: &str) -> String {
    let mut talk = world.start();
    let outcome = talk.say(message).await;
    assert_eq!(outcome.end, Ok(End::Finished));
    let again = {
        let mut talk = world.start();
        talk.say(message).await;
        talk.said()
    };
    assert_eq!(again, talk.said(), "the same each time");
    assert!(talk.said().starts_with("This is a rehearsal, not a model"));
    format!("> {message}\n\n{}", world.filtered(&talk.said()))
}

#[tokio::test]
async fn what_a_newcomer_sees_in_the_first_minute() {
    let world = World::with_bundled(Preset::Standard);
    let mut all = Vec::new();
    for message in [
        "/hello-world",
        "write my weekly report",
        "what is the weather like?",
        "what can you do?",
        "/nope hello",
    ] {
        all.push(rehearse(&world, message).await);
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn the_tools_of_every_preset() {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        let world = World::new(preset);
        world.file(
            &format!("{}/report/SKILL.md", world.root()),
            "---\nname: report\ndescription: Writes quarterly revenue reports for the board.\n---\n\nFollow `references/style.md` and run scripts/go.sh. Not `other.md`.\n",
        );
        for path in ["references/style.md", "scripts/go.sh", "other.txt"] {
            world.file(&format!("{}/report/{path}", world.root()), format!("Text of {path}.\n"));
        }
        all.push(format!(
            "=== {preset}\n{}",
            rehearse(&world, "quarterly revenue reports for the board, please").await
        ));
    }
    // How many tokens a path has depends on where the test runs; with bundled skills they are exact.
    let filters = [(r"→ \d+ tokens", "→ [N] tokens"), (r"- tokens: .*", "- tokens: [N]")];
    insta::with_settings!({filters => filters}, { insta::assert_snapshot!(all.join("\n\n")) });
}

#[tokio::test]
async fn s003_05_s003_06_what_triggers_match_is_loaded_three_at_most() {
    let world = World::new(Preset::Triggers);
    for name in ["a", "b", "c", "d"] {
        world.file(
            &format!(".agent/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\ntriggers:\n  keywords: [deploy]\n---\n\nBody {name}.\n"),
        );
    }
    let mut talk = world.start();
    talk.say("deploy it").await;
    assert_eq!(talk.results().len(), 3);
    assert!(talk.said().contains("- tier 3: whole skills") && talk.said().contains("keyword: deploy"));
    let mut talk = world.start();
    talk.say("hello").await;
    assert!(talk.said().contains("- tier 1: how many skills there are"), "{}", talk.said());
}

#[tokio::test]
async fn s004_24_the_fixture_rehearsed_implicitly_and_explicitly() {
    let name = "skills-system-validation";
    for preset in
        [Preset::Chat, Preset::Standard, Preset::Harness, Preset::Triggers, Preset::App, Preset::SkillTool]
    {
        let world = World::new(preset);
        world.fixture();
        for message in [
            "please validate the skills system, discovery and activation",
            "/skills-system-validation now",
            "use the skills-system-validation skill",
        ] {
            if message.starts_with('/') && world.policy.mention.slash == prowess::policy::Recognised::No {
                continue;
            }
            let mut talk = world.start();
            let outcome = talk.say(message).await;
            assert!(
                talk.said().contains("PROWESS_SKILL_MARKER_7F3A91D2"),
                "{preset} {message}: {}",
                talk.said()
            );
            assert!(preset == Preset::App || outcome.activated == [name], "{preset} {message}");
            let kept = serde_json::to_string(&talk.chat.messages[1].parts[..1]).unwrap();
            assert!(!kept.contains("_MARKER_"));
            let read = talk
                .results()
                .iter()
                .filter(|(tool, status, _)| {
                    (tool.contains("read") || tool == "ReadFile") && status == "success"
                })
                .count();
            match preset {
                Preset::SkillTool => assert_eq!(read, 0),
                // The skill itself, and what ends in one of the endings that are read.
                Preset::App => assert!(read >= 2, "{message}: {read}"),
                _ => assert_eq!(read, 3, "{preset} {message}"),
            }
        }
    }
}

#[tokio::test]
async fn without_skills_it_says_so() {
    let mut off = World::new(Preset::Standard);
    off.policy.enabled = false;
    let none = World::new(Preset::Standard);
    insta::assert_snapshot!([rehearse(&off, "hello").await, rehearse(&none, "hello").await].join("\n\n"));
}
