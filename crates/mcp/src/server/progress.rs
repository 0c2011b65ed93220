//! Reports the progress of a running script.

use std::sync::Arc;

use prowess::contained::strip_terminal_escapes;
use prowess_tools::Session;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;

/// The maximum number of queued lines; further lines are dropped.
const QUEUE_MAX: usize = 16;

/// The maximum length of a line in characters.
const LINE_MAX: usize = 200;

/// Sends progress notifications, if the client requested them.
pub(super) struct ProgressReporter {
    target: Option<(Peer<RoleServer>, ProgressToken)>,
    lines: mpsc::Receiver<String>,
}

impl ProgressReporter {
    /// Registers for the output of the calls of a session.
    pub(super) fn attach(session: &mut Session, context: &RequestContext<RoleServer>) -> Self {
        let (sender, lines) = mpsc::channel(QUEUE_MAX);
        let token = context.meta.get_progress_token();
        if token.is_some() {
            session.call_options.on_output = Some(Arc::new(move |_, bytes: &[u8]| {
                // Lines are dropped if the client is slow.
                let _ = sender.try_send(last_line(bytes));
            }));
        }
        Self { target: token.map(|token| (context.peer.clone(), token)), lines }
    }

    /// Runs a future and reports progress meanwhile. All lines are sent before the result is returned.
    pub(super) async fn run<T>(mut self, future: impl Future<Output = T>) -> T {
        let Some((peer, token)) = self.target.take() else { return future.await };
        let mut future = std::pin::pin!(future);
        let mut count = 0.0;
        let mut send = async |line: String| {
            count += 1.0;
            let notification = ProgressNotificationParam::new(token.clone(), count).with_message(line);
            let _ = peer.notify_progress(notification).await;
        };
        loop {
            tokio::select! {
                biased;
                Some(line) = self.lines.recv() => send(line).await,
                result = &mut future => {
                    while let Ok(line) = self.lines.try_recv() {
                        send(line).await;
                    }
                    return result;
                }
            }
        }
    }
}

/// Returns the last line of the output that is not empty, for display.
fn last_line(bytes: &[u8]) -> String {
    let text = strip_terminal_escapes(String::from_utf8_lossy(bytes).into_owned());
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(LINE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_sanitized() {
        assert_eq!(last_line(b"one\n\x1b[31mtwo\x1b[0m\r\n\n"), "two");
        assert_eq!(last_line(b"\xff"), "\u{fffd}");
        assert_eq!(last_line(&[b'x'; 1000]).len(), LINE_MAX);
        assert_eq!(last_line(b"\n \n"), "");
    }
}
