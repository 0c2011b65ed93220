//! Loads a plugin from a source: its manifest, and the components at their places.

use std::collections::BTreeSet;

use prowess_archive::{SourceReadError, SourceTree};
use prowess_format::hidden::escape_and_truncate;
use prowess_format::{Code, Diagnostic, ParseOutcome, Rules, parse};

use super::diagnostic_limit::DiagnosticLimit;
use super::json::Parsed;
use super::limits::{DIAGNOSTICS_MAX, SERVERS_MAX};
use super::manifest::{Components, PluginManifest, PluginPart, parse_plugin_manifest};
use super::marketplace::{MarketplaceEntry, PluginSource};
use super::mcp::{McpServer, McpTransport, parse_mcp_config};
use super::path::PluginPath;
use super::schema::{PluginFormat, names_agent_plugins};
use super::server_rules::{CwdBase, split_cwd};
use super::tree_view::{PathKind, TreeView};

/// The manifest of Agent Plugins.
const MANIFEST: &str = "plugin.json";

/// The manifests of plugins, in the order in which they are looked for. All but the first belong to clients.
pub(super) const MANIFESTS: [&str; 7] = [
    MANIFEST,
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".plugin/plugin.json",
    ".github/plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    ".factory-plugin/plugin.json",
];

/// Files and directories that show that a `plugin.json` without an identifier belongs to a plugin for agents.
const PLUGIN_TRACES: [&str; 6] =
    ["skills", "mcp.json", ".mcp.json", "commands", "agents", "hooks/hooks.json"];

/// Where parts are that are not installed.
const PART_LOCATIONS: [(&str, PluginPart); 9] = [
    ("commands", PluginPart::Commands),
    ("agents", PluginPart::Agents),
    ("hooks/hooks.json", PluginPart::Hooks),
    (".lsp.json", PluginPart::LspServers),
    ("output-styles", PluginPart::OutputStyles),
    ("themes", PluginPart::Themes),
    ("workflows", PluginPart::Workflows),
    ("monitors", PluginPart::Monitors),
    ("settings.json", PluginPart::Settings),
];

/// A plugin in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedPlugin {
    /// The directory in the source; empty if the source is the plugin.
    pub root: String,
    /// The manifest.
    pub manifest: PluginManifest,
    /// The directories of its skills in the source, sorted.
    pub skills: Vec<String>,
    /// Its MCP servers. Nothing starts or registers them.
    pub servers: Vec<McpServer>,
    /// Its other parts, which are not installed.
    pub parts: Vec<PluginPart>,
}

/// A file that was read, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedManifest {
    /// The path in the source.
    pub path: String,
    /// The bytes of the file; empty if it is not a regular file.
    pub text: Vec<u8>,
    /// The diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// The result of loading a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginLoad {
    /// The plugin; `None` if it was rejected, or if there is none.
    pub plugin: Option<LoadedPlugin>,
    /// The files that were read.
    pub files: Vec<CheckedManifest>,
}

/// Loads the plugin in a directory of a source, which is empty for the source itself. `entry` is its entry in a
/// marketplace.
///
/// ```
/// use prowess_package::agent_plugins::{PLUGIN_SCHEMA, load_plugin};
/// use prowess_package::{InnerPath, MemoryFile, MemoryTree};
///
/// let file = |path: &str, text: String| MemoryFile {
///     path: InnerPath::parse(path.as_bytes()).unwrap(),
///     executable: false,
///     bytes: text.into_bytes(),
/// };
/// let tree = MemoryTree::new(vec![
///     file("plugin.json", format!(r#"{{"$schema": "{PLUGIN_SCHEMA}", "name": "reports"}}"#)),
///     file("skills/sum/SKILL.md", "---\nname: sum\ndescription: Adds.\n---\n".to_owned()),
/// ]);
/// let plugin = load_plugin(&tree, "", None).unwrap().plugin.unwrap();
/// assert_eq!(plugin.skills, ["skills/sum"]);
/// ```
pub fn load_plugin(
    tree: &dyn SourceTree,
    root: &str,
    entry: Option<&MarketplaceEntry>,
) -> Result<PluginLoad, SourceReadError> {
    load_counted(tree, root, entry).map(|(load, _)| load)
}

