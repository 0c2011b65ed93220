//! One turn, and the signals that stop it.

use prowess_chat::EndReason;
use prowess_chat::store::{ChatWorkspace, StartedTurn, StoreError, StoreRecorder, TurnStart};
use prowess_chat::turn::TurnInput;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::super::consent::TerminalConsent;
use super::errors::{store_failure, turn_failure, unknown_chat};
use super::files::SaveHint;
use super::render::TurnRenderer;
use super::setup::{ChatSetup, ContinueHint};
use super::tool_calls::ToolCallLog;
use crate::failure::Failure;
use crate::output::Output;

/// The signals that stop a turn.
pub(super) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// The last signal that stopped a turn.
    pub(super) received: Option<SignalKind>,
}

impl StopSignals {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            received: None,
        })
    }

    pub(super) async fn discard_pending(&mut self) {
        while tokio::time::timeout(std::time::Duration::ZERO, self.recv()).await.is_ok() {}
    }

    async fn recv(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        }
    }
}

pub(super) enum TurnEnd {
    /// It ended without an error.
    Ended(EndReason),
    /// It failed; the chat is saved.
    Failed(Failure),
    /// A second signal arrived before it ended.
    Abandoned,
}

/// Starts a turn in a chat and prints the answer. Fails if the message could not be sent.
pub(super) async fn run_turn(
    setup: &ChatSetup,
    chat: &str,
    start: TurnStart<'_>,
    stops: &mut StopSignals,
    calls: &mut ToolCallLog,
    output: &mut Output,
) -> Result<TurnEnd, Failure> {
    let failed = |error| match error {
        StoreError::ChatNotFound => unknown_chat(chat),
        error => store_failure(error),
    };
    let cancel = CancellationToken::new();
    let consent = TerminalConsent::connect(output.json());
    let save_hint = match setup.continue_hint {
        ContinueHint::NextMessage => SaveHint::Interactive,
        ContinueHint::NewProcess => SaveHint::NewProcess(chat.to_owned()),
    };
    let mut renderer = TurnRenderer::new(output, calls, save_hint, cancel.clone());
    let on_event = |numbered| renderer.print_event(&numbered);
    let started = StoreRecorder::begin(&setup.store, chat, start, on_event).await.map_err(failed)?;
    let StartedTurn { history, text, files, mut recorder } = started;
    let input = TurnInput {
        chat,
        history: &history.messages,
        activated: &history.activated,
        text: &text,
        attached: &files,
        workspace: Some(&ChatWorkspace::open(&setup.store, chat, setup.file_limits)),
        consent: consent.as_ref(),
    };
    let mut ignore_event = |_| {};
    let outcome = {
        let turn = setup.agent.turn(input, &mut recorder, &mut ignore_event, &cancel);
        tokio::pin!(turn);
        loop {
            tokio::select! {
                outcome = &mut turn => break Some(outcome),
                signal = stops.recv() => {
                    stops.received = Some(signal);
                    if cancel.is_cancelled() {
                        break None;
                    }
                    cancel.cancel();
                }
            }
        }
    };
    drop(recorder);
    renderer.finish()?;
    Ok(match outcome.map(|outcome| outcome.end) {
        None => TurnEnd::Abandoned,
        Some(Ok(end)) => TurnEnd::Ended(end),
        Some(Err(error)) => TurnEnd::Failed(turn_failure(&error, setup)),
    })
}
