//! A conversation on a real terminal.

use insta::assert_snapshot;
use prowess_config::Provider;
use prowess_testing::model::speech::{answer, text};
use prowess_testing::model::{Blocking, Piece, Reply};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::chat::talking::{bare, latest, loading, messages, steady, talking, words};
use crate::world::World;
use crate::world::terminal::Dialogue;

/// Where somebody is asked for the next line.
const PROMPT: &str = "\n> ";

/// A terminal on which nothing moves, so that everything seen can be compared.
fn plain(world: World) -> World {
    world.variable("TERM", "dumb").variable("NO_COLOR", "1")
}

fn capable(world: World) -> World {
    world.variable("TERM", "xterm-256color").variable("NO_COLOR", "1")
}

#[test]
fn a_conversation_from_the_first_line_to_the_last() {
    let _steady = steady();
    let (_server, world) = loading();
    let world = plain(world);
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then(PROMPT);
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
        dialogue.answer(line).then(PROMPT);
    }
    assert_snapshot!(dialogue.answer("/quit").whole());
    assert_eq!(messages(&world).len(), 2);
}

#[test]
fn without_a_model_it_says_so_first() {
    let _steady = steady();
    let world = plain(bare());
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    assert_snapshot!(dialogue.then(PROMPT).answer("/notes buy milk").then(PROMPT).answer("/exit").whole());
}

#[test]
fn going_on_with_a_chat() {
    let _steady = steady();
    let (server, world) = words("Fine.");
    let world = plain(world);
    world.run(&["chat", "one"]);
    let mut dialogue = Dialogue::start(&world, &["chat", "--continue"]);
    assert_snapshot!(dialogue.then(PROMPT).answer("two").then(PROMPT).answer("/quit").whole());
    let asked = server.asked()[1].body["messages"].as_array().unwrap().len();
    assert_eq!((asked, messages(&world).len()), (4, 4));
    // Whoever types a message with the command gets the answer and no conversation.
    let (seen, code) = Dialogue::start(&world, &["chat", "-c", "three"]).end();
    assert_eq!((seen.as_str(), code), ("Fine.\n", 0));
}

#[test]
fn nothing_is_kept_of_a_conversation_in_which_nothing_was_said() {
    let (_server, world) = words("Fine.");
    let world = plain(world);
    Dialogue::start(&world, &["chat"]).then(PROMPT).answer("/quit").end();
    assert_eq!(world.run(&["chats", "--json"]).json()["chats"], json!([]));
}

#[test]
fn mistakes_do_not_end_it() {
    let _steady = steady();
    let server = Blocking::start([
        Reply::failure(500, "{\"error\": {\"message\": \"Out of order\"}}"),
        Reply::events(answer(Provider::OpenAiChat, &[text("Better now.")])),
    ]);
    let world = plain(talking(Provider::OpenAiChat, &server));
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then(PROMPT).answer("hello").then(PROMPT).answer("again").then(PROMPT);
    assert_snapshot!(dialogue.answer("/quit").whole());
    assert_eq!(messages(&world).len(), 4);
}

#[test]
fn ctrl_c_stops_the_answer_and_the_conversation_goes_on() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one and"}, "finish_reason": null}]});
    let server = Blocking::start([
        Reply::events(format!("data: {chunk}\n\n")).then(Piece::Hang),
        Reply::events(answer(Provider::OpenAiChat, &[text("Two.")])),
    ]);
    let world = capable(talking(Provider::OpenAiChat, &server));
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then("> ").keys("count\r").then("one and");
    kill_process(dialogue.id(), Signal::INT).unwrap();
    dialogue.then("the turn was cancelled").then("> ").keys("go on\r").then("Two.").then("> ");
    // Pressed where nothing is said, it takes two to leave.
    dialogue.keys("half a li\u{3}").then("Ctrl-C again leaves").then("> ").keys("\u{3}");
    assert_eq!(dialogue.end().1, 0);
    let kept = messages(&world);
    assert_eq!(kept[1]["reason"], "the turn was cancelled");
    assert_eq!(kept[3]["parts"][0]["text"], "Two.");
}

