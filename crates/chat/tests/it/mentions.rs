//! Skills that the user mentions by name, and their traces in later turns.

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{PROVIDERS, call, system_prompt, text, tool_results};
use prowess_testing::model::{ModelServer, RecordedRequest};
use serde_json::json;

async fn start_conversation(
    preset: Preset,
    provider: ChatProvider,
) -> (TestEnv, TestConversation, ModelServer) {
    let server = ModelServer::scripted(provider, &[vec![text("ok")]]).await;
    let env = TestEnv::new(preset).with_provider(provider, &server.base);
    env.skill("pdf", "Merge with care.").skill("pdf-tools", "Other tools.");
    let conversation = env.start();
    (env, conversation, server)
}

/// Returns the messages of the user as sent to the model.
fn user_messages(request: &RecordedRequest) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    messages.filter(|m| m["role"] == "user").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

#[tokio::test]
async fn s004_13_a_slash_at_the_start_is_stripped_and_marks_the_turn() {
    let (_env, mut conversation, server) = start_conversation(Preset::Chat, CHAT).await;
    let outcome = conversation.send("/pdf  merge these").await;
    assert_eq!((outcome.end, outcome.activated), (Ok(EndReason::Finished), vec!["pdf".to_owned()]));
    let request = &server.requests()[0];
    assert_eq!(user_messages(request), ["merge these"]);
    assert!(tool_results(CHAT, request)[0].1.contains("Merge with care."));
    assert_eq!(
        conversation.results()[0].0,
        "skills.activate",
        "the turn is marked before the model is asked"
    );
    // The stored message is unchanged.
    assert_eq!(
        serde_json::to_value(&conversation.chat.messages[0].parts).unwrap()[0]["text"],
        "/pdf  merge these"
    );
}

#[tokio::test]
async fn s004_13_an_unknown_name_is_ordinary_text() {
    let (env, mut conversation, server) = start_conversation(Preset::Chat, CHAT).await;
    env.file(".skills/off/SKILL.md", "no frontmatter");
    for message in
        ["/nope merge", "/pdf-toolsx y", " /pdf late", "say /pdf", "//pdf", "/", "/off x", "$pdf x"]
    {
        assert_eq!(conversation.send(message).await.activated, Vec::<String>::new(), "{message}");
        assert_eq!(user_messages(server.requests().last().unwrap()).last().unwrap(), message);
        assert!(conversation.results().is_empty());
    }
}

#[tokio::test]
async fn a_skill_that_is_not_user_invocable_cannot_be_mentioned() {
    for preset in [Preset::Standard, Preset::Chat] {
        let (env, mut conversation, _server) = start_conversation(preset, CHAT).await;
        let root = if preset == Preset::Chat { ".skills" } else { ".agents/skills" };
        let text = "---\nname: inner\ndescription: For models.\nuser-invocable: false\n---\nInner.";
        env.file(&format!("{root}/inner/SKILL.md"), text);
        for message in ["/inner x", "use $inner"] {
            assert_eq!(
                conversation.send(message).await.activated,
                Vec::<String>::new(),
                "{preset} {message}"
            );
        }
    }
}

#[tokio::test]
async fn s004_13_a_message_with_only_a_name() {
    let (_env, mut conversation, server) = start_conversation(Preset::Chat, CHAT).await;
    conversation.send("/pdf-tools").await;
    assert_eq!(
        user_messages(&server.requests()[0]),
        ["(The user invoked the skill without any other text.)"]
    );
    assert!(tool_results(CHAT, &server.requests()[0])[0].1.contains("Other tools."));
}

#[tokio::test]
async fn s001_17_a_dollar_mention_loads_the_skill_and_stays_in_the_text() {
    for preset in [Preset::Standard, Preset::SkillTool] {
        let (_env, mut conversation, server) = start_conversation(preset, CHAT).await;
        let outcome = conversation.send("merge with $pdf, not $pdf-tools or `$other`").await;
        assert_eq!(outcome.activated, ["pdf", "pdf-tools"]);
        assert_eq!(user_messages(&server.requests()[0]), ["merge with $pdf, not $pdf-tools or `$other`"]);
        let tool = if preset == Preset::SkillTool { "Skill" } else { "skills.activate" };
        assert!(conversation.results().iter().all(|(name, ..)| name == tool));
    }
}

