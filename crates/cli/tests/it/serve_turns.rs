//! `prowess serve` with a running script, when the server is killed or terminated, or the turn is stopped through
//! another server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support::TestEnv;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{call, encode_reply, text};
use prowess_testing::model::{BlockingModelServer, Reply};
use prowess_testing::postgres;
use prowess_testing::processes::count_processes;
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

/// Creates a skill whose script sleeps for a unique number of seconds, which identifies its process.
fn env(model: &str, seconds: &str) -> TestEnv {
    let env = TestEnv::bare()
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("PROWESS_ALLOW_SCRIPTS", "1");
    let config = format!("[chat]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase-url = \"{model}/v1\"\n");
    env.file("~/.prowess/config.toml", config).skill("~/.agents/skills/slow");
    env.file("~/.agents/skills/slow/go.sh", format!("#!/bin/sh\nsleep {seconds} &\nsleep {seconds}\n"));
    let script = env.path("~/.agents/skills/slow/go.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    env
}

/// Returns a model that runs the script and then answers with one word.
fn model() -> BlockingModelServer {
    BlockingModelServer::with_handler(|request, _| match request.body.to_string().contains("run it") {
        true if !request.body.to_string().contains("again") => Reply::events(encode_reply(
            CHAT,
            &[call("c1", "skills_run", json!({"name": "slow", "script": "go.sh"}))],
        )),
        _ => Reply::events(encode_reply(CHAT, &[text("fine")])),
    })
}

/// A `prowess serve` process, which is killed on drop.
struct Serving {
    child: Child,
    at: String,
    _out: BufReader<ChildStdout>,
}

impl Serving {
    fn start(env: &TestEnv, store: &str) -> Self {
        let args = ["serve", "--addr", "127.0.0.1:0", "--store", store, "--grace", "0", "--json"];
        let mut command = env.command(&args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let result: Value = serde_json::from_str(&line).unwrap();
        let at =
            result["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, at, _out: out }
    }

    /// Sends a request and returns status and body.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let mut response = String::new();
        self.send(method, path, body).read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}",
            body.len()
        );
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn chat(&self) -> String {
        let (status, body) = self.ask("POST", "/api/chats", &json!({}));
        assert_eq!(status, 201, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["id"].as_str().unwrap().to_owned()
    }

    fn say(&self, chat: &str, text: &str) -> TcpStream {
        self.send("POST", &format!("/api/chats/{chat}/messages"), &json!({"text": text}))
    }

    fn is_answered(&self, chat: &str) {
        let mut response = String::new();
        self.say(chat, "again").read_to_string(&mut response).unwrap();
        assert!(response.contains("\"text\":\"fi") && response.contains("event: done"), "{response}");
    }

    fn end(&mut self, signal: &str) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a condition. The test runner has a timeout.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn rest(mut stream: TcpStream) -> String {
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn stopping_a_turn_through_another_server_stops_its_script() {
    let seconds = "1414213.5";
    let (model, database) = (model(), postgres::PostgresServer::start());
    let env = env(&model.base, seconds);
    let (first, other) = (Serving::start(&env, &database.url()), Serving::start(&env, &database.url()));
    let chat = first.chat();
    let stream = first.say(&chat, "run it");
    until(|| count_processes(seconds) >= 2);
    // Stopping does not wait for the tool, which prints nothing.
    let (status, body) = other.ask("POST", &format!("/api/chats/{chat}/stop"), &Value::Null);
    assert_eq!((status, body.as_str()), (200, r#"{"stopped":true}"#));
    let response = rest(stream);
    assert!(
        response.contains("event: tool_call") && response.contains(r#""reason":"cancelled""#),
        "{response}"
    );
    until(|| count_processes(seconds) == 0);
    other.is_answered(&chat);
    first.is_answered(&chat);
}

#[test]
fn stopping_a_turn_stops_its_script() {
    let seconds = "1732050.8";
    let model = model();
    let env = env(&model.base, seconds);
    let first = Serving::start(&env, env.path("~/chats.sqlite3").to_str().unwrap());
    let chat = first.chat();
    let stream = first.say(&chat, "run it");
    until(|| count_processes(seconds) >= 2);
    first.ask("POST", &format!("/api/chats/{chat}/stop"), &Value::Null);
    assert_eq!(count_processes(seconds), 0, "nothing runs on when it was stopped");
    let response = rest(stream);
    assert!(
        response.contains("event: tool_result") && response.contains(r#""reason":"cancelled""#),
        "{response}"
    );
    first.is_answered(&chat);
}

#[test]
fn a_server_is_killed_while_a_script_runs() {
    let seconds = "2236067.9";
    let (model, database) = (model(), postgres::PostgresServer::start());
    let env = env(&model.base, seconds);
    let (mut first, other) = (Serving::start(&env, &database.url()), Serving::start(&env, &database.url()));
    let chat = first.chat();
    let _stream = first.say(&chat, "run it");
    until(|| count_processes(seconds) >= 2);
    first.end("KILL");
    until(|| other.get(&format!("/api/chats/{chat}"))["writing"].is_null());
    let kept = other.get(&format!("/api/chats/{chat}"));
    let parts = kept["messages"][1]["parts"].as_array().unwrap();
    assert_eq!((parts.len(), &parts[0]["type"]), (1, &json!("tool_call")), "the requested call is stored");
    assert_eq!(
        kept["messages"][1]["reason"],
        "the process that was replying stopped; this is the reply up to that point"
    );
    until(|| count_processes(seconds) == 0);
    other.is_answered(&chat);
}

#[test]
fn a_terminated_server_stops_the_script_and_marks_the_answer() {
    let seconds = "2645751.3";
    let model = model();
    let env = env(&model.base, seconds);
    let store = env.path("~/chats.sqlite3");
    let mut first = Serving::start(&env, store.to_str().unwrap());
    let chat = first.chat();
    let stream = first.say(&chat, "run it");
    until(|| count_processes(seconds) >= 2);
    assert_eq!(first.end("TERM"), Some(0));
    assert_eq!(count_processes(seconds), 0, "nothing runs on");
    let response = rest(stream);
    let marker = "the server stopped before the reply was complete";
    assert!(response.contains(marker), "{response}");
    let again = Serving::start(&env, store.to_str().unwrap());
    let kept = again.get(&format!("/api/chats/{chat}"));
    assert_eq!((&kept["writing"], &kept["messages"][1]["reason"]), (&json!(null), &json!(marker)));
    again.is_answered(&chat);
}
