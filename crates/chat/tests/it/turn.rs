//! The turn loop: its ends, and errors that are reported to the model.

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::{ErrorCode, Preset};
use prowess_chat::turn::{MemoryRecorder, RecordError, TurnError, TurnInput, TurnMessages, TurnRecorder};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{MessageState, Part, TokenUsage, TurnEvent};
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{PROVIDERS, ReplyPart, call, encode_reply, text, tool_results};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

fn replies(provider: ChatProvider, steps: &[Vec<ReplyPart>]) -> Vec<Reply> {
    steps.iter().map(|step| Reply::events(encode_reply(provider, step))).collect()
}

/// Starts a conversation with one skill `a` and a model that takes these steps.
async fn talk(
    steps: &[Vec<ReplyPart>],
    set: impl Fn(&mut TestEnv),
) -> (TestEnv, TestConversation, ModelServer) {
    let server = ModelServer::start(replies(CHAT, steps)).await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("a", "Do it well.");
    set(&mut env);
    let talk = env.start();
    (env, talk, server)
}

fn raw(id: &'static str, name: &'static str, arguments: &str) -> ReplyPart {
    ReplyPart::Call(id, name, arguments.to_owned())
}

#[tokio::test]
async fn events_are_reported_in_order() {
    let steps = [
        vec![text("One moment. "), call("c1", "skills_activate", json!({"name": "a"}))],
        vec![text("Done.")],
    ];
    let (env, mut talk, _server) = talk(&steps, |_| {}).await;
    let outcome = talk.send("do a").await;
    assert_eq!(outcome.usage, Some(TokenUsage { input: 200, output: 40, cached: 20 }));
    let mut events: Vec<Value> =
        talk.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    events.dedup_by(|next, before| match (next["type"] == "delta", before["type"] == "delta") {
        (true, true) => {
            before["text"] =
                format!("{}{}", before["text"].as_str().unwrap(), next["text"].as_str().unwrap()).into();
            true
        }
        _ => false,
    });
    insta::assert_snapshot!(env.redact(&serde_json::to_string_pretty(&events).unwrap()));
    let mut kept = serde_json::to_value(&talk.chat.messages).unwrap();
    kept[0]["at"] = 0.into();
    kept[1]["at"] = 0.into();
    insta::assert_snapshot!("kept", serde_json::to_string_pretty(&kept).unwrap());
}

#[tokio::test]
async fn invalid_calls_are_reported_to_the_model() {
    let steps = [
        vec![
            raw("c1", "skills_activat", "{\"name\":\"a\"}"),
            raw("c2", "skills_activate", "{\"nme\":\"a\"}"),
            raw("c3", "skills_activate", "{\"name\": \"a"),
            raw("c4", "skills_activate", "[\"a\"]"),
            raw("c5", "skills_activate", ""),
            raw("c6", "rm", "{\"path\":\"/\"}"),
            raw("c7", "skills_activate", "{\"name\": 5}"),
        ],
        vec![text("Sorry.")],
    ];
    let (_env, mut talk, server) = talk(&steps, |_| {}).await;
    assert_eq!(talk.send("go").await.end, Ok(EndReason::Finished));
    let texts: Vec<String> =
        tool_results(CHAT, &server.requests()[1]).iter().map(|(id, text)| format!("{id}: {text}")).collect();
    insta::assert_snapshot!(texts.join("\n"));
    assert!(talk.results().iter().all(|(_, status, _)| status == "error"));
    // Arguments are sent back as an object, even if they were not one.
    let calls = server.requests()[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m.get("tool_calls").is_some())
        .unwrap()
        .clone();
    for call in calls["tool_calls"].as_array().unwrap() {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        assert!(arguments.is_object());
    }
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
        let mut talk = env.start();
        assert_eq!(talk.send("go").await.end, Ok(EndReason::Steps));
        assert_eq!((talk.end_reason().as_str(), server.requests().len()), ("steps", 3));
        let results = talk.results();
        assert_eq!(results.len(), 3, "every call has a result");
        assert!(
            results[2].2["error"]["message"]
                .as_str()
                .unwrap()
                .contains("not called: the turn reached its step limit")
        );
        // Three calls with the same id are three calls.
        let ids = talk.events.iter().filter_map(|event| match event {
            TurnEvent::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        assert_eq!(ids.collect::<std::collections::HashSet<_>>().len(), 3);
        assert!(
            matches!(&talk.chat.messages[1].state, MessageState::Interrupted { reason } if reason.contains("chat.max-steps"))
        );
    }
}

#[tokio::test]
async fn repeated_calls_end_the_turn() {
    let steps = [vec![call("c", "skills_readResource", json!({"name": "a", "path": "SKILL.md"}))]];
    let (_env, mut talk, server) = talk(&steps, |_| {}).await;
    assert_eq!(talk.send("go").await.end, Ok(EndReason::Repeated));
    assert_eq!((talk.end_reason().as_str(), server.requests().len()), ("repeated", 6));
    let texts = tool_results(CHAT, server.requests().last().unwrap());
    assert!(!texts[1].1.contains("made"), "{}", texts[1].1);
    assert!(texts[2].1.contains("[This call was made 3 times in this turn"), "{}", texts[2].1);
}

#[tokio::test]
async fn the_tokens_of_a_turn_are_limited() {
    let steps = [vec![call("c", "skills_activate", json!({"name": "a"}))]];
    let (_env, mut talk, server) = talk(&steps, |env| env.chat.limits.turn_tokens = Some(300)).await;
    assert_eq!(talk.send("go").await.end, Ok(EndReason::Tokens));
    assert_eq!((talk.end_reason().as_str(), server.requests().len()), ("tokens", 3));

    // The limit also applies if the server does not report usage.
    let silent = encode_reply(CHAT, &steps[0]);
    let silent = String::from_utf8(silent).unwrap().replace("\"usage\"", "\"no_usage\"");
    let server = ModelServer::start([Reply::events(silent)]).await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base);
    env.skill("a", "x");
    env.chat.limits.turn_tokens = Some(1_000);
    let mut talk = env.start();
    let outcome = talk.send("go").await;
    assert_eq!((outcome.end, outcome.usage), (Ok(EndReason::Tokens), None));
}

