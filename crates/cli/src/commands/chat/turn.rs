//! One turn, and who ends it early.

use prowess_chat::End;
use prowess_chat::store::{Keeper, Past, StoreError};
use prowess_chat::turn::Input;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::setup::Setup;
use super::told::Told;
use super::trouble::{of_store, of_turn, unknown_chat};
use crate::failure::Failure;
use crate::output::Output;

/// What ends a turn from outside: Ctrl-C, and being told to end.
pub(super) struct Stops {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Stops {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// What was pressed before does not count any more.
    pub(super) async fn forget(&mut self) {
        while tokio::time::timeout(std::time::Duration::ZERO, self.pressed()).await.is_ok() {}
    }

    async fn pressed(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// How a turn ended.
pub(super) enum Ended {
    /// As a turn does.
    So(End),
    /// It broke off; what was said is kept.
    BrokenOff(Failure),
    /// Somebody did not even wait for the end.
    Left,
}

/// Says something in a chat and tells what comes of it. A failure is one in which nothing was asked.
pub(super) async fn turn(
    setup: &Setup,
    chat: &str,
    text: &str,
    stops: &mut Stops,
    calls: &mut Calls,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let failed = |error| match error {
        StoreError::NoChat => unknown_chat(chat),
        error => of_store(error),
    };
    let past = Past::of(&*setup.store, chat).await.map_err(failed)?;
    let cancel = CancellationToken::new();
    let mut told = Told::new(output, calls, cancel.clone());
    let mut keeper = Keeper::ask(&setup.store, chat, text, &past, |numbered| told.hear(&numbered))
        .await
        .map_err(failed)?;
    let input = Input { chat, history: &past.messages, activated: &past.activated, text };
    let mut unheard = |_| {};
    let outcome = {
        let turn = setup.agent.turn(input, &mut keeper, &mut unheard, &cancel);
        tokio::pin!(turn);
        loop {
            tokio::select! {
                outcome = &mut turn => break Some(outcome),
                () = stops.pressed() => {
                    if cancel.is_cancelled() {
                        break None;
                    }
                    cancel.cancel();
                }
            }
        }
    };
    drop(keeper);
    told.end()?;
    Ok(match outcome.map(|outcome| outcome.end) {
        None => Ended::Left,
        Some(Ok(end)) => Ended::So(end),
        Some(Err(error)) => Ended::BrokenOff(of_turn(&error, setup)),
    })
}
