//! How far a script is, told while it runs.

use std::sync::Arc;

use prowess::contained::without_escapes;
use prowess_tools::Session;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;

/// How many lines may wait to be told; what comes while more are waiting is counted, but not told.
const WAITING: usize = 16;

/// The most characters of a line.
const LINE_MAX: usize = 200;

/// Whom to tell, where somebody wants to know.
pub(super) struct Progress {
    told: Option<(Peer<RoleServer>, ProgressToken)>,
    lines: mpsc::Receiver<String>,
}

impl Progress {
    /// Listens to what the calls of a session write.
    pub(super) fn of(session: &mut Session, context: &RequestContext<RoleServer>) -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        let token = context.meta.get_progress_token();
        if token.is_some() {
            session.waiting.on_output = Some(Arc::new(move |_, bytes: &[u8]| {
                // Progress is a courtesy: whoever is slow misses some.
                let _ = sender.try_send(last_line(bytes));
            }));
        }
        Self { told: token.map(|token| (context.peer.clone(), token)), lines }
    }

    /// Does the work, and tells meanwhile. Everything is told before the work's result is given.
    pub(super) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        let Some((peer, token)) = self.told.take() else { return work.await };
        let mut work = std::pin::pin!(work);
        let mut count = 0.0;
        let mut tell = async |line: String| {
            count += 1.0;
            let said = ProgressNotificationParam::new(token.clone(), count).with_message(line);
            let _ = peer.notify_progress(said).await;
        };
        loop {
            tokio::select! {
                biased;
                Some(line) = self.lines.recv() => tell(line).await,
                done = &mut work => {
                    while let Ok(line) = self.lines.try_recv() {
                        tell(line).await;
                    }
                    return done;
                }
            }
        }
    }
}

/// The last line of some output that says anything, fit to be shown.
fn last_line(bytes: &[u8]) -> String {
    let text = without_escapes(String::from_utf8_lossy(bytes).into_owned());
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(LINE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fit_to_be_shown() {
        assert_eq!(last_line(b"one\n\x1b[31mtwo\x1b[0m\r\n\n"), "two");
        assert_eq!(last_line(b"\xff"), "\u{fffd}");
        assert_eq!(last_line(&[b'x'; 1000]).len(), LINE_MAX);
        assert_eq!(last_line(b"\n \n"), "");
    }
}
