//! Shows the plugins of an installation: what was installed, and what was left alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use prowess::lock::LockFile;
use prowess_format::hidden::escape_and_truncate;
use prowess_package::PlannedPlugin;
use prowess_package::agent_plugins::{McpServer, McpTransport};
use serde_json::{Value, json};

use super::install_targets;
use super::plugin_servers::{PlannedServer, describe_server};
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, first_few, pluralize};
use crate::report::{ColorMode, write_human};
use crate::scope::ScopeArgs;

/// The maximum number of servers of a plugin that are printed although they are not added to a client.
const SERVERS_SHOWN: usize = 20;

/// The plugins of an installation, and their servers that are added to clients.
#[derive(Default)]
pub(super) struct PluginChanges<'a> {
    pub(super) plugins: &'a [PlannedPlugin],
    pub(super) servers: &'a [PlannedServer],
}

/// Prints what the plugins contain besides skills, and what is wrong with them.
pub(super) fn print_plugins(
    changes: &PluginChanges<'_>,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    for planned in changes.plugins {
        let name = output.styled_text(TextStyle::Strong, &clean(&planned.record.describe()));
        output.line(format!("plugin {name}: {}", pluralize(planned.plugin.skills.len(), "skill")))?;
        let mut not_added = 0;
        for server in &planned.plugin.servers {
            let added =
                changes.servers.iter().filter(|added| added.is_for(&planned.record.name, &server.name));
            let added: Vec<String> = added.map(|added| added.describe(applied, context)).collect();
            let lines = describe_server(server);
            let (command, env) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
            let name = escape_and_truncate(&server.name);
            if !added.is_empty() {
                output.line(format!("    MCP server {name}, {}: {command}", added.join(", ")))?;
                env.iter().try_for_each(|line| output.line(format!("        {line}")))?;
                continue;
            }
            not_added += 1;
            if not_added <= SERVERS_SHOWN {
                output.line(format!("    MCP server {name}, not installed: {command}"))?;
            }
        }
        if not_added > SERVERS_SHOWN {
            let more = pluralize(not_added - SERVERS_SHOWN, "more MCP server");
            output.line(format!("    and {more}, not installed"))?;
        }
        if !planned.plugin.parts.is_empty() {
            let parts = planned.plugin.parts.iter().map(|part| part.as_str().to_owned());
            output.line(format!("    not installed: {}", first_few(parts, 12, ", and")))?;
        }
    }
    for file in changes.plugins.iter().flat_map(|planned| &planned.files) {
        let (err, styled) = output.err();
        let colour = if styled { ColorMode::Styled } else { ColorMode::Plain };
        let source = |_: &Path| Some(file.text.clone());
        write_human(err, Path::new(&file.path), &file.diagnostics, &source, colour)?;
    }
    Ok(())
}

/// Returns the plugins as JSON.
pub(super) fn plugins_json(plugins: &[PlannedPlugin]) -> Vec<Value> {
    let plugin = |planned: &PlannedPlugin| {
        let parts: Vec<&str> = planned.plugin.parts.iter().map(|part| part.as_str()).collect();
        let problems: Vec<Value> = planned
            .files
            .iter()
            .flat_map(|file| {
                file.diagnostics.iter().map(move |diagnostic| (Path::new(&file.path), diagnostic))
            })
            .map(|(path, diagnostic)| json!(crate::report::DiagnosticJson::new(path, diagnostic)))
            .collect();
        json!({
            "name": planned.record.name, "version": planned.record.version, "path": planned.record.path,
            "marketplace": planned.record.marketplace, "format": planned.plugin.manifest.format.as_str(),
            "description": planned.plugin.manifest.description, "skills": planned.plugin.skills,
            "mcp_servers": planned.plugin.servers.iter().map(server_json).collect::<Vec<_>>(),
            "not_installed": parts, "diagnostics": problems,
        })
    };
    plugins.iter().map(plugin).collect()
}

fn server_json(server: &McpServer) -> Value {
    let pairs = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    match &server.transport {
        McpTransport::Stdio(stdio) => json!({
            "name": server.name, "type": "stdio", "command": stdio.command, "args": stdio.args,
            "env": pairs(&stdio.env), "cwd": stdio.cwd,
        }),
        McpTransport::Http(remote) => json!({
            "name": server.name, "type": "streamable-http", "url": remote.url, "headers": pairs(&remote.headers),
        }),
        McpTransport::Sse(remote) => json!({
            "name": server.name, "type": "sse", "url": remote.url, "headers": pairs(&remote.headers),
        }),
    }
}

/// Returns the plugins of installed skills, by directory. Each lock file is read once; one that cannot be read has
/// none.
pub(in crate::commands) fn plugins_by_dir(context: &CommandContext) -> HashMap<PathBuf, String> {
    let mut plugins = HashMap::new();
    for target in install_targets(context, &ScopeArgs::default()).unwrap_or_default() {
        let lock = LockFile::read(&target.lock_path).unwrap_or_default();
        for (locked, plugin) in
            lock.skills.iter().filter_map(|locked| Some((locked, locked.plugin.as_ref()?)))
        {
            if let Ok(dir) = target.dir(locked) {
                plugins.insert(dir, plugin.name.clone());
            }
        }
    }
    plugins
}
