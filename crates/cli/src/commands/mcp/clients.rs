//! `prowess mcp clients`.

use prowess_package::For;
use prowess_package::connect::{CLIENTS, Client, ConnectError, Machine, Name, Trace, connection, trace};
use serde_json::{Value, json};

use super::super::packages::short;
use super::super::{Outcome, YES};
use super::{failure, machine, told};
use crate::args::Global;
use crate::columns::pad;
use crate::context::Context;
use crate::output::{Output, Tone, clean};

pub(super) fn run(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let machine = machine(context, global);
    let name = Name::parse(name).map_err(failure)?;
    if output.json() {
        let clients: Vec<_> = CLIENTS.iter().map(|client| client_json(client, &machine, &name)).collect();
        output.answer(&json!({"schema": 1, "name": name.as_str(), "clients": clients}))?;
        return Ok(YES);
    }
    for client in CLIENTS {
        let is_here = trace(&machine, client).is_some();
        // A project's own file is worth a line only where it says something.
        let project = match connection(&machine, client, For::Project, &name) {
            Ok(found) if found.entry.is_none() => None,
            Err(ConnectError::NoScope { .. }) => None,
            project => Some(project),
        };
        let user = connection(&machine, client, For::User, &name);
        if is_here || project.is_none() || user.as_ref().is_ok_and(|found| found.entry.is_some()) {
            row(client, is_here, user, context, output)?;
        }
        if let Some(project) = project {
            row(client, true, project, context, output)?;
        }
    }
    output.remark("prowess mcp install --client NAME connects one, --all all that are here");
    Ok(YES)
}

fn row(
    client: &Client,
    is_here: bool,
    found: Result<prowess_package::connect::Connection, ConnectError>,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    let (tone, mark, text) = match found {
        Ok(found) if found.is_ours => {
            (Tone::Good, "✓", format!("{}  {}", pad("connected", 13), short(&found.file, context)))
        }
        Ok(found) if found.entry.is_some() => {
            let file = short(&found.file, context);
            (Tone::Caution, "✗", format!("{}  {file}: another server has the name", pad("not connected", 13)))
        }
        Ok(found) if is_here => {
            (Tone::Strong, "○", format!("{}  {}", pad("not connected", 13), short(&found.file, context)))
        }
        Ok(_) => (Tone::Faint, " ", "not found".to_owned()),
        Err(error) => (Tone::Bad, "✗", clean(&error.to_string()).into_owned()),
    };
    let mark = output.tone(tone, mark);
    output.line(format!("{mark} {}  {text}", pad(client.id, 14)))
}

fn client_json(client: &Client, machine: &Machine, name: &Name) -> Value {
    let by = trace(machine, client).map(|trace| match trace {
        Trace::Kept(path) | Trace::Program(path) => path,
    });
    let of = |scope| match connection(machine, client, scope, name) {
        Ok(found) => json!({
            "file": found.file, "connected": found.is_ours,
            "entry": found.entry.as_ref().map(told::value_json),
        }),
        Err(ConnectError::NoScope { .. } | ConnectError::NoHome) => Value::Null,
        Err(error) => json!({"error": error.to_string()}),
    };
    json!({
        "client": client.id, "title": client.title, "found": by.is_some(), "found_by": by,
        "user": of(For::User), "project": of(For::Project),
    })
}
