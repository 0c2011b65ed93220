//! The line editor: completion, history and multi-line input.

use std::os::unix::fs::PermissionsExt;

use prowess_testing::model::BlockingModelServer;

use crate::chat::support::model_answering;
use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;

fn env() -> (BlockingModelServer, TestEnv) {
    let (server, env) = model_answering("Fine.");
    let env = env.variable("TERM", "xterm-256color").variable("NO_COLOR", "1");
    env.skill_with_description("~/.agents/skills/nothing-much", "Does nothing, and takes long to say so.");
    (server, env)
}

fn last_request(server: &BlockingModelServer) -> String {
    let requests = server.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    messages.iter().rfind(|message| message["role"] == "user").unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn tab_completes_skills_with_descriptions() {
    let (server, env) = env();
    let mut session = TerminalSession::start(&env, &["chat"]);
    // One completion.
    session.then("> ").keys("/note\t").then("/notes ").keys("milk\r").then("Fine.").then("> ");
    assert_eq!(last_request(&server), "milk");
    // Two completions: the common prefix, then the list.
    session.keys("/n\t").then("Take notes.").then("Does nothing, and takes long").then("> /n");
    session.keys("oth\t").then("/nothing-much ").keys("\u{15}");
    // `$NAME` works anywhere in a message.
    session.keys("please $not\t").then("Take notes.").keys("es\r").then("Fine.").then("> ");
    assert_eq!(last_request(&server), "please $notes");
    // Chat commands.
    session.keys("/q\t").then("/quit ").keys("\r");
    assert_eq!(session.end().1, 0);
}

#[test]
fn new_skills_are_completed_at_once() {
    let (_server, env) = env();
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then("> ");
    env.skill("~/.agents/skills/later");
    session.keys("hello\r").then("Fine.").then("> ").keys("/la\t").then("/later ").keys("\u{15}\u{4}");
    assert_eq!(session.end().1, 0);
}

#[test]
fn the_history_is_saved_in_a_private_file() {
    let (server, env) = env();
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then("> ").keys("the first one\r").then("Fine.").then("> ");
    session.keys(" not this one\r").then("Fine.").then("> ").keys("\u{4}");
    assert_eq!(session.end().1, 0);
    let history = env.path("~/.prowess/state/chat-history");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.contains("the first one") && !text.contains("not this one"), "{text}");

    let mut again = TerminalSession::start(&env, &["chat"]);
    again
        .then("> ")
        .keys("\u{1b}[A")
        .then("the first one")
        .keys("!\r")
        .then("Fine.")
        .then("> ")
        .keys("\u{4}");
    assert_eq!(again.end().1, 0);
    assert_eq!(last_request(&server), "the first one!");
}

#[test]
fn multi_line_messages() {
    let (server, env) = env();
    let mut session = TerminalSession::start(&env, &["chat"]);
    // Pasted.
    session
        .then("> ")
        .keys("\u{1b}[200~one\ntwo\n\u{1b}[201~")
        .then("two")
        .keys("\r")
        .then("Fine.")
        .then("> ");
    assert_eq!(last_request(&server), "one\ntwo");
    // Typed, with a backslash at the end.
    session.keys("three\\\r").keys("four\r").then("Fine.").then("> ");
    assert_eq!(last_request(&server), "three\nfour");
    // The history contains multi-line messages.
    session.keys("\u{1b}[A").then("four").keys("\r").then("Fine.").then("> ").keys("\u{4}");
    assert_eq!(session.end().1, 0);
    assert_eq!(last_request(&server), "three\nfour");
}
