//! Finds the plugins of a source: a marketplace, or the plugin in its root.

use std::collections::BTreeMap;
use std::path::Path;

use prowess_archive::{SourceReadError, SourceTree};
use prowess_format::{Code, Diagnostic};

use super::diagnostic_limit::DiagnosticLimit;
use super::json::Parsed;
use super::limits::{ALL_DIAGNOSTICS_MAX, LOADED_BYTES_MAX, LOADS_MAX};
use super::load::{CheckedManifest, LoadedPlugin, MANIFESTS, PluginLoad, load_counted, load_plugin};
use super::marketplace::{Marketplace, MarketplaceEntry, PluginSource, parse_marketplace};
use super::schema::PluginFormat;
use super::tree_view::{PathKind, TreeView};

/// The files that list plugins, in the order in which they are looked for.
const MARKETPLACES: [&str; 7] = [
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
    ".plugin/marketplace.json",
    ".github/plugin/marketplace.json",
    ".cursor-plugin/marketplace.json",
    ".factory-plugin/marketplace.json",
    "marketplace.json",
];

/// Returns `true` if a directory on disk has a manifest of a plugin or marketplace. Nothing is read.
pub fn has_manifest(dir: &Path) -> bool {
    let is_present = |path: &&'static str| std::fs::symlink_metadata(dir.join(path)).is_ok();
    MARKETPLACES.iter().chain(&MANIFESTS).any(is_present)
}

/// The plugins of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundPlugins {
    /// The marketplace.
    pub marketplace: Option<Marketplace>,
    /// The plugin in the root of the source.
    pub plugin: Option<LoadedPlugin>,
    /// The files that were read.
    pub files: Vec<CheckedManifest>,
}

/// Finds the plugins in a directory of a source, which is empty for the source itself. Plugins of a marketplace are
/// not loaded.
pub fn find_plugins(tree: &dyn SourceTree, root: &str) -> Result<FoundPlugins, SourceReadError> {
    let view = TreeView::new(tree, root);
    let PluginLoad { plugin, mut files } = load_plugin(tree, root, None)?;
    let mut marketplace = None;
    for path in MARKETPLACES {
        let PathKind::File(index) = view.kind(path) else { continue };
        let text = view.read(index)?;
        let Parsed { value, diagnostics } = parse_marketplace(&text);
        // Other programs may have a file of this name.
        if value.is_none() && path == "marketplace.json" {
            break;
        }
        files.push(CheckedManifest { path: view.full_path(path), text, diagnostics });
        marketplace = value;
        break;
    }
    Ok(FoundPlugins { marketplace, plugin, files })
}

/// Finds the plugins in a directory of a source, and loads those that are in the same source, in the order of the
/// marketplace.
pub fn load_all_plugins(
    tree: &dyn SourceTree,
    root: &str,
) -> Result<(FoundPlugins, Vec<LoadedPlugin>), SourceReadError> {
    let mut found = find_plugins(tree, root)?;
    let mut plugins: Vec<LoadedPlugin> = Vec::new();
    let mut files: BTreeMap<String, CheckedManifest> =
        std::mem::take(&mut found.files).into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut limit = DiagnosticLimit::new(ALL_DIAGNOSTICS_MAX);
    let (mut loads, mut bytes_read) = (0, 0);
    let entries = found.marketplace.iter().flat_map(|marketplace| &marketplace.plugins);
    for entry in entries {
        let PluginSource::Local(path) = &entry.source else { continue };
        // An entry adds nothing to a manifest of Agent Plugins, so its plugin is loaded only once.
        let dir = path.below(root);
        let is_same = |plugin: &LoadedPlugin| {
            plugin.root == dir && plugin.manifest.format == PluginFormat::AgentPlugins
        };
        if found.plugin.iter().chain(&plugins).any(is_same) {
            continue;
        }
        if loads >= LOADS_MAX || bytes_read >= LOADED_BYTES_MAX {
            let message = format!("only the first {loads} plugins of this source were read");
            let diagnostic = Diagnostic::warning(Code::PluginLimit, message);
            let path = TreeView::new(tree, root).full_path(MARKETPLACES[0]);
            let diagnostics = vec![diagnostic.help("split the marketplace")];
            add_file(&mut files, CheckedManifest { path, text: Vec::new(), diagnostics }, &mut limit);
            break;
        }
        let (load, bytes) = load_counted(tree, &dir, Some(entry))?;
        loads += 1;
        bytes_read += bytes;
        load.files.into_iter().for_each(|file| add_file(&mut files, file, &mut limit));
        plugins.extend(load.plugin);
    }
    found.files = files.into_values().collect();
    limit.report_omitted(&mut found.files);
    Ok((found, plugins))
}

/// Adds a file, or its diagnostics if it was read before: several entries may name the same directory.
fn add_file(
    files: &mut BTreeMap<String, CheckedManifest>,
    file: CheckedManifest,
    limit: &mut DiagnosticLimit,
) {
    let CheckedManifest { path, text, diagnostics } = file;
    let known = files.entry(path.clone()).or_insert(CheckedManifest { path, text, diagnostics: Vec::new() });
    for diagnostic in diagnostics {
        if !known.diagnostics.contains(&diagnostic) && limit.take(&diagnostic) {
            known.diagnostics.push(diagnostic);
        }
    }
}

/// Loads a plugin of a marketplace in the same source; `None` if the plugin is elsewhere.
pub fn load_entry(
    tree: &dyn SourceTree,
    root: &str,
    entry: &MarketplaceEntry,
) -> Result<Option<PluginLoad>, SourceReadError> {
    match &entry.source {
        PluginSource::Local(path) => load_plugin(tree, &path.below(root), Some(entry)).map(Some),
        PluginSource::Remote { .. } | PluginSource::Unsupported(_) => Ok(None),
    }
}
