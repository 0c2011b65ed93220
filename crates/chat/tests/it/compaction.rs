//! Long conversations are summarized by the model.

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::Preset;
use prowess_chat::{EndReason, Message, MessageState, Part, Role, TurnEvent};
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{PROVIDERS, call, encode_reply, text};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::json;

/// Returns exchanges of about a hundred tokens each.
fn history(exchanges: usize) -> Vec<Message> {
    let message = |id: String, role, text: String| Message {
        id,
        role,
        parts: vec![Part::Text { text }],
        state: MessageState::Complete,
        usage: None,
        at: 0,
    };
    let words = "and some more words ".repeat(12);
    let exchange = |number: usize| {
        [
            message(format!("q{number}"), Role::User, format!("question {number} {words}")),
            message(format!("a{number}"), Role::Assistant, format!("answer {number} {words}")),
        ]
    };
    (0..exchanges).flat_map(exchange).collect()
}

fn project(provider: ChatProvider, base: &str) -> TestEnv {
    let mut env = TestEnv::new(Preset::Standard).with_provider(provider, base);
    env.chat.limits.context_tokens = 6_000;
    env.chat.limits.output_tokens = 500;
    env.skill("pdf", "Merge with UNFORGETTABLE care.");
    env
}

fn summaries(conversation: &TestConversation) -> Vec<(String, Vec<String>)> {
    let summary = |event: &TurnEvent| match event {
        TurnEvent::Summary { text, replaces } => Some((text.clone(), replaces.clone())),
        _ => None,
    };
    conversation.events.iter().filter_map(summary).collect()
}

#[tokio::test]
async fn a_summary_takes_the_place_of_the_oldest_messages_until_it_is_deleted() {
    for provider in PROVIDERS {
        let steps = [
            vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
            vec![text("loaded")],
            vec![text("The user COUNTS.")],
            vec![text("ok")],
        ];
        let server = ModelServer::scripted(provider, &steps).await;
        let env = project(provider, &server.base);
        let mut conversation = env.start();
        conversation.send("load it").await;
        conversation.chat.messages.extend(history(100));
        assert_eq!(conversation.send("and now?").await.end, Ok(EndReason::Finished), "{provider:?}");
        let made = summaries(&conversation);
        assert_eq!((made.len(), made[0].0.as_str()), (1, "The user COUNTS."));
        let replaces = &made[0].1;
        assert!(replaces.starts_with(&["m1".to_owned(), "m2".to_owned(), "q0".to_owned(), "a0".to_owned()]));
        assert!(!replaces.contains(&"q99".to_owned()), "{replaces:?}");

        let requests = server.requests();
        assert!(requests[2].body.get("tools").is_none(), "the request for the summary");
        assert!(!requests[2].body.to_string().contains("UNFORGETTABLE"), "skills are not summarized");
        let body = requests[3].body.to_string();
        assert!(
            body.contains("The user COUNTS.") && body.contains("question 99") && body.contains("and now?")
        );
        assert!(!body.contains("question 0 "), "{provider:?}");
        assert!(body.contains("UNFORGETTABLE"), "active skills stay");

        // The next turn uses the summary again, without a new one.
        conversation.send("go on").await;
        assert!(summaries(&conversation).is_empty());
        assert_eq!(server.requests().len(), 5);
        assert!(server.requests()[4].body.to_string().contains("The user COUNTS."));

        // Without it, all messages count, and they need a new one.
        for message in &mut conversation.chat.messages {
            message.parts.retain(|part| !matches!(part, Part::Summary { .. }));
        }
        conversation.send("go on").await;
        assert_eq!(summaries(&conversation).len(), 1);
    }
}

#[tokio::test]
async fn the_oldest_messages_are_dropped_if_no_summary_can_be_made() {
    let provider = ChatProvider::OpenAiChat;
    let reply = encode_reply(provider, &[text("ok")]);
    let server = ModelServer::with_handler(move |_, number| match number {
        0 => Reply::failure(400, r#"{"error": {"message": "no"}}"#),
        _ => Reply::events(reply.clone()),
    });
    let server = server.await;
    for compact in [true, false] {
        let mut env = project(provider, &server.base);
        env.chat.limits.compact = compact;
        let mut conversation = env.start();
        conversation.chat.messages = history(100);
        assert_eq!(conversation.send("and now?").await.end, Ok(EndReason::Finished));
        assert!(summaries(&conversation).is_empty());
        let body = server.requests().last().unwrap().body.to_string();
        assert!(body.contains("were removed to save space") && body.contains("question 99"), "{body}");
    }
    assert_eq!(server.requests().len(), 3, "without chat.compact, no summary is requested");
}
