//! MCP servers of plugins: adds them to the clients that the user named, after a confirmation, and removes them with the
//! plugin.

use std::collections::BTreeSet;

use prowess::lock::LockFile;
use prowess_package::connect::{
    self, Client, PluginServerError, PluginServerPlan, ServerRecord, find_client, plan_plugin_removal,
    plan_plugin_server,
};
use prowess_package::{InstallTarget, PlanItem, PlannedPlugin};
use serde_json::{Value, json};

use super::super::mcp::{client_env, failure as connect_failure};
use super::prompts::TerminalPrompter;
use super::{display_path, failure};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, pluralize};

/// A server of a plugin that is added to a client.
pub(super) struct PlannedServer {
    plugin: String,
    server: String,
    /// The command line or the URL.
    command: String,
    /// The names and values of variables.
    env: Vec<(String, String)>,
    plan: PluginServerPlan,
}

impl PlannedServer {
    /// Returns `true` if this is the server of a plugin.
    pub(super) fn is_for(&self, plugin: &str, server: &str) -> bool {
        self.plugin == plugin && self.server == server
    }

    /// Returns what happens to the client.
    pub(super) fn describe(&self, applied: bool, context: &CommandContext) -> String {
        let (client, file) = (self.plan.connect.client, &self.plan.connect.change.file);
        let verb = match (self.plan.connect.change.action.is_change(), applied) {
            (false, _) => "already in",
            (true, true) => "added to",
            (true, false) => "would be added to",
        };
        format!("{verb} {} ({})", client.title, display_path(file, context))
    }

    pub(super) fn json(&self) -> Value {
        let connect = &self.plan.connect;
        json!({
            "plugin": self.plugin, "server": self.server, "client": connect.client.id, "name": connect.name.as_str(),
            "file": connect.change.file, "action": connect.change.action.as_str(),
        })
    }
}

/// Plans to add the servers of the plugins to clients. Servers that cannot be added are reported.
pub(super) fn plan(
    plugins: &[PlannedPlugin],
    clients: &[String],
    target: &InstallTarget,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) -> Result<Vec<PlannedServer>, Failure> {
    let clients: Vec<&'static Client> =
        clients.iter().map(|name| find_client(name)).collect::<Result<_, _>>().map_err(connect_failure)?;
    if clients.is_empty() {
        return Ok(Vec::new());
    }
    let env = client_env(context, global);
    let mut planned = Vec::new();
    for (plugin, server) in
        plugins.iter().flat_map(|plugin| plugin.plugin.servers.iter().map(move |server| (plugin, server)))
    {
        for client in &clients {
            let (name, format) = (&plugin.record.name, plugin.plugin.manifest.format);
            match plan_plugin_server(&env, client, target.scope, name, server, format) {
                Ok(plan) => planned.push(PlannedServer {
                    plugin: name.clone(),
                    server: server.name.clone(),
                    command: server.describe(),
                    env: server.env().to_vec(),
                    plan,
                }),
                Err(PluginServerError::Connect(error)) => return Err(connect_failure(error)),
                Err(error) => {
                    let (server, error) = (clean(&server.name).into_owned(), error.to_string());
                    output.note(format!(
                        "MCP server {server} is not added to {}: {}",
                        client.title,
                        clean(&error)
                    ));
                }
            }
        }
    }
    Ok(planned)
}

/// Asks whether to add the servers. Nothing is asked if there are none.
pub(super) fn confirm(
    servers: &[PlannedServer],
    prompter: &TerminalPrompter<'_>,
    output: &mut Output,
) -> Result<bool, Failure> {
    let new: Vec<_> = servers.iter().filter(|server| server.plan.connect.change.action.is_change()).collect();
    if new.is_empty() || prompter.answers_yes() {
        return Ok(true);
    }
    if !prompter.is_terminal() {
        let message =
            format!("adding {} of plugins requires confirmation", pluralize(new.len(), "MCP server"));
        let hint = "the client will start them; pass --yes to add them, or omit --mcp-client";
        return Err(Failure::new(ErrorCode::Conflict, message).hint(hint));
    }
    for server in &new {
        let client = server.plan.connect.client.title;
        let (name, command) = (clean(&server.server).into_owned(), clean(&server.command).into_owned());
        output.note(format!("{client} will use MCP server {name}: {command}"));
        for (variable, value) in &server.env {
            output.note(format!("    {}={}", clean(variable), clean(value)));
        }
    }
    let question = format!("Add {} to the configuration?", pluralize(new.len(), "MCP server"));
    let accepted = prompter.confirm(&question).map_err(failure)?;
    if !accepted {
        output.note("no MCP servers are added");
    }
    Ok(accepted)
}

