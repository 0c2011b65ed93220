//! Tests of plugins, with sources in memory. `ap_NN_…` tests requirement NN in `docs/plugins.md`.

mod bounded_work;
mod client_formats;
mod generated;
mod requirements;
mod requirements_mcp;

use std::sync::atomic::{AtomicUsize, Ordering};

use prowess_archive::{SourceEntry, SourceEntryKind, SourceReadError, SourceTree};
use prowess_format::Diagnostic;

use super::*;

/// A source in memory that may contain symlinks.
#[derive(Default)]
pub(super) struct TestSource {
    entries: Vec<SourceEntry>,
    files: Vec<Vec<u8>>,
    /// How many bytes were read.
    bytes_read: AtomicUsize,
}

impl TestSource {
    /// A plugin of Agent Plugins with the name `demo`.
    pub(super) fn plugin() -> Self {
        Self::default().file("plugin.json", &manifest(""))
    }

    pub(super) fn file(self, path: &str, text: &str) -> Self {
        let kind = SourceEntryKind::File { executable: false, bytes: text.len() as u64 };
        self.entry(path, kind, text)
    }

    pub(super) fn link(self, path: &str) -> Self {
        self.entry(path, SourceEntryKind::Link, "")
    }

    pub(super) fn skill(self, dir: &str) -> Self {
        let name = dir.rsplit('/').next().unwrap();
        self.file(&format!("{dir}/SKILL.md"), &skill_md(name))
    }

    fn entry(mut self, path: &str, kind: SourceEntryKind, text: &str) -> Self {
        let entry = SourceEntry { path: path.as_bytes().into(), kind };
        let index = self.entries.partition_point(|other| other.path < entry.path);
        self.entries.insert(index, entry);
        self.files.insert(index, text.as_bytes().to_vec());
        self
    }

    pub(super) fn load(&self) -> PluginLoad {
        load_plugin(self, "", None).unwrap()
    }

    /// Returns the plugin, which must not be rejected.
    pub(super) fn loaded(&self) -> LoadedPlugin {
        self.load().plugin.expect("the plugin loads")
    }
}

impl SourceTree for TestSource {
    fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    fn read_entry(&self, index: usize) -> Result<Vec<u8>, SourceReadError> {
        assert!(matches!(self.entries[index].kind, SourceEntryKind::File { .. }), "only files are read");
        self.bytes_read.fetch_add(self.files[index].len(), Ordering::Relaxed);
        Ok(self.files[index].clone())
    }
}

/// Returns a manifest of Agent Plugins with more fields.
pub(super) fn manifest(fields: &str) -> String {
    format!(r#"{{"$schema": "{PLUGIN_SCHEMA}", "name": "demo"{fields}}}"#)
}

/// Returns an `mcp.json` with these servers.
pub(super) fn mcp_json(servers: &str) -> String {
    format!(r#"{{"$schema": "{MCP_SCHEMA}", "mcpServers": {{{servers}}}}}"#)
}

pub(super) fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Adds numbers. Use for sums.\n---\nAdd.\n")
}

/// Returns the diagnostics of all files, one per line.
pub(super) fn report(files: &[CheckedManifest]) -> String {
    let line = |file: &CheckedManifest, diagnostic: &Diagnostic| {
        let position =
            diagnostic.location.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        let help = diagnostic.help.as_deref().unwrap_or_default();
        format!("{}{position} {diagnostic}\n  {help}\n", file.path)
    };
    files
        .iter()
        .flat_map(|file| file.diagnostics.iter().map(move |diagnostic| line(file, diagnostic)))
        .collect()
}

/// Returns the messages about a manifest of Agent Plugins, and whether it is accepted.
pub(super) fn parse_standard(text: &str) -> (bool, Vec<String>) {
    let parsed = parse_plugin_manifest(text.as_bytes(), PluginFormat::AgentPlugins);
    (parsed.value.is_some(), parsed.diagnostics.iter().map(Diagnostic::to_string).collect())
}
