//! `prowess mcp`: runs the MCP server.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use prowess_mcp::http::{self, HttpOptions, ServeHttpError};
use prowess_mcp::{McpServer, McpServerOptions, stdio};
use serde_json::json;

use crate::args::{GlobalArgs, ServeMcpArgs};
use crate::commands::mcp::check_workspace;
use crate::commands::run::cancellable;
use crate::commands::server_common::{OPEN_ADDRESS_HINT, read_token, unavailable_summary};
use crate::commands::{CommandResult, SUCCESS, cancellable_toolbox, find_active, semantic_stage};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean};
use crate::signals::cancelled_on_termination;

pub(super) fn serve(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ServeMcpArgs,
    output: &mut Output,
) -> CommandResult {
    let workspace = args.workspace.as_deref().map(|dir| check_workspace(context, dir)).transpose()?;
    // The server does not collect notices, so problems with embeddings are printed at once.
    let note = |message: &str| drop(writeln!(std::io::stderr(), "prowess: {}", clean(message)));
    let semantic = semantic_stage(context).map(|semantic| Arc::new(semantic.with_warning_handler(note)));
    let toolbox = cancellable_toolbox(context, global, cancellable()).with_semantic(semantic);
    let snapshot = toolbox.snapshot();
    if let Some(line) = unavailable_summary(&snapshot) {
        output.note(line);
    }
    let active: Result<Vec<String>, Failure> =
        args.skill.iter().map(|name| Ok(find_active(&snapshot, name)?.key().into())).collect();
    let server = McpServer::new(
        toolbox,
        McpServerOptions { active: active?, instructions_chars: args.instructions_chars, workspace },
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = match args.http {
        Some(address) => runtime.block_on(over_http(&server, address, args, output)),
        None => runtime.block_on(over_stdio(&server, output)),
    };
    // A cancelled script must not keep the process alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    served
}

async fn over_stdio(server: &McpServer, output: &mut Output) -> CommandResult {
    if std::io::stdin().is_terminal() {
        output.note("this is an MCP server, which clients start themselves; run `prowess mcp install` to connect a client");
    }
    output.finish()?;
    let stop = cancelled_on_termination();
    stdio::serve(server, stop.cancelled()).await.map_err(|error| Failure::usage(error.to_string()))?;
    Ok(SUCCESS)
}

async fn over_http(
    server: &McpServer,
    address: SocketAddr,
    args: &ServeMcpArgs,
    output: &mut Output,
) -> CommandResult {
    let token = read_token(args.token_file.as_deref(), Some("PROWESS_TOKEN"), output)?;
    if !address.ip().is_loopback() && token.is_none() {
        return Err(failure(&ServeHttpError::TokenRequired(address)));
    }
    let options = HttpOptions { token, hosts: args.allow_host.clone(), ..HttpOptions::default() };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Failure::usage(format!("cannot bind {address}: {error}"))
            .hint("pass another address with --http; port 0 selects a free port")
    })?;
    let url = format!("http://{}{}", listener.local_addr()?, http::MCP_PATH);
    if output.json() {
        output.write_json(&json!({"schema": 1, "url": url}))?;
    } else {
        output.line(format!("listening on {url}"))?;
    }
    output.finish()?;
    http::serve(server, listener, options, cancelled_on_termination())
        .await
        .map_err(|error| failure(&error))?;
    Ok(SUCCESS)
}

fn failure(error: &ServeHttpError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        ServeHttpError::TokenRequired(_) => failure.hint(OPEN_ADDRESS_HINT),
        _ => failure,
    }
}