/// Records the entries and changes the files of the clients.
pub(super) fn perform(
    servers: &[PlannedServer],
    target: &InstallTarget,
    context: &CommandContext,
    global: &GlobalArgs,
) -> Result<(), Failure> {
    let new: Vec<_> = servers.iter().filter(|server| server.plan.connect.change.action.is_change()).collect();
    let records: Vec<ServerRecord> =
        new.iter().map(|server| server.plan.record(&target.lock_path, &server.plugin)).collect();
    if records.is_empty() {
        return Ok(());
    }
    // An entry that is recorded and missing does no harm, unlike one that is not recorded.
    connect::record_servers(&context.host_env, &records).map_err(|error| failure(error.into()))?;
    let env = client_env(context, global);
    new.iter().try_for_each(|server| server.plan.perform(&env).map_err(server_failure))
}

/// Removes the servers of plugins of which no skill is left. Returns those that were removed.
pub(super) fn remove(
    removed: &[PlanItem],
    target: &InstallTarget,
    applied: bool,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) -> Result<Vec<ServerRecord>, Failure> {
    let plugin_of = |item: &PlanItem| Some(item.before.as_ref()?.plugin.as_ref()?.name.clone());
    let plugins: BTreeSet<String> = removed.iter().filter_map(plugin_of).collect();
    if plugins.is_empty() {
        return Ok(Vec::new());
    }
    let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
    let is_removed = |folder: &str| {
        removed.iter().any(|item| item.before.as_ref().is_some_and(|before| before.folder == folder))
    };
    let env = client_env(context, global);
    let (mut gone, mut forgotten) = (Vec::new(), Vec::new());
    for plugin in plugins {
        let is_left = |locked: &prowess::lock::LockEntry| {
            locked.plugin.as_ref().is_some_and(|record| record.name == plugin) && !is_removed(&locked.folder)
        };
        if lock.skills.iter().any(is_left) {
            continue;
        }
        let records = connect::servers_of_plugin(&context.host_env, &target.lock_path, &plugin);
        for record in records.map_err(|error| failure(error.into()))? {
            match plan_plugin_removal(&env, target.scope, &record).map_err(connect_failure)? {
                Some(plan) => {
                    if applied {
                        plan.change.perform(&env).map_err(|error| failure(error.into()))?;
                    }
                    gone.push(record.clone());
                }
                None => output.note(format!(
                    "MCP server {} is not removed from {}: it is missing or was changed",
                    clean(&record.name),
                    display_path(&record.file, context)
                )),
            }
            forgotten.push(record);
        }
    }
    if applied && !forgotten.is_empty() {
        connect::forget_servers(&context.host_env, &forgotten).map_err(|error| failure(error.into()))?;
    }
    Ok(gone)
}

/// Returns a line about a removed server.
pub(super) fn describe_removed(record: &ServerRecord, applied: bool, context: &CommandContext) -> String {
    let verb = if applied { "removed" } else { "would remove" };
    let title = find_client(&record.client).map_or(record.client.as_str(), |client| client.title);
    format!(
        "    {verb} MCP server {} from {title}: {}",
        clean(&record.name),
        display_path(&record.file, context)
    )
}

/// Returns a removed server as JSON.
pub(super) fn record_json(record: &ServerRecord) -> Value {
    json!({"plugin": record.plugin, "client": record.client, "name": record.name, "file": record.file, "action": "remove"})
}

fn server_failure(error: PluginServerError) -> Failure {
    match error {
        PluginServerError::Connect(error) => connect_failure(error),
        error => Failure::new(ErrorCode::Conflict, error.to_string()),
    }
}
