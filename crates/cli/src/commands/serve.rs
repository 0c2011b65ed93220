//! `prowess serve`: serves skills and chats over HTTP.

use std::convert::Infallible;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use prowess_server::{
    AllowedHosts, Guard, Limits, ServeError, Server, ServerOptions, ServerParts, StartToken,
};
use serde_json::json;
use tokio::sync::watch;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::chat::open_store;
use super::server_common::{OPEN_ADDRESS_HINT, read_token, unavailable_summary};
use super::{CommandResult, SUCCESS, script_runner};
use crate::args::{GlobalArgs, LogFormat, ServeArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::cancelled_on_termination;

pub(super) fn run(global: &GlobalArgs, args: &ServeArgs, output: &mut Output) -> CommandResult {
    // Report configuration errors first.
    let context = CommandContext::load(global, output)?;
    let mut options = options(args, output)?;
    if !args.addr.ip().is_loopback() && !options.guard.has_authentication() {
        return Err(failure(&ServeError::Unprotected(args.addr)));
    }
    let start_token = options.guard.create_start_token();
    start_log(args.log, global);
    raise_connection_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(&context, global, args, options, start_token, output));
    // A cancelled script must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

async fn serve(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ServeArgs,
    options: ServerOptions,
    start_token: Option<Arc<StartToken>>,
    output: &mut Output,
) -> CommandResult {
    let store = open_store(context, &args.store_args).await?;
    let listener = tokio::net::TcpListener::bind(args.addr).await.map_err(|error| {
        Failure::usage(format!("cannot bind {}: {error}", args.addr))
            .hint("pass another address with --addr; port 0 selects a free port")
    })?;
    let address = listener.local_addr()?;
    let stop = cancelled_on_termination();
    let cancel = super::run::cancellable();
    let global_options = global.clone();
    let load = move || {
        let context = CommandContext::load_checked(&global_options)?;
        let registry = Arc::new(context.registry(&global_options));
        let runner = script_runner(&context, cancel.clone());
        Ok(ServerParts { configuration: context.configuration, registry, runner })
    };
    let server =
        Server::new(Box::new(load), store.clone(), options, stop).map_err(|error| failure(&error))?;
    if let Some(line) = unavailable_summary(&server.skills()) {
        tracing::warn!("{line}");
    }
    let renewed = start_token.as_ref().map(|token| token.subscribe());
    let sign_in_url = |token: &str| format!("http://{address}/?token={token}");
    if output.json() {
        let mut value = json!({"schema": 1, "url": format!("http://{address}/"), "store": store.location()});
        if let Some(token) = &start_token {
            value["sign_in_url"] = sign_in_url(&token.current()).into();
        }
        output.write_json(&value)?;
    } else {
        output.line(format!("listening on http://{address}/"))?;
        output.note(format!("chats are stored in {}; press Ctrl-C to stop", store.location()));
        if let Some(token) = &start_token {
            let url = sign_in_url(&token.current());
            output.note(format!("to sign in from another browser, user account or proxy: {url}"));
        }
    }
    output.finish()?;
    tokio::select! {
        served = server.serve(listener) => served.map_err(|error| failure(&error))?,
        never = print_sign_in_urls(renewed, sign_in_url, output) => match never {},
    }
    Ok(SUCCESS)
}

/// Prints a new sign-in URL each time one was used.
async fn print_sign_in_urls(
    renewed: Option<watch::Receiver<String>>,
    sign_in_url: impl Fn(&str) -> String,
    output: &mut Output,
) -> Infallible {
    if let Some(mut current) = renewed {
        while current.changed().await.is_ok() {
            let url = sign_in_url(&current.borrow_and_update());
            output.note(format!("the sign-in URL was used; to sign in from another browser: {url}"));
        }
    }
    std::future::pending().await
}

fn options(args: &ServeArgs, output: &mut Output) -> Result<ServerOptions, Failure> {
    let mut names = args.allow_host.clone();
    // A specific address is also an accepted host name. Loopback names are always accepted.
    if !args.addr.ip().is_unspecified() && !args.addr.ip().is_loopback() {
        names.push(args.addr.to_string());
    }
    let limits = Limits {
        connections: args.max_connections as usize,
        turns: args.max_turns as usize,
        streams: args.max_streams as usize,
        rate: args.rate,
        burst: args.burst,
        ..Limits::default()
    };
    let proxy_header = args.trust_proxy_header.as_deref().map(str::parse).transpose();
    let guard = Guard {
        hosts: AllowedHosts::new(names),
        token: read_token(args.token_file.as_deref(), Some("PROWESS_TOKEN"), output)?,
        admin_token: read_token(args.admin_token_file.as_deref(), Some("PROWESS_ADMIN_TOKEN"), output)?,
        start_token: None,
        proxy_header: proxy_header
            .map_err(|_| Failure::usage("--trust-proxy-header is not a valid header name"))?,
    };
    Ok(ServerOptions {
        guard,
        limits,
        grace: Duration::from_secs(args.grace),
        // Administrators of a server that only this machine can reach are asked about scripts.
        ask_consent: args.addr.ip().is_loopback(),
        file_urls: super::packages::file_urls(),
    })
}

/// Raises the limit of open files, since each connection uses one.
fn raise_connection_limit() {
    // After a failure, the server just accepts fewer connections.
    let _ = prowess_fs::raise_open_files_limit();
}

fn failure(error: &ServeError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        ServeError::Unprotected(_) => failure.hint(OPEN_ADDRESS_HINT),
        ServeError::Load(_) => failure.hint("run `prowess config` to see the effective settings"),
        _ => failure,
    }
}

/// Starts logging to standard error. Messages of libraries are excluded, because they contain whole requests.
fn start_log(format: Option<LogFormat>, global: &GlobalArgs) {
    let default = if std::io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let level = match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::ERROR,
        (_, true) => LevelFilter::DEBUG,
        _ => LevelFilter::INFO,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = match format.unwrap_or(default) {
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
        }
        LogFormat::Text => lines.with_target(false).boxed(),
        LogFormat::Off => return,
    };
    let own_targets = Targets::new().with_target("prowess", level);
    // Fails if a subscriber is already set, for example by a test.
    let _ = tracing_subscriber::registry().with(layer.with_filter(own_targets)).try_init();
}
