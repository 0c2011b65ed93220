//! Measures the language server in a workspace of 10,000 skills: an edit until its diagnostics, completion, hover and code lenses.
//!
//! `bench-lsp [--skills N] [--rounds N] [--record] [PROWESS]`; `--record` writes `bench/results-lsp.json` and the table in
//! `bench/README.md`.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use prowess_bench::origin::Origin;
use prowess_bench::report;
use prowess_bench::tree::Tree;
use serde_json::{Value, json};

type Any = Box<dyn Error + Send + Sync>;

/// The target for an edit in a workspace of 10,000 skills, in milliseconds.
const TARGET_MS: f64 = 20.0;

struct Options {
    skills: usize,
    rounds: usize,
    record: bool,
    prowess: PathBuf,
}

fn main() -> Result<(), Any> {
    let options = options()?;
    let tree = Tree::ensure(Path::new("target/bench-trees"), options.skills)?;
    let mut server = LanguageServer::start(&options.prowess, &tree)?;
    let scan = server.initialize(&tree)?;
    println!("scanning and indexing {} skills: {:.2} s", options.skills, scan.as_secs_f64());
    let mut document = Document::open(&mut server, &tree)?;
    let mut figures = Vec::new();
    let mut measure = |label: &'static str, times: Vec<Duration>| {
        let figure = Figure::new(label, times);
        println!("{label}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", figure.p50, figure.p99, figure.max);
        figures.push(figure);
    };
    measure("an edit until its diagnostics", repeat(options.rounds, || document.edit(&mut server))?);
    measure("completion of a key", repeat(options.rounds, || document.complete(&mut server))?);
    measure("completion of a skill's name", repeat(options.rounds, || document.complete_name(&mut server))?);
    measure("hover", repeat(options.rounds, || document.hover(&mut server))?);
    measure("code lenses", repeat(options.rounds, || document.lenses(&mut server))?);
    measure("code lenses after an edit", repeat(options.rounds, || document.lenses_after_edit(&mut server))?);
    let memory = server.memory_kib()?;
    println!("memory of the server: {} MiB", memory / 1024);
    if options.record {
        record(&options, scan, memory, &figures)?;
    }
    server.shut_down()
}

fn options() -> Result<Options, Any> {
    let prowess = std::env::current_exe()?.with_file_name("prowess");
    let mut options = Options { skills: 10_000, rounds: 500, record: false, prowess };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--skills" => options.skills = args.next().ok_or("--skills needs a number")?.parse()?,
            "--rounds" => options.rounds = args.next().ok_or("--rounds needs a number")?.parse()?,
            "--record" => options.record = true,
            path => options.prowess = path.into(),
        }
    }
    Ok(options)
}

fn repeat(rounds: usize, mut work: impl FnMut() -> Result<Duration, Any>) -> Result<Vec<Duration>, Any> {
    (0..rounds).map(|_| work()).collect()
}

/// The times of one kind of request, in milliseconds.
struct Figure {
    label: &'static str,
    p50: f64,
    p99: f64,
    max: f64,
}

impl Figure {
    fn new(label: &'static str, mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let index = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
        };
        Self { label, p50: at(50), p99: at(99), max: at(100) }
    }
}

fn record(options: &Options, scan: Duration, memory: u64, figures: &[Figure]) -> Result<(), Any> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let origin = Origin::of(bench).ok_or("git cannot tell the commit")?;
    let Origin { commit, date, uncommitted } = &origin;
    let rows: Vec<Value> = figures
        .iter()
        .map(|figure| json!({"name": figure.label, "p50_ms": figure.p50, "p99_ms": figure.p99, "max_ms": figure.max}))
        .collect();
    let json = json!({
        "measured": {"commit": commit, "date": date, "uncommitted": uncommitted}, "skills": options.skills, "rounds": options.rounds,
        "scan_seconds": scan.as_secs_f64(), "memory_kib": memory, "target_ms": TARGET_MS, "figures": rows
    });
    fs::write(bench.join("results-lsp.json"), format!("{json}\n"))?;
    let mut text = format!(
        "Commit {} ({date}), {} requests of each kind:\n\n| what | p50 | p99 | max |\n|---|---|---|---|\n",
        commit.get(..8).unwrap_or(commit),
        options.rounds
    );
    for Figure { label, p50, p99, max } in figures {
        text += &format!("| {label} | {p50:.2} ms | {p99:.2} ms | {max:.2} ms |\n");
    }
    text += &format!(
        "\nScanning and indexing {} skills in the background took {:.1} s; the server then used {} MiB.\n",
        options.skills,
        scan.as_secs_f64(),
        memory / 1024
    );
    report::rewrite(&bench.join("README.md"), "lsp", &text)?;
    Ok(())
}

