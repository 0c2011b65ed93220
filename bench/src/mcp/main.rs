//! What serving skills costs: calls beside a bare server of the SDK, many sessions at once, and long lists.
//!
//! `bench-mcp [PROWESS]`; both servers have to be built in release, as `bench/README.md` has it.

#![allow(clippy::print_stdout)]

mod client;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use client::{Any, Client, Http, Pipes};
use prowess_bench::tree::Tree;
use serde_json::{Value, json};

/// Calls in one turn, and turns.
const CALLS: usize = 200;
const TURNS: usize = 7;

/// Sessions at once, and the calls of each.
const SESSIONS: usize = 200;
const EACH: usize = 20;

fn main() -> Result<(), Any> {
    let here = std::env::current_exe()?;
    let beside = |name: &str| here.with_file_name(name);
    let prowess = std::env::args_os().nth(1).map_or_else(|| beside("prowess"), PathBuf::from);
    let trees = Path::new("target/bench-trees");
    let world = World { prowess, floor: beside("floor-mcp"), tree: Tree::ensure(trees, 100)?, trees };
    let ask = world.activation()?;
    world.calls("activation", &ask)?;
    world.calls("reading a file", &world.reading()?)?;
    world.sessions(&ask)?;
    world.lists()
}

struct World<'a> {
    prowess: PathBuf,
    floor: PathBuf,
    tree: Tree,
    trees: &'a Path,
}

impl World<'_> {
    fn command(&self, tree: &Tree) -> Command {
        let mut command = Command::new(&self.prowess);
        command.arg("mcp").arg("--root").arg(tree.root()).arg("--home").arg(tree.home());
        command
    }

    /// A call that loads a skill in full each time: arguments make another text of it.
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

    /// One call after the other, both servers in turns; the least of the turns' medians counts.
    fn calls(&self, what: &str, ask: &Value) -> Result<(), Any> {
        let mut ours = Pipes::start(&mut self.command(&self.tree))?;
        ours.begin()?;
        let constant = self.constant(&ours.ask("tools/call", ask.clone())?)?;
        let mut bare = Pipes::start(Command::new(&self.floor).arg(&constant))?;
        bare.begin()?;
        row(what, "stdio", &mut ours, &mut bare, ask)?;
        let (ours, bare) =
            (self.serve(&self.tree)?, Serving::start(Command::new(&self.floor).arg(&constant).arg("http"))?);
        let (mut ours, mut bare) = (Http::connect(&ours.url)?, Http::connect(&bare.url)?);
        ours.begin()?;
        bare.begin()?;
        row(what, "HTTP", &mut ours, &mut bare, ask)
    }

    fn serve(&self, tree: &Tree) -> Result<Serving, Any> {
        Serving::start(self.command(tree).args(["--http", "127.0.0.1:0"]))
    }

    /// What Prowess answered, for the bare server to say: the same bytes go over the wire.
    fn constant(&self, answer: &Value) -> Result<PathBuf, Any> {
        let path = self.trees.join("mcp-constant");
        let structured = answer["structuredContent"].to_string();
        let text = answer["content"][0]["text"].as_str().ok_or("no text")?;
        fs::write(&path, format!("{text}{structured}"))?;
        Ok(path)
    }

    fn sessions(&self, ask: &Value) -> Result<(), Any> {
        let constant = self.trees.join("mcp-constant");
        for (who, serving) in [
            ("prowess", self.serve(&self.tree)?),
            ("bare", Serving::start(Command::new(&self.floor).arg(&constant).arg("http"))?),
        ] {
            // What the first session alone costs is not a session's.
            Http::connect(&serving.url)?.begin()?;
            let before = serving.memory()?;
            let mut sessions = Vec::new();
            for _ in 0..SESSIONS {
                let mut session = Http::connect(&serving.url)?;
                session.begin()?;
                sessions.push(session);
            }
            let each = serving.memory()?.saturating_sub(before) / SESSIONS as u64;
            let start = Instant::now();
            let threads: Vec<_> = sessions.into_iter().map(|session| spawn(session, ask.clone())).collect();
            let mut times = Vec::new();
            for thread in threads {
                times.extend(thread.join().map_err(|_| "a session panicked")??);
            }
            let all = start.elapsed();
            times.sort_unstable();
            let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
            let rate = times.len() as f64 / all.as_secs_f64();
            println!(
                "{SESSIONS} sessions at once, {who:>7}: p50 {:.1?}, p99 {:.1?}, {rate:.0} calls a second, {each} KiB a session",
                at(50),
                at(99)
            );
        }
        Ok(())
    }

    fn lists(&self) -> Result<(), Any> {
        let tree = Tree::ensure(self.trees, 10_000)?;
        let mut client = Pipes::start(&mut self.command(&tree))?;
        client.begin()?;
        for what in ["first", "again"] {
            let (start, mut count, mut pages, mut cursor) = (Instant::now(), 0, 0, Value::Null);
            loop {
                let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
                let page = client.ask("skills/list", params)?;
                count += page["skills"].as_array().map_or(0, Vec::len);
                pages += 1;
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            println!("skills/list of {count} skills in {pages} pages, {what}: {:.0?}", start.elapsed());
        }
        Ok(())
    }
}

fn spawn(mut session: Http, ask: Value) -> std::thread::JoinHandle<Result<Vec<Duration>, Any>> {
    std::thread::spawn(move || {
        let mut times = Vec::new();
        for _ in 0..EACH {
            let start = Instant::now();
            session.ask("tools/call", ask.clone())?;
            times.push(start.elapsed());
        }
        Ok(times)
    })
}

fn row(what: &str, how: &str, ours: &mut dyn Client, bare: &mut dyn Client, ask: &Value) -> Result<(), Any> {
    let (mut our_best, mut bare_best) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        our_best = our_best.min(turn(ours, ask)?);
        bare_best = bare_best.min(turn(bare, ask)?);
    }
    let ratio = our_best.as_secs_f64() / bare_best.as_secs_f64();
    println!("{what}, {how}: {our_best:.1?} beside {bare_best:.1?}: {ratio:.2} ×");
    Ok(())
}

/// The median of some calls.
fn turn(client: &mut dyn Client, ask: &Value) -> Result<Duration, Any> {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        client.ask("tools/call", ask.clone())?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// A server over HTTP.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(command: &mut Command) -> Result<Self, Any> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let url = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Ok(Self { child, url })
    }

    /// In KiB.
    fn memory(&self) -> Result<u64, Any> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
