//! No command prints text from skills unescaped.

use crate::support::TestEnv;
use prowess_format::hidden;

/// Colour, window title, C1 sequence, right-to-left override, tag character, bell, line break.
const NASTY: &str = r"a\e[31m\e]0;owned\a\x9b2J \u202E\U000E0041\rerror: forged";

/// The same characters without YAML escapes.
const RAW: &str = "b\u{1b}[31m\u{9b}2J \u{202e}\u{e0041}\u{7}";

fn env() -> TestEnv {
    let env = TestEnv::bare();
    let quoted = |name: &str| {
        format!(
            "---\nname: \"{name}\"\ndescription: \"{NASTY}\"\nlicense: \"{NASTY}\"\n\"k{NASTY}\": \"{NASTY}\"\n\
             metadata:\n  \"m{NASTY}\": \"{NASTY}\"\n  requires: \"{NASTY}\"\n---\n\nBody {RAW}\n"
        )
    };
    let raw = format!("---\nname: {RAW}\ndescription: {RAW}\n{RAW}: {RAW}\n---\n\nBody {RAW}\n");
    env.file("~/.agents/skills/quoted/SKILL.md", quoted("quoted"))
        .file("~/.agents/skills/named/SKILL.md", quoted(NASTY))
        .file("~/.agents/skills/raw/SKILL.md", raw)
        .file("~/.agents/skills/nul/SKILL.md", "---\nname: nul\ndescription: a\0b\n---\n\nBody \0.\n")
        .file(
            "~/.agents/skills/latin/SKILL.md",
            b"---\nname: latin\ndescription: caf\xe9 \x9b2J\n---\n\nBody.\n",
        )
        .file(&format!("~/.agents/skills/{RAW}/SKILL.md"), quoted("quoted"))
        .file(&format!("~/.agents/skills/files/{RAW}.md"), "x")
        .file(
            "~/.agents/skills/files/SKILL.md",
            "---\nname: files\ndescription: Has files.\nlicense: MIT\n---\nBody.\n",
        )
        .file(&format!(".agents/skills/{RAW}/SKILL.md"), quoted("waiting"))
        .skill(&format!(".codex/skills/{RAW}/elsewhere"))
        .file(
            "~/.agent/config.yaml",
            format!("skills:\n  plugins:\n    - {{url: \"{NASTY}\", ref: \"{NASTY}\", name: \"{NASTY}\"}}\n"),
        )
        .file(
            "~/.cursor/mcp.json",
            format!("{{\"mcpServers\": {{\"prowess\": {{\"command\": \"{RAW}\", \"\\u001b[31m\": 1}}}}}}")
                .replace('\u{7}', ""),
        )
        .file("~/.config/zed/settings.json", format!("{{\n  {RAW}"))
        .file(".prowess/config.toml", format!("[skills]\ndisabled = [\"{}\"]\n", r"x\u001b[31m\u202e"));
    env
}

const NAMES: [&str; 8] = ["quoted", "named", "raw", "nul", "latin", "files", "elsewhere", RAW];

