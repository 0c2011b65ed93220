//! Typing at a terminal: completion, history, several lines.

use std::os::unix::fs::PermissionsExt;

use prowess_testing::model::Blocking;

use crate::chat::talking::words;
use crate::world::World;
use crate::world::terminal::Dialogue;

fn world() -> (Blocking, World) {
    let (server, world) = words("Fine.");
    let world = world.variable("TERM", "xterm-256color").variable("NO_COLOR", "1");
    world.described("~/.agents/skills/nothing-much", "Does nothing, and takes long to say so.");
    (server, world)
}

/// What the model was last asked.
fn asked(server: &Blocking) -> String {
    let asked = server.asked();
    let messages = asked.last().unwrap().body["messages"].as_array().unwrap().clone();
    messages.iter().rfind(|message| message["role"] == "user").unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn tab_completes_skills_with_what_they_are_for() {
    let (server, world) = world();
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    // One fits.
    dialogue.then("> ").keys("/note\t").then("/notes ").keys("milk\r").then("Fine.").then("> ");
    assert_eq!(asked(&server), "milk");
    // Two fit: as far as they are the same, and then what there is.
    dialogue.keys("/n\t").then("Take notes.").then("Does nothing, and takes long").then("> /n");
    dialogue.keys("oth\t").then("/nothing-much ").keys("\u{15}");
    // Anywhere in a message, the other sign.
    dialogue.keys("please $not\t").then("Take notes.").keys("es\r").then("Fine.").then("> ");
    assert_eq!(asked(&server), "please $notes");
    // Words for the terminal itself.
    dialogue.keys("/q\t").then("/quit ").keys("\r");
    assert_eq!(dialogue.end().1, 0);
}

#[test]
fn skills_that_are_added_are_completed_at_once() {
    let (_server, world) = world();
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then("> ");
    world.skill("~/.agents/skills/later");
    dialogue.keys("hello\r").then("Fine.").then("> ").keys("/la\t").then("/later ").keys("\u{15}\u{4}");
    assert_eq!(dialogue.end().1, 0);
}

#[test]
fn what_was_typed_is_remembered_and_nobody_else_reads_it() {
    let (server, world) = world();
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then("> ").keys("the first one\r").then("Fine.").then("> ");
    dialogue.keys(" not this one\r").then("Fine.").then("> ").keys("\u{4}");
    assert_eq!(dialogue.end().1, 0);
    let history = world.path("~/.prowess/state/chat-history");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.contains("the first one") && !text.contains("not this one"), "{text}");

    let mut again = Dialogue::start(&world, &["chat"]);
    again
        .then("> ")
        .keys("\u{1b}[A")
        .then("the first one")
        .keys("!\r")
        .then("Fine.")
        .then("> ")
        .keys("\u{4}");
    assert_eq!(again.end().1, 0);
    assert_eq!(asked(&server), "the first one!");
}

#[test]
fn lines_that_belong_together() {
    let (server, world) = world();
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    // Pasted.
    dialogue
        .then("> ")
        .keys("\u{1b}[200~one\ntwo\n\u{1b}[201~")
        .then("two")
        .keys("\r")
        .then("Fine.")
        .then("> ");
    assert_eq!(asked(&server), "one\ntwo");
    // Typed, with a backslash at the end.
    dialogue.keys("three\\\r").keys("four\r").then("Fine.").then("> ");
    assert_eq!(asked(&server), "three\nfour");
    // What was said in several lines comes back in several lines.
    dialogue.keys("\u{1b}[A").then("four").keys("\r").then("Fine.").then("> ").keys("\u{4}");
    assert_eq!(dialogue.end().1, 0);
    assert_eq!(asked(&server), "three\nfour");
}
