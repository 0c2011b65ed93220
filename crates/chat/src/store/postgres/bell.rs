//! How servers tell each other: one connection that listens and tells, and is made again when it is lost.
//!
//! Notices are sent apart from the transactions they tell of: a transaction that notifies holds a lock of the whole database
//! while it is committed, and all chats would wait for each other. Whoever misses one looks by itself.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::super::StoreError;
use super::super::hub::{Hub, Notice, Topic};
use super::connect::{Connector, Heard};
use super::line::Line;

/// How many notices may wait while the database is away.
const WAITING_MAX: usize = 8_192;

pub(super) struct Bell {
    notices: mpsc::Sender<Notice>,
    lost: Arc<AtomicBool>,
}

impl Bell {
    /// Listens already when it returns; what is left has to be run.
    pub(super) async fn hang(
        connector: Connector,
        hub: Arc<Hub>,
    ) -> Result<(Self, impl Future<Output = ()> + Send), StoreError> {
        let (notices, waiting) = mpsc::channel(WAITING_MAX);
        let lost = Arc::new(AtomicBool::new(false));
        let first = listen(&connector).await?;
        let ringing = ring(connector, first, hub, waiting, lost.clone());
        Ok((Self { notices, lost }, ringing))
    }

    /// Tells the others, soon. More than can wait is told as something that was missed.
    pub(super) fn ring(&self, notice: Notice) {
        if self.notices.try_send(notice).is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

struct Listening {
    line: Line,
    heard: mpsc::UnboundedReceiver<Heard>,
    /// This connection, as the database calls it.
    ours: i32,
}

async fn listen(connector: &Connector) -> Result<Listening, StoreError> {
    let (line, heard) = connector.connect_and_listen().await?;
    line.batch("LISTEN prowess").await?;
    Ok(Listening { ours: line.number().await?, line, heard })
}

async fn ring(
    connector: Connector,
    mut listening: Listening,
    hub: Arc<Hub>,
    mut waiting: mpsc::Receiver<Notice>,
    lost: Arc<AtomicBool>,
) {
    loop {
        let Some(unsent) = serve(listening, &hub, &mut waiting, &lost).await else { return };
        let mut pause = Duration::from_millis(100);
        listening = loop {
            match listen(&connector).await {
                Ok(listening) => break listening,
                Err(_) => {
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
            }
        };
        // What was told meanwhile did not get here, and what we had to tell may not have got there.
        lost.fetch_or(unsent, Ordering::Relaxed);
        hub.missed();
    }
}

/// Until the connection is lost; whether something could not be told. `None` when the store is closed.
async fn serve(
    Listening { mut line, mut heard, ours }: Listening,
    hub: &Hub,
    waiting: &mut mpsc::Receiver<Notice>,
    lost: &AtomicBool,
) -> Option<bool> {
    loop {
        tokio::select! {
            payload = heard.recv() => match payload {
                // Those here know what we told. Whatever else is said on this channel is not for us.
                Some(Heard { from, text }) => match serde_json::from_str(&text) {
                    Ok(notice) if from != ours => hub.notice(&notice),
                    Ok(_) | Err(_) => {}
                },
                None => return Some(false),
            },
            notice = waiting.recv() => {
                let payloads = gathered(notice?, waiting, lost.swap(false, Ordering::Relaxed));
                if line.notify(payloads).await.is_err() {
                    return Some(true);
                }
            }
        }
    }
}

/// All that waits, each chat once.
fn gathered(first: Notice, waiting: &mut mpsc::Receiver<Notice>, lost: bool) -> Vec<String> {
    let (mut chats, mut topics) = (HashMap::new(), HashSet::new());
    if lost {
        topics.insert(Topic::Missed);
    }
    let mut next = Some(first);
    while let Some(notice) = next {
        match notice {
            Notice::Events(chat, seq) => {
                let known = chats.entry(chat).or_insert(seq);
                *known = seq.max(*known);
            }
            Notice::Topic(topic) => drop(topics.insert(topic)),
        }
        next = waiting.try_recv().ok();
    }
    let chats = chats.into_iter().map(|(chat, seq)| Notice::Events(chat, seq));
    let all = chats.chain(topics.into_iter().map(Notice::Topic));
    all.filter_map(|notice| serde_json::to_string(&notice).ok()).collect()
}
