//! `prowess serve`: skills and chats over HTTP, with a page.

use std::convert::Infallible;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use prowess_server::{Guard, Limits, Names, Options, Parts, ServeError, Server, StartToken};
use serde_json::json;
use tokio::sync::watch;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::chat::open;
use super::serving::{OPEN, not_available, token};
use super::{Outcome, YES, runner};
use crate::args::{Global, Log, Serve};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::cancelled_on_termination;

pub(super) fn run(global: &Global, call: &Serve, output: &mut Output) -> Outcome {
    // What is wrong with the configuration is said before anything else.
    let context = Context::load(global, output)?;
    let mut options = options(call, output)?;
    if !call.addr.ip().is_loopback() && !options.guard.knows_people() {
        return Err(failure(&ServeError::Open(call.addr)));
    }
    let start_token = options.guard.make_start_token();
    begin_log(call.log, global);
    room_for_connections();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(&context, global, call, options, start_token, output));
    // A script that was given up must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

async fn serve(
    context: &Context,
    global: &Global,
    call: &Serve,
    options: Options,
    start_token: Option<Arc<StartToken>>,
    output: &mut Output,
) -> Outcome {
    let store = open(context, &call.place).await?;
    let listener = tokio::net::TcpListener::bind(call.addr).await.map_err(|error| {
        Failure::call(format!("{} cannot be served at: {error}", call.addr))
            .hint("another port with --addr, or port 0 for any that is free")
    })?;
    let at = listener.local_addr()?;
    let stop = cancelled_on_termination();
    let cancel = super::run::cancellable();
    let wanted = global.clone();
    let load = move || {
        let context = Context::load_strictly(&wanted)?;
        let registry = Arc::new(context.registry(&wanted));
        Ok(Parts { configuration: context.configuration, registry, runner: runner(cancel.clone()) })
    };
    let server =
        Server::new(Box::new(load), store.clone(), options, stop).map_err(|error| failure(&error))?;
    if let Some(line) = not_available(&server.skills()) {
        tracing::warn!("{line}");
    }
    let renewed = start_token.as_ref().map(|token| token.subscribe());
    let sign_in_url = |token: &str| format!("http://{at}/?token={token}");
    if output.json() {
        let mut answer = json!({"schema": 1, "url": format!("http://{at}/"), "store": store.place()});
        if let Some(token) = &start_token {
            answer["sign_in_url"] = sign_in_url(&token.current()).into();
        }
        output.answer(&answer)?;
    } else {
        output.line(format!("Prowess is at http://{at}/"))?;
        output.remark(format!("chats are kept in {}; Ctrl-C ends it", store.place()));
        if let Some(token) = &start_token {
            let url = sign_in_url(&token.current());
            output.remark(format!("to open it as another user or through a proxy, in one browser: {url}"));
        }
    }
    output.finish()?;
    tokio::select! {
        served = server.serve(listener) => served.map_err(|error| failure(&error))?,
        never = print_addresses(renewed, sign_in_url, output) => match never {},
    }
    Ok(YES)
}

/// Prints a new address each time one was used.
async fn print_addresses(
    renewed: Option<watch::Receiver<String>>,
    sign_in_url: impl Fn(&str) -> String,
    output: &mut Output,
) -> Infallible {
    if let Some(mut current) = renewed {
        while current.changed().await.is_ok() {
            let url = sign_in_url(&current.borrow_and_update());
            output.remark(format!("that address was used; to sign in another browser: {url}"));
        }
    }
    std::future::pending().await
}

fn options(call: &Serve, output: &mut Output) -> Result<Options, Failure> {
    let mut names = call.allow_host.clone();
    // Where it can be reached at one address, that is one of its names. Those of this machine are, anyway.
    if !call.addr.ip().is_unspecified() && !call.addr.ip().is_loopback() {
        names.push(call.addr.to_string());
    }
    let limits = Limits {
        connections: call.max_connections as usize,
        turns: call.max_turns as usize,
        streams: call.max_streams as usize,
        rate: call.rate,
        burst: call.burst,
        ..Limits::default()
    };
    let proxy_header = call.trust_proxy_header.as_deref().map(str::parse).transpose();
    let guard = Guard {
        names: Names::new(names),
        token: token(call.token_file.as_deref(), Some("PROWESS_TOKEN"), output)?,
        admin_token: token(call.admin_token_file.as_deref(), Some("PROWESS_ADMIN_TOKEN"), output)?,
        start_token: None,
        proxy_header: proxy_header
            .map_err(|_| Failure::call("--trust-proxy-header is the name of a header"))?,
    };
    Ok(Options { guard, limits, grace: Duration::from_secs(call.grace) })
}

/// Each connection is a file to the system, which gives a process fewer of them than it may ask for.
fn room_for_connections() {
    // Where it refuses, there are fewer.
    let _ = prowess_fs::raise_open_files_limit();
}

fn failure(error: &ServeError) -> Failure {
    let failure = Failure::call(error.to_string());
    match error {
        ServeError::Open(_) => failure.hint(OPEN),
        ServeError::Load(_) => failure.hint("prowess config shows what is in force"),
        _ => failure,
    }
}

/// Writes the server's own messages to standard error for as long as the process lives. Those of libraries are left out:
/// they hold whole requests.
fn begin_log(form: Option<Log>, global: &Global) {
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
