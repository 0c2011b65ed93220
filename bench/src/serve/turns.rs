//! What one turn costs on the processors with many skills, beside the same turn with five.

use std::path::Path;
use std::process::Command;

use prowess_bench::tree::Tree;
use serde_json::{Value, json};

use super::{Any, Running};

/// How many skills there are, and how many beside them.
const MANY: usize = 1_000;
const FEW: usize = 5;

/// Turns in one measurement, and measurements.
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
        "one turn: {least_many:.2} ms of processor time with {MANY} skills, {:.2} x the {least_few:.2} ms with {FEW}",
        least_many / least_few
    );
    Ok(())
}

/// A server whose model is the rehearsal, which answers at once.
struct Server {
    running: Running,
    /// Where its chats are kept; removed with it.
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(prowess: &Path, size: usize) -> Result<Self, Any> {
        // The server runs in a folder of its own.
        let tree = Tree::ensure(&std::path::absolute("target/bench-trees")?, size)?;
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("config.toml");
        std::fs::write(&config, "[chat]\nprovider = \"rehearsal\"\n")?;
        let mut command = Command::new(prowess);
        command.args(["serve", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "off"]);
        command.arg("--root").arg(tree.root()).arg("--home").arg(tree.home());
        command.arg("--config").arg(&config).arg("--store").arg(folder.path().join("chats.sqlite3"));
        Ok(Self { running: Running::start(command.current_dir(folder.path()))?, _folder: folder })
    }

    /// The processor time of one turn in a chat that was just made, in milliseconds.
    async fn cost(&self, client: &reqwest::Client) -> Result<f64, Any> {
        let base = format!("http://{}/api/chats", self.running.at);
        let mut ids = Vec::new();
        for _ in 0..TURNS {
            let made: Value = client.post(&base).json(&json!({})).send().await?.json().await?;
            ids.push(made["id"].as_str().ok_or("no id")?.to_owned());
        }
        let before = self.running.processor_ms()?;
        for id in ids {
            let request = client.post(format!("{base}/{id}/messages")).json(&json!({"text": "hello there"}));
            let answer = request.send().await?.error_for_status()?.text().await?;
            if answer.is_empty() {
                return Err("a turn without an answer".into());
            }
        }
        Ok((self.running.processor_ms()? - before) / TURNS as f64)
    }
}
