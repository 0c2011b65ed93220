//! `prowess mcp clients`: lists MCP clients and whether they are connected.

use prowess_package::InstallScope;
use prowess_package::connect::{
    CLIENTS, Client, ClientEnv, ClientTrace, ConnectError, ServerName, connection_status, find_trace,
};
use serde_json::{Value, json};

use super::super::packages::display_path;
use super::super::{CommandResult, SUCCESS};
use super::{client_env, failure, render};
use crate::args::GlobalArgs;
use crate::columns::pad;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    output: &mut Output,
) -> CommandResult {
    let env = client_env(context, global);
    let name = ServerName::parse(name).map_err(failure)?;
    if output.json() {
        let clients: Vec<_> = CLIENTS.iter().map(|client| client_json(client, &env, &name)).collect();
        output.write_json(&json!({"schema": 1, "name": name.as_str(), "clients": clients}))?;
        return Ok(SUCCESS);
    }
    for client in CLIENTS {
        let is_here = find_trace(&env, client).is_some();
        // The project's file is listed only if it has an entry or an error.
        let project = match connection_status(&env, client, InstallScope::Project, &name) {
            Ok(status) if status.entry.is_none() => None,
            Err(ConnectError::NoProjectConfig { .. }) => None,
            project => Some(project),
        };
        let user = connection_status(&env, client, InstallScope::User, &name);
        if is_here || project.is_none() || user.as_ref().is_ok_and(|status| status.entry.is_some()) {
            print_row(client, is_here, user, context, output)?;
        }
        if let Some(project) = project {
            print_row(client, true, project, context, output)?;
        }
    }
    output.note(
        "run `prowess mcp install --client NAME` to connect a client, or pass --all to connect all of them",
    );
    Ok(SUCCESS)
}

fn print_row(
    client: &Client,
    is_here: bool,
    status: Result<prowess_package::connect::ConnectionStatus, ConnectError>,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (tone, mark, text) = match status {
        Ok(status) if status.is_ours => (
            TextStyle::Good,
            "✓",
            format!("{}  {}", pad("connected", 13), display_path(&status.file, context)),
        ),
        Ok(status) if status.entry.is_some() => {
            let file = display_path(&status.file, context);
            (
                TextStyle::Caution,
                "✗",
                format!("{}  {file}: the name is used by another server", pad("not connected", 13)),
            )
        }
        Ok(status) if is_here => (
            TextStyle::Strong,
            "○",
            format!("{}  {}", pad("not connected", 13), display_path(&status.file, context)),
        ),
        Ok(_) => (TextStyle::Faint, " ", "not found".to_owned()),
        Err(error) => (TextStyle::Bad, "✗", clean(&error.to_string()).into_owned()),
    };
    let mark = output.styled_text(tone, mark);
    output.line(format!("{mark} {}  {text}", pad(client.id, 14)))
}

fn client_json(client: &Client, env: &ClientEnv, name: &ServerName) -> Value {
    let trace = find_trace(env, client).map(|trace| match trace {
        ClientTrace::ConfigPath(path) | ClientTrace::Program(path) => path,
    });
    let connection_json = |scope| match connection_status(env, client, scope, name) {
        Ok(status) => json!({
            "file": status.file, "connected": status.is_ours,
            "entry": status.entry.as_ref().map(render::value_json),
        }),
        Err(ConnectError::NoProjectConfig { .. } | ConnectError::NoHome) => Value::Null,
        Err(error) => json!({"error": error.to_string()}),
    };
    json!({
        "client": client.id, "title": client.title, "found": trace.is_some(), "found_by": trace,
        "user": connection_json(InstallScope::User), "project": connection_json(InstallScope::Project),
    })
}