/// Loads a plugin, and returns how many bytes of manifests and names were read; see [`load_plugin`].
pub(super) fn load_counted(
    tree: &dyn SourceTree,
    root: &str,
    entry: Option<&MarketplaceEntry>,
) -> Result<(PluginLoad, usize), SourceReadError> {
    let mut loader = Loader {
        view: TreeView::new(tree, root),
        manifest_path: MANIFEST,
        files: Vec::new(),
        limit: DiagnosticLimit::new(DIAGNOSTICS_MAX),
        bytes_read: 0,
    };
    let manifest = loader.find_manifest()?;
    let manifest = match (manifest, entry) {
        (ManifestSearch::Rejected, _) | (ManifestSearch::Missing, None) => {
            return Ok(loader.finish(None));
        }
        (ManifestSearch::Found(manifest), None) => *manifest,
        (ManifestSearch::Found(manifest), Some(entry)) => merge_entry(*manifest, entry),
        (ManifestSearch::Missing, Some(entry)) => entry_as_manifest(entry),
    };
    let replaces_scan = entry.is_some_and(|entry| {
        entry.source == PluginSource::Local(PluginPath::Root) && entry.components.skills.is_some()
    });
    let skills = loader.find_skills(&manifest, replaces_scan)?;
    let servers = loader.find_servers(&manifest)?;
    let parts = loader.find_parts(&manifest.components);
    let plugin = LoadedPlugin { root: root.to_owned(), manifest, skills, servers, parts };
    Ok(loader.finish(Some(plugin)))
}

enum ManifestSearch {
    Found(Box<PluginManifest>),
    Rejected,
    Missing,
}

/// Adds the fields of an entry to a manifest. Nothing supplements a manifest of Agent Plugins.
fn merge_entry(manifest: PluginManifest, entry: &MarketplaceEntry) -> PluginManifest {
    let named = PluginManifest { name: entry.name.clone(), ..manifest };
    if named.format == PluginFormat::AgentPlugins {
        return named;
    }
    let mut components = named.components;
    let extra = entry.components.clone();
    components.skills = match (components.skills, extra.skills) {
        (Some(own), Some(extra)) => Some([own, extra].concat()),
        (own, extra) => own.or(extra),
    };
    components.servers.extend(extra.servers);
    components.server_files.extend(extra.server_files);
    components.parts.extend(extra.parts);
    PluginManifest {
        version: named.version.or_else(|| entry.version.clone()),
        description: named.description.or_else(|| entry.description.clone()),
        components,
        ..named
    }
}

fn entry_as_manifest(entry: &MarketplaceEntry) -> PluginManifest {
    PluginManifest {
        format: PluginFormat::Client,
        name: entry.name.clone(),
        version: entry.version.clone(),
        description: entry.description.clone(),
        components: entry.components.clone(),
    }
}

struct Loader<'a> {
    view: TreeView<'a>,
    manifest_path: &'static str,
    files: Vec<CheckedManifest>,
    limit: DiagnosticLimit,
    /// The bytes of manifests and names that were read.
    bytes_read: usize,
}

