//! What a server notes, on standard error: its own words only. Libraries below it write down whole messages, which may be anything.

use std::io::IsTerminal;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::{Global, Log};

/// Begins to write, for as long as the process lives.
pub(super) fn begin(form: Option<Log>, global: &Global) {
    let usual = if std::io::stderr().is_terminal() { Log::Text } else { Log::Json };
    let level = match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::ERROR,
        (_, true) => LevelFilter::DEBUG,
        _ => LevelFilter::INFO,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = match form.unwrap_or(usual) {
        Log::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed(),
        Log::Text => lines.with_target(false).boxed(),
        Log::Off => return,
    };
    let ours = Targets::new().with_target("prowess", level);
    // Somebody who has set one already, a test say, keeps it.
    let _ = tracing_subscriber::registry().with(layer.with_filter(ours)).try_init();
}
