//! Measures the HTTP server: requests compared with a minimal server, a turn with many skills compared with few, and concurrent
//! chats compared with reading from the model directly.
//!
//! `bench-serve [--quick] [PROWESS]`; build the program as described in `bench/README.md`. The minimal server and the model are this
//! program, started with `floor` and `model`.

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
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("floor") => {
            return floor::serve(Path::new(args.get(1).ok_or("usage: bench-serve floor FILE")?)).await;
        }
        Some("model") => return model::serve().await,
        _ => {}
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let quick = args.iter().any(|arg| arg == "--quick");
    args.retain(|arg| arg != "--quick");
    let prowess = match args.first() {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_exe()?.with_file_name("prowess"),
    };
    load::measure(&prowess, quick).await?;
    turns::measure(&prowess, quick).await?;
    chats::measure(&prowess, quick).await
}

/// A server process, killed on drop.
struct ServerProcess {
    child: Child,
    at: SocketAddr,
}

impl ServerProcess {
    /// Starts a server that prints its URL on the first line.
    fn start(command: &mut Command) -> Result<Self, Any> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).map(str::parse);
        match address {
            Some(Ok(at)) => Ok(Self { child, at }),
            _ => {
                let _ = child.kill();
                Err(format!("{command:?} printed no URL: {line:?}").into())
            }
        }
    }

    /// Starts this program with other arguments.
    fn start_self(args: &[&str]) -> Result<Self, Any> {
        Self::start(Command::new(std::env::current_exe()?).args(args))
    }

    /// Returns the processor time in milliseconds.
    fn processor_ms(&self) -> Result<f64, Any> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program may contain anything and ends at the last parenthesis. User and system time are the 14th and
        // 15th fields.
        let (_, fields) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
        Ok(ticks as f64 * 1_000.0 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// Returns the memory in KiB.
    fn memory(&self) -> Result<u64, Any> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