/// Stopping takes long where the store does not answer. Whoever presses again leaves.
#[test]
fn ctrl_c_twice_leaves() {
    let (_server, world) = crate::chat::talking::hanging("one and");
    let world = capable(world);
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then("> ").keys("count\r").then("one and");
    while !world.run(&["chats", "export"]).out.contains("one and") {}
    let holder = rusqlite::Connection::open(world.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    kill_process(dialogue.id(), Signal::INT).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(dialogue.id(), Signal::INT).unwrap();
    assert_eq!(dialogue.end().1, 0);
    assert!(dialogue.is_cooked());
    holder.execute_batch("ROLLBACK").unwrap();
    let kept = messages(&world);
    assert_eq!((&kept[1]["parts"][0]["text"], &kept[1]["state"]), (&json!("one and"), &json!("interrupted")));
}

#[test]
fn ctrl_d_leaves() {
    let (_server, world) = words("Fine.");
    let world = capable(world);
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then("> ").keys("\u{4}");
    assert_eq!(dialogue.end().1, 0);
}

/// Whoever ends it from elsewhere gets the terminal back as it was.
#[test]
fn told_to_end_while_somebody_types() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (_server, world) = words("Fine.");
        let world = capable(world);
        let mut dialogue = Dialogue::start(&world, &["chat"]);
        dialogue.then("> ");
        kill_process(dialogue.id(), signal).unwrap();
        assert_eq!(dialogue.end().1, 1);
        assert!(dialogue.is_cooked());
    }
}

/// What a model, a skill and a tool say is shown, and not obeyed.
#[test]
fn nothing_raw_reaches_the_terminal() {
    const NASTY: &str = "a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c";
    let calls =
        [text(NASTY), prowess_testing::model::speech::call("1", "skills_activate", json!({"name": NASTY}))];
    let server = crate::chat::talking::saying(Provider::OpenAiChat, &[&calls, &[text(NASTY)]]);
    let world = plain(talking(Provider::OpenAiChat, &server));
    world.file(
        "~/.agents/skills/nasty/SKILL.md",
        "---\nname: nasty\ndescription: \"a\\e[31m\\e]0;owned\\a\\u202E\"\n---\n\nDo.\n",
    );
    let mut dialogue = Dialogue::start(&world, &["chat"]);
    dialogue.then(PROMPT);
    for line in ["hello", "/skills", "/expand", "/chats"] {
        dialogue.answer(line).then(PROMPT);
    }
    let (seen, code) = dialogue.answer("/quit").end();
    assert_eq!(code, 0);
    // How a carriage return of the terminal's own looks is known.
    let raw = prowess_format::hidden::first(&seen.replace("\r\n", "\n"));
    assert_eq!(raw, None, "{seen:?}");
    assert!(seen.contains("a\\u{1b}[31m\\u{1b}]0;owned\\u{7}\\u{9b}2Jb\\u{202e}c"), "{seen}");
    // Nor does it when it is read again.
    let mut shown = Dialogue::start(&world, &["chats", "show", &latest(&world)]);
    let (seen, _) = shown.end();
    assert_eq!(prowess_format::hidden::first(&seen), None, "{seen:?}");
}

#[test]
fn a_conversation_needs_somebody() {
    let (server, world) = words("Fine.");
    // Nobody would see the answers, or what to type.
    let told = world.run(&["chat", "--json"]);
    assert_eq!(told.error().0, "INVALID_PARAM");
    let mut dialogue = Dialogue::start(&world, &["chat", "--json"]);
    let (seen, code) = dialogue.end();
    assert!(code == 2 && seen.contains("there is no message"), "{seen}");
    assert_eq!(server.asked().len(), 0);
}
