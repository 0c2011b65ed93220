//! Invalid input: error messages, and nothing is stored.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use prowess_config::ChatProvider;

use crate::chat::support::{bare, bind_filters, configure, model_answering};
use crate::support::TestEnv;

fn piped(env: &TestEnv, args: &[&str], input: &[u8]) -> Output {
    let mut child = env
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It stops reading at the limit.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn invalid_messages() {
    let (server, env) = model_answering("Fine.");
    let mut result = Vec::new();
    let mut put = |output: Output| {
        result.push(format!(
            "{}--- exit {}",
            String::from_utf8(output.stderr).unwrap(),
            output.status.code().unwrap()
        ));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    };
    put(piped(&env, &["chat"], b""));
    put(piped(&env, &["chat", "  "], b" \n"));
    put(piped(&env, &["chat"], &vec![b'x'; 10_000_000]));
    put(piped(&env, &["chat", "typed"], &vec![b'x'; 1024 * 1024]));
    put(piped(&env, &["chat"], b"ab\xff\xfe"));
    put(piped(&env, &["chat"], b"a\0b"));
    let mut command = env.command(&["chat"]);
    put(command.arg(std::ffi::OsStr::from_bytes(b"a\xff")).stdin(Stdio::null()).output().unwrap());
    assert_snapshot!(result.join("\n\n"));
    // No request was sent, and no chat was created.
    assert_eq!(server.requests().len(), 0);
    assert_eq!(env.run(&["chats", "--json"]).json()["chats"], serde_json::json!([]));
}

#[test]
fn a_message_of_the_maximum_size() {
    let (server, env) = model_answering("Fine.");
    configure(&env, ChatProvider::OpenAiChat, &server.base, "context-tokens = 2000000");
    let input = "x ".repeat(512 * 1024);
    let output = piped(&env, &["chat"], input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Fine.\n");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn unknown_chats_and_usage_errors() {
    let _steady = bind_filters();
    let env = bare();
    assert_snapshot!(env.runs(&[
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
    assert_eq!(env.text("x.json"), "[entity not found]");
}

#[test]
fn incomplete_model_configuration() {
    let _steady = bind_filters();
    let env = bare();
    let mut result = Vec::new();
    let mut with = |text: &str| {
        env.file("~/.prowess/config.toml", format!("[chat]\n{text}\n"));
        result.push(env.run(&["chat", "hello"]).transcript());
    };
    with("provider = \"anthropic\"");
    with("provider = \"anthropic\"\nmodel = \"m\"");
    with("provider = \"anthropic\"\nmodel = \"m\"\nkey-env = \"MY_KEY\"");
    with("provider = \"openai\"\nmodel = \"m\"\nkey-file = \"~/key\"");
    env.file("~/key", "sk-SECRET\n");
    with("provider = \"openai\"\nmodel = \"m\"\nkey-file = \"~/key\"");
    with("provider = \"openai\"\nmodel = \"m\"\nbase-url = \"http://models.example/v1\"\nkey-env = \"KEY\"");
    assert_snapshot!(result.join("\n"));
}

/// Providers, keys and stores of a project's configuration are ignored.
#[test]
fn a_project_cannot_redirect_chats() {
    let (server, env) = model_answering("Fine.");
    let theirs =
        prowess_testing::model::BlockingModelServer::start([prowess_testing::model::Reply::failure(
            500, "{}",
        )]);
    configure(&env, ChatProvider::OpenAiChat, &server.base, "");
    env.file(
        ".prowess/config.toml",
        format!(
            "[chat]\nbase-url = \"{}/v1\"\nkey-env = \"PATH\"\nstore = \"/theirs\"\nmax-steps = 5\n",
            theirs.base
        ),
    );
    assert_eq!(env.run(&["chat", "hello"]).out, "Fine.\n");
    assert_eq!((server.requests().len(), theirs.requests().len()), (1, 0));
    assert_eq!(env.run(&["chats", "--json"]).json()["chats"].as_array().unwrap().len(), 1);
}