/// An open document.
struct Document {
    uri: String,
    version: i32,
    last_line: usize,
}

impl Document {
    fn open(server: &mut LanguageServer, tree: &Tree) -> Result<Self, Any> {
        let skills = tree.skills()?;
        let path = skills.get(skills.len() / 2).ok_or("no skill")?.join("SKILL.md");
        let mut text = fs::read_to_string(&path)?;
        text.push_str("\nThen use /\n");
        let document = Self { uri: uri(&path)?, version: 1, last_line: text.lines().count() - 1 };
        let item = json!({"uri": document.uri, "languageId": "markdown", "version": 1, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": item}))?;
        server.wait_diagnostics(&document.uri, 1)?;
        Ok(document)
    }

    /// Types and deletes a letter of the description alternately.
    fn edit(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        let (end, text) = if self.version % 2 == 1 { (14, "x") } else { (15, "") };
        self.version += 1;
        let range = json!({"start": {"line": 2, "character": 14}, "end": {"line": 2, "character": end}});
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!([{"range": range, "text": text}]);
        let start = Instant::now();
        server
            .notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}))?;
        server.wait_diagnostics(&self.uri, self.version)?;
        Ok(start.elapsed())
    }

    fn at(&self, line: usize, character: usize) -> Value {
        json!({"textDocument": {"uri": self.uri}, "position": {"line": line, "character": character}})
    }

    fn complete(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        server.time("textDocument/completion", self.at(1, 0))
    }

    fn complete_name(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        server.time("textDocument/completion", self.at(self.last_line, 10))
    }

    fn hover(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        server.time("textDocument/hover", self.at(1, 1))
    }

    fn lenses(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        server.time("textDocument/codeLens", json!({"textDocument": {"uri": self.uri}}))
    }

    fn lenses_after_edit(&mut self, server: &mut LanguageServer) -> Result<Duration, Any> {
        self.edit(server)?;
        self.lenses(server)
    }
}

fn uri(path: &Path) -> Result<String, Any> {
    Ok(format!("file://{}", path.canonicalize()?.display()))
}

/// A language server over pipes.
struct LanguageServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: i32,
}

impl LanguageServer {
    fn start(prowess: &Path, tree: &Tree) -> Result<Self, Any> {
        let mut command = Command::new(prowess);
        command.arg("lsp").arg("--home").arg(tree.home());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output, next_id: 0 })
    }

    /// Initializes the session and returns the time until the workspace was indexed.
    fn initialize(&mut self, tree: &Tree) -> Result<Duration, Any> {
        let folder = json!({"uri": uri(&tree.root())?, "name": "bench"});
        let capabilities = json!({"general": {"positionEncodings": ["utf-16"]}, "workspace": {"codeLens": {"refreshSupport": true}}});
        self.time("initialize", json!({"capabilities": capabilities, "workspaceFolders": [folder]}))?;
        let start = Instant::now();
        self.notify("initialized", json!({}))?;
        self.wait(|message| message["method"] == "workspace/codeLens/refresh")?;
        Ok(start.elapsed())
    }

    fn send(&mut self, message: &Value) -> Result<(), Any> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.input.flush()?)
    }

    fn notify(&mut self, method: &str, params: Value) -> Result<(), Any> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends a request and returns the time until its response.
    fn time(&mut self, method: &str, params: Value) -> Result<Duration, Any> {
        self.next_id += 1;
        let id = self.next_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let start = Instant::now();
        self.send(&message)?;
        let response = self.wait(|message| message["id"] == id)?;
        let elapsed = start.elapsed();
        match response["result"].is_null() && method != "shutdown" {
            true => Err(format!("{method}: {response}").into()),
            false => Ok(elapsed),
        }
    }

    fn wait_diagnostics(&mut self, uri: &str, version: i32) -> Result<(), Any> {
        self.wait(|message| message["params"]["uri"] == uri && message["params"]["version"] == version)
            .map(drop)
    }

    fn wait(&mut self, matches: impl Fn(&Value) -> bool) -> Result<Value, Any> {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if self.output.read_line(&mut line)? == 0 {
                    return Err("the server has ended".into());
                }
                match line.trim_end().split_once(": ") {
                    Some(("Content-Length", value)) => length = value.parse()?,
                    Some(_) => {}
                    None => break,
                }
            }
            let mut content = vec![0; length];
            self.output.read_exact(&mut content)?;
            let message = serde_json::from_slice(&content)?;
            if matches(&message) {
                return Ok(message);
            }
        }
    }

    /// Returns the resident memory.
    fn memory_kib(&self) -> Result<u64, Any> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    fn shut_down(mut self) -> Result<(), Any> {
        self.time("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        match self.child.wait()?.success() {
            true => Ok(()),
            false => Err("the server ended with an error".into()),
        }
    }
}
