//! The turn loop: its ends, and errors that are reported to the model.

use crate::support::{StartConversation, TestConversation, TestEnv};
use async_trait::async_trait;
use prowess::{ErrorCode, Preset};
use prowess_chat::turn::{MemoryRecorder, RecordError, TurnError, TurnInput, TurnMessages, TurnRecorder};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{MessageState, Part, TokenUsage, TurnEvent};
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{
    PROVIDERS, ReplyPart, call, encode_reply, system_prompt, text, tool_results,
};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

/// Starts a conversation with one skill `a` and a model that takes these steps.
async fn start_conversation(
    steps: &[Vec<ReplyPart>],
    set: impl Fn(&mut TestEnv),
) -> (TestEnv, TestConversation, ModelServer) {
    let server = ModelServer::scripted(CHAT, steps).await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("a", "Do it well.");
    set(&mut env);
    let conversation = env.start();
    (env, conversation, server)
}

#[tokio::test]
async fn events_are_reported_in_order() {
    let steps = [
        vec![text("One moment. "), call("c1", "skills_activate", json!({"name": "a"}))],
        vec![text("Done.")],
    ];
    let (env, mut conversation, _server) = start_conversation(&steps, |_| {}).await;
    let outcome = conversation.send("do a").await;
    assert_eq!(outcome.usage, Some(TokenUsage { input: 200, output: 40, cached: 20, cache_writes: 0 }));
    let mut events: Vec<Value> =
        conversation.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    events.dedup_by(|next, before| match (next["type"] == "delta", before["type"] == "delta") {
        (true, true) => {
            before["text"] =
                format!("{}{}", before["text"].as_str().unwrap(), next["text"].as_str().unwrap()).into();
            true
        }
        _ => false,
    });
    insta::assert_snapshot!(env.redact(&serde_json::to_string_pretty(&events).unwrap()));
    let mut kept = serde_json::to_value(&conversation.chat.messages).unwrap();
    kept[0]["at"] = 0.into();
    kept[1]["at"] = 0.into();
    insta::assert_snapshot!("kept", serde_json::to_string_pretty(&kept).unwrap());
}

