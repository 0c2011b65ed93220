//! The documentation is true: the console blocks of the README and of `docs/packages.md` are typed and compared, the
//! configurations of all pages load, and every command and flag that they name exists. `docs/chats.md` and `docs/mcp.md` are
//! typed by the tests of chats and of MCP clients.
//!
//! `UPDATE_DOCS=1 cargo nextest run -p prowess-cli --all-features --test documented -j 1` writes what is printed into the
//! console blocks; read the difference before you commit it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::net::{Net, README_URL};
use crate::world::World;
use prowess_testing::servers::ssh;

/// The site of the examples.
const SITE: &str = "https://skills.example.com";

fn path(document: &str) -> PathBuf {
    PathBuf::from(format!("{}/../../{document}", env!("CARGO_MANIFEST_DIR")))
}

fn text(document: &str) -> String {
    fs::read_to_string(path(document)).unwrap()
}

/// The README and all pages of `docs`.
fn documents() -> Vec<String> {
    let pages =
        fs::read_dir(path("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = pages.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let mut documents: Vec<_> = pages.chain(["README.md".to_owned()]).collect();
    documents.sort();
    documents
}

/// The fenced blocks of a document, each with the word behind its fence.
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

/// A person who types what a document says.
struct Reader<'a> {
    world: &'a World,
    /// What a document says, and what it is here.
    names: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, names: Vec::new() }
    }

    fn of(net: &'a Net, url: &str) -> Self {
        let site = net.server.url("").trim_end_matches('/').to_owned();
        Self {
            world: &net.world,
            names: vec![(README_URL.to_owned(), url.to_owned()), (SITE.to_owned(), site)],
        }
    }

    /// Types everything in the console blocks of a section, and compares what is printed, or writes it into the document.
    fn types(&self, document: &str, section: Option<&str>) {
        let whole = text(document);
        let inside = match section {
            Some(heading) => {
                let begun = whole.split(&format!("\n## {heading}\n")).nth(1).unwrap();
                begun.split("\n## ").next().unwrap()
            }
            None => &whole,
        };
        let mut written = whole.clone();
        let mut typed = 0;
        for (_, block) in blocks(inside).into_iter().filter(|(info, _)| *info == "console") {
            let mut shown = String::new();
            for part in block.split("$ ").filter(|part| !part.is_empty()) {
                let (command, expected) = part.split_once('\n').unwrap();
                let seen = self.prints(command);
                if std::env::var_os("UPDATE_DOCS").is_none() {
                    assert_eq!(without_dates(&seen), without_dates(expected), "{document}: $ {command}");
                }
                typed += 1;
                shown += &format!("$ {command}\n{seen}");
            }
            written = written.replacen(block, &shown, 1);
        }
        assert!(typed > 3, "{document} has console blocks");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(path(document), written).unwrap();
        }
    }

    /// What a command prints, first on standard output, then on standard error.
    fn prints(&self, command: &str) -> String {
        let typed = self.names.iter().fold(command.to_owned(), |typed, (said, is)| typed.replace(said, is));
        let program = self.world.command(&[]);
        let mut shell = Command::new("/bin/sh");
        let commands = program.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        shell.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PROGRAM", program.get_program()).env("COMMANDS", commands.unwrap());
        shell.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(self.world.path(""));
        shell.arg("-c").arg(format!("prowess() {{ PATH=$COMMANDS \"$PROGRAM\" \"$@\"; }}\n{typed}"));
        let output = shell.output().unwrap();
        let seen = [output.stdout, output.stderr].concat();
        let seen = self.world.filtered(&String::from_utf8(seen).unwrap());
        let seen =
            self.names.iter().fold(seen, |seen, (said, is)| seen.replace(&self.world.filtered(is), said));
        seen.replace("[PROJECT]", "/home/you/project").replace("[HOME]", "~")
    }
}

/// Without what differs from run to run: dates, identifiers, and the version of the audit's rules.
fn without_dates(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split(" (rules of ").next().unwrap_or_default();
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

#[test]
fn the_tour_of_the_readme() {
    let world = World::new();
    Reader::new(&world).types("README.md", Some("A tour"));
}

#[test]
fn the_readme_over_https() {
    let net = Net::new();
    Reader::of(&net, &net.git()).types("README.md", Some("Install skills"));
    net.assert_empty();
}

#[test]
fn the_readme_over_ssh() {
    let mut net = Net::new();
    let server = ssh::Server::start(ssh::Versions::Any);
    net.world = net.world.variable("GIT_SSH_COMMAND", &server.command());
    let url = server.url(&net.served.join("team/skills.git"));
    Reader::of(&net, &url).types("README.md", Some("Install skills"));
    net.assert_empty();
}

#[test]
fn the_manual_of_packages() {
    let net = Net::new();
    assert_eq!(net.world.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
    Reader::of(&net, &net.git()).types("docs/packages.md", None);
}

#[test]
fn configurations_load() {
    let world = World::new();
    let mut loaded = 0;
    for document in documents() {
        let text = text(&document);
        let is_configuration = |info: &str, block: &str| {
            // The other blocks of YAML are frontmatter, and suppressions are a file of their own.
            (info == "toml" && !block.contains("[[suppress]]"))
                || (info == "yaml" && block.starts_with("preset:"))
        };
        for (info, block) in blocks(&text).into_iter().filter(|(info, block)| is_configuration(info, block)) {
            let file = format!("example.{info}");
            world.file(&file, block);
            let told = world.run(&["config", "--config", &file]);
            assert_eq!((told.code, told.err.as_str()), (0, ""), "{document}:\n{block}");
            loaded += 1;
        }
    }
    assert!(loaded > 5, "{loaded}");
}

/// The calls of `prowess` in code spans, and in blocks for a shell.
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
fn every_command_and_flag_exists() {
    let world = World::new();
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut help = |command: &[String]| {
        let known = helps.entry(command.to_vec()).or_insert_with(|| {
            let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
            world.run(&args).out
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
            // What follows `--` is for a script.
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
