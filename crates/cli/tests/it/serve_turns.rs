//! `prowess serve` as people run it: answers whose server is killed, told to end, or stopped through another, with a script of a
//! skill running.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::world::World;
use prowess_config::Provider;
use prowess_testing::model::speech::{answer, call, text};
use prowess_testing::model::{Blocking, Reply};
use prowess_testing::postgres;
use serde_json::{Value, json};

const CHAT: Provider = Provider::OpenAiChat;

/// A skill whose script sleeps for as many seconds as this says, by which it is told from other processes.
fn world(model: &str, seconds: &str) -> World {
    let world =
        World::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin").variable("PROWESS_ALLOW_SCRIPTS", "1");
    let config = format!("[chat]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase-url = \"{model}/v1\"\n");
    world.file("~/.prowess/config.toml", config).skill("~/.agents/skills/slow");
    world.file("~/.agents/skills/slow/go.sh", format!("#!/bin/sh\nsleep {seconds} &\nsleep {seconds}\n"));
    let script = world.path("~/.agents/skills/slow/go.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    world
}

/// A model that runs the script, and afterwards says one word.
fn model() -> Blocking {
    Blocking::answering(|asked, _| match asked.body.to_string().contains("run it") {
        true if !asked.body.to_string().contains("again") => Reply::events(answer(
            CHAT,
            &[call("c1", "skills_run", json!({"name": "slow", "script": "go.sh"}))],
        )),
        _ => Reply::events(answer(CHAT, &[text("fine")])),
    })
}

/// `prowess serve`. It is killed when it is dropped.
struct Serving {
    child: Child,
    at: String,
    _out: BufReader<ChildStdout>,
}

impl Serving {
    fn start(world: &World, store: &str) -> Self {
        let args = ["serve", "--addr", "127.0.0.1:0", "--store", store, "--grace", "0", "--json"];
        let mut command = world.command(&args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let at = told["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, at, _out: out }
    }

    /// The whole answer to a request: its status, and what it says.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let mut answer = String::new();
        self.send(method, path, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
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
        let mut heard = String::new();
        self.say(chat, "again").read_to_string(&mut heard).unwrap();
        assert!(heard.contains("\"text\":\"fi") && heard.contains("event: done"), "{heard}");
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

/// How many processes on this machine were started with this word.
fn running(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(word.len()).any(|part| part == word.as_bytes())).count()
}

/// Waits until something is so; the run as a whole is bounded.
fn until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn rest(mut stream: TcpStream) -> String {
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    heard
}

#[test]
fn a_script_is_ended_when_its_turn_is_stopped_through_another_server() {
    let seconds = "1414213.5";
    let (model, database) = (model(), postgres::Server::start());
    let world = world(&model.base, seconds);
    let (one, other) = (Serving::start(&world, &database.url()), Serving::start(&world, &database.url()));
    let chat = one.chat();
    let stream = one.say(&chat, "run it");
    until(|| running(seconds) >= 2);
    // The tool says nothing; whoever asked to stop does not wait for it.
    let (status, body) = other.ask("POST", &format!("/api/chats/{chat}/stop"), &Value::Null);
    assert_eq!((status, body.as_str()), (200, r#"{"stopped":true}"#));
    let heard = rest(stream);
    assert!(heard.contains("event: tool_call") && heard.contains(r#""reason":"cancelled""#), "{heard}");
    until(|| running(seconds) == 0);
    other.is_answered(&chat);
    one.is_answered(&chat);
}

#[test]
fn a_script_is_ended_when_its_turn_is_stopped_where_it_runs() {
    let seconds = "1732050.8";
    let model = model();
    let world = world(&model.base, seconds);
    let one = Serving::start(&world, world.path("~/chats.sqlite3").to_str().unwrap());
    let chat = one.chat();
    let stream = one.say(&chat, "run it");
    until(|| running(seconds) >= 2);
    one.ask("POST", &format!("/api/chats/{chat}/stop"), &Value::Null);
    assert_eq!(running(seconds), 0, "nothing runs on when it was stopped");
    let heard = rest(stream);
    assert!(heard.contains("event: tool_result") && heard.contains(r#""reason":"cancelled""#), "{heard}");
    one.is_answered(&chat);
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_a_script() {
    let seconds = "2236067.9";
    let (model, database) = (model(), postgres::Server::start());
    let world = world(&model.base, seconds);
    let (mut one, other) = (Serving::start(&world, &database.url()), Serving::start(&world, &database.url()));
    let chat = one.chat();
    let _stream = one.say(&chat, "run it");
    until(|| running(seconds) >= 2);
    one.end("KILL");
    until(|| other.get(&format!("/api/chats/{chat}"))["writing"].is_null());
    let kept = other.get(&format!("/api/chats/{chat}"));
    let parts = kept["messages"][1]["parts"].as_array().unwrap();
    assert_eq!((parts.len(), &parts[0]["type"]), (1, &json!("tool_call")), "what was asked for is known");
    assert_eq!(
        kept["messages"][1]["reason"],
        "the program that was answering stopped; this is what it said until then"
    );
    until(|| running(seconds) == 0);
    other.is_answered(&chat);
}

#[test]
fn a_server_that_is_told_to_end_ends_the_script_and_marks_the_answer() {
    let seconds = "2645751.3";
    let model = model();
    let world = world(&model.base, seconds);
    let store = world.path("~/chats.sqlite3");
    let mut one = Serving::start(&world, store.to_str().unwrap());
    let chat = one.chat();
    let stream = one.say(&chat, "run it");
    until(|| running(seconds) >= 2);
    assert_eq!(one.end("TERM"), Some(0));
    assert_eq!(running(seconds), 0, "nothing runs on");
    let heard = rest(stream);
    let marker = "the server was stopped while it answered; this is what was said until then";
    assert!(heard.contains(marker), "{heard}");
    let again = Serving::start(&world, store.to_str().unwrap());
    let kept = again.get(&format!("/api/chats/{chat}"));
    assert_eq!((&kept["writing"], &kept["messages"][1]["reason"]), (&json!(null), &json!(marker)));
    again.is_answered(&chat);
}
