//! Asks on the terminal whether a script may run.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use prowess_chat::ConsentQuestion;
use prowess_chat::turn::ConsentSource;
use prowess_sandbox::{AccessSummary, ConsentAnswer};

/// How often a prompt checks whether it was abandoned.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Returns `true` if there is a terminal for questions and answers.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks whether a script may run.
pub(super) fn ask(access: &AccessSummary) -> io::Result<ConsentAnswer> {
    print_question(access)?;
    read_answer()
}

fn print_question(access: &AccessSummary) -> io::Result<()> {
    // Only what is typed after the question is an answer to it.
    prowess_fs::discard_typed(&io::stdin())?;
    let mut err = io::stderr();
    writeln!(err, "{} ({}) wants to run {}", access.skill, access.location, access.script)?;
    for (title, text) in &access.rows {
        writeln!(err, "  {title:<9} {text}")?;
    }
    write!(err, "Allow it? [y] once, [a] always until the skill changes, [never], [N] not now: ")?;
    err.flush()
}

fn read_answer() -> io::Result<ConsentAnswer> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "once" => ConsentAnswer::Once,
        "a" | "always" => ConsentAnswer::Always,
        "never" => ConsentAnswer::Never,
        _ => ConsentAnswer::NotNow,
    })
}

/// Asks during a chat in the terminal.
pub(super) struct TerminalConsent;

impl TerminalConsent {
    /// Returns the source of answers if there is a terminal.
    pub(super) fn connect(json: bool) -> Option<Arc<dyn ConsentSource>> {
        (!json && can_ask()).then(|| Arc::new(Self) as Arc<dyn ConsentSource>)
    }
}

/// Tells the thread that waits for an answer that the turn was cancelled, so that it does not read the next message.
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl ConsentSource for TerminalConsent {
    async fn answer(&self, _: &ConsentQuestion, access: &AccessSummary) -> ConsentAnswer {
        let abandoned = Arc::new(AtomicBool::new(false));
        let _abandon = AbandonOnDrop(Arc::clone(&abandoned));
        let access = access.clone();
        let asked = tokio::task::spawn_blocking(move || {
            print_question(&access)?;
            while !prowess_fs::wait_readable(&io::stdin(), POLL_INTERVAL)? {
                if abandoned.load(Ordering::Relaxed) {
                    return Ok(ConsentAnswer::NotNow);
                }
            }
            read_answer()
        });
        // A question that cannot be asked is not confirmed.
        asked.await.ok().and_then(io::Result::ok).unwrap_or(ConsentAnswer::NotNow)
    }
}
