//! Measures the processor time of a turn with many skills, compared with five.

use std::path::Path;
use std::process::Command;

use prowess_bench::tree::Tree;
use serde_json::{Value, json};

use super::{Any, ServerProcess};

/// The numbers of skills.
const MANY: usize = 1_000;
const FEW: usize = 5;

/// The turns per round, and the number of rounds.
const TURNS: usize = 50;
const ROUNDS: usize = 5;

pub(super) async fn measure(prowess: &Path, quick: bool) -> Result<(), Any> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let (few, many) = (Server::start(prowess, FEW)?, Server::start(prowess, MANY)?);
    let (mut least_few, mut least_many) = (f64::MAX, f64::MAX);
    for _ in 0..if quick { 1 } else { ROUNDS } {
        least_few = least_few.min(few.cost(&client).await?);
        least_many = least_many.min(many.cost(&client).await?);
    }
    println!(
        "one turn: {least_many:.2} ms of processor time with {MANY} skills, {:.2} × the {least_few:.2} ms with {FEW}",
        least_many / least_few
    );
    Ok(())
}

/// A server with the rehearsal as its model, which replies at once.
struct Server {
    running: ServerProcess,
    /// The directory of its chats.
    _dir: tempfile::TempDir,
}

impl Server {
    fn start(prowess: &Path, size: usize) -> Result<Self, Any> {
        // The server runs in another directory, so the path must be absolute.
        let tree = Tree::ensure(&std::path::absolute("target/bench-trees")?, size)?;
        let dir = tempfile::tempdir()?;
        let config = dir.path().join("config.toml");
        std::fs::write(&config, "[chat]\nprovider = \"rehearsal\"\n")?;
        let mut command = Command::new(prowess);
        command.args(["serve", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "off"]);
        command.arg("--root").arg(tree.root()).arg("--home").arg(tree.home());
        command.arg("--config").arg(&config).arg("--store").arg(dir.path().join("chats.sqlite3"));
        Ok(Self { running: ServerProcess::start(command.current_dir(dir.path()))?, _dir: dir })
    }

    /// Returns the processor time of a turn in a new chat, in milliseconds.
    async fn cost(&self, client: &reqwest::Client) -> Result<f64, Any> {
        let base = format!("http://{}/api/chats", self.running.at);
        let mut ids = Vec::new();
        for _ in 0..TURNS {
            let chat: Value = client.post(&base).json(&json!({})).send().await?.json().await?;
            ids.push(chat["id"].as_str().ok_or("no id")?.to_owned());
        }
        let start_ms = self.running.processor_ms()?;
        for id in ids {
            let request = client.post(format!("{base}/{id}/messages")).json(&json!({"text": "hello there"}));
            let reply = request.send().await?.error_for_status()?.text().await?;
            if reply.is_empty() {
                return Err("a turn without a reply".into());
            }
        }
        Ok((self.running.processor_ms()? - start_ms) / TURNS as f64)
    }
}
