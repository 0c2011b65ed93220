//! Every interface of models, and what they do wrong.

use insta::assert_snapshot;
use prowess_config::Provider;
use prowess_testing::model::speech::{ALL, answer, call, text};
use prowess_testing::model::{Blocking, Piece, Reply};
use serde_json::json;

use crate::chat::talking::{bare, configure, messages, saying, steady, talking};

#[test]
fn all_of_them_stream_call_and_answer() {
    for provider in ALL {
        let calls = [call("a", "skills_activate", json!({"name": "notes"}))];
        let server = saying(provider, &[&calls, &[text("Noted, 日本語.")]]);
        let world = talking(provider, &server);
        let told = world.run(&["chat", "Take a note"]);
        let line = "[1] skills.activate name=notes\n";
        assert_eq!(
            (told.out.as_str(), told.err.as_str(), told.code),
            ("Noted, 日本語.\n", line, 0),
            "{provider:?}"
        );
        let asked = server.asked();
        assert_eq!(asked.len(), 2);
        let key = asked[0].header("x-api-key").or(asked[0].header("authorization")).unwrap();
        assert!(key.ends_with("sk-SECRET-123"));
    }
}

#[test]
fn what_is_told_when_a_provider_fails() {
    let _steady = steady();
    let body = |message: &str| json!({"error": {"message": message}}).to_string();
    let reply = |status, message: &str| Reply::failure(status, &body(message));
    let whole = answer(Provider::OpenAiChat, &[text("Half of an answer.")]);
    let mut told = Vec::new();
    for reply in [
        reply(401, "Incorrect API key provided: sk-SECRET-123"),
        reply(404, "The model does not exist"),
        reply(429, "You are over your quota"),
        reply(500, "Out of order"),
        reply(400, "prompt is too long").header("x-y", "z"),
        Reply::failure(302, "").header("location", "https://elsewhere.example"),
        Reply::failure(200, "<html>hello</html>").header("content-type", "text/html"),
        Reply {
            pieces: vec![Piece::Bytes(whole[..whole.len() / 2].to_vec()), Piece::Reset],
            ..Reply::events("")
        },
        Reply::events("data: {\"choices\": [\n\n"),
        Reply { pieces: vec![Piece::Reset], ..Reply::events("") },
    ] {
        let server = Blocking::start([reply]);
        let world = talking(Provider::OpenAiChat, &server);
        let run = world.run(&["chat", "hello"]);
        assert!(!run.whole().contains("SECRET"), "{}", run.whole());
        told.push(run.whole());
        // Whatever happened: what was said is there, and the chat goes on.
        let kept = messages(&world);
        assert_eq!((kept.len(), &kept[1]["state"]), (2, &json!("interrupted")), "{kept:?}");
    }
    assert_snapshot!(told.join("\n"));
}

#[test]
fn a_provider_that_is_away_and_one_that_never_answers() {
    let _steady = steady();
    let world = bare();
    // A port that was free a moment ago, and that nobody listens at.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    configure(&world, Provider::Anthropic, &format!("http://127.0.0.1:{port}"), "");
    let away = world.run(&["chat", "hello"]).whole();
    let server = Blocking::start([Reply { pieces: vec![Piece::Hang], ..Reply::events("") }]);
    configure(&world, Provider::OpenAi, &server.base, "first-byte-timeout-ms = 200");
    let silent = world.run(&["chat", "hello"]).whole();
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": null}]});
    let server = Blocking::start([Reply::events(format!("data: {chunk}\n\n")).then(Piece::Hang)]);
    configure(&world, Provider::OpenAiChat, &server.base, "idle-timeout-ms = 200");
    let stuck = world.run(&["chat", "hello"]).whole();
    assert_snapshot!([away, silent, stuck].join("\n"));
}

#[test]
fn every_bound_has_its_word_and_the_exit_code_says_that_it_is_not_the_whole_answer() {
    let _steady = steady();
    let again = [call("a", "skills_search", json!({"query": "x"}))];
    let long = json!({"choices": [{"index": 0, "delta": {"content": "Lorem"}, "finish_reason": "length"}]});
    let declined = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]});
    let mut told = Vec::new();
    for (reply, more) in [
        (Reply::events(answer(Provider::OpenAiChat, &again)), "max-steps = 2"),
        (Reply::events(answer(Provider::OpenAiChat, &again)), ""),
        (Reply::events(format!("data: {long}\n\ndata: [DONE]\n\n")), ""),
        (Reply::events(format!("data: {declined}\n\ndata: [DONE]\n\n")), ""),
    ] {
        let server = Blocking::start([reply]);
        let world = bare();
        configure(&world, Provider::OpenAiChat, &server.base, more);
        told.push(world.run(&["chat", "hello"]).whole());
    }
    assert_snapshot!(told.join("\n"));
}
