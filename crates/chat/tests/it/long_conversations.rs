//! Long conversations: what is dropped and what stays.

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_chat::{Message, MessageState, Part, Role};
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{
    PROVIDERS, ReplyPart, call, encode_reply, system_prompt, text, tool_results,
};
use prowess_testing::model::{ModelServer, Reply};
use prowess_tools::tokens;
use serde_json::json;

fn message(number: usize, role: Role, text: &str) -> Message {
    let parts = vec![Part::Text { text: text.to_owned() }];
    Message { id: format!("h{number}"), role, parts, state: MessageState::Complete, usage: None, at: 0 }
}

/// Returns exchanges of about a hundred tokens each.
fn history(exchanges: usize) -> Vec<Message> {
    (0..exchanges)
        .flat_map(|number| {
            let words = "and some more words ".repeat(12);
            [
                message(2 * number, Role::User, &format!("question {number} {words}")),
                message(2 * number + 1, Role::Assistant, &format!("answer {number} {words}")),
            ]
        })
        .collect()
}

/// Starts a model that takes these steps, and an environment with these limits of context and output tokens.
async fn model(
    preset: Preset,
    provider: ChatProvider,
    steps: &[Vec<ReplyPart>],
    [context_tokens, output_tokens]: [u32; 2],
) -> (TestEnv, ModelServer) {
    let server = ModelServer::scripted(provider, steps).await;
    let mut env = TestEnv::new(preset).with_provider(provider, &server.base);
    env.chat.limits.context_tokens = context_tokens;
    env.chat.limits.output_tokens = output_tokens;
    // Summaries have their own tests.
    env.chat.limits.compact = false;
    (env, server)
}

#[tokio::test]
async fn the_oldest_exchanges_are_dropped_and_active_skills_stay() {
    for provider in PROVIDERS {
        let steps = [
            vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
            vec![text("loaded")],
            vec![text("ok")],
        ];
        let (env, server) = model(Preset::Standard, provider, &steps, [6_000, 500]).await;
        env.skill("pdf", "Merge with UNFORGETTABLE care.");
        let mut conversation = env.start();
        conversation.send("load it").await;
        conversation.chat.messages.extend(history(100));
        let outcome = conversation.send("and now?").await;
        assert_eq!((outcome.end, outcome.activated), (Ok(EndReason::Finished), vec!["pdf".to_owned()]));
        let request = &server.requests()[2];
        let body = request.body.to_string();
        assert!(body.contains("UNFORGETTABLE"), "the instructions are added again");
        assert!(tool_results(provider, request).is_empty(), "the call itself was dropped");
        assert!(body.contains("question 99") && body.contains("answer 99") && !body.contains("answer 3 "));
        assert!(
            system_prompt(provider, request).contains("Skills already active in this conversation: pdf.")
        );
        // The limit counts texts; the body also has the syntax of JSON.
        assert!(tokens::count(&body) < 6_200, "{}", tokens::count(&body));
        if provider == ChatProvider::OpenAiChat {
            let first = request.body["messages"][1]["content"].as_str().unwrap();
            let first =
                first.lines().map(|line| line.chars().take(120).collect::<String>()).collect::<Vec<_>>();
            insta::assert_snapshot!(env.redact(&first.join("\n")));
        }
    }
}

#[tokio::test]
async fn a_reminder_does_not_replace_the_instructions() {
    let provider = ChatProvider::OpenAiChat;
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "pdf", "args": "Ada"}))],
        vec![text("loaded")],
        vec![call("c2", "skills_activate", json!({"name": "pdf"}))],
        vec![call("c3", "skills_readResource", json!({"name": "pdf", "path": "big.md"}))],
        vec![text("ok")],
    ];
    let (env, server) = model(Preset::Chat, provider, &steps, [4_000, 200]).await;
    env.skill("pdf", "Merge for $ARGUMENTS with UNFORGETTABLE care.")
        .file(".skills/pdf/big.md", "alpha ".repeat(4_000));
    let mut conversation = env.start();
    conversation.send("load it").await;
    assert_eq!(conversation.send("and read").await.end, Ok(EndReason::Finished));
    let requests = server.requests();
    let reminder = &tool_results(provider, &requests[3]).last().unwrap().1.clone();
    assert!(reminder.contains("already loaded in this conversation"), "{reminder}");
    let last = requests[4].body.to_string();
    assert!(last.contains("The first message of this conversation"), "the first turn was dropped: {last}");
    assert!(last.contains("Merge for Ada with UNFORGETTABLE care."), "with its arguments: {last}");
}

#[tokio::test]
async fn a_skill_whose_file_was_read_is_active_like_any_other() {
    let provider = ChatProvider::OpenAiChat;
    let read = |id| vec![call(id, "ReadFile", json!({"path": ".agents/skills/pdf/SKILL.md"}))];
    let steps = [read("c1"), vec![text("loaded")], read("c2"), vec![text("ok")], vec![text("ok")]];
    let (env, server) = model(Preset::App, provider, &steps, [6_000, 500]).await;
    env.skill("pdf", "Merge with UNFORGETTABLE care.");
    let mut conversation = env.start();
    assert_eq!(conversation.send("load it").await.activated, ["pdf"]);
    conversation.send("and again").await;
    let texts = tool_results(provider, &server.requests()[3]);
    assert!(texts[0].1.contains("UNFORGETTABLE"), "{texts:?}");
    assert!(texts[1].1.contains("already loaded in this conversation"), "{texts:?}");
    conversation.chat.messages.extend(history(100));
    conversation.send("and now?").await;
    let body = server.requests()[4].body.to_string();
    assert!(body.contains("UNFORGETTABLE") && !body.contains("load it\""), "{body}");
}

