//! The log of `prowess serve`, and its shutdown by a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::TestEnv;
use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let args = [&["serve", "--json", "--addr", "127.0.0.1:0"], args].concat();
        Self::spawn(env.command(&args))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let result: Value = serde_json::from_str(&line).unwrap();
        let address =
            result["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    fn ask(&self, request: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}");
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// Terminates the server and returns its standard error.
    fn stop(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut written = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut written).unwrap();
        assert!(self.child.wait().unwrap().success(), "{written}");
        written
    }
}

/// Sends requests with values that must not be in the log.
fn send_secrets(server: &Server) {
    let secrets = "X-Request-Id: r-1\r\nAuthorization: Bearer SECRET-1\r\nCookie: prowess_token=SECRET-2\r\n\
                   Content-Type: application/json\r\n";
    let response = server.ask("POST /api/chats", secrets, "{\"title\":\"SECRET-3\"}");
    assert!(response.starts_with("HTTP/1.1 201"), "{response}");
    let chat: Value = serde_json::from_str(response.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let id = chat["id"].as_str().unwrap();
    let message = server.ask(&format!("POST /api/chats/{id}/messages"), secrets, "{\"text\":\"SECRET-4\"}");
    assert!(message.contains("event: done"), "{message}");
    server.ask(&format!("DELETE /api/chats/{id}"), secrets, "");
    let none = server.ask("GET /api/SECRET-5?token=SECRET-6", "X-Request-Id: SECRET 7\r\n", "");
    assert!(none.starts_with("HTTP/1.1 404"), "{none}");
}

#[test]
fn lines_of_json() {
    let env = TestEnv::new();
    let server = Server::start(&env, &["--log", "json"]);
    send_secrets(&server);
    let written = server.stop();
    assert!(!written.contains("SECRET"), "{written}");
    let mut result = Vec::new();
    for line in written.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let event = event.as_object_mut().unwrap();
        for (key, value) in event.iter_mut() {
            match (key.as_str(), value.as_str()) {
                ("timestamp" | "chat", Some(_)) | ("ms" | "bytes", None) => *value = "[…]".into(),
                ("id", Some(id)) if id.len() == 36 => *value = "[uuid]".into(),
                _ => {}
            }
        }
        result.push(serde_json::to_string(&event).unwrap());
    }
    assert_snapshot!(result.join("\n"));
}

#[test]
fn text_log_and_no_log() {
    let env = TestEnv::new();
    let server = Server::start(&env, &["--log", "text"]);
    send_secrets(&server);
    let written = server.stop();
    assert!(!written.contains("SECRET"), "{written}");
    let request = written.lines().find(|line| line.contains("route=\"/api/chats\"")).unwrap();
    assert!(request.contains("INFO request id=\"r-1\" method=\"POST\""), "{request}");
    assert!(request.contains("status=201 ms="), "{request}");

    let server = Server::start(&env, &["--log", "off"]);
    send_secrets(&server);
    assert_eq!(server.stop(), "");
    // Without a terminal, the default is JSON.
    let server = Server::start(&env, &[]);
    send_secrets(&server);
    assert!(server.stop().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_server_started_with_nohup_ignores_hangups() {
    let env = TestEnv::bare();
    let mut command = Command::new("/bin/sh");
    let program = env.command(&["serve", "--json", "--addr", "127.0.0.1:0"]);
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(env.path("")).args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    command.arg(program.get_program()).args(program.get_args());
    let server = Server::spawn(command);
    kill_process(Pid::from_child(&server.child), Signal::HUP).unwrap();
    assert!(server.ask("GET /healthz", "", "").starts_with("HTTP/1.1 200"));
    server.stop();
}
