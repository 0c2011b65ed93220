//! Every provider API, and its errors.

use insta::assert_snapshot;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{PROVIDERS, call, encode_reply, text};
use prowess_testing::model::{BlockingModelServer, Reply, ReplyPiece};
use serde_json::json;

use crate::chat::support::{bare, bind_filters, configure, env_with_model, messages, scripted_model};

#[test]
fn every_provider_streams_calls_and_answers() {
    for provider in PROVIDERS {
        let calls = [call("a", "skills_activate", json!({"name": "notes"}))];
        let server = scripted_model(provider, &[&calls, &[text("Noted, 日本語.")]]);
        let env = env_with_model(provider, &server);
        let result = env.run(&["chat", "Take a note"]);
        let line = "[1] skills.activate name=notes\n";
        assert_eq!(
            (result.out.as_str(), result.err.as_str(), result.code),
            ("Noted, 日本語.\n", line, 0),
            "{provider:?}"
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        let key = requests[0].header("x-api-key").or(requests[0].header("authorization")).unwrap();
        assert!(key.ends_with("sk-SECRET-123"));
    }
}

#[test]
fn provider_errors() {
    let _steady = bind_filters();
    let body = |message: &str| json!({"error": {"message": message}}).to_string();
    let reply = |status, message: &str| Reply::failure(status, &body(message));
    let whole = encode_reply(ChatProvider::OpenAiChat, &[text("Half of an answer.")]);
    let mut result = Vec::new();
    for reply in [
        reply(401, "Incorrect API key provided: sk-SECRET-123"),
        reply(404, "The model does not exist"),
        reply(429, "You are over your quota"),
        reply(500, "Out of order"),
        reply(400, "prompt is too long").header("x-y", "z"),
        Reply::failure(302, "").header("location", "https://elsewhere.example"),
        Reply::failure(200, "<html>hello</html>").header("content-type", "text/html"),
        Reply {
            pieces: vec![ReplyPiece::Bytes(whole[..whole.len() / 2].to_vec()), ReplyPiece::Reset],
            ..Reply::events("")
        },
        Reply::events("data: {\"choices\": [\n\n"),
        Reply { pieces: vec![ReplyPiece::Reset], ..Reply::events("") },
    ] {
        let server = BlockingModelServer::start([reply]);
        let env = env_with_model(ChatProvider::OpenAiChat, &server);
        let run = env.run(&["chat", "hello"]);
        assert!(!run.transcript().contains("SECRET"), "{}", run.transcript());
        result.push(run.transcript());
        // After any error, the messages are stored and the chat continues.
        let kept = messages(&env);
        assert_eq!((kept.len(), &kept[1]["state"]), (2, &json!("interrupted")), "{kept:?}");
    }
    assert_snapshot!(result.join("\n"));
}

#[test]
fn unreachable_and_unresponsive_providers() {
    let _steady = bind_filters();
    let env = bare();
    // A free port without a listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    configure(&env, ChatProvider::Anthropic, &format!("http://127.0.0.1:{port}"), "");
    let away = env.run(&["chat", "hello"]).transcript();
    let server = BlockingModelServer::start([Reply { pieces: vec![ReplyPiece::Hang], ..Reply::events("") }]);
    configure(&env, ChatProvider::OpenAi, &server.base, "first-byte-timeout-ms = 200");
    let silent = env.run(&["chat", "hello"]).transcript();
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": null}]});
    let server =
        BlockingModelServer::start([Reply::events(format!("data: {chunk}\n\n")).then(ReplyPiece::Hang)]);
    configure(&env, ChatProvider::OpenAiChat, &server.base, "idle-timeout-ms = 200");
    let stuck = env.run(&["chat", "hello"]).transcript();
    assert_snapshot!([away, silent, stuck].join("\n"));
}

#[test]
fn every_limit_has_a_message_and_exit_code_1() {
    let _steady = bind_filters();
    let again = [call("a", "skills_search", json!({"query": "x"}))];
    let long = json!({"choices": [{"index": 0, "delta": {"content": "Lorem"}, "finish_reason": "length"}]});
    let declined = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]});
    let mut result = Vec::new();
    for (reply, more) in [
        (Reply::events(encode_reply(ChatProvider::OpenAiChat, &again)), "max-steps = 2"),
        (Reply::events(encode_reply(ChatProvider::OpenAiChat, &again)), ""),
        (Reply::events(format!("data: {long}\n\ndata: [DONE]\n\n")), ""),
        (Reply::events(format!("data: {declined}\n\ndata: [DONE]\n\n")), ""),
    ] {
        let server = BlockingModelServer::start([reply]);
        let env = bare();
        configure(&env, ChatProvider::OpenAiChat, &server.base, more);
        result.push(env.run(&["chat", "hello"]).transcript());
    }
    assert_snapshot!(result.join("\n"));
}
