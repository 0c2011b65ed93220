//! Interactive chats on a real terminal.

use insta::assert_snapshot;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{encode_reply, text};
use prowess_testing::model::{BlockingModelServer, Reply, ReplyPiece};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::chat::support::{
    bare, bind_filters, env_with_model, latest_chat, messages, model_answering, model_loading_skills,
};
use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;

const PROMPT: &str = "\n> ";

/// A terminal without cursor movements, so that the output can be compared.
fn plain(env: TestEnv) -> TestEnv {
    env.variable("TERM", "dumb").variable("NO_COLOR", "1")
}

fn capable(env: TestEnv) -> TestEnv {
    env.variable("TERM", "xterm-256color").variable("NO_COLOR", "1")
}

#[test]
fn a_whole_interactive_chat() {
    let _steady = bind_filters();
    let (_server, env) = model_loading_skills();
    let env = plain(env);
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then(PROMPT);
    for line in [
        "/help",
        "/expand",
        "Take a note",
        "/expand 1",
        "/expand",
        "/expand 9",
        "/skills",
        "/chats",
        "",
        "/new",
        "/quit now",
    ] {
        session.answer(line).then(PROMPT);
    }
    assert_snapshot!(session.answer("/quit").transcript());
    assert_eq!(messages(&env).len(), 2);
}

#[test]
fn messages_are_changed_in_a_terminal() {
    let _steady = bind_filters();
    let (server, env) = model_answering("Fine.");
    let env = plain(env);
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then(PROMPT);
    for line in [
        "/retry",
        "/delete",
        "/previous",
        "/edit",
        "one",
        "/retry",
        "/previous",
        "/previous",
        "/edit two",
        "/next",
        "/previous",
        "/delete",
        "/retry now",
    ] {
        session.answer(line).then(PROMPT);
    }
    assert_snapshot!(session.answer("/quit").transcript());
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn without_a_model_rehearsal_mode_is_announced() {
    let _steady = bind_filters();
    let env = plain(bare());
    let mut session = TerminalSession::start(&env, &["chat"]);
    assert_snapshot!(
        session.then(PROMPT).answer("/notes buy milk").then(PROMPT).answer("/exit").transcript()
    );
}

#[test]
fn continuing_a_chat() {
    let _steady = bind_filters();
    let (server, env) = model_answering("Fine.");
    let env = plain(env);
    env.run(&["chat", "one"]);
    let mut session = TerminalSession::start(&env, &["chat", "--continue"]);
    assert_snapshot!(session.then(PROMPT).answer("two").then(PROMPT).answer("/quit").transcript());
    let request = server.requests()[1].body["messages"].as_array().unwrap().len();
    assert_eq!((request, messages(&env).len()), (4, 4));
    // With a message argument, there is no interactive chat.
    let (seen, code) = TerminalSession::start(&env, &["chat", "-c", "three"]).end();
    assert_eq!((seen.as_str(), code), ("Fine.\n", 0));
}

#[test]
fn empty_chats_are_not_stored() {
    let (_server, env) = model_answering("Fine.");
    let env = plain(env);
    TerminalSession::start(&env, &["chat"]).then(PROMPT).answer("/quit").end();
    assert_eq!(env.run(&["chats", "--json"]).json()["chats"], json!([]));
}

#[test]
fn errors_do_not_end_the_chat() {
    let _steady = bind_filters();
    let server = BlockingModelServer::start([
        Reply::failure(500, "{\"error\": {\"message\": \"Out of order\"}}"),
        Reply::events(encode_reply(ChatProvider::OpenAiChat, &[text("Better now.")])),
    ]);
    let env = plain(env_with_model(ChatProvider::OpenAiChat, &server));
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then(PROMPT).answer("hello").then(PROMPT).answer("again").then(PROMPT);
    assert_snapshot!(session.answer("/quit").transcript());
    assert_eq!(messages(&env).len(), 4);
}

#[test]
fn ctrl_c_stops_the_answer_but_not_the_chat() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one and"}, "finish_reason": null}]});
    let server = BlockingModelServer::start([
        Reply::events(format!("data: {chunk}\n\n")).then(ReplyPiece::Hang),
        Reply::events(encode_reply(ChatProvider::OpenAiChat, &[text("Two.")])),
    ]);
    let env = capable(env_with_model(ChatProvider::OpenAiChat, &server));
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then("> ").keys("count\r").then("one and");
    kill_process(session.id(), Signal::INT).unwrap();
    session.then("the turn was cancelled").then("> ").keys("go on\r").then("Two.").then("> ");
    // While idle, Ctrl-C must be pressed twice to quit.
    session.keys("half a li\u{3}").then("press Ctrl-C again").then("> ").keys("\u{3}");
    assert_eq!(session.end().1, 0);
    let kept = messages(&env);
    assert_eq!(kept[1]["reason"], "the turn was cancelled");
    assert_eq!(kept[3]["parts"][0]["text"], "Two.");
}

