//! Measures requests per second, compared with a minimal server that returns the same bytes.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use prowess_bench::tree::Tree;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Any, ServerProcess};

const CONNECTIONS: usize = 16;

/// The duration of a round, and the number of rounds.
const TURN: Duration = Duration::from_secs(2);
const TURNS: usize = 7;

pub(super) async fn measure(prowess: &Path, quick: bool) -> Result<(), Any> {
    let tree = Tree::ensure(Path::new("target/bench-trees"), 1_000)?;
    let dir = tempfile::tempdir()?;
    let mut command = Command::new(prowess);
    command
        .args(["serve", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "off"])
        .arg("--root")
        .arg(tree.root())
        .arg("--home")
        .arg(tree.home());
    let ours = ServerProcess::start(command.arg("--store").arg(dir.path().join("chats.sqlite3")))?;
    for path in ["/healthz", "/api/chats", "/api/skills", "/api/overview"] {
        let (status, body) = Connection::open(ours.at).await?.get(path).await?;
        if status != 200 {
            println!("{path}: not measured, status {status}");
            continue;
        }
        let file = dir.path().join("bytes");
        std::fs::write(&file, &body)?;
        let floor = ServerProcess::start_self(&["floor", file.to_str().ok_or("the path is not UTF-8")?])?;
        let (mut bare, mut rates) = (Vec::new(), Vec::new());
        for _ in 0..if quick { 2 } else { TURNS } {
            bare.push(rate(floor.at, "/bytes", body.len()).await?);
            rates.push(rate(ours.at, path, body.len()).await?);
        }
        let (bare, rate) = (max(bare), max(rates));
        println!(
            "GET {path}, {} bytes: {rate:.0} requests/s, {:.2} × the minimal server with {bare:.0}",
            body.len(),
            rate / bare
        );
    }
    Ok(())
}

fn max(rates: Vec<f64>) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

/// Returns the requests per second over all connections.
async fn rate(address: SocketAddr, path: &'static str, expected: usize) -> Result<f64, Any> {
    let begin = Instant::now();
    let work = (0..CONNECTIONS).map(|_| {
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut count = 0_u32;
            while begin.elapsed() < TURN {
                let (status, body) = connection.get(path).await?;
                if (status, body.len()) != (200, expected) {
                    return Err(format!("{path} returned {status} with {} bytes", body.len()).into());
                }
                count += 1;
            }
            Ok::<_, Any>(count)
        })
    });
    let mut sum = 0.0;
    for task in work.collect::<Vec<_>>() {
        sum += f64::from(task.await??);
    }
    Ok(sum / begin.elapsed().as_secs_f64())
}

/// A minimal client, so that mainly the server is measured.
struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self, Any> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, bytes: Vec::new() })
    }

    /// Returns the status and the body.
    async fn get(&mut self, path: &str) -> Result<(u16, Vec<u8>), Any> {
        self.stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await?;
        let head = loop {
            if let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.more().await?;
        };
        let text = std::str::from_utf8(&self.bytes[..head])?.to_ascii_lowercase();
        let status = text.split(' ').nth(1).ok_or("no status")?.parse()?;
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let end = head + 4 + length.ok_or("no length")?.parse::<usize>()?;
        while self.bytes.len() < end {
            self.more().await?;
        }
        let body = self.bytes[head + 4..end].to_vec();
        self.bytes.drain(..end);
        Ok((status, body))
    }

    async fn more(&mut self) -> Result<(), Any> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err("the connection was closed".into()),
            _ => Ok(()),
        }
    }
}
