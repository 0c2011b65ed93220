//! Runs the examples of `docs/chats.md`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{call, text};
use serde_json::json;

use crate::chat::support::{configure, scripted_model};
use crate::support::TestEnv;

/// The id and time of the chat in the document.
const ID: &str = "01a1e130d768736ba6f0fc1a63514d25";
const TIME: &str = "2026-11-15 21:50:36Z";

#[test]
fn chats_guide() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/chats.md")).unwrap();
    let server = scripted_model(
        ChatProvider::OpenAiChat,
        &[
            &[call("1", "skills_activate", json!({"name": "weekly-report-generator"}))],
            &[text("What did you work on?")],
            &[text("Shipped the importer and fixed two bugs.")],
        ],
    );
    let env = TestEnv::new().variable("KEY", "sk-123456").variable("PATH", "/usr/bin:/bin");
    configure(&env, ChatProvider::OpenAiChat, &server.base, "");
    let prowess = env.command(&[]);
    let bin = env.path("../bin");
    symlink(prowess.get_program(), bin.join("prowess")).unwrap();
    let mut id = ID.to_owned();
    let mut typed = 0;
    for block in page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap()) {
        for part in block.split("$ ").filter(|part| !part.is_empty()) {
            let (line, expected) = part.split_once('\n').unwrap();
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{} 2>&1", line.replace(ID, &id))).current_dir(env.path(""));
            shell.env_clear().envs(prowess.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
            let result = String::from_utf8(shell.output().unwrap().stdout).unwrap();
            if line == "prowess chats" {
                id = result.split_whitespace().next().unwrap().to_owned();
            }
            assert_eq!(redact(&result, &id), redact(expected, ID), "$ {line}");
            typed += 1;
        }
    }
    assert!(typed >= 5, "{typed}");
}

/// Replaces ids and times with those of the document.
fn redact(text: &str, id: &str) -> String {
    let word = |word: &str| match word.len() == 20 && word.ends_with('Z') && word.starts_with("20") {
        true => TIME.to_owned(),
        false => word.to_owned(),
    };
    text.replace(id, ID).split("  ").map(word).collect::<Vec<_>>().join("  ")
}
