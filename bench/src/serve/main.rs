//! What serving over HTTP costs: a list beside a bare server that answers with the same bytes, a turn with many skills beside
//! one with few, and many chats at once beside reading their model directly.
//!
//! `bench-serve [--quick] [PROWESS]`; the program has to be built in release, as `bench/README.md` has it. The bare server and the
//! model are this program again, started with `floor` and `model`.

#![allow(clippy::print_stdout)]

mod chats;
mod floor;
mod load;
mod model;
mod turns;

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

type Any = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Any> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("floor") => return floor::serve(Path::new(words.get(1).ok_or("which bytes?")?)).await,
        Some("model") => return model::serve().await,
        _ => {}
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let quick = words.iter().any(|word| word == "--quick");
    words.retain(|word| word != "--quick");
    let prowess = match words.first() {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_exe()?.with_file_name("prowess"),
    };
    load::measure(&prowess, quick).await?;
    turns::measure(&prowess, quick).await?;
    chats::measure(&prowess, quick).await
}

/// A server that runs until it is dropped.
struct Running {
    child: Child,
    at: SocketAddr,
}

impl Running {
    /// Starts a program that says on its first line where it serves.
    fn start(command: &mut Command) -> Result<Self, Any> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let found = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).map(str::parse);
        match found {
            Some(Ok(at)) => Ok(Self { child, at }),
            _ => {
                let _ = child.kill();
                Err(format!("{command:?} does not say where it serves: {line:?}").into())
            }
        }
    }

    /// This program, as something else.
    fn ourselves(words: &[&str]) -> Result<Self, Any> {
        Self::start(Command::new(std::env::current_exe()?).args(words))
    }

    /// How long it has been on the processors, in milliseconds.
    fn processor_ms(&self) -> Result<f64, Any> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program, which may hold anything, ends with the last parenthesis; user and system time are the
        // 14th and 15th field of the line.
        let (_, fields) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
        Ok(ticks as f64 * 1_000.0 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// How much memory it has, in KiB.
    fn memory(&self) -> Result<u64, Any> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