impl Loader<'_> {
    fn finish(mut self, plugin: Option<LoadedPlugin>) -> (PluginLoad, usize) {
        self.limit.report_omitted(&mut self.files);
        (PluginLoad { plugin, files: self.files }, self.bytes_read)
    }

    fn find_manifest(&mut self) -> Result<ManifestSearch, SourceReadError> {
        let standard = self.view.kind(MANIFEST);
        let mut unidentified = None;
        if let PathKind::File(index) = standard {
            let bytes = self.view.read(index)?;
            if names_agent_plugins(&bytes) {
                return Ok(self.parse_manifest(MANIFEST, bytes, PluginFormat::AgentPlugins));
            }
            unidentified = Some(bytes);
        }
        for path in MANIFESTS.into_iter().skip(1) {
            match self.view.kind(path) {
                PathKind::File(index) => {
                    let bytes = self.view.read(index)?;
                    return Ok(self.parse_manifest(path, bytes, PluginFormat::Client));
                }
                PathKind::Link | PathKind::Dir | PathKind::Other => self.report_kind(path, "a regular file"),
                PathKind::Missing => {}
            }
        }
        let view = self.view;
        let is_plugin = || PLUGIN_TRACES.iter().any(|path| view.kind(path) != PathKind::Missing);
        match (standard, unidentified) {
            // Many programs have a file of this name.
            (_, Some(bytes)) if is_plugin() => Ok(self.parse_manifest(MANIFEST, bytes, PluginFormat::Client)),
            (PathKind::Link | PathKind::Dir | PathKind::Other, None) if is_plugin() => {
                self.report_kind(MANIFEST, "a regular file");
                Ok(ManifestSearch::Rejected)
            }
            _ => Ok(ManifestSearch::Missing),
        }
    }

    fn parse_manifest(&mut self, path: &'static str, bytes: Vec<u8>, format: PluginFormat) -> ManifestSearch {
        self.manifest_path = path;
        let Parsed { value, diagnostics } = parse_plugin_manifest(&bytes, format);
        self.add_file(path, bytes, diagnostics);
        value.map_or(ManifestSearch::Rejected, |manifest| ManifestSearch::Found(Box::new(manifest)))
    }

    fn add_file(&mut self, path: &str, text: Vec<u8>, mut diagnostics: Vec<Diagnostic>) {
        self.bytes_read += text.len();
        diagnostics.retain(|diagnostic| self.limit.take(diagnostic));
        if text.is_empty() && diagnostics.is_empty() {
            return;
        }
        let path = self.view.full_path(path);
        match self.files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.diagnostics.extend(diagnostics),
            None => self.files.push(CheckedManifest { path, text, diagnostics }),
        }
    }

    fn report(&mut self, path: &str, diagnostic: Diagnostic) {
        self.add_file(path, Vec::new(), vec![diagnostic]);
    }

    /// Reports a path that is not what it must be.
    fn report_kind(&mut self, path: &str, expected: &str) {
        let actual = match self.view.kind(path) {
            PathKind::Link => " but a symlink or submodule, which are not followed",
            PathKind::Dir | PathKind::File(_) | PathKind::Other | PathKind::Missing => "",
        };
        let message = format!("{} is not {expected}{actual}", escape_and_truncate(path));
        let help = format!("replace it by {expected}");
        self.report(path, Diagnostic::error(Code::PluginComponent, message).help(help));
    }

    /// Returns the directories of the skills.
    fn find_skills(
        &mut self,
        manifest: &PluginManifest,
        replaces_scan: bool,
    ) -> Result<Vec<String>, SourceReadError> {
        let mut skills = BTreeSet::new();
        if !replaces_scan {
            match self.view.kind("skills") {
                PathKind::Missing => {}
                PathKind::Dir => skills.extend(self.skills_in("skills")),
                PathKind::File(_) | PathKind::Link | PathKind::Other => {
                    self.report_kind("skills", "a directory")
                }
            }
        }
        let declared = manifest.components.skills.iter().flatten().map(|path| path.below(""));
        for dir in declared.collect::<BTreeSet<_>>() {
            match (self.view.kind(&skill_file(&dir)), self.view.kind(&dir)) {
                (PathKind::File(_), _) => drop(skills.insert(dir)),
                // It was searched above.
                (_, PathKind::Dir) if dir == "skills" && !replaces_scan => {}
                (_, PathKind::Dir) => skills.extend(self.skills_in(&dir)),
                (_, PathKind::Missing) => {
                    let message = format!("there is no {}", escape_and_truncate(&skill_file(&dir)));
                    let diagnostic = Diagnostic::warning(Code::PluginPath, message);
                    self.report(&skill_file(&dir), diagnostic.help("remove it from skills in the manifest"));
                }
                (_, PathKind::File(_) | PathKind::Link | PathKind::Other) => {
                    self.report_kind(&dir, "a directory");
                }
            }
        }
        let mut valid = Vec::new();
        for dir in skills {
            if manifest.format == PluginFormat::Client || self.is_conforming(&dir)? {
                valid.push(self.view.full_path(&dir));
            }
        }
        Ok(valid)
    }

    /// Returns the directories with a `SKILL.md` directly below a directory.
    fn skills_in(&mut self, dir: &str) -> Vec<String> {
        let mut skills = Vec::new();
        for name in self.view.children(dir) {
            self.bytes_read += name.len();
            let skill = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            let file = skill_file(&skill);
            match self.view.kind(&file) {
                PathKind::File(_) => skills.push(skill),
                PathKind::Link if self.view.kind(&skill) == PathKind::Link => {
                    self.report_kind(&skill, "a directory");
                }
                PathKind::Link | PathKind::Dir => self.report_kind(&file, "a regular file"),
                PathKind::Other | PathKind::Missing => {}
            }
        }
        skills
    }

    /// Returns `true` if a skill follows the Agent Skills specification; reports the first violation otherwise. Keys
    /// of other agents are accepted.
    fn is_conforming(&mut self, dir: &str) -> Result<bool, SourceReadError> {
        let path = skill_file(dir);
        let PathKind::File(index) = self.view.kind(&path) else { return Ok(false) };
        let bytes = self.view.read(index)?;
        let name = dir.rsplit('/').next();
        let ParseOutcome { diagnostics, .. } = parse(&bytes, name, &Rules::strict());
        let is_violation = |found: &&Diagnostic| found.is_error() && found.code != Code::UnknownKey;
        let Some(first) = diagnostics.iter().find(is_violation) else { return Ok(true) };
        let message = format!("{} is left out of the plugin: {}", escape_and_truncate(dir), first.message);
        let mut diagnostic = Diagnostic::error(Code::PluginComponent, message);
        diagnostic.location = first.location;
        let help = first.help.as_deref().unwrap_or("fix the file");
        self.add_file(&path, bytes, vec![diagnostic.help(help)]);
        Ok(false)
    }

    fn find_servers(&mut self, manifest: &PluginManifest) -> Result<Vec<McpServer>, SourceReadError> {
        let components = &manifest.components;
        let files: Vec<String> = match manifest.format {
            PluginFormat::AgentPlugins => vec!["mcp.json".to_owned()],
            PluginFormat::Client => {
                let declared = components.server_files.iter().map(|path| path.below(""));
                std::iter::once(".mcp.json".to_owned()).chain(declared).collect()
            }
        };
        let mut servers = components.servers.clone();
        let mut read = BTreeSet::new();
        for path in files.into_iter().filter(|path| read.insert(path.clone())) {
            match self.view.kind(&path) {
                PathKind::Missing => {}
                PathKind::File(index) => {
                    let bytes = self.view.read(index)?;
                    let Parsed { value, diagnostics } = parse_mcp_config(&bytes, manifest.format);
                    self.add_file(&path, bytes, diagnostics);
                    let mut found = value.unwrap_or_default();
                    if manifest.format == PluginFormat::AgentPlugins {
                        found.retain(|server| self.is_contained(&path, server));
                    }
                    servers.extend(found);
                }
                PathKind::Dir | PathKind::Link | PathKind::Other => self.report_kind(&path, "a regular file"),
            }
        }
        let mut names = BTreeSet::new();
        servers.retain(|server| names.insert(server.name.clone()));
        if servers.len() > SERVERS_MAX {
            let message = format!("the plugin has more than {SERVERS_MAX} servers; the others are ignored");
            let diagnostic = Diagnostic::error(Code::PluginLimit, message).help("remove what is not needed");
            self.report(self.manifest_path, diagnostic);
            servers.truncate(SERVERS_MAX);
        }
        Ok(servers)
    }

    /// Returns `true` if the program and the working directory of a server are in the plugin; reports it otherwise.
    fn is_contained(&mut self, path: &str, server: &McpServer) -> bool {
        let McpTransport::Stdio(stdio) = &server.transport else { return true };
        let program = stdio.command.strip_prefix("./").map(|inner| self.view.kind(inner));
        let cwd = match stdio.cwd.as_deref().and_then(split_cwd) {
            Some((CwdBase::Root, Some(inner))) => self.view.kind(inner.as_str()),
            _ => PathKind::Dir,
        };
        let problem = match (program, cwd) {
            (None | Some(PathKind::File(_)), PathKind::Dir | PathKind::Missing) => return true,
            (None | Some(PathKind::File(_)), _) => "cwd is not a directory of the plugin",
            (Some(PathKind::Missing), _) => "command does not exist in the plugin",
            (Some(_), _) => "command is not a regular file of the plugin",
        };
        let message = format!("server {}: {problem}", escape_and_truncate(&server.name));
        let diagnostic = Diagnostic::error(Code::PluginServer, message);
        self.report(path, diagnostic.help("add the file to the plugin; symlinks are not followed"));
        false
    }

    fn find_parts(&self, components: &Components) -> Vec<PluginPart> {
        let mut parts: BTreeSet<PluginPart> = components.parts.iter().copied().collect();
        for (path, part) in PART_LOCATIONS {
            if self.view.kind(path) != PathKind::Missing {
                parts.insert(part);
            }
        }
        // A directory of a client is named like its domain, in reverse.
        let is_extension = |name: &String| {
            let is_domain = name.contains('.') && !name.starts_with('.') && !name.ends_with('.');
            is_domain && self.view.kind(name) == PathKind::Dir
        };
        if self.view.children("").iter().any(is_extension) {
            parts.insert(PluginPart::Extensions);
        }
        parts.into_iter().collect()
    }
}

fn skill_file(dir: &str) -> String {
    if dir.is_empty() { "SKILL.md".to_owned() } else { format!("{dir}/SKILL.md") }
}