fn calls() -> Vec<Vec<&'static str>> {
    let mut calls: Vec<Vec<_>> = [
        &["list"][..],
        &["list", "--all"],
        &["list", "--all", "-v"],
        &["show"],
        &["skill", "show"],
        &["config"],
        &["doctor"],
        &["check", "."],
        &["trust"],
        &["untrust"],
        &["trust", RAW],
        &["check", RAW],
        &["audit", RAW],
        &["audit", "."],
        &["man", RAW],
        &["new", RAW, "--description", "x"],
        &["new", "x", "--description", RAW],
        &["--root", RAW, "list"],
        &["--project", RAW, "list"],
        &["--config", RAW, "list"],
        &["prompt"],
        &["prompt", "--location"],
        &["prompt", "--format", "json"],
        &["prompt", "--format", "markdown"],
        &["prompt", "--format", "tiers"],
        &["prompt", "--budget-chars", "200", "-v"],
        &["prompt", "--query", RAW],
        &["match", "red owned body forged"],
        &["match", RAW],
        &["tools"],
        &["call", "skills.search", "{\"query\":\"red owned body forged\"}"],
        &["call", "skills.activate", "{\"name\":\"raw\"}"],
        &["call", RAW, "{}"],
        &["call", "skills.activate", RAW],
        &["call", "skills.activate", "{\"name\":\"b\\u001b[31m\\u202e\"}"],
        &["tools", "--skill", RAW],
        &["read", "files", RAW],
        &["run", "files", RAW],
        &["run", RAW, "x"],
        &["run", "raw", "x", "--stdin-json", RAW],
        &["run", "--log"],
        &["eval", RAW],
        &["lint", "--routing"],
        &["enable", RAW],
        &["disable", RAW],
        &["disable", RAW, "--project"],
        &["disable", "--source", RAW],
        &["disable", "raw"],
        &["enable", "raw", "--project"],
        &["enable", "raw"],
        &["enable", "named"],
        &["plugins"],
        &["--preset", "harness", "plugins"],
        &["skill", "manage"],
        &["skill", "manage", "list"],
        &["install", RAW],
        &["install", "../home/.agents/skills/quoted", "--dry-run"],
        &["install", "../home/.agents/skills", "--all", "--dry-run"],
        &["install", "../home/.agents/skills", "--skill", RAW, "--dry-run"],
        &["install", "../home/.agents/skills/files", "--name", RAW, "--dry-run"],
        &["install", "https://127.0.0.1:1/x.git", "--ref", RAW],
        &["install", "x", "--agent", RAW],
        &["install", "--locked"],
        &["import", RAW],
        &["import", "--from", RAW],
        &["import", "--from", "codex", "--all", "--dry-run"],
        &["update"],
        &["update", RAW],
        &["remove", RAW],
        &["remove", "raw", "--dry-run"],
        &["remove", "named", "--dry-run"],
        &["verify"],
        &["verify", RAW],
        &["verify", "--accept", RAW],
        &["mcp"],
        &["mcp", "clients"],
        &["mcp", "clients", "--name", RAW],
        &["mcp", "install"],
        &["mcp", "install", "--client", RAW],
        &["mcp", "install", "--client", "codex", "--name", RAW],
        &["mcp", "install", "--client", "codex", "--http", RAW],
        &["mcp", "install", "--client", "codex", "--http", "http://127.0.0.1", "--token-env", RAW],
        &["mcp", "install", "--client", "codex", "--dry-run", "--root", RAW],
        &["mcp", "install", "--client", "codex", "--print", "--root", RAW],
        &["mcp", "install", "--client", "cursor", "--dry-run"],
        &["mcp", "install", "--client", "zed"],
        &["mcp", "uninstall", "--client", "cursor", "--dry-run"],
        &["mcp", "uninstall", "--client", "cursor"],
        &["serve", "--addr", RAW],
        &["serve", "--store", "mysql://\u{1b}[31m"],
        &["serve", "--token-file", RAW],
        &["serve", "--addr", "0.0.0.0:0"],
        &["serve", "--trust-proxy-header", RAW],
        &["serve", "--log", RAW],
        &["chat", RAW, "--json"],
        &["chat", "red owned body forged", "--json"],
        &["chat", "/raw", "--json"],
        &["chat", "x", "--chat", RAW],
        &["chat", "x", "--store", RAW],
        &["chats"],
        &["chats", "show", RAW],
        &["chats", "delete", RAW],
        &["chats", "export"],
        &["chats", "export", RAW],
        &["chats", "export", "--to", RAW],
        &["chats", "import", RAW],
        &["chats", "import", "../home/.agents/skills/raw/SKILL.md"],
        &["chats", "--store", "mysql://\u{1b}[31m"],
        &["pack", RAW],
        &["pack", "../home/.agents/skills/quoted", "-o", "../quoted.skill"],
        &["pack", "../home/.agents/skills/raw", "-o", "../raw.skill"],
        &["index", RAW],
        &["index", "../home/.agents/skills", "-o", "../public"],
    ]
    .map(<[_]>::to_vec)
    .to_vec();
    for format in ["human", "json", "sarif", "github"] {
        calls.push(vec!["check", "--format", format, "--project", "."]);
        calls.push(vec!["check", "--strict", "--format", format, "../home"]);
    }
    for format in ["human", "json", "sarif"] {
        calls.push(vec!["audit", "--format", format]);
    }
    for name in NAMES {
        calls.push(vec!["audit", name]);
        calls.push(vec!["info", name]);
        calls.push(vec!["why", name]);
        calls.push(vec!["files", name]);
    }
    calls
}

/// Returns `true` if the text contains control or hidden characters.
pub(crate) fn raw(text: &str) -> Option<(usize, char)> {
    hidden::find_hidden(text).or_else(|| text.char_indices().find(|(_, c)| *c == '\r'))
}

#[test]
fn every_command_escapes_its_output() {
    let env = env();
    for call in calls() {
        for json in [&[][..], &["--json"]] {
            let result = env.run(&[&call[..], json].concat());
            assert_eq!(raw(&result.out), None, "{call:?}: {:?}", result.out);
            assert_eq!(raw(&result.err), None, "{call:?}: {:?}", result.err);
        }
    }
}

#[test]
fn styles_are_the_only_escapes() {
    let env = env();
    for call in calls() {
        let result = env.run(&[&call[..], &["--color", "always"]].concat());
        for text in [&result.out, &result.err] {
            assert_eq!(raw(&without_styles(text)), None, "{call:?}: {text:?}");
        }
    }
}

/// Texts for models are printed without terminal escapes and control characters. Hidden characters
/// are kept, except on a terminal.
#[test]
fn texts_for_models_have_no_escapes() {
    let env = env();
    env.file("~/.agents/skills/files/nasty.md", format!("text {RAW}\n"));
    let mut calls: Vec<_> = NAMES.iter().map(|name| vec!["activate", name]).collect();
    calls.push(vec!["activate", "files", "--args", RAW]);
    calls.push(vec!["read", "files", "nasty.md"]);
    calls.push(vec!["read", "quoted", "SKILL.md"]);
    calls.push(vec!["chat", RAW]);
    calls.push(vec!["chat", "/raw"]);
    calls.push(vec!["chat", "red owned body forged"]);
    for call in calls {
        for json in [&[][..], &["--json"]] {
            let result = env.run(&[&call[..], json].concat());
            let control = |c: char| c.is_control() && c != '\n';
            assert!(!result.out.contains(control), "{call:?}: {:?}", result.out);
            assert_eq!(raw(&result.err), None, "{call:?}: {:?}", result.err);
        }
    }
}

/// Removes the styles that Prowess itself uses. Styles from skills are not removed, because those of Prowess
/// are always adjacent to its own words.
pub(crate) fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |plain, part| match part.split_once('m') {
        Some((style, rest)) if style.chars().all(|c| c.is_ascii_digit() || c == ';') => plain + rest,
        _ => plain + "\u{1b}[" + part,
    })
}

#[test]
fn json_preserves_the_text() {
    let env = TestEnv::bare();
    env.file("~/.agents/skills/x/SKILL.md", "---\nname: x\ndescription: 日本語 \"quoted\" é\n---\n\nBody.\n");
    let json = env.run(&["list", "--json"]).json();
    assert_eq!(json["skills"][0]["description"], "日本語 \"quoted\" é");
}
