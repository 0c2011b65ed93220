//! Tests the documentation: the console blocks of the README, `docs/packages.md`, `docs/plugins.md`, `docs/ci.md`,
//! `docs/editors.md` and `docs/authoring.md` are run and compared, the
//! configurations of all pages load, and every mentioned command and option exists. `docs/chats.md` and `docs/mcp.md`
//! are tested with chats and MCP clients.
//!
//! `UPDATE_DOCS=1 cargo nextest run -p prowess-cli --all-features documented -j 1` writes the output into the
//! console blocks; review the diff before you commit it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::net::{Net, README_URL};
use crate::support::TestEnv;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{self, ReplyPart};
use prowess_testing::model::{BlockingModelServer, RecordedRequest, Reply};
use prowess_testing::servers::ssh;
use serde_json::json;

/// The website of the examples.
const SITE: &str = "https://skills.example.com";

fn path(document: &str) -> PathBuf {
    PathBuf::from(format!("{}/../../{document}", env!("CARGO_MANIFEST_DIR")))
}

fn text(document: &str) -> String {
    fs::read_to_string(path(document)).unwrap()
}

/// Returns the README and all pages of `docs`.
fn documents() -> Vec<String> {
    let pages =
        fs::read_dir(path("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = pages.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let mut documents: Vec<_> = pages.chain(["README.md".to_owned()]).collect();
    documents.sort();
    documents
}

/// Returns the fenced blocks of a document, each with its info string.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, &str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let fence = &line[..line.len() - line.trim_start_matches('`').len()];
        match open {
            None if fence.len() >= 3 => open = Some((fence, line[fence.len()..].trim(), at + line.len())),
            Some((opened, info, start)) if fence == opened => {
                blocks.push((info, &text[start..at]));
                open = None;
            }
            None | Some(_) => {}
        }
        at += line.len();
    }
    blocks
}

/// Runs the commands of a document.
struct Reader<'a> {
    env: &'a TestEnv,
    /// Names in the document and their actual values.
    names: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    fn new(env: &'a TestEnv) -> Self {
        Self { env, names: Vec::new() }
    }

    fn of(net: &'a Net, url: &str) -> Self {
        let site = net.server.url("").trim_end_matches('/').to_owned();
        Self { env: &net.env, names: vec![(README_URL.to_owned(), url.to_owned()), (SITE.to_owned(), site)] }
    }

    /// Runs the console blocks of a section and compares the output, or writes it into the document.
    fn check_section(&self, document: &str, section: Option<&str>) {
        let document_text = text(document);
        let section_text = match section {
            Some(heading) => {
                let from_heading = document_text.split(&format!("\n## {heading}\n")).nth(1).unwrap();
                from_heading.split("\n## ").next().unwrap()
            }
            None => &document_text,
        };
        let mut updated = document_text.clone();
        let mut command_count = 0;
        for (info, block) in blocks(section_text) {
            // A block whose info string has a path is the content of that file.
            if let Some((_, file)) = info.split_once(' ').filter(|(_, file)| file.contains('/')) {
                let content = self
                    .names
                    .iter()
                    .fold(block.to_owned(), |text, (documented, actual)| text.replace(documented, actual));
                self.env.file(file, content);
                continue;
            }
            if info != "console" {
                continue;
            }
            let mut actual_block = String::new();
            for example in block.split("$ ").filter(|example| !example.is_empty()) {
                let (command, expected) = example.split_once('\n').unwrap();
                let actual = self.run_command(command);
                if std::env::var_os("UPDATE_DOCS").is_none() {
                    assert_eq!(without_dates(&actual), without_dates(expected), "{document}: $ {command}");
                }
                command_count += 1;
                actual_block += &format!("$ {command}\n{actual}");
            }
            updated = updated.replacen(block, &actual_block, 1);
        }
        assert!(command_count > 3, "{document} has console blocks");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(path(document), updated).unwrap();
        }
    }

    /// Returns the output of a command, standard output first.
    fn run_command(&self, command: &str) -> String {
        let typed = self
            .names
            .iter()
            .fold(command.to_owned(), |typed, (documented, actual)| typed.replace(documented, actual));
        let program = self.env.command(&[]);
        let mut shell = Command::new("/bin/sh");
        let commands = program.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        shell.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PROGRAM", program.get_program()).env("COMMANDS", commands.unwrap());
        shell.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(self.env.path(""));
        shell.arg("-c").arg(format!("prowess() {{ PATH=$COMMANDS \"$PROGRAM\" \"$@\"; }}\n{typed}"));
        let output = shell.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = self.env.redact(&String::from_utf8(printed).unwrap());
        let printed = self.names.iter().fold(printed, |printed, (documented, actual)| {
            printed.replace(&self.env.redact(actual), documented)
        });
        printed.replace("[PROJECT]", "/home/you/project").replace("[HOME]", "~")
    }
}

