//! Streamed replies: split anywhere, interleaved, incomplete, broken.

use std::time::Duration;

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::provider::{Chunk, ConversationEntry, ModelError, ModelRequest, StopReason};
use prowess_chat::{MessageState, TokenUsage};
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{PROVIDERS, call, encode_reply, text};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use serde_json::json;

/// Sends one request, without the turn loop.
async fn ask(provider: ChatProvider, replies: Vec<Reply>) -> (Vec<Chunk>, Option<ModelError>, usize) {
    let server = ModelServer::start(replies).await;
    let mut env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
    env.chat.limits.retries = 2;
    env.chat.timeouts.first_byte = Duration::from_secs(20);
    env.chat.timeouts.idle = Duration::from_millis(300);
    let toolbox = env.toolbox();
    let model = env.model(&toolbox);
    let entries = [ConversationEntry::User("hello".to_owned())];
    let mut stream = model.stream(ModelRequest {
        system: "",
        entries: &entries,
        tools: &[],
        model: None,
        max_output_tokens: 10,
    });
    let mut chunks = Vec::new();
    let error = loop {
        match stream.next().await {
            Ok(Some(chunk)) => chunks.push(chunk),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    // A finished stream stays finished.
    assert_eq!(stream.next().await, Ok(None));
    (chunks, error, server.requests().len())
}

/// Returns the text, the calls and the stop reason of a reply.
fn collect(chunks: &[Chunk]) -> (String, Vec<(String, String, String)>, Option<StopReason>) {
    let (mut text, mut calls, mut end) = (String::new(), Vec::new(), None);
    for chunk in chunks {
        match chunk.clone() {
            Chunk::Text(delta) => text.push_str(&delta),
            Chunk::Call { id, name, arguments } => calls.push((id, name, arguments)),
            Chunk::Usage(_) | Chunk::Thinking(_) | Chunk::Sealed(_) | Chunk::Waiting { .. } => {}
            Chunk::End(stop) => end = Some(stop),
        }
    }
    (text, calls, end)
}

#[tokio::test]
async fn chunks_may_be_split_anywhere_and_interleaved() {
    let reply = [
        text("Grüße 👋🏽, 你好: \"ok\"\n"),
        call("c1", "one", json!({"größe": "👋🏽 \" \\ \n", "n": [1, 2.5, null]})),
        call("c2", "two", json!({"path": "a/b.md"})),
        call("c3", "three", json!({})),
    ];
    for provider in PROVIDERS {
        let bytes = encode_reply(provider, &reply);
        for size in [1, 2, 3, 7, 64, 100_000] {
            let (chunks, error, _) = ask(provider, vec![Reply::chunked(bytes.clone(), size)]).await;
            assert_eq!(error, None);
            let (text, calls, end) = collect(&chunks);
            assert_eq!((text.as_str(), end), ("Grüße 👋🏽, 你好: \"ok\"\n", Some(StopReason::Finished)));
            let calls: Vec<_> = calls
                .iter()
                .map(|(id, name, arguments)| (id.as_str(), name.as_str(), arguments.as_str()))
                .collect();
            let first = json!({"größe": "👋🏽 \" \\ \n", "n": [1, 2.5, null]}).to_string();
            assert_eq!(
                calls,
                [("c1", "one", first.as_str()), ("c2", "two", r#"{"path":"a/b.md"}"#), ("c3", "three", "{}")]
            );
            let usage = chunks
                .iter()
                .rev()
                .find_map(|chunk| if let Chunk::Usage(usage) = chunk { Some(*usage) } else { None });
            let cache_writes = if provider == ChatProvider::Anthropic { 5 } else { 0 };
            let expected = TokenUsage { input: 100, output: 20, cached: 10, cache_writes };
            assert_eq!(usage, Some(expected), "{provider:?}");
        }
    }
}

fn completion(delta: &str, finish: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
}

#[tokio::test]
async fn variations_of_chat_completions() {
    // No [DONE], no id, arguments as an object, the same index for all calls, no index.
    let cases = [
        (
            completion(r#"{"content":"hi"}"#, "null") + &completion("{}", "\"stop\""),
            ("hi", vec![], StopReason::Finished),
        ),
        (
            completion(
                r#"{"tool_calls":[{"index":0,"function":{"name":"a","arguments":{"x":1}}}]}"#,
                "\"tool_calls\"",
            ) + "data: [DONE]\n\n",
            ("", vec![("call_0", "a", r#"{"x":1}"#)], StopReason::Finished),
        ),
        (
            completion(
                r#"{"tool_calls":[{"index":0,"id":"p","function":{"name":"a","arguments":"{}"}}]}"#,
                "null",
            ) + &completion(
                r#"{"tool_calls":[{"index":0,"id":"q","function":{"name":"b","arguments":"{\"y\":"}}]}"#,
                "null",
            ) + &completion(
                r#"{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}"#,
                "\"tool_calls\"",
            ),
            ("", vec![("p", "a", "{}"), ("q", "b", r#"{"y":2}"#)], StopReason::Finished),
        ),
        (
            completion(r#"{"tool_calls":[{"id":"p","function":{"name":"a","arguments":"{\"z\""}}]}"#, "null")
                + &completion(r#"{"tool_calls":[{"function":{"arguments":":3}"}}]}"#, "\"tool_calls\""),
            ("", vec![("p", "a", r#"{"z":3}"#)], StopReason::Finished),
        ),
        (completion(r#"{"content":"par"}"#, "\"length\""), ("par", vec![], StopReason::Length)),
        (completion(r#"{"refusal":"no"}"#, "\"content_filter\""), ("no", vec![], StopReason::Declined)),
        (completion(r#"{"refusal":"no"}"#, "\"stop\""), ("no", vec![], StopReason::Declined)),
        (
            completion(r#"{"content":null,"reasoning_content":"hm"}"#, "\"eos\""),
            ("", vec![], StopReason::Other("eos".to_owned())),
        ),
        // [DONE] without a reason also ends the reply.
        (completion(r#"{"content":"x"}"#, "null") + "data: [DONE]\n\n", ("x", vec![], StopReason::Finished)),
    ];
    for (body, expected) in cases {
        let (chunks, error, _) = ask(ChatProvider::OpenAiChat, vec![Reply::events(body.clone())]).await;
        assert_eq!(error, None, "{body}");
        let (text, calls, end) = collect(&chunks);
        let calls: Vec<_> = calls.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
        assert_eq!((text.as_str(), calls, end.unwrap()), expected, "{body}");
    }
}

#[tokio::test]
async fn stop_reasons_of_the_other_apis() {
    let anthropic = |reason: &str| {
        format!(
            "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}},\"usage\":{{\"output_tokens\":1}}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
        )
    };
    for (reason, stop) in [
        ("end_turn", StopReason::Finished),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Declined),
        ("new_reason", StopReason::Other("new_reason".to_owned())),
    ] {
        let (chunks, error, _) = ask(ChatProvider::Anthropic, vec![Reply::events(anthropic(reason))]).await;
        assert_eq!((error, collect(&chunks).2), (None, Some(stop)));
    }
    // A message without a reason, or with a call that is not complete, is not finished.
    let call = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"x\"}}\n\n";
    for body in
        ["data: {\"type\":\"message_stop\"}\n\n".to_owned(), format!("{call}{}", anthropic("tool_use"))]
    {
        let (chunks, error, _) = ask(ChatProvider::Anthropic, vec![Reply::events(body)]).await;
        let (_, calls, end) = collect(&chunks);
        assert_eq!((calls.len(), end), (0, None));
        assert!(matches!(error, Some(ModelError::Interrupted(_))), "{error:?}");
    }
    let huge = format!(
        "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":{0},\"cache_read_input_tokens\":{0}}}}}}}\n\n{1}",
        u64::MAX,
        anthropic("end_turn")
    );
    assert_eq!(ask(ChatProvider::Anthropic, vec![Reply::events(huge)]).await.1, None);
    let incomplete = |reason: &str| {
        format!(
            "data: {{\"type\":\"response.incomplete\",\"response\":{{\"incomplete_details\":{{\"reason\":\"{reason}\"}}}}}}\n\n"
        )
    };
    for (reason, stop) in
        [("max_output_tokens", StopReason::Length), ("content_filter", StopReason::Declined)]
    {
        let (chunks, error, _) = ask(ChatProvider::OpenAi, vec![Reply::events(incomplete(reason))]).await;
        assert_eq!((error, collect(&chunks).2), (None, Some(stop)));
    }
}

/// Returns a reply with this text, truncated after its first chunk.
fn truncated_reply(provider: ChatProvider, full_text: &'static str, first: &str) -> Vec<u8> {
    let reply = String::from_utf8(encode_reply(provider, &[text(full_text)])).unwrap();
    let start =
        reply.find(first).and_then(|start| reply[start..].find("\n\n").map(|end| start + end + 2)).unwrap();
    reply.as_bytes()[..start].to_vec()
}

#[tokio::test]
async fn a_reply_that_ends_early_is_interrupted() {
    for provider in PROVIDERS {
        let complete = encode_reply(provider, &[text("Hello there")]);
        let half = truncated_reply(provider, "Hello there", "Hel");
        let pause = ReplyPiece::Pause(Duration::from_millis(100));
        for reply in [Reply::events(half.clone()), Reply::events(half).then(pause).then(ReplyPiece::Reset)] {
            let (chunks, error, request_count) = ask(provider, vec![reply]).await;
            assert!(matches!(error, Some(ModelError::Interrupted(_))), "{provider:?} {error:?}");
            assert_eq!(collect(&chunks).0, "Hel");
            assert_eq!(request_count, 1, "a partial reply is not retried");
        }
        // Without any text, the request is retried.
        let (chunks, error, request_count) =
            ask(provider, vec![Reply::events(": hi\n\n"), Reply::events(complete)]).await;
        assert_eq!((collect(&chunks).0.as_str(), error, request_count), ("Hello there", None, 2));
    }
}

#[tokio::test]
async fn errors_in_mid_stream() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"Boom sk-SECRET-123\"}}}\n\n";
    let chunk = "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n";
    for (provider, broken) in [
        (ChatProvider::Anthropic, overloaded),
        (ChatProvider::OpenAi, failed),
        (ChatProvider::OpenAiChat, chunk),
    ] {
        // An error before any text is retried.
        let complete = encode_reply(provider, &[text("okay")]);
        let (chunks, error, request_count) =
            ask(provider, vec![Reply::events(broken), Reply::events(complete.clone())]).await;
        assert_eq!((collect(&chunks).0.as_str(), error, request_count), ("okay", None, 2));
        // A later error is reported, and the text stays.
        let mixed = [truncated_reply(provider, "okay", "oka").as_slice(), broken.as_bytes()].concat();
        let (chunks, error, request_count) = ask(provider, vec![Reply::events(mixed)]).await;
        assert_eq!((collect(&chunks).0.as_str(), request_count), ("oka", 1));
        assert!(matches!(error, Some(ModelError::StreamError { retryable: true, .. })), "{error:?}");
        assert!(!error.unwrap().to_string().contains("SECRET"));
    }
}

#[tokio::test]
async fn malformed_responses() {
    let huge = [b"data: ".as_slice(), &vec![b'x'; 9 * 1024 * 1024]].concat();
    for provider in PROVIDERS {
        for (body, expected) in [
            (b"data: {\"type\": oops}\n\n".to_vec(), "not JSON"),
            (b"data: <html>\n\n".to_vec(), "not JSON"),
            (huge.clone(), "more than 8388608 bytes"),
        ] {
            let (_, error, request_count) = ask(provider, vec![Reply::events(body)]).await;
            let Some(ModelError::Malformed(message)) = error else { panic!("{error:?}") };
            assert!(message.contains(expected), "{message}");
            assert_eq!(request_count, 1);
        }
        let json = Reply::events("{}").header("content-type", "application/json");
        let (_, error, _) = ask(provider, vec![json]).await;
        assert_eq!(error, Some(ModelError::NotAStream("application/json".to_owned())));
        let zipped = Reply::events("\u{1f}").header("content-encoding", "gzip");
        let (_, error, _) = ask(provider, vec![zipped]).await;
        assert!(
            matches!(error, Some(ModelError::Malformed(message)) if message.contains("compressed (gzip)"))
        );
    }
}

#[tokio::test]
async fn a_slow_stream_is_read_and_a_silent_one_times_out() {
    for provider in PROVIDERS {
        let bytes = encode_reply(provider, &[text("slow but sure")]);
        let mut slow = Reply::events("");
        for piece in bytes.chunks(bytes.len() / 6) {
            slow = slow
                .then(ReplyPiece::Pause(Duration::from_millis(30)))
                .then(ReplyPiece::Bytes(piece.to_vec()));
        }
        let (chunks, error, _) = ask(provider, vec![slow]).await;
        assert_eq!((collect(&chunks).0.as_str(), error), ("slow but sure", None));
        let silent = Reply::events(bytes[..bytes.len() / 2].to_vec()).then(ReplyPiece::Hang);
        let (_, error, request_count) = ask(provider, vec![silent]).await;
        let error = error.unwrap().to_string();
        assert_eq!(
            error,
            "the provider timed out: no data for 300 ms in the middle of a reply (chat.idle-timeout-ms)"
        );
        assert_eq!(request_count, 1);
    }
}

#[tokio::test]
async fn an_interrupted_reply_is_kept_and_sent_in_the_next_turn() {
    for provider in PROVIDERS {
        let pause = ReplyPiece::Pause(Duration::from_millis(100));
        let half = Reply::events(truncated_reply(provider, "The first half", "The"))
            .then(pause)
            .then(ReplyPiece::Reset);
        let server =
            ModelServer::start([half, Reply::events(encode_reply(provider, &[text("Again.")]))]).await;
        let env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
        let mut conversation = env.start();
        let outcome = conversation.send("say it").await;
        assert!(outcome.end.is_err());
        assert_eq!(conversation.last_error().0, "EXECUTION_ERROR");
        let reply = conversation.reply_text();
        assert_eq!(reply, "The");
        assert!(matches!(conversation.chat.messages[1].state, MessageState::Interrupted { .. }));
        conversation.send("go on").await;
        assert_eq!(
            (conversation.reply_text().as_str(), conversation.end_reason().as_str()),
            ("Again.", "end")
        );
        let body = server.requests()[1].body.to_string();
        assert!(
            body.contains(reply.trim())
                && body.contains("[The reply was interrupted: the reply was interrupted"),
            "{body}"
        );
    }
}
