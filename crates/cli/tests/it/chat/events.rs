//! `--json`: one event a line, the same that are kept and that go over HTTP.

use insta::assert_snapshot;
use prowess_config::Provider;
use prowess_testing::model::{Blocking, Reply};
use serde_json::{Value, json};

use crate::chat::talking::{bare, events, latest, loading, steady, talking, words};

#[test]
fn every_event_is_a_line() {
    let _steady = steady();
    let (_server, world) = loading();
    let told = world.run(&["chat", "Take a note", "--json"]);
    assert_eq!((told.err.as_str(), told.code), ("", 0));
    let lines = events(&told);
    assert_eq!(
        lines[0],
        json!({"schema": 1, "type": "chat", "chat": latest(&world), "model": lines[0]["model"]})
    );
    let numbers: Vec<u64> = lines[1..].iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let said: String = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    assert_eq!(said, "I will look. Noted.");
    assert_eq!(lines.last().unwrap()["reason"], "end");
    // Words that follow each other are one line here: how a server cuts them is its own affair.
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
fn numbers_go_on_with_the_chat() {
    let (_server, world) = words("Fine.");
    let first = events(&world.run(&["chat", "one", "--json"]));
    let second = events(&world.run(&["chat", "two", "--json", "--continue"]));
    assert_eq!(second[0]["chat"], first[0]["chat"]);
    assert_eq!(second[1]["seq"].as_u64().unwrap(), first.last().unwrap()["seq"].as_u64().unwrap() + 1);
}

/// A failure in the middle is an event, and the contract's error is the last line; one before any event is that line alone.
#[test]
fn failures_are_the_last_line() {
    let _steady = steady();
    let server = Blocking::start([Reply::failure(500, "{}")]);
    let world = talking(Provider::OpenAiChat, &server);
    let told = world.run(&["chat", "hello", "--json"]);
    let lines = events(&told);
    assert_eq!((lines.len(), told.code, told.err.as_str()), (3, 1, ""));
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
