//! Measures the MCP server: calls compared with a minimal server of the SDK, concurrent sessions, and long lists.
//!
//! `bench-mcp [PROWESS]`; build both servers as described in `bench/README.md`.

#![allow(clippy::print_stdout)]

mod client;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use client::{Any, Client, HttpClient, StdioClient};
use prowess_bench::tree::Tree;
use serde_json::{Value, json};

/// The calls per round, and the number of rounds.
const CALLS: usize = 200;
const ROUNDS: usize = 7;

/// The number of concurrent sessions, and the calls of each.
const SESSIONS: usize = 200;
const CALLS_PER_SESSION: usize = 20;

fn main() -> Result<(), Any> {
    let own_path = std::env::current_exe()?;
    let sibling = |name: &str| own_path.with_file_name(name);
    let prowess = std::env::args_os().nth(1).map_or_else(|| sibling("prowess"), PathBuf::from);
    let trees = Path::new("target/bench-trees");
    let bench = McpBench { prowess, floor: sibling("floor-mcp"), tree: Tree::ensure(trees, 100)?, trees };
    let request = bench.activation()?;
    bench.calls("activation", &request)?;
    bench.calls("reading a file", &bench.reading()?)?;
    bench.sessions(&request)?;
    bench.lists()
}

struct McpBench<'a> {
    prowess: PathBuf,
    floor: PathBuf,
    tree: Tree,
    trees: &'a Path,
}

impl McpBench<'_> {
    fn command(&self, tree: &Tree) -> Command {
        let mut command = Command::new(&self.prowess);
        command.arg("mcp").arg("--root").arg(tree.root()).arg("--home").arg(tree.home());
        command
    }

    /// Returns a call that loads a skill completely each time, because it has arguments.
    fn activation(&self) -> Result<Value, Any> {
        Ok(json!({"name": "skills_activate", "arguments": {"name": self.name()?, "args": "x"}}))
    }

    fn reading(&self) -> Result<Value, Any> {
        let skill = self.tree.skills()?.first().cloned().ok_or("no skill")?;
        let file = fs::read_dir(skill.join("references"))?.next().ok_or("no file")??;
        let path = format!("references/{}", file.file_name().to_string_lossy());
        Ok(json!({"name": "skills_readResource", "arguments": {"name": self.name()?, "path": path}}))
    }

    fn name(&self) -> Result<String, Any> {
        let skill = self.tree.skills()?.first().cloned().ok_or("no skill")?;
        Ok(skill.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Measures sequential calls of both servers alternately, and prints the minimum of the medians.
    fn calls(&self, label: &str, request: &Value) -> Result<(), Any> {
        let mut ours = StdioClient::start(&mut self.command(&self.tree))?;
        ours.initialize()?;
        let constant = self.constant(&ours.request("tools/call", request.clone())?)?;
        let mut minimal = StdioClient::start(Command::new(&self.floor).arg(&constant))?;
        minimal.initialize()?;
        compare(label, "stdio", &mut ours, &mut minimal, request)?;
        let (ours, minimal) = (
            self.serve(&self.tree)?,
            HttpServer::start(Command::new(&self.floor).arg(&constant).arg("http"))?,
        );
        let (mut ours, mut minimal) = (HttpClient::connect(&ours.url)?, HttpClient::connect(&minimal.url)?);
        ours.initialize()?;
        minimal.initialize()?;
        compare(label, "HTTP", &mut ours, &mut minimal, request)
    }

    fn serve(&self, tree: &Tree) -> Result<HttpServer, Any> {
        HttpServer::start(self.command(tree).args(["--http", "127.0.0.1:0"]))
    }

    /// Writes the response of Prowess to a file for the minimal server, so that both send the same bytes.
    fn constant(&self, answer: &Value) -> Result<PathBuf, Any> {
        let path = self.trees.join("mcp-constant");
        let structured = answer["structuredContent"].to_string();
        let text = answer["content"][0]["text"].as_str().ok_or("no text")?;
        fs::write(&path, format!("{text}{structured}"))?;
        Ok(path)
    }

    fn sessions(&self, request: &Value) -> Result<(), Any> {
        let constant = self.trees.join("mcp-constant");
        for (name, server) in [
            ("prowess", self.serve(&self.tree)?),
            ("bare", HttpServer::start(Command::new(&self.floor).arg(&constant).arg("http"))?),
        ] {
            // Exclude the cost of the first session.
            HttpClient::connect(&server.url)?.initialize()?;
            let before = server.memory()?;
            let mut sessions = Vec::new();
            for _ in 0..SESSIONS {
                let mut session = HttpClient::connect(&server.url)?;
                session.initialize()?;
                sessions.push(session);
            }
            let memory_per_session = server.memory()?.saturating_sub(before) / SESSIONS as u64;
            let start = Instant::now();
            let threads: Vec<_> =
                sessions.into_iter().map(|session| spawn(session, request.clone())).collect();
            let mut times = Vec::new();
            for thread in threads {
                times.extend(thread.join().map_err(|_| "a session panicked")??);
            }
            let duration = start.elapsed();
            times.sort_unstable();
            let percentile = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
            let rate = times.len() as f64 / duration.as_secs_f64();
            println!(
                "{SESSIONS} concurrent sessions, {name:>7}: p50 {:.1?}, p99 {:.1?}, {rate:.0} calls per second, {memory_per_session} KiB per session",
                percentile(50),
                percentile(99)
            );
        }
        Ok(())
    }

    fn lists(&self) -> Result<(), Any> {
        let tree = Tree::ensure(self.trees, 10_000)?;
        let mut client = StdioClient::start(&mut self.command(&tree))?;
        client.initialize()?;
        for attempt in ["first", "again"] {
            let (start, mut count, mut pages, mut cursor) = (Instant::now(), 0, 0, Value::Null);
            loop {
                let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
                let page = client.request("skills/list", params)?;
                count += page["skills"].as_array().map_or(0, Vec::len);
                pages += 1;
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            println!("skills/list of {count} skills in {pages} pages, {attempt}: {:.0?}", start.elapsed());
        }
        Ok(())
    }
}

fn spawn(mut session: HttpClient, request: Value) -> std::thread::JoinHandle<Result<Vec<Duration>, Any>> {
    std::thread::spawn(move || {
        let mut times = Vec::new();
        for _ in 0..CALLS_PER_SESSION {
            let start = Instant::now();
            session.request("tools/call", request.clone())?;
            times.push(start.elapsed());
        }
        Ok(times)
    })
}

fn compare(
    label: &str,
    transport: &str,
    ours: &mut dyn Client,
    minimal: &mut dyn Client,
    request: &Value,
) -> Result<(), Any> {
    let (mut our_best, mut bare_best) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        our_best = our_best.min(median_time(ours, request)?);
        bare_best = bare_best.min(median_time(minimal, request)?);
    }
    let ratio = our_best.as_secs_f64() / bare_best.as_secs_f64();
    println!("{label}, {transport}: {our_best:.1?}, minimal server {bare_best:.1?}: {ratio:.2} ×");
    Ok(())
}

/// Returns the median time of a call.
fn median_time(client: &mut dyn Client, request: &Value) -> Result<Duration, Any> {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        client.request("tools/call", request.clone())?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// A running HTTP server.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(command: &mut Command) -> Result<Self, Any> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let url = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Ok(Self { child, url })
    }

    /// Returns the memory of the server in KiB.
    fn memory(&self) -> Result<u64, Any> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
