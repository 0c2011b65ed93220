//! Notifications between servers over one connection, which is re-established when it is lost.
//!
//! Notifications are sent outside of the transactions that they announce: a transaction that notifies holds a lock on the
//! whole database while it commits, which would serialize all chats. Subscribers also poll, so a lost one does no harm.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::super::StoreError;
use super::super::notifications::{StoreNotice, Subscribers, Topic};
use super::connect::{Connector, Notification};
use super::connection::PgConnection;

/// How many notices are queued while the database is unreachable.
const QUEUE_MAX: usize = 8_192;

pub(super) struct Notifier {
    notices: mpsc::Sender<StoreNotice>,
    lost: Arc<AtomicBool>,
}

impl Notifier {
    /// Starts to listen. The returned future must be run.
    pub(super) async fn listen(
        connector: Connector,
        hub: Arc<Subscribers>,
    ) -> Result<(Self, impl Future<Output = ()> + Send), StoreError> {
        let (notices, queue) = mpsc::channel(QUEUE_MAX);
        let lost = Arc::new(AtomicBool::new(false));
        let connection = connect(&connector).await?;
        let task = run(connector, connection, hub, queue, lost.clone());
        Ok((Self { notices, lost }, task))
    }

    /// Notifies other processes soon. If the queue is full, they receive [`Topic::Missed`].
    pub(super) fn notify(&self, notice: StoreNotice) {
        if self.notices.try_send(notice).is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

struct ListenConnection {
    connection: PgConnection,
    notifications: mpsc::UnboundedReceiver<Notification>,
    /// The process id of this connection in the database.
    pid: i32,
}

async fn connect(connector: &Connector) -> Result<ListenConnection, StoreError> {
    let (connection, notifications) = connector.connect_and_listen().await?;
    connection.batch("LISTEN prowess").await?;
    Ok(ListenConnection { pid: connection.backend_pid().await?, connection, notifications })
}

async fn run(
    connector: Connector,
    mut listening: ListenConnection,
    hub: Arc<Subscribers>,
    mut queue: mpsc::Receiver<StoreNotice>,
    lost: Arc<AtomicBool>,
) {
    loop {
        let Some(unsent) = serve(listening, &hub, &mut queue, &lost).await else { return };
        let mut pause = Duration::from_millis(100);
        listening = loop {
            match connect(&connector).await {
                Ok(listening) => break listening,
                Err(_) => {
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
            }
        };
        // Notices from others were missed, and ours may not have been sent.
        lost.fetch_or(unsent, Ordering::Relaxed);
        hub.publish_missed();
    }
}

/// Runs until the connection is lost and returns whether notices may be unsent. Returns `None` if the store is closed.
async fn serve(
    ListenConnection { mut connection, mut notifications, pid: own_pid }: ListenConnection,
    hub: &Subscribers,
    queue: &mut mpsc::Receiver<StoreNotice>,
    lost: &AtomicBool,
) -> Option<bool> {
    loop {
        tokio::select! {
            payload = notifications.recv() => match payload {
                // Our own notices were already delivered here. Other payloads on this channel are ignored.
                Some(Notification { from, text }) => match serde_json::from_str(&text) {
                    Ok(notice) if from != own_pid => hub.publish(&notice),
                    Ok(_) | Err(_) => {}
                },
                None => return Some(false),
            },
            notice = queue.recv() => {
                let payloads = drain(notice?, queue, lost.swap(false, Ordering::Relaxed));
                if connection.notify(payloads).await.is_err() {
                    return Some(true);
                }
            }
        }
    }
}

/// Takes all queued notices, with one of each kind for each chat.
fn drain(first: StoreNotice, queue: &mut mpsc::Receiver<StoreNotice>, lost: bool) -> Vec<String> {
    let (mut chats, mut answered, mut topics) = (HashMap::new(), HashSet::new(), HashSet::new());
    if lost {
        topics.insert(Topic::Missed);
    }
    let mut next = Some(first);
    while let Some(notice) = next {
        match notice {
            StoreNotice::Events(chat, seq) => {
                let latest = chats.entry(chat).or_insert(seq);
                *latest = seq.max(*latest);
            }
            StoreNotice::Answer(chat) => drop(answered.insert(chat)),
            StoreNotice::Topic(topic) => drop(topics.insert(topic)),
        }
        next = queue.try_recv().ok();
    }
    let chats = chats.into_iter().map(|(chat, seq)| StoreNotice::Events(chat, seq));
    let notices = chats
        .chain(answered.into_iter().map(StoreNotice::Answer))
        .chain(topics.into_iter().map(StoreNotice::Topic));
    notices.filter_map(|notice| serde_json::to_string(&notice).ok()).collect()
}