#[tokio::test]
async fn a_reply_that_is_too_long_or_declined() {
    for (reason, end) in [("length", EndReason::Length), ("content_filter", EndReason::Declined)] {
        let body = String::from_utf8(encode_reply(CHAT, &[text("half")]))
            .unwrap()
            .replace("\"stop\"", &format!("\"{reason}\""));
        let server = ModelServer::start([Reply::events(body)]).await;
        let mut talk = TestEnv::new(Preset::Chat).with_provider(CHAT, &server.base).start();
        assert_eq!(talk.send("go").await.end, Ok(end));
        assert_eq!((talk.reply_text().as_str(), talk.end_reason().as_str()), ("half", end.as_str()));
    }
}

#[tokio::test]
async fn long_results_are_truncated_with_a_note() {
    let steps =
        [vec![call("c", "skills_readResource", json!({"name": "a", "path": "big.txt"}))], vec![text("ok")]];
    let (env, mut talk, server) = talk(&steps, |env| env.chat.limits.result_bytes = 1_000).await;
    env.file(".skills/a/big.txt", "é".repeat(5_000));
    talk.send("go").await;
    let text = &tool_results(CHAT, &server.requests()[1])[0].1;
    assert!(text.ends_with("é\n[1000 of 10000 bytes shown]"), "{text}");
}

#[tokio::test]
async fn invalid_messages_are_refused() {
    let (_env, mut talk, server) = talk(&[vec![text("x")]], |_| {}).await;
    assert_eq!(talk.send("  \n").await.end, Err(TurnError::Empty));
    assert_eq!(talk.last_error().0, "INVALID_PARAM");
    let outcome = talk.send(&"x".repeat(10 * 1024 * 1024)).await;
    assert_eq!((outcome.end, outcome.message_id), (Err(TurnError::TooLong(10 * 1024 * 1024)), None));
    assert_eq!(
        talk.last_error(),
        ("TOO_LARGE".to_owned(), "the message has 10485760 bytes; the maximum is 1048576".to_owned())
    );
    assert!(talk.chat.messages.is_empty() && server.requests().is_empty());
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

type Pending<'a, T> = prowess_chat::provider::BoxFuture<'a, Result<T, RecordError>>;

impl TurnRecorder for FailingRecorder {
    fn begin<'a>(&'a mut self, text: &'a str) -> Pending<'a, TurnMessages> {
        Box::pin(async move {
            self.count_call()?;
            self.0.begin(text).await
        })
    }
    fn delta<'a>(&'a mut self, text: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            self.count_call()?;
            self.0.delta(text).await
        })
    }
    fn call<'a>(&'a mut self, call: &'a Part) -> Pending<'a, ()> {
        Box::pin(async move {
            self.count_call()?;
            self.0.call(call).await
        })
    }
    fn result<'a>(&'a mut self, result: &'a Part, names: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.count_call()?;
            self.0.result(result, names).await
        })
    }
    fn end<'a>(&'a mut self, outcome: &'a TurnOutcome, names: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.count_call()?;
            self.0.end(outcome, names).await
        })
    }
}

#[tokio::test]
async fn events_are_reported_only_after_they_are_recorded() {
    let steps = [vec![text("a"), call("c", "skills_activate", json!({"name": "a"}))], vec![text("b")]];
    for calls in 0..6 {
        let (_env, talk, _server) = talk(&steps, |_| {}).await;
        let mut record = FailingRecorder(MemoryRecorder::default(), calls);
        let mut events = Vec::new();
        let input = TurnInput { chat: "c", history: &[], activated: &[], text: "go" };
        let outcome =
            talk.agent.turn(input, &mut record, &mut |event| events.push(event), &talk.cancel).await;
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
    let server = ModelServer::start(replies(CHAT, &steps)).await;
    let env = TestEnv::new(Preset::Standard).with_provider(CHAT, &server.base);
    env.skill("a", "x");
    let mut talk = env.start();
    talk.send("one").await;
    env.skill("b", "x");
    talk.send("two").await;
    let names: Vec<bool> =
        server.requests().iter().map(|request| request.body["tools"].to_string().contains("\"b\"")).collect();
    assert_eq!(names, [false, true]);
}

#[tokio::test]
async fn s004_05_s004_18_if_skills_are_disabled_the_request_does_not_mention_them() {
    let (_env, mut talk, server) = talk(&[vec![text("x")]], |env| env.policy.enabled = false).await;
    talk.send("/a hello").await;
    let body = &server.requests()[0].body;
    assert!(body.get("tools").is_none());
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert!(!body["messages"][0].to_string().contains("skill_"), "{body}");
    assert_eq!(body["messages"][1]["content"], "/a hello");
}