/// Stopping takes long if the store is locked. A second Ctrl-C quits.
#[test]
fn ctrl_c_twice_quits() {
    let (_server, env) = crate::chat::support::hanging_model("one and");
    let env = capable(env);
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then("> ").keys("count\r").then("one and");
    while !env.run(&["chats", "export"]).out.contains("one and") {}
    let holder = rusqlite::Connection::open(env.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    kill_process(session.id(), Signal::INT).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(session.id(), Signal::INT).unwrap();
    assert_eq!(session.end().1, 0);
    assert!(session.is_cooked());
    holder.execute_batch("ROLLBACK").unwrap();
    let kept = messages(&env);
    assert_eq!((&kept[1]["parts"][0]["text"], &kept[1]["state"]), (&json!("one and"), &json!("interrupted")));
}

#[test]
fn ctrl_d_quits() {
    let (_server, env) = model_answering("Fine.");
    let env = capable(env);
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then("> ").keys("\u{4}");
    assert_eq!(session.end().1, 0);
}

/// A termination signal restores the terminal.
#[test]
fn a_signal_during_input_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (_server, env) = model_answering("Fine.");
        let env = capable(env);
        let mut session = TerminalSession::start(&env, &["chat"]);
        session.then("> ");
        kill_process(session.id(), signal).unwrap();
        assert_eq!(session.end().1, 1);
        assert!(session.is_cooked());
    }
}

/// Escape sequences from models, skills and tools are escaped.
#[test]
fn text_on_the_terminal_is_escaped() {
    const NASTY: &str = "a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c";
    let calls = [
        text(NASTY),
        prowess_testing::model::wire_format::call("1", "skills_activate", json!({"name": NASTY})),
    ];
    let server = crate::chat::support::scripted_model(ChatProvider::OpenAiChat, &[&calls, &[text(NASTY)]]);
    let env = plain(env_with_model(ChatProvider::OpenAiChat, &server));
    env.file(
        "~/.agents/skills/nasty/SKILL.md",
        "---\nname: nasty\ndescription: \"a\\e[31m\\e]0;owned\\a\\u202E\"\n---\n\nDo.\n",
    );
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then(PROMPT);
    for line in ["hello", "/skills", "/expand", "/chats"] {
        session.answer(line).then(PROMPT);
    }
    let (seen, code) = session.answer("/quit").end();
    assert_eq!(code, 0);
    // Ignore the carriage returns of the terminal itself.
    let raw = prowess_format::hidden::find_hidden(&seen.replace("\r\n", "\n"));
    assert_eq!(raw, None, "{seen:?}");
    assert!(seen.contains("a\\u{1b}[31m\\u{1b}]0;owned\\u{7}\\u{9b}2Jb\\u{202e}c"), "{seen}");
    // The same holds for stored chats.
    let mut shown = TerminalSession::start(&env, &["chats", "show", &latest_chat(&env)]);
    let (seen, _) = shown.end();
    assert_eq!(prowess_format::hidden::find_hidden(&seen), None, "{seen:?}");
}

#[test]
fn an_interactive_chat_needs_a_terminal() {
    let (server, env) = model_answering("Fine.");
    // Without a terminal there is no prompt.
    let result = env.run(&["chat", "--json"]);
    assert_eq!(result.error().0, "INVALID_PARAM");
    let mut session = TerminalSession::start(&env, &["chat", "--json"]);
    let (seen, code) = session.end();
    assert!(code == 2 && seen.contains("no message given"), "{seen}");
    assert_eq!(server.requests().len(), 0);
}