/// Replaces values that differ from run to run, or with the versions of packages: dates, ids, durations, sizes of written
/// files, and the version of the audit rules.
fn without_dates(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split(" (rules ").next().unwrap_or_default();
        let line = match line.strip_prefix("✓ environment ").and_then(|rest| rest.split_once(" for ")) {
            Some((_, scripts)) => scripts.split(':').next().unwrap_or_default(),
            None if line.starts_with("wrote ") => line.split(" (").next().unwrap_or_default(),
            None => match line.strip_prefix("  ").and_then(|package| package.split_once(' ')) {
                Some((package, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => package,
                _ => line,
            },
        };
        let line = match line.strip_prefix("sandbox ").and_then(|rest| rest.rsplit_once(", ")) {
            Some((outcome, _)) => &format!("sandbox {}", outcome.split_once(' ').unwrap_or_default().1),
            None => line,
        };
        // The seconds of a test.
        let line = match line.split_whitespace().collect::<Vec<_>>()[..] {
            [.., "%", tokens, _, calls, loaded] if line.starts_with("with") => {
                &format!("{tokens} {calls} {loaded}")
            }
            _ => line,
        };
        let line = match line.split(" | ").collect::<Vec<_>>()[..] {
            [ref start @ .., _, calls, loaded] if line.starts_with("| with") => {
                &format!("{start:?} {calls} {loaded}")
            }
            _ => line,
        };
        let word = |word: &str| match word {
            _ if word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => "[ID]".to_owned(),
            _ if word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2 => {
                "[DATE]".to_owned()
            }
            _ if word.len() == 9 && word.ends_with('Z') && word.contains(':') => "[TIME]".to_owned(),
            _ => word.to_owned(),
        };
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A model that follows the instructions of the guide, if it has them.
fn authoring_model(request: &RecordedRequest) -> Vec<ReplyPart> {
    let messages = request.body["messages"].as_array().unwrap();
    let prompt =
        messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"].to_string();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    let has_skill = request.body["tools"].to_string().contains("skills_activate");
    let write = |id, content: &str| {
        vec![wire_format::call(id, "workspace_write", json!({"path": "total.txt", "content": content}))]
    };
    let wants_total = prompt.contains("Sum") || prompt.contains("invoices");
    match (has_skill, results) {
        (true, 0) if wants_total => {
            vec![wire_format::call("c1", "skills_activate", json!({"name": "totals"}))]
        }
        (true, 1) => write("c2", "42.50"),
        (false, 0) if wants_total => write("c1", "The total is 42.5"),
        _ => vec![wire_format::text("hello")],
    }
}

#[test]
fn authoring_guide() {
    let server = BlockingModelServer::with_handler(|request, _| {
        Reply::events(wire_format::encode_reply(ChatProvider::OpenAiChat, &authoring_model(request)))
    });
    let env = TestEnv::new();
    let mut reader = Reader::new(&env);
    reader.names.push(("http://127.0.0.1:11434".to_owned(), server.base.clone()));
    reader.check_section("docs/authoring.md", None);
    assert!(env.path("public/.well-known").is_dir() || env.path("public").is_dir());
}

#[test]
fn readme_tour() {
    let env = TestEnv::new();
    Reader::new(&env).check_section("README.md", Some("A tour"));
}

#[test]
fn readme_over_https() {
    let net = Net::new();
    Reader::of(&net, &net.git()).check_section("README.md", Some("Install skills"));
    net.assert_empty();
}

#[test]
fn readme_over_ssh() {
    let mut net = Net::new();
    let server = ssh::SshServer::start(ssh::ProtocolVersions::All);
    net.env = net.env.variable("GIT_SSH_COMMAND", &server.command());
    let url = server.url(&net.served.join("team/skills.git"));
    Reader::of(&net, &url).check_section("README.md", Some("Install skills"));
    net.assert_empty();
}

#[test]
fn packages_guide() {
    let net = Net::new();
    assert_eq!(net.env.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
    Reader::of(&net, &net.git()).check_section("docs/packages.md", None);
}

#[test]
fn plugins_guide() {
    let env = TestEnv::bare().variable("NO_COLOR", "1");
    env.file(".git/HEAD", "");
    for (info, content) in blocks(&text("docs/plugins.md")) {
        if let Some((_, path)) = info.split_once(' ') {
            env.file(path, content);
        }
    }
    Reader::new(&env).check_section("docs/plugins.md", None);
}

#[test]
fn editors_guide() {
    Reader::new(&TestEnv::bare()).check_section("docs/editors.md", None);
}

#[test]
fn clients_guide() {
    let env = TestEnv::new();
    env.file(
        "~/.prowess/config.toml",
        "scan.roots = [\".agents/skills\", \".claude/skills\", \"~/.agents/skills\", \"~/.claude/skills\"]\n",
    );
    for (info, content) in blocks(&text("docs/clients.md")) {
        if let Some((_, path)) = info.split_once(' ') {
            env.file(path, content);
        }
    }
    Reader::new(&env).check_section("docs/clients.md", None);
}

#[test]
fn ci_guide() {
    let env = TestEnv::bare().variable("NO_COLOR", "1");
    for (info, content) in blocks(&text("docs/ci.md")) {
        if let Some((_, path)) = info.split_once(' ') {
            env.file(path, content);
        }
    }
    env.file("skills/pdf-forms/scripts/fill.py", "");
    Reader::new(&env).check_section("docs/ci.md", None);
}

#[test]
fn configurations_load() {
    let env = TestEnv::new();
    let mut loaded = 0;
    for document in documents() {
        let text = text(&document);
        let is_configuration = |info: &str, block: &str| {
            // Other YAML blocks are frontmatter, and suppressions are a separate file.
            (info == "toml" && !block.contains("[[suppress]]"))
                || (info == "yaml" && block.starts_with("preset:"))
        };
        for (info, block) in blocks(&text).into_iter().filter(|(info, block)| is_configuration(info, block)) {
            let file = format!("example.{info}");
            env.file(&file, block);
            let result = env.run(&["config", "--config", &file]);
            assert_eq!((result.code, result.err.as_str()), (0, ""), "{document}:\n{block}");
            loaded += 1;
        }
    }
    assert!(loaded > 5, "{loaded}");
}

/// Returns the `prowess` commands in code spans and shell blocks.
fn calls(text: &str) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    let mut take = |call: &str| {
        let call = call.split([';', '|']).next().unwrap().split(" # ").next().unwrap().trim();
        if let Some((before, call)) = call.split_once("prowess ")
            && before.split(' ').all(|word| word.is_empty() || word.contains('='))
        {
            calls.push(call.to_owned());
        }
    };
    for (info, block) in blocks(text) {
        if matches!(info, "sh" | "console") {
            block.lines().for_each(|line| take(line.trim_start_matches("$ ")));
        }
    }
    let prose =
        blocks(text).into_iter().fold(text.to_owned(), |prose, (_, block)| prose.replacen(block, "", 1));
    for line in prose.lines().filter(|line| !line.starts_with("```")) {
        line.split('`').skip(1).step_by(2).for_each(&mut take);
    }
    calls
}

#[test]
fn documented_commands_and_options_exist() {
    let env = TestEnv::new();
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut help = |command: &[String]| {
        let known = helps.entry(command.to_vec()).or_insert_with(|| {
            let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
            env.run(&args).out
        });
        known.clone()
    };
    let (mut checked, mut wrong) = (0, Vec::new());
    for document in documents() {
        for call in calls(&text(&document)) {
            let mut command: Vec<String> = Vec::new();
            let mut words =
                call.split(' ').map(|word| word.trim_matches(['[', ']', ',', '…', '"'])).peekable();
            while let Some(word) = words.peek() {
                let inner = format!("\n  {word} ");
                let listed = help(&command).lines().any(|line| format!("\n{line} ").starts_with(&inner));
                if !listed || word.is_empty() || word.starts_with('-') {
                    break;
                }
                command.push((*word).to_owned());
                words.next();
            }
            let text = help(&command);
            // Arguments after `--` belong to a script.
            for word in words.take_while(|word| *word != "--").filter(|word| word.starts_with("--")) {
                let flag = word.split(['=', '|', ']', ')', ';', '.']).next().unwrap();
                if !text.contains(&format!("{flag} ")) && !text.contains(&format!("{flag}\n")) {
                    wrong.push(format!("{document}: {flag} in `prowess {call}`"));
                }
            }
            if command.is_empty() && !call.starts_with("--") {
                wrong.push(format!("{document}: no command in `prowess {call}`"));
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The examples install packages from the registry.
#[test]
fn registry_worked_examples_of_scripts() {
    let env = TestEnv::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin").variable("NO_COLOR", "1");
    env.let_other_users_read();
    env.file("~/.prowess/config.toml", "environments.directory = \"~/environments\"\n");
    for (info, content) in blocks(&text("docs/scripts.md")) {
        if let Some((_, path)) = info.split_once(' ').filter(|(_, path)| path.contains('/')) {
            env.file(path, content);
        }
    }
    Reader::new(&env).check_section("docs/scripts.md", Some("Worked examples"));
}
