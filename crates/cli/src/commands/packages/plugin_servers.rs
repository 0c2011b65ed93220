//! MCP servers of plugins: adds them to the clients that the user named, after a confirmation, and removes them with the
//! plugin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use prowess::lock::{LockEntry, LockFile};
use prowess_format::hidden::escape_and_truncate;
use prowess_package::agent_plugins::McpServer;
use prowess_package::connect::{
    self, Client, PluginServerError, PluginServerPlan, ServerRecord, find_client, plan_plugin_removal,
    plan_plugin_server,
};
use prowess_package::{InstallScope, InstallTarget, PlanAction, PlanItem, PlannedPlugin};
use serde_json::{Value, json};

use super::super::mcp::{client_env, failure as connect_failure};
use super::prompts::TerminalPrompter;
use super::{display_path, failure};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, pluralize};

/// The maximum number of variables of a server that are printed.
const VARIABLES_SHOWN: usize = 20;

/// The maximum number of characters of a command line, URL or variable that are printed.
const LINE_MAX: usize = 1000;

/// A server of a plugin that is added to a client.
pub(super) struct PlannedServer {
    plugin: String,
    server: String,
    /// The command line or the URL, and the variables.
    lines: Vec<String>,
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
    let (mut planned, mut entries) = (Vec::new(), BTreeSet::new());
    for (plugin, server) in
        plugins.iter().flat_map(|plugin| plugin.plugin.servers.iter().map(move |server| (plugin, server)))
    {
        for client in &clients {
            let (name, format) = (&plugin.record.name, plugin.plugin.manifest.format);
            let plan = plan_plugin_server(&env, client, target.scope, name, server, format);
            let plan = plan.and_then(|plan| {
                let (file, name) = (plan.connect.change.file.clone(), plan.connect.name.as_str().to_owned());
                // Servers with different names may get the same entry.
                match entries.insert((file.clone(), name.clone())) {
                    true => Ok(plan),
                    false => Err(PluginServerError::Exists { file, name }),
                }
            });
            match plan {
                Ok(plan) => planned.push(PlannedServer {
                    plugin: name.clone(),
                    server: server.name.clone(),
                    lines: describe_server(server),
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

/// Returns the command line or the URL of a server, and its variables, one per line.
pub(super) fn describe_server(server: &McpServer) -> Vec<String> {
    let variables = server.env();
    let shown = variables.iter().take(VARIABLES_SHOWN).map(|(name, value)| format!("{name}={value}"));
    let mut lines: Vec<String> =
        std::iter::once(server.describe()).chain(shown).map(|line| shorten(&line)).collect();
    if let Some(more) = variables.len().checked_sub(VARIABLES_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("and {}", pluralize(more, "more variable")));
    }
    lines
}

/// Returns the beginning of a line, and how much of it is left out.
fn shorten(line: &str) -> String {
    let start: String = line.chars().take(LINE_MAX).collect();
    let (omitted, start) = (line.chars().count().saturating_sub(LINE_MAX), clean(&start));
    match omitted {
        0 => start.into_owned(),
        omitted => format!("{start}… and {}", pluralize(omitted, "more character")),
    }
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
        let (client, name) = (server.plan.connect.client.title, escape_and_truncate(&server.server));
        let lines = server.lines.join("\n    ");
        prompter.show(&format!("{client} will use MCP server {name}: {lines}"));
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

/// The entries of clients that are removed with plugins.
pub(super) struct PlannedRemovals(Vec<(ServerRecord, InstallScope)>);

/// Plans to remove the servers of plugins of which no skill is left. Fails if the file of a client cannot be changed.
pub(super) fn plan_removals<'a>(
    changes: impl IntoIterator<Item = (&'a [PlanItem], &'a InstallTarget)>,
    context: &CommandContext,
    global: &GlobalArgs,
) -> Result<PlannedRemovals, Failure> {
    let env = client_env(context, global);
    let mut removed: BTreeMap<&Path, (&InstallTarget, Vec<&LockEntry>)> = BTreeMap::new();
    for (items, target) in changes {
        let items = items.iter().filter(|item| item.action == PlanAction::Remove);
        let (_, entries) = removed.entry(&target.lock_path).or_insert_with(|| (target, Vec::new()));
        entries.extend(items.filter_map(|item| item.before.as_ref()));
    }
    let mut records = Vec::new();
    for (target, removed) in removed.into_values() {
        let plugin_of = |locked: &LockEntry| locked.plugin.as_ref().map(|plugin| plugin.name.clone());
        let mut plugins: BTreeSet<String> = removed.iter().filter_map(|locked| plugin_of(locked)).collect();
        if plugins.is_empty() {
            continue;
        }
        let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        let is_left = |locked: &&LockEntry| !removed.iter().any(|removed| removed.folder == locked.folder);
        for plugin in lock.skills.iter().filter(is_left).filter_map(plugin_of) {
            plugins.remove(&plugin);
        }
        for plugin in plugins {
            let of_plugin = connect::servers_of_plugin(&context.host_env, &target.lock_path, &plugin);
            for record in of_plugin.map_err(|error| failure(error.into()))? {
                plan_plugin_removal(&env, target.scope, &record).map_err(connect_failure)?;
                records.push((record, target.scope));
            }
        }
    }
    Ok(PlannedRemovals(records))
}

impl PlannedRemovals {
    /// Removes the entries that are still as they were added, and returns them. If `applied` is `false`, only returns them.
    pub(super) fn perform(
        self,
        applied: bool,
        context: &CommandContext,
        global: &GlobalArgs,
        output: &mut Output,
    ) -> Result<Vec<ServerRecord>, Failure> {
        let env = client_env(context, global);
        let (mut gone, mut forgotten) = (Vec::new(), Vec::new());
        for (record, scope) in self.0 {
            // Earlier changes of the same file are kept.
            match plan_plugin_removal(&env, scope, &record).map_err(connect_failure)? {
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
        if applied && !forgotten.is_empty() {
            connect::forget_servers(&context.host_env, &forgotten).map_err(|error| failure(error.into()))?;
        }
        Ok(gone)
    }
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
