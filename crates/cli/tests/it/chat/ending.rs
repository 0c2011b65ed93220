//! Ending in the middle: Ctrl-C, kill -9, and two at once.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use prowess_config::Provider;
use prowess_testing::model::speech::{answer, text};
use prowess_testing::model::{Blocking, Piece, Reply};
use prowess_testing::postgres;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::chat::talking::{configure, hanging, latest, messages, steady, talking};
use crate::world::World;

/// A turn that has said its first line and goes on for ever.
fn begun(world: &World, args: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = world
        .command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    // The answer still goes on when this line comes: it is streamed.
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "one\n");
    (child, out)
}

/// Waits until what was said so far is kept, which takes a moment.
fn kept(world: &World, text: &str) {
    while !world.run(&["chats", "export"]).out.contains(text) {}
}

/// A model that says a line and hangs, and answers whoever asks again.
fn at_first_hanging() -> (Blocking, World) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one\ntwo"}, "finish_reason": null}]});
    let server = Blocking::start([
        Reply::events(format!("data: {chunk}\n\n")).then(Piece::Hang),
        Reply::events(answer(Provider::OpenAiChat, &[text("Back again.")])),
    ]);
    let world = talking(Provider::OpenAiChat, &server);
    (server, world)
}

#[test]
fn ctrl_c_ends_the_turn_and_what_was_said_is_kept() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (_server, world) = at_first_hanging();
        let (mut child, mut out) = begun(&world, &["chat", "hello"]);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (mut rest, mut err) = (String::new(), String::new());
        out.read_to_string(&mut rest).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{err}");
        assert_eq!((rest.as_str(), err.as_str()), ("two\n", "the turn was cancelled\n"));
        let kept = messages(&world);
        assert_eq!(kept[1]["parts"], json!([{"type": "text", "text": "one\ntwo"}]));
        assert_eq!(kept[1]["reason"], "the turn was cancelled");
        assert_eq!(world.run(&["chat", "--continue", "go on"]).out, "Back again.\n");
    }
}

#[test]
fn killed_in_mid_turn_the_chat_goes_on() {
    let _steady = steady();
    let (server, world) = at_first_hanging();
    let (mut child, _out) = begun(&world, &["chat", "hello"]);
    kept(&world, "two");
    child.kill().unwrap();
    child.wait().unwrap();
    let told = world.run(&["chat", "--continue", "go on"]);
    assert_eq!((told.out.as_str(), told.code), ("Back again.\n", 0), "{}", told.whole());
    assert_snapshot!(world.run(&["chats", "show", &latest(&world)]).whole());
    // The model knows what it had said.
    let asked = server.asked()[1].body["messages"].to_string();
    assert!(asked.contains("one\\ntwo"), "{asked}");
}

#[test]
fn killed_in_mid_turn_with_postgresql() {
    let database = postgres::Server::start();
    let (_server, world) = at_first_hanging();
    let world = world.variable("PROWESS_STORE", &database.url());
    let (mut child, _out) = begun(&world, &["chat", "hello"]);
    kept(&world, "two");
    child.kill().unwrap();
    child.wait().unwrap();
    // Until its lease has run out, the other one counts as alive.
    let told = loop {
        let told = world.run(&["chat", "--continue", "go on"]);
        if told.code == 0 {
            break told;
        }
        assert!(told.err.contains("an answer is being written in this chat"), "{}", told.whole());
    };
    assert_eq!(told.out, "Back again.\n");
    assert_eq!(messages(&world)[1]["parts"][0]["text"], "one\ntwo");
}

#[test]
fn one_answer_at_a_time_in_a_chat() {
    let (server, world) = hanging("one\n");
    let (mut child, _out) = begun(&world, &["chat", "hello"]);
    let told = world.run(&["chat", "--continue", "me too"]);
    assert_eq!(
        (told.err.as_str(), told.code),
        (
            "error: an answer is being written in this chat; wait for it or stop it\n\
             hint: another prowess answers there; wait for it, or begin a new chat\n",
            1
        )
    );
    assert!(world.run(&["chats"]).out.contains("an answer is being written"));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(server);
}

/// Stopping takes long where the store does not answer. Whoever presses again does not wait.
#[test]
fn pressed_twice_it_does_not_wait() {
    let (_server, world) = at_first_hanging();
    let (mut child, _out) = begun(&world, &["chat", "hello"]);
    kept(&world, "two");
    let holder = rusqlite::Connection::open(world.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.run(&["chat", "--continue", "go on"]).out, "Back again.\n");
    assert_eq!(messages(&world)[1]["state"], "interrupted");
}

/// A script that a model started does not outlive the turn.
#[test]
fn ctrl_c_ends_scripts_too() {
    let calls = [prowess_testing::model::speech::call(
        "1",
        "skills_run",
        json!({"name": "notes", "script": "long.sh"}),
    )];
    let server = crate::chat::talking::saying(Provider::OpenAiChat, &[&[text("one\n")], &calls]);
    let world = talking(Provider::OpenAiChat, &server)
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    configure(&world, Provider::OpenAiChat, &server.base, "");
    let long = format!("{}.7", 1_000_000 + std::process::id());
    world.file("~/.agents/skills/notes/long.sh", format!("#!/bin/sh\necho started\nsleep {long}\n"));
    assert_eq!(world.run(&["chat", "x"]).out, "one\n");
    let mut child = world
        .command(&["chat", "x"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let sleeping = || {
        let commands = std::fs::read_dir("/proc").unwrap().flatten();
        let commands = commands.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        commands.filter(|command| *command == format!("sleep\0{long}\0").into_bytes()).count()
    };
    while sleeping() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it never ran");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(sleeping(), 0);
    assert_eq!(messages(&world)[1]["parts"][1]["status"], "error");
}
