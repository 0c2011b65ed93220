//! `--json`: one event per line, identical to stored events and HTTP events.

use insta::assert_snapshot;
use prowess_config::ChatProvider;
use prowess_testing::model::{BlockingModelServer, Reply};
use serde_json::{Value, json};

use crate::chat::support::{
    bare, bind_filters, env_with_model, events, latest_chat, model_answering, model_loading_skills,
};

#[test]
fn each_event_is_a_line() {
    let _steady = bind_filters();
    let (_server, env) = model_loading_skills();
    let result = env.run(&["chat", "Take a note", "--json"]);
    assert_eq!((result.err.as_str(), result.code), ("", 0));
    let lines = events(&result);
    assert_eq!(
        lines[0],
        json!({"schema": 1, "type": "chat", "chat": latest_chat(&env), "model": lines[0]["model"]})
    );
    let numbers: Vec<u64> = lines[1..].iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let text: String = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    assert_eq!(text, "I will look. Noted.");
    assert_eq!(lines.last().unwrap()["reason"], "end");
    // Adjacent deltas are joined, because servers split text arbitrarily.
    let mut seen: Vec<Value> = Vec::new();
    for mut line in lines {
        line.as_object_mut().unwrap().remove("seq");
        match seen.last_mut().filter(|last| last["type"] == "delta" && line["type"] == "delta") {
            Some(last) => {
                last["text"] =
                    format!("{}{}", last["text"].as_str().unwrap(), line["text"].as_str().unwrap()).into()
            }
            None => seen.push(line),
        }
    }
    assert_snapshot!(seen.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
}

#[test]
fn event_numbers_continue_with_the_chat() {
    let (_server, env) = model_answering("Fine.");
    let first = events(&env.run(&["chat", "one", "--json"]));
    let second = events(&env.run(&["chat", "two", "--json", "--continue"]));
    assert_eq!(second[0]["chat"], first[0]["chat"]);
    assert_eq!(second[1]["seq"].as_u64().unwrap(), first.last().unwrap()["seq"].as_u64().unwrap() + 1);
}

/// A failure during a turn is an event, followed by the error object. A failure before the turn is only the error object.
#[test]
fn failures_are_the_last_line() {
    let _steady = bind_filters();
    let server = BlockingModelServer::start([Reply::failure(500, "{}")]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server);
    let result = env.run(&["chat", "hello", "--json"]);
    let lines = events(&result);
    assert_eq!((lines.len(), result.code, result.err.as_str()), (3, 1, ""));
    assert_eq!((&lines[1]["type"], &lines[1]["code"]), (&json!("error"), &json!("UNAVAILABLE")));
    assert_eq!(lines[2]["error"]["code"], "UNAVAILABLE");
    let calls: [&[&str]; 4] = [
        &["chat", "hello", "--json", "--chat", "nope"],
        &["chat", "--json"],
        &["chats", "show", "nope", "--json"],
        &["chat", "hello", "--json", "--store", "mysql://x"],
    ];
    assert_snapshot!(bare().runs(&calls));
}
