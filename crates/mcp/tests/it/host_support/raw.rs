//! A hand-written server for violations that the SDK does not allow.

use std::io::{BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::ServerScript;

/// Responds to each line according to its script.
pub fn serve_stdio(script: &ServerScript) {
    let raw = script.read()["raw"].as_str().unwrap_or_default().to_owned();
    let mut out = std::io::stdout().lock();
    let mut child_process = None;
    match raw.as_str() {
        "is silent" => std::thread::sleep(Duration::from_secs(600)),
        "exits at once" => {
            std::io::stderr().write_all(b"cannot find the \x1b[31mkey\n").unwrap();
            return;
        }
        "sends nonsense" => loop {
            if out.write_all(b"nonsense\n{}\n[1,2]\n{\"jsonrpc\":\"2.0\"}\n").is_err() {
                return;
            }
        },
        "endless line" => loop {
            if out.write_all(&[b'x'; 65_536]).is_err() {
                return;
            }
        },
        "ignores shutdown" => {
            // A child process that outlives its parent unless the whole group is ended.
            let child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
            script.log(&format!("started {}", child.id()));
            child_process = Some(child);
        }
        _ => {}
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else { continue };
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        script
            .log(&format!("{method} {}", message["params"]["protocolVersion"].as_str().unwrap_or_default()));
        if raw == "floods with notifications" && method == "skills/list" {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"});
            while writeln!(out, "{notice}").is_ok() {}
        }
        let response = match method {
            "server/discover" if raw == "ignores discover" => continue,
            "initialize" => json!({"result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}},
                "serverInfo": {"name": "docs", "version": "1"},
            }}),
            "skills/list" => {
                json!({"result": {"skills": script.entries(false), "ttlMs": 0, "cacheScope": "private"}})
            }
            "resources/read" => {
                let uri = message["params"]["uri"].as_str().unwrap_or_default();
                json!({"result": {"contents": [{"uri": uri, "text": script.content(uri).unwrap_or_default()}]}})
            }
            _ if id.is_null() => continue,
            method => json!({"error": {"code": -32601, "message": format!("no method {method}")}}),
        };
        let mut response = response;
        response["jsonrpc"] = json!("2.0");
        response["id"] = id.clone();
        if writeln!(out, "{response}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
    if let Some(mut child) = child_process {
        // Waits for the child, which is not ended by the server.
        let _ = child.wait();
    }
}
