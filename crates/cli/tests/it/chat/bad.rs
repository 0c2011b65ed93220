//! Bad input: what is said, and that nothing is left of it.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use prowess_config::Provider;

use crate::chat::talking::{bare, configure, steady, words};
use crate::world::World;

fn piped(world: &World, args: &[&str], input: &[u8]) -> Output {
    let mut child = world
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It stops reading when it has read enough.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn messages_that_cannot_be_said() {
    let (server, world) = words("Fine.");
    let mut told = Vec::new();
    let mut put = |output: Output| {
        told.push(format!(
            "{}--- exit {}",
            String::from_utf8(output.stderr).unwrap(),
            output.status.code().unwrap()
        ));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    };
    put(piped(&world, &["chat"], b""));
    put(piped(&world, &["chat", "  "], b" \n"));
    put(piped(&world, &["chat"], &vec![b'x'; 10_000_000]));
    put(piped(&world, &["chat", "typed"], &vec![b'x'; 1024 * 1024]));
    put(piped(&world, &["chat"], b"ab\xff\xfe"));
    put(piped(&world, &["chat"], b"a\0b"));
    let mut command = world.command(&["chat"]);
    put(command.arg(std::ffi::OsStr::from_bytes(b"a\xff")).stdin(Stdio::null()).output().unwrap());
    assert_snapshot!(told.join("\n\n"));
    // Nobody was asked, and no chat was begun.
    assert_eq!(server.asked().len(), 0);
    assert_eq!(world.run(&["chats", "--json"]).json()["chats"], serde_json::json!([]));
}

#[test]
fn a_message_as_long_as_may_be() {
    let (server, world) = words("Fine.");
    configure(&world, Provider::OpenAiChat, &server.base, "context-tokens = 2000000");
    let input = "x ".repeat(512 * 1024);
    let output = piped(&world, &["chat"], input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Fine.\n");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn chats_that_are_not_there_and_calls_that_are_wrong() {
    let _steady = steady();
    let world = bare();
    assert_snapshot!(world.runs(&[
        &["chat", "x", "--chat", "nope"],
        &["chat", "x", "--chat", "../../etc/passwd"],
        &["chat", "x", "--continue"],
        &["chat", "x", "--continue", "--new"],
        &["chat", "x", "y"],
        &["chats"],
        &["chats", "show", "nope"],
        &["chats", "show"],
        &["chats", "delete", "nope"],
        &["chats", "export", "nope"],
        &["chats", "export", "nope", "--to", "x.json"],
        &["chats", "import", "nope.json"],
        &["chats", "import", ".."],
        &["chats", "list", "-n", "0"],
    ]));
    assert_eq!(world.text("x.json"), "[entity not found]");
}

#[test]
fn a_model_that_is_not_set_up() {
    let _steady = steady();
    let world = bare();
    let mut told = Vec::new();
    let mut with = |text: &str| {
        world.file("~/.prowess/config.toml", format!("[chat]\n{text}\n"));
        told.push(world.run(&["chat", "hello"]).whole());
    };
    with("provider = \"anthropic\"");
    with("provider = \"anthropic\"\nmodel = \"m\"");
    with("provider = \"anthropic\"\nmodel = \"m\"\nkey-env = \"MY_KEY\"");
    with("provider = \"openai\"\nmodel = \"m\"\nkey-file = \"~/key\"");
    world.file("~/key", "sk-SECRET\n");
    with("provider = \"openai\"\nmodel = \"m\"\nkey-file = \"~/key\"");
    with("provider = \"openai\"\nmodel = \"m\"\nbase-url = \"http://models.example/v1\"\nkey-env = \"KEY\"");
    assert_snapshot!(told.join("\n"));
}

/// What a project says of providers, keys and stores is not taken.
#[test]
fn a_project_cannot_listen() {
    let (server, world) = words("Fine.");
    let theirs = prowess_testing::model::Blocking::start([prowess_testing::model::Reply::failure(500, "{}")]);
    configure(&world, Provider::OpenAiChat, &server.base, "");
    world.file(
        ".prowess/config.toml",
        format!(
            "[chat]\nbase-url = \"{}/v1\"\nkey-env = \"PATH\"\nstore = \"/theirs\"\nmax-steps = 5\n",
            theirs.base
        ),
    );
    assert_eq!(world.run(&["chat", "hello"]).out, "Fine.\n");
    assert_eq!((server.asked().len(), theirs.asked().len()), (1, 0));
    assert_eq!(world.run(&["chats", "--json"]).json()["chats"].as_array().unwrap().len(), 1);
}
