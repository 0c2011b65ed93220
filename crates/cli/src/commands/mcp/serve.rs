//! `prowess mcp`: the server.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use prowess_mcp::http::{self, HttpError, HttpOptions};
use prowess_mcp::{Options, Server, stdio};
use prowess_tools::key;
use serde_json::json;

use crate::args::{Global, ServeMcp};
use crate::commands::run::cancellable;
use crate::commands::serving::{OPEN, not_available, token};
use crate::commands::{Outcome, YES, active, semantic, toolbox_until};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean};
use crate::signals::cancelled_on_termination;

pub(super) fn serve(context: &Context, global: &Global, call: &ServeMcp, output: &mut Output) -> Outcome {
    // Nobody asks for notices while it serves: what goes wrong with embeddings is noted at once.
    let note = |why: &str| drop(writeln!(std::io::stderr(), "prowess: {}", clean(why)));
    let semantic = semantic(context).map(|semantic| Arc::new(semantic.telling(note)));
    let toolbox = toolbox_until(context, global, cancellable()).with_semantic(semantic);
    let snapshot = toolbox.snapshot();
    if let Some(line) = not_available(&snapshot) {
        output.remark(line);
    }
    let policy = context.policy();
    let active: Result<Vec<String>, Failure> =
        call.skill.iter().map(|name| Ok(key(active(&snapshot, name)?, policy).into_owned())).collect();
    let server =
        Server::new(toolbox, Options { active: active?, instructions_chars: call.instructions_chars });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = match call.http {
        Some(address) => runtime.block_on(over_http(&server, address, call, output)),
        None => runtime.block_on(over_stdio(&server, output)),
    };
    // A script that was given up must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    served
}

async fn over_stdio(server: &Server, output: &mut Output) -> Outcome {
    if std::io::stdin().is_terminal() {
        output.remark("this is a server for agents, which start it themselves: prowess mcp install says how");
    }
    output.finish()?;
    let stop = cancelled_on_termination();
    stdio::serve(server, stop.cancelled()).await.map_err(|error| Failure::call(error.to_string()))?;
    Ok(YES)
}

async fn over_http(server: &Server, address: SocketAddr, call: &ServeMcp, output: &mut Output) -> Outcome {
    let token = token(call.token_file.as_deref(), Some("PROWESS_TOKEN"), output)?;
    if !address.ip().is_loopback() && token.is_none() {
        return Err(failure(&HttpError::Open(address)));
    }
    let options = HttpOptions { token, hosts: call.allow_host.clone(), ..HttpOptions::default() };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Failure::call(format!("{address} cannot be served at: {error}"))
            .hint("another port, or port 0 for any that is free")
    })?;
    let url = format!("http://{}{}", listener.local_addr()?, http::PATH);
    if output.json() {
        output.answer(&json!({"schema": 1, "url": url}))?;
    } else {
        output.line(format!("serving skills at {url}"))?;
    }
    output.finish()?;
    http::serve(server, listener, options, cancelled_on_termination())
        .await
        .map_err(|error| failure(&error))?;
    Ok(YES)
}

fn failure(error: &HttpError) -> Failure {
    let failure = Failure::call(error.to_string());
    match error {
        HttpError::Open(_) => failure.hint(OPEN),
        _ => failure,
    }
}
