//! Measures concurrent chats: the added delay of each word, the memory per chat, and whether all words arrive.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::model::{WORDS, now};
use super::{Any, ServerProcess};

/// The number of concurrent chats.
const CHATS: usize = 500;

/// The timeout of all replies.
const TIMEOUT: Duration = Duration::from_secs(300);

pub(super) async fn measure(prowess: &Path, quick: bool) -> Result<(), Any> {
    let chats = if quick { 50 } else { CHATS };
    let model = ServerProcess::start_self(&["model"])?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    // The same words with the same client, read directly from the model.
    let direct = format!("http://{}/v1/chat/completions", model.at);
    let delays = run_all(chats, |_| {
        let request = client.post(&direct).json(&json!({"model": "m", "messages": [], "stream": true}));
        async move { read_reply(request).await }
    });
    let direct = Delays::of(timeout(TIMEOUT, delays).await??);
    println!("{chats} concurrent replies, read from the model: {direct}");

    let dir = tempfile::tempdir()?;
    let config = dir.path().join("config.toml");
    let text =
        format!("[chat]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase-url = \"http://{}/v1\"\n", model.at);
    std::fs::write(&config, text)?;
    let mut command = Command::new(prowess);
    command
        .args(["serve", "--addr", "127.0.0.1:0", "--rate", "0", "--log", "off"])
        .arg("--config")
        .arg(&config)
        .arg("--home")
        .arg(dir.path());
    let ours = ServerProcess::start(command.current_dir(dir.path()))?;
    let base = format!("http://{}/api/chats", ours.at);
    let mut ids = Vec::new();
    for _ in 0..=chats {
        let chat: Value = client.post(&base).json(&json!({})).send().await?.json().await?;
        ids.push(chat["id"].as_str().ok_or("no id")?.to_owned());
    }
    let send = |index: usize| {
        let request = client.post(format!("{base}/{}/messages", ids[index])).json(&json!({"text": "go on"}));
        async move { read_reply(request).await }
    };
    // Run one chat first, so that one-time costs are not counted.
    send(chats).await?;
    let before = ours.memory()?;
    let replies = timeout(TIMEOUT, run_all(chats, send));
    tokio::pin!(replies);
    let mut highest = before;
    let delays = loop {
        tokio::select! {
            delays = &mut replies => break delays??,
            () = sleep(Duration::from_millis(200)) => highest = highest.max(ours.memory()?),
        }
    };
    let through = Delays::of(delays);
    println!("{chats} concurrent chats: {through}");
    println!(
        "  added: {:.2} ms at the median, {:.2} ms at 99 %; {} of {} words arrived in order; {:.0} KiB of memory per chat",
        through.median - direct.median,
        through.high - direct.high,
        through.count,
        chats * WORDS,
        highest.saturating_sub(before) as f64 / chats as f64,
    );
    Ok(())
}

/// Runs this many tasks concurrently. Returns the delays of all words.
async fn run_all<F>(count: usize, work: impl Fn(usize) -> F) -> Result<Vec<f64>, Any>
where
    F: Future<Output = Result<Vec<f64>, Any>> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|index| tokio::spawn(work(index))).collect();
    let mut delays = Vec::new();
    for task in tasks {
        delays.extend(task.await??);
    }
    Ok(delays)
}

/// Reads a reply. Returns the delay of each word in milliseconds.
async fn read_reply(request: reqwest::RequestBuilder) -> Result<Vec<f64>, Any> {
    let mut response = request.send().await?.error_for_status()?;
    let (mut bytes, mut delays) = (Vec::new(), Vec::new());
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        while let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") {
            let event = String::from_utf8(bytes.drain(..end + 2).collect())?;
            let Some((_, word)) = event.split_once("\"T") else { continue };
            let word = word.split(' ').next().unwrap_or_default();
            let (sent, number) = word.split_once('.').ok_or("no time")?;
            if number.parse() != Ok(delays.len()) {
                return Err(format!("word {number} arrived instead of word {}", delays.len()).into());
            }
            delays.push(now().saturating_sub(sent.parse()?) as f64 / 1_000.0);
        }
    }
    match delays.len() {
        WORDS => Ok(delays),
        count => Err(format!("{count} of {WORDS} words arrived").into()),
    }
}

/// The delays of words, in milliseconds.
struct Delays {
    count: usize,
    median: f64,
    high: f64,
    worst: f64,
}

impl Delays {
    fn of(mut delays: Vec<f64>) -> Self {
        delays.sort_by(f64::total_cmp);
        let percentile = |part: usize| delays.get(delays.len() * part / 100).copied().unwrap_or_default();
        Self {
            count: delays.len(),
            median: percentile(50),
            high: percentile(99),
            worst: delays.last().copied().unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for Delays {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, median, high, worst } = self;
        write!(
            f,
            "{count} words, delay {median:.2} ms at the median, {high:.2} ms at 99 %, at most {worst:.2} ms"
        )
    }
}
