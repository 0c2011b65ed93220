//! Files of chats: `--file`, `/file`, `/files`, `/save`, and `prowess chats files` and `save`.

use insta::assert_snapshot;

use crate::chat::support::{bare, bind_filters, latest_chat, messages, model_answering};
use crate::support::terminal::TerminalSession;
use crate::support::{TestEnv, keys};

const PROMPT: &str = "> ";

fn plain(env: TestEnv) -> TestEnv {
    env.variable("TERM", "dumb").variable("NO_COLOR", "1")
}

#[test]
fn files_of_a_single_message() {
    let _steady = bind_filters();
    let (server, env) = model_answering("Fine.");
    env.file("prices.csv", "a,b\n").file("sub/prices.csv", "other").file("notes.txt", "x".repeat(3_000));
    let sent =
        ["chat", "Sum it up", "--file", "prices.csv", "--file", "sub/prices.csv", "--file", "notes.txt"];
    assert_eq!(env.run(&sent).code, 0);
    let chat = latest_chat(&env);
    let asked = server.requests()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert_snapshot!("the_message_of_the_model", asked);
    // The same content is not added twice.
    env.run(&["chat", "--continue", "Again", "--file", "prices.csv"]);
    assert_eq!(messages(&env)[2]["parts"][1]["path"], "prices.csv");
    env.file("taken.txt", "mine");
    assert_snapshot!(
        "listed_and_saved",
        env.runs(&[
            &["chats", "files", &chat],
            &["chats", "show", &chat],
            &["chats", "save", &chat, "prices (2).csv"],
            &["chats", "save", &chat, "prices (2).csv", "--output", "taken.txt"],
            &["chats", "save", &chat, "notes.txt", "--output", "sub"],
            &["chats", "save", &chat, "notes.txt", "--output", "no/such/dir"],
            &["chats", "save", &chat, "missing.txt"],
            &["chats", "save", "unknown", "notes.txt"],
            &["chats", "files", "unknown"],
        ])
    );
    assert_eq!(env.text("prices (2).csv"), "other");
    assert_eq!(env.text("taken.txt"), "mine");
    assert_eq!(env.text("sub/notes.txt").len(), 3_000);
    let listed = env.run(&["chats", "files", &chat, "--json"]).json();
    assert_eq!((keys(&listed), listed["files"].as_array().unwrap().len()), (vec!["files", "schema"], 3));
    assert_eq!(
        keys(&listed["files"][0]),
        ["changed", "created", "digest", "media_type", "origin", "path", "size"]
    );
}

#[test]
fn refused_files() {
    let _steady = bind_filters();
    let (server, env) = model_answering("Fine.");
    env.file("~/.prowess/config.toml", format!("{}file-bytes = 10\n", env.text("~/.prowess/config.toml")));
    env.file("big.txt", "12345678901").file("sub/x", "").file("a:b.txt", "").file("ok.txt", "1");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        env.path("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let refused = |file: &'static str| ["chat", "x", "--file", "ok.txt", "--file", file];
    let calls = ["missing.txt", "big.txt", "sub", "fifo", "a:b.txt"].map(refused);
    assert_snapshot!(env.runs(&calls.each_ref().map(|call| &call[..])));
    assert_eq!(server.requests().len(), 0);
    assert_eq!(env.run(&["chats", "--json"]).json()["chats"].as_array().unwrap().len(), 0);
}

#[test]
fn too_many_files_are_refused_before_they_are_read() {
    let (server, env) = model_answering("Fine.");
    env.file(
        "~/.prowess/config.toml",
        format!("{}workspace-bytes = 15\n", env.text("~/.prowess/config.toml")),
    );
    env.file("a.txt", "1234567890").file("b.txt", "1234567890").file("empty.txt", "");
    let message = |files: &[&str]| {
        let options = files.iter().flat_map(|file| ["--file", file]);
        let result = env.run(&["chat", "x"].into_iter().chain(options).collect::<Vec<_>>());
        assert_eq!(result.out, "");
        result.err
    };
    let refused = [message(&["missing.txt"; 101]), message(&["a.txt", "b.txt"])];
    assert_snapshot!(refused.join(""), @r"
    error: a message can have at most 100 files
    hint: pack the files into an archive, or send them with several messages
    error: the files are larger than 15 bytes together
    hint: raise chat.workspace-bytes in the configuration
    ");
    assert_eq!(server.requests().len(), 0);
    // The same file a hundred times is one file, and an empty file is a file.
    let result = env.run(&["chat", "x", "--file", "empty.txt", "--file", "empty.txt"]);
    assert_eq!(result.code, 0, "{}", result.err);
    assert_eq!(messages(&env)[0]["parts"].as_array().unwrap().len(), 2);
}

#[test]
fn files_of_an_interactive_chat() {
    let _steady = bind_filters();
    let (server, env) = model_answering("Fine.");
    let env = plain(env);
    env.file("my report.csv", "a,b\n").file("~/home.txt", "from home").file("sub/x", "");
    let mut session = TerminalSession::start(&env, &["chat"]);
    session.then(PROMPT);
    for line in [
        "/files",
        "/save x",
        "/file",
        "/file missing.csv",
        "/file my\\ report.csv",
        "/file '~/home.txt'",
        "Sum it up",
        "And now",
        "/files",
        "/save 'my report.csv'",
        "/save 'my report.csv' sub",
        "/save nothing.txt",
        "/new",
        "/files",
    ] {
        session.answer(line).then(PROMPT);
    }
    assert_snapshot!(session.answer("/quit").transcript());
    assert_eq!(env.text("sub/my report.csv"), "a,b\n");
    let attached = |index: usize| messages(&env)[index]["parts"].as_array().unwrap().len() - 1;
    assert_eq!((attached(0), attached(2)), (2, 0));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_chat_without_files() {
    let env = bare();
    env.run(&["chat", "hello"]);
    let result = env.run(&["chats", "files", &latest_chat(&env)]);
    assert_eq!((result.code, result.out.as_str(), result.err.as_str()), (0, "", "this chat has no files\n"));
}
