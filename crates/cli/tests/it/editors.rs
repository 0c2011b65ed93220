//! `prowess lsp` and `prowess schema`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;

/// A language server over pipes.
struct LanguageServer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl LanguageServer {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let mut command = env.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn send_text(&mut self, text: &str) {
        let message = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.child.stdin.as_mut().unwrap().write_all(message.as_bytes()).unwrap();
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.send_text(&message.to_string());
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server closed its output");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut content = vec![0; length];
        self.output.read_exact(&mut content).unwrap();
        serde_json::from_slice(&content).unwrap()
    }

    /// Receives messages until one has this value at a path.
    fn wait(&mut self, pointer: &str, value: &Value) -> Value {
        loop {
            let message = self.receive();
            if message.pointer(pointer) == Some(value) {
                return message;
            }
        }
    }

    fn initialize(&mut self, capabilities: &Value) -> Value {
        self.send(json!({"id": 1, "method": "initialize", "params": {"capabilities": capabilities}}));
        let response = self.wait("/id", &json!(1));
        self.send(json!({"method": "initialized", "params": {}}));
        response
    }

    /// Opens a skill of the project and returns the codes of its diagnostics.
    fn open(&mut self, env: &TestEnv, inner: &str, text: &str) -> Vec<String> {
        let uri = format!("file://{}", env.path(inner).display());
        let item = json!({"uri": uri, "languageId": "markdown", "version": 1, "text": text});
        self.send(json!({"method": "textDocument/didOpen", "params": {"textDocument": item}}));
        let published = self.wait("/params/uri", &json!(uri));
        let codes = published["params"]["diagnostics"].as_array().unwrap().iter();
        codes.map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes the input and returns the exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }
}

const ODD: &str = "---\nname: Odd\ndescription: Use for PDF.\nmodel: x\n---\nSee scripts/x.py.\n";

#[test]
fn a_session_over_standard_input_and_output() {
    let env = TestEnv::bare();
    env.skill("skills/pdf");
    let mut server = LanguageServer::start(&env, &["lsp", "--stdio"]);
    let response = server.initialize(&json!({"general": {"positionEncodings": ["utf-8"]}}));
    assert_eq!(response["result"]["serverInfo"]["name"], "prowess");
    assert_eq!(response["result"]["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(server.open(&env, "skills/odd/SKILL.md", ODD), ["SK034", "SK036", "SK063"]);
    // Malformed messages are answered, and the session goes on.
    server.send_text("{");
    assert_eq!(server.wait("/id", &Value::Null)["error"]["code"], -32700);
    server.send_text("[1]");
    assert_eq!(server.wait("/id", &Value::Null)["error"]["code"], -32600);
    server.send(json!({"id": "a", "method": "unknown"}));
    assert_eq!(server.wait("/id", &json!("a"))["error"]["code"], -32601);
    server.send(json!({"id": 2, "method": "shutdown"}));
    assert_eq!(server.wait("/id", &json!(2))["result"], Value::Null);
    server.send(json!({"method": "exit"}));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn options_and_configuration_select_the_rules() {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "[manifest]\nname-folder = \"ignore\"\n");
    let mut server = LanguageServer::start(&env, &["lsp"]);
    server.initialize(&json!({}));
    assert_eq!(server.open(&env, "odd/SKILL.md", ODD), ["SK034", "SK063"]);
    let mut server = LanguageServer::start(&env, &["lsp", "--strict"]);
    server.initialize(&json!({}));
    assert_eq!(server.open(&env, "odd/SKILL.md", ODD), ["SK034", "SK036", "SK051"]);
    let mut server = LanguageServer::start(&env, &["lsp", "--agent", "codex"]);
    server.initialize(&json!({}));
    assert_eq!(server.open(&env, "odd/SKILL.md", ODD), ["SK034", "SK063", "SK102"]);
}

#[test]
fn an_editor_that_ends_without_shutdown_is_an_abort() {
    let env = TestEnv::bare();
    assert_eq!(LanguageServer::start(&env, &["lsp"]).end(), Some(1));
    let mut server = LanguageServer::start(&env, &["lsp"]);
    server.initialize(&json!({}));
    server.send(json!({"method": "exit"}));
    assert_eq!(server.end(), Some(1));
    let mut server = LanguageServer::start(&env, &["lsp"]);
    server.child.stdin.as_mut().unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(server.end(), Some(1));
}

#[cfg(feature = "toolsets")]
#[test]
fn problems_of_toolsets_are_shown_in_their_files() {
    let env = TestEnv::bare();
    let text = "---\nname: odd\ndescription: Use for PDF.\ntoolsets: [tools/index.ts:Tools]\n---\nText.\n";
    env.file("odd/SKILL.md", text).file("odd/tools/index.ts", "export class {");
    let mut server = LanguageServer::start(&env, &["lsp"]);
    server.initialize(&json!({}));
    server.open(&env, "odd/SKILL.md", text);
    let uri = format!("file://{}", env.path("odd/tools/index.ts").display());
    let published = server.wait("/params/uri", &json!(uri));
    assert_eq!(published["params"]["diagnostics"][0]["code"], "SK064");
}

#[test]
fn a_terminal_is_told_to_use_an_editor() {
    let env = TestEnv::bare();
    assert_snapshot!(TerminalSession::start(&env, &["lsp", "--color", "never"]).transcript());
}

#[test]
fn schema_is_valid_json_for_both_scopes() {
    let env = TestEnv::bare();
    let all: Value = serde_json::from_str(&env.run(&["schema"]).out).unwrap();
    assert_eq!(all, env.run(&["schema", "--json"]).json());
    let strict = env.run(&["schema", "--strict", "--json"]).json();
    assert_eq!(all["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(strict["properties"].as_object().unwrap().len(), 6);
    assert!(all["properties"].as_object().unwrap().len() > 40);
}