#[tokio::test]
async fn s000_06_an_app_reads_the_file_for_the_user() {
    let (_env, mut conversation, server) = start_conversation(Preset::App, CHAT).await;
    let outcome = conversation.send("/pdf merge").await;
    assert_eq!(outcome.activated, ["pdf"]);
    let calls = server.requests()[0].body["messages"].to_string();
    assert!(calls.contains(".agents/skills/pdf/SKILL.md") && calls.contains("Merge with care."), "{calls}");
    conversation.send("more").await;
    assert_eq!(user_messages(server.requests().last().unwrap()), ["merge", "more"]);
}

#[tokio::test]
async fn arguments_replace_placeholders_in_the_instructions() {
    let (env, mut conversation, server) = start_conversation(Preset::Standard, CHAT).await;
    env.skill("greet", "Greet $ARGUMENTS warmly.").skill("second", "Take $1.").skill("plain", "No place.");
    for (message, expected) in
        [("/greet Ada L", "Greet Ada L warmly."), ("/second a b", "Take b."), ("/plain x", "No place.")]
    {
        conversation.send(message).await;
        let text = tool_results(CHAT, server.requests().last().unwrap()).pop().unwrap().1;
        assert!(text.contains(expected) && !text.contains("ARGUMENTS"), "{text}");
    }
}

#[tokio::test]
async fn s004_19_names_are_stored_and_instructions_are_restored_in_place() {
    for provider in PROVIDERS {
        let (env, mut conversation, server) = start_conversation(Preset::Chat, provider).await;
        conversation.send("/pdf merge").await;
        assert_eq!(conversation.chat.activated, ["pdf"]);
        conversation.send("go on").await;
        let request = &server.requests()[1];
        let prompt = system_prompt(provider, request);
        assert!(prompt.contains("Skills already active in this conversation: pdf."), "{prompt}");
        assert!(!prompt.contains("Merge with care."), "only the name");
        assert!(tool_results(provider, request)[0].1.contains("Merge with care."), "restored in place");
        let before = server.requests()[0].body.to_string();
        let after = request.body.to_string();
        assert!(
            before.contains("\"merge\"") && after.contains("\"merge\""),
            "the mention is stripped in both requests"
        );

        // The skill changes and is then removed.
        env.skill("pdf", "Merge with more care.");
        let mut second = env.start();
        std::mem::swap(&mut second.chat, &mut conversation.chat);
        second.send("and now?").await;
        let text = tool_results(provider, server.requests().last().unwrap())[0].1.clone();
        assert!(
            text.starts_with("[The skill pdf has changed since.") && text.contains("more care"),
            "{text}"
        );
        std::fs::remove_dir_all(env.path(".skills/pdf")).unwrap();
        let mut third = env.start();
        std::mem::swap(&mut third.chat, &mut second.chat);
        third.send("and now?").await;
        let text = tool_results(provider, server.requests().last().unwrap())[0].1.clone();
        assert_eq!(text, "[The skill pdf is no longer available.]");
    }
}

#[tokio::test]
async fn s004_19_only_successful_loads_activate_a_skill() {
    let steps = [
        vec![
            call("c1", "skills_activate", json!({"name": "nope"})),
            call("c2", "skills_activate", json!({"name": "pdf"})),
        ],
        vec![text("done")],
        vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
        vec![text("again")],
    ];
    let server = ModelServer::scripted(CHAT, &steps).await;
    let env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("pdf", "Merge with care.");
    let mut conversation = env.start();
    assert_eq!(conversation.send("merge").await.activated, ["pdf"]);
    conversation.send("again").await;
    // The instructions are in the conversation: a reminder is enough.
    let texts = tool_results(CHAT, server.requests().last().unwrap());
    assert!(texts.last().unwrap().1.contains("already loaded in this conversation"), "{texts:?}");
    assert!(texts[1].1.contains("Merge with care."));
}

#[tokio::test]
async fn unchanged_files_are_restored() {
    let steps = [
        vec![
            call("c1", "skills_readResource", json!({"name": "pdf", "path": "a.md"})),
            call("c2", "skills_readResource", json!({"name": "pdf", "path": "b.md"})),
        ],
        vec![text("done")],
        vec![text("again")],
    ];
    let server = ModelServer::scripted(CHAT, &steps).await;
    let env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("pdf", "x").file(".skills/pdf/a.md", "AAA").file(".skills/pdf/b.md", "BBB");
    let mut conversation = env.start();
    conversation.send("read").await;
    assert!(!serde_json::to_string(&conversation.chat.messages).unwrap().contains("AAA"));
    env.file(".skills/pdf/b.md", "CCC");
    conversation.send("again").await;
    let texts: Vec<String> =
        tool_results(CHAT, &server.requests()[2]).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["AAA", "[b.md was read here and has changed since. Read it again if you need it.]"]);
}