#[tokio::test]
async fn the_steps_of_a_turn_are_limited() {
    for provider in PROVIDERS {
        let server = ModelServer::with_handler(move |_, number| {
            let path = ["x1", "x2", "x3", "x4", "x5", "x6"][number];
            Reply::events(encode_reply(
                provider,
                &[call("same", "skills_readResource", json!({"name": "a", "path": path}))],
            ))
        });
        let server = server.await;
        let mut env = TestEnv::new(Preset::Chat).with_provider(provider, &server.base);
        env.skill("a", "x");
        env.chat.limits.steps = 3;
        let mut conversation = env.start();
        assert_eq!(conversation.send("go").await.end, Ok(EndReason::Steps));
        assert_eq!((conversation.end_reason().as_str(), server.requests().len()), ("steps", 3));
        let results = conversation.results();
        assert_eq!(results.len(), 3, "every call has a result");
        assert!(
            results[2].2["error"]["message"]
                .as_str()
                .unwrap()
                .contains("not called: the turn reached its step limit")
        );
        // Three calls with the same id are three calls.
        let ids = conversation.events.iter().filter_map(|event| match event {
            TurnEvent::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        assert_eq!(ids.collect::<std::collections::HashSet<_>>().len(), 3);
        assert!(
            matches!(&conversation.chat.messages[1].state, MessageState::Interrupted { reason } if reason.contains("chat.max-steps"))
        );
    }
}

#[tokio::test]
async fn repeated_calls_end_the_turn() {
    let steps = [vec![call("c", "skills_readResource", json!({"name": "a", "path": "SKILL.md"}))]];
    let (_env, mut conversation, server) = start_conversation(&steps, |_| {}).await;
    assert_eq!(conversation.send("go").await.end, Ok(EndReason::Repeated));
    assert_eq!((conversation.end_reason().as_str(), server.requests().len()), ("repeated", 6));
    let texts = tool_results(CHAT, server.requests().last().unwrap());
    assert!(!texts[1].1.contains("made"), "{}", texts[1].1);
    assert!(texts[2].1.contains("[This call was made 3 times in this turn"), "{}", texts[2].1);
}

#[tokio::test]
async fn the_tokens_of_a_turn_are_limited() {
    let steps = [vec![call("c", "skills_activate", json!({"name": "a"}))]];
    let (_env, mut conversation, server) =
        start_conversation(&steps, |env| env.chat.limits.turn_tokens = Some(300)).await;
    assert_eq!(conversation.send("go").await.end, Ok(EndReason::Tokens));
    assert_eq!((conversation.end_reason().as_str(), server.requests().len()), ("tokens", 3));

    // The limit also applies if the server does not report usage.
    let silent = encode_reply(CHAT, &steps[0]);
    let silent = String::from_utf8(silent).unwrap().replace("\"usage\"", "\"no_usage\"");
    let server = ModelServer::start([Reply::events(silent)]).await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("a", "x");
    env.chat.limits.turn_tokens = Some(1_000);
    let mut conversation = env.start();
    let outcome = conversation.send("go").await;
    assert_eq!((outcome.end, outcome.usage), (Ok(EndReason::Tokens), None));
}

#[tokio::test]
async fn long_results_are_truncated_with_a_note() {
    let steps =
        [vec![call("c", "skills_readResource", json!({"name": "a", "path": "big.txt"}))], vec![text("ok")]];
    let (env, mut conversation, server) =
        start_conversation(&steps, |env| env.chat.limits.result_bytes = 1_000).await;
    env.file(".skills/a/big.txt", "é".repeat(5_000));
    conversation.send("go").await;
    let text = &tool_results(CHAT, &server.requests()[1])[0].1;
    assert!(text.ends_with("é\n[1000 of 10000 bytes shown]"), "{text}");
}

#[tokio::test]
async fn invalid_messages_are_refused() {
    let (_env, mut conversation, server) = start_conversation(&[vec![text("x")]], |_| {}).await;
    assert_eq!(conversation.send("  \n").await.end, Err(TurnError::Empty));
    assert_eq!(conversation.last_error().0, "INVALID_PARAM");
    let outcome = conversation.send(&"x".repeat(10 * 1024 * 1024)).await;
    assert_eq!((outcome.end, outcome.message_id), (Err(TurnError::TooLong(10 * 1024 * 1024)), None));
    assert_eq!(
        conversation.last_error(),
        ("TOO_LARGE".to_owned(), "the message has 10485760 bytes; the maximum is 1048576".to_owned())
    );
    assert!(conversation.chat.messages.is_empty() && server.requests().is_empty());
}

/// A recorder that fails after some calls.
struct FailingRecorder(MemoryRecorder, usize);

impl FailingRecorder {
    fn count_call(&mut self) -> Result<(), RecordError> {
        self.1 = self
            .1
            .checked_sub(1)
            .ok_or(RecordError { code: ErrorCode::ExecutionError, message: "disk full".to_owned() })?;
        Ok(())
    }
}

#[async_trait]
impl TurnRecorder for FailingRecorder {
    async fn begin(&mut self, text: &str) -> Result<TurnMessages, RecordError> {
        self.count_call()?;
        self.0.begin(text).await
    }
    async fn delta(&mut self, text: &str) -> Result<(), RecordError> {
        self.count_call()?;
        self.0.delta(text).await
    }
    async fn call(&mut self, call: &Part) -> Result<(), RecordError> {
        self.count_call()?;
        self.0.call(call).await
    }
    async fn result(&mut self, result: &Part, names: &[String]) -> Result<(), RecordError> {
        self.count_call()?;
        self.0.result(result, names).await
    }
    async fn end(&mut self, outcome: &TurnOutcome, names: &[String]) -> Result<(), RecordError> {
        self.count_call()?;
        self.0.end(outcome, names).await
    }
}

#[tokio::test]
async fn events_are_reported_only_after_they_are_recorded() {
    let steps = [vec![text("a"), call("c", "skills_activate", json!({"name": "a"}))], vec![text("b")]];
    for calls in 0..6 {
        let (_env, conversation, _server) = start_conversation(&steps, |_| {}).await;
        let mut record = FailingRecorder(MemoryRecorder::default(), calls);
        let mut events = Vec::new();
        let input = TurnInput { chat: "c", text: "go", ..TurnInput::default() };
        let outcome = conversation
            .agent
            .turn(input, &mut record, &mut |event| events.push(event), &conversation.cancel)
            .await;
        assert!(matches!(outcome.end, Err(TurnError::Record(_))), "{calls}: {:?}", outcome.end);
        let Some(TurnEvent::Error { message, .. }) = events.last() else { panic!("{events:?}") };
        assert_eq!(message, "cannot store the chat: disk full");
        let parts: usize = record.0.messages.iter().skip(1).map(|message| message.parts.len()).sum();
        assert!(events.len() - 1 <= parts + 1, "{events:?}");
    }
}

#[tokio::test]
async fn skills_change_between_turns_without_a_restart() {
    let steps = [vec![text("x")]];
    let server = ModelServer::scripted(CHAT, &steps).await;
    let env = TestEnv::new(Preset::Standard).with_provider(CHAT, &server.base);
    env.skill("a", "x");
    let mut conversation = env.start();
    conversation.send("one").await;
    env.skill("b", "x");
    conversation.send("two").await;
    let names: Vec<bool> =
        server.requests().iter().map(|request| request.body["tools"].to_string().contains("\"b\"")).collect();
    assert_eq!(names, [false, true]);
}

#[tokio::test]
async fn s000_16_an_added_skill_is_in_the_next_request_after_a_reload() {
    let server = ModelServer::scripted(CHAT, &[vec![text("x")]]).await;
    let env = TestEnv::new(Preset::App).with_provider(CHAT, &server.base);
    env.skill("a", "x");
    let mut conversation = env.start();
    conversation.send("one").await;
    env.skill("added", "x");
    conversation.send("two").await;
    // As the server does after a skill is added, deleted or imported.
    env.start().send("three").await;
    let has: Vec<bool> =
        server.requests().iter().map(|request| system_prompt(CHAT, request).contains("added")).collect();
    assert_eq!(has, [false, false, true]);
}
