//! Measures the chat store: messages per second compared with a file that is synced after each one, words of concurrent replies,
//! and opening a long chat.
//!
//! `bench-store [--quick] [ADDRESS…]`; the default is a temporary SQLite file. For PostgreSQL, pass an empty database.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess_chat::store::transfer::import;
use prowess_chat::store::{NewChat, Store, StoreAddress, TurnWriter, open};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{Message, MessageState, Part, Role, TurnEvent};
use serde_json::json;

type Any = Box<dyn Error + Send + Sync>;

/// The text of messages.
const TEXT: &str = "A message of a length that people write, with a question in it at the end, doesn't it? ";

/// The number of concurrent replies, and the words of each.
const REPLIES: usize = 50;
const WORDS: usize = 200;

/// The number of messages of a long chat.
const LONG: usize = 10_000;

#[tokio::main]
async fn main() -> Result<(), Any> {
    let mut addresses: Vec<String> = std::env::args().skip(1).collect();
    let quick = addresses.iter().any(|argument| argument == "--quick");
    addresses.retain(|argument| argument != "--quick");
    let dir = tempfile::tempdir_in(".")?;
    if addresses.is_empty() {
        addresses.push(dir.path().join("chats.sqlite3").to_string_lossy().into_owned());
    }
    let count = if quick { 100 } else { 2_000 };
    let floor = per_second(count, floor(dir.path(), count)?);
    println!("floor: {floor:.0} messages/s appended to a file and synced");
    for address in addresses {
        let store = open(&StoreAddress::parse(&address)?).await?;
        println!("{}", store.location());
        for tasks in [1, 8] {
            let rate = per_second(count, add_messages(&store, tasks, count).await?);
            println!("  {rate:.0} messages/s from {tasks} concurrent tasks, {:.2} × the floor", rate / floor);
        }
        let rate = per_second(REPLIES * WORDS, write_replies(&store).await?);
        println!("  {rate:.0} words/s in {REPLIES} concurrent replies");
        measure_long_chat(&store).await?;
    }
    Ok(())
}

fn per_second(count: usize, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

/// Writes the bytes to a file and syncs it after each message.
fn floor(dir: &Path, count: usize) -> Result<Duration, Any> {
    let mut file = File::create(dir.join("floor"))?;
    let start = Instant::now();
    for _ in 0..count {
        file.write_all(TEXT.as_bytes())?;
        file.sync_data()?;
    }
    Ok(start.elapsed())
}

async fn add_messages(store: &Arc<dyn Store>, tasks: usize, count: usize) -> Result<Duration, Any> {
    let mut chats = Vec::new();
    for _ in 0..tasks {
        chats.push(store.create_chat(NewChat::default()).await?.id);
    }
    let start = Instant::now();
    let mut running = Vec::new();
    for chat in chats {
        let store = store.clone();
        running.push(tokio::spawn(async move {
            for _ in 0..count / tasks {
                store.add_user_message(&chat, TEXT).await?;
            }
            Ok::<_, Any>(())
        }));
    }
    for task in running {
        task.await??;
    }
    Ok(start.elapsed())
}

async fn write_replies(store: &Arc<dyn Store>) -> Result<Duration, Any> {
    let mut writers = Vec::new();
    for _ in 0..REPLIES {
        let chat = store.create_chat(NewChat::default()).await?;
        let (_, turn) = store.ask(&chat.id, TEXT.into()).await?;
        writers.push(TurnWriter::new(store.clone(), turn));
    }
    let start = Instant::now();
    let mut running = Vec::new();
    for mut writer in writers {
        running.push(tokio::spawn(async move {
            for _ in 0..WORDS {
                writer.push(TurnEvent::Delta { text: "word ".to_owned() }).await?;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            writer.end(TurnOutcome::finished(EndReason::Finished, None)).await?;
            Ok::<_, Any>(())
        }));
    }
    for task in running {
        task.await??;
    }
    Ok(start.elapsed())
}

async fn measure_long_chat(store: &Arc<dyn Store>) -> Result<(), Any> {
    let message = |n: usize| Message {
        id: format!("{n}"),
        role: if n.is_multiple_of(2) { Role::User } else { Role::Assistant },
        parts: vec![Part::Text { text: TEXT.repeat(4) }],
        state: MessageState::Complete,
        usage: None,
        at: n as u64,
    };
    let messages: Vec<_> = (0..LONG).map(message).collect();
    let chat = json!({"id": "long", "created": 1, "updated": 1, "messages": messages});
    let file = json!({"format": "prowess-chats", "version": 1, "chats": [chat]}).to_string();
    let start = Instant::now();
    let id = import(&**store, file.as_bytes()).await?.remove(0).to;
    println!("  {:.0} ms to import a chat of {LONG} messages", ms(start));
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        store.chat(&id).await?;
        store.messages(&id, None, 50).await?;
        times.push(ms(start));
    }
    times.sort_by(f64::total_cmp);
    println!("  {:.2} ms to open it at its last 50 messages, median of 20", times[times.len() / 2]);
    let start = Instant::now();
    let (mut before, mut read) = (None, 0);
    loop {
        let page = store.messages(&id, before, 1_000).await?;
        read += page.messages.len();
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    println!("  {:.0} ms to read all {read}", ms(start));
    store.delete_chat(&id).await?;
    Ok(())
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1_000.0
}
