//! One message, one answer: what is on standard output, what on standard error, what the model was asked.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::chat::talking::{bare, latest, loading, messages, steady, words};
use crate::world::World;

#[test]
fn without_a_model_the_first_line_says_so_and_how_to_have_one() {
    let _steady = steady();
    assert_snapshot!(bare().run(&["chat", "/notes buy milk"]).whole());
    // Nobody has to configure anything, or have a home.
    let world = World::new();
    let told = world.run(&["chat", "hello", "--quiet"]);
    assert_eq!((told.err.as_str(), told.code), ("", 0));
    assert!(told.out.starts_with("This is a rehearsal, not a model"), "{}", told.out);
}

#[test]
fn the_answer_is_on_standard_output_and_calls_are_not() {
    let _steady = steady();
    let (_server, world) = loading();
    let told = world.run(&["chat", "Take a note"]);
    assert_snapshot!(told.whole());
    assert_eq!(told.out, "I will look. \n\nNoted.\n");
    let quiet = loading().1.run(&["chat", "Take a note", "-q"]);
    assert_eq!((quiet.out, quiet.err.as_str()), (told.out, ""));
}

#[test]
fn what_is_piped_in_is_the_message_or_follows_it() {
    let (server, world) = words("Fine.");
    let asked = |at: usize| {
        let messages = server.asked()[at].body["messages"].as_array().unwrap().clone();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(world.run_with(&["chat"], "What is this?\n").out, "Fine.\n");
    assert_eq!(asked(0), "What is this?");
    assert_eq!(world.run_with(&["chat", "Review this"], "+ a\n- b\n").out, "Fine.\n");
    assert_eq!(asked(1), "Review this\n\n+ a\n- b");
    assert_eq!(world.run(&["chat", "Nothing is piped"]).code, 0);
    assert_eq!(asked(2), "Nothing is piped");
    // A skill is called from a pipe, too.
    world.run_with(&["chat", "/notes"], "milk\n");
    assert_eq!(messages(&world)[1]["parts"][0]["name"], "skills.activate");
}

#[test]
fn a_chat_goes_on() {
    let (server, world) = words("Fine.");
    let roles = |at: usize| {
        let messages = server.asked()[at].body["messages"].as_array().unwrap().clone();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(world.run(&["chat", "one"]).code, 0);
    let first = latest(&world);
    assert_eq!(world.run(&["chat", "two"]).code, 0);
    assert_ne!(latest(&world), first);
    assert_eq!(roles(1), ["system", "user"]);
    assert_eq!(world.run(&["chat", "--continue", "three"]).code, 0);
    assert_eq!(roles(2), ["system", "user", "assistant", "user"]);
    assert_eq!(world.run(&["chat", "--chat", &first, "four"]).code, 0);
    assert_eq!(latest(&world), first);
    let said: Vec<Value> =
        messages(&world).iter().map(|message| message["parts"][0]["text"].clone()).collect();
    assert_eq!(said, ["one", "Fine.", "four", "Fine."]);
    assert_eq!(world.run(&["chat", "--new", "five"]).code, 0);
    assert_ne!(latest(&world), first);
    let told = world.run(&["chat", "-c", "-v", "six"]);
    assert_eq!(told.err, format!("chat {0}; to go on: prowess chat --chat {0}\n", latest(&world)));
}

#[test]
fn text_of_a_model_is_not_obeyed() {
    let said = "a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c\n";
    let (_server, world) = words("a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c\n");
    let told = world.run(&["chat", "x"]);
    assert_eq!(told.out, "a\\u{1b}[31m\\u{1b}]0;owned\\u{7}\\u{9b}2Jb\u{202e}c\n");
    // What is kept is what was said.
    assert_eq!(messages(&world)[1]["parts"][0]["text"], said);
    let shown = world.run(&["chat", "--continue", "x", "--json"]);
    assert!(!shown.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{}", shown.out);
}

/// `prowess chat … | head -1`: nobody is told that nobody reads, and the turn ends.
#[test]
fn when_nobody_reads_any_more() {
    let (_server, world) = crate::chat::talking::hanging("word\n");
    let mut command = world.command(&["chat", "x"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    assert_eq!(messages(&world)[1]["state"], "interrupted");
}

/// What a model is told of skills and their use follows what chats loaded.
#[test]
fn what_was_used_is_remembered() {
    let (_server, world) = loading();
    world.run(&["chat", "Take a note"]);
    assert!(world.text("~/.prowess/state/usage.json").contains("notes"));
    let chat = &world.run(&["chats", "--json"]).json()["chats"][0];
    assert_eq!(chat["activated_skill_names"], serde_json::json!(["notes"]));
    assert_eq!(chat["title"], "Take a note");
}