#[tokio::test]
async fn a_skill_that_does_not_fit_is_only_named() {
    let provider = ChatProvider::OpenAiChat;
    let steps =
        [vec![text("ok")], vec![call("c1", "skills_activate", json!({"name": "big"}))], vec![text("ok")]];
    let (env, server) = model(Preset::Chat, provider, &steps, [4_000, 200]).await;
    env.skill("big", &"many words of instruction ".repeat(200)).skill("small", "Small INSTRUCTIONS.");
    let mut conversation = env.start();
    conversation.chat.messages = history(60);
    conversation.chat.activated = vec!["big".to_owned(), "small".to_owned()];
    let outcome = conversation.send(&"a long question ".repeat(700)).await;
    assert_eq!(
        (outcome.end, outcome.activated),
        (Ok(EndReason::Finished), vec!["big".to_owned(), "small".to_owned()])
    );
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("Load them again when you need them: big.]"), "{body}");
    assert!(!body.contains("many words of instruction many words"));
}

#[tokio::test]
async fn old_results_of_a_turn_are_dropped_first() {
    let provider = ChatProvider::OpenAiChat;
    let read = |id, path| vec![call(id, "skills_readResource", json!({"name": "pdf", "path": path}))];
    let steps = [read("c1", "one.md"), read("c2", "two.md"), vec![text("ok")]];
    let (env, server) = model(Preset::Chat, provider, &steps, [4_000, 200]).await;
    env.skill("pdf", "x")
        .file(".skills/pdf/one.md", "alpha ".repeat(2_000))
        .file(".skills/pdf/two.md", "beta ".repeat(2_000));
    let mut conversation = env.start();
    assert_eq!(conversation.send("/pdf read both").await.end, Ok(EndReason::Finished));
    let texts = tool_results(provider, &server.requests()[2]);
    assert_eq!(texts[1].1, "[This result was removed to save space. Call the tool again if you need it.]");
    assert!(texts[2].1.starts_with("beta"));
}

#[tokio::test]
async fn a_single_turn_that_is_too_long_is_an_error() {
    let server = ModelServer::scripted(ChatProvider::OpenAi, &[vec![text("ok")]]).await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(ChatProvider::OpenAi, &server.base);
    env.chat.limits.context_tokens = 2_000;
    let mut conversation = env.start();
    conversation.send(&"too many words ".repeat(2_000)).await;
    let (code, message) = conversation.last_error();
    assert_eq!(code, "TOO_LARGE");
    assert!(
        message.contains("this turn needs about 6") && message.contains("chat.context-tokens"),
        "{message}"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_conversation_that_the_provider_rejects_as_too_long_is_shortened() {
    for provider in PROVIDERS {
        let fine = encode_reply(provider, &[text("ok")]);
        let server = ModelServer::with_handler(move |request, _| match request.body.to_string().len() {
            0..60_000 => Reply::events(fine.clone()),
            _ => Reply::failure(
                400,
                r#"{"error":{"message":"prompt is too long: 50000 tokens > 40000 maximum"}}"#,
            ),
        });
        let server = server.await;
        let mut env = TestEnv::new(Preset::Chat).with_provider(provider, &server.base);
        env.chat.limits.context_tokens = 30_000;
        let mut conversation = env.start();
        conversation.chat.messages = history(250);
        assert_eq!(conversation.send("still there?").await.end, Ok(EndReason::Finished));
        assert!(server.requests().len() > 1);
    }
}

#[tokio::test]
async fn a_chat_can_continue_after_an_abandoned_turn() {
    for provider in PROVIDERS {
        let server = ModelServer::scripted(provider, &[vec![text("ok")]]).await;
        let env = TestEnv::new(Preset::Chat).with_provider(provider, &server.base);
        env.skill("pdf", "x");
        let mut conversation = env.start();
        let call = |id: &str| Part::ToolCall {
            id: id.to_owned(),
            name: "skills.activate".to_owned(),
            arguments: json!({"name": "pdf"}),
        };
        let result = Part::ToolResult {
            id: "one two".to_owned(),
            name: "skills.run".to_owned(),
            summary: json!({"text": "out"}),
            status: "success".to_owned(),
        };
        let dead = Message {
            parts: vec![call("one two"), call("b"), result],
            state: MessageState::Writing,
            ..message(1, Role::Assistant, "")
        };
        let empty = Message {
            parts: vec![],
            state: MessageState::Interrupted { reason: "killed".to_owned() },
            ..message(3, Role::Assistant, "")
        };
        conversation.chat.messages = vec![
            message(0, Role::User, "go"),
            dead,
            message(2, Role::User, "and?"),
            empty,
            message(4, Role::User, "hello?"),
        ];
        assert_eq!(conversation.send("are you there?").await.end, Ok(EndReason::Finished));
        let texts = tool_results(provider, &server.requests()[0]);
        assert_eq!(
            texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["out", "[no result: the turn was interrupted]"]
        );
        assert!(texts.iter().all(|(id, _)| !id.contains(' ')));
        let body = server.requests()[0].body.to_string();
        for expected in ["[The reply was interrupted.]", "[The reply was interrupted: killed.]", "[no reply]"]
        {
            assert!(body.contains(expected), "{expected}: {body}");
        }
    }
}
