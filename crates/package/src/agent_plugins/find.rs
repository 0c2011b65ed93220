//! Finds the plugins of a source: a marketplace, or the plugin in its root.

use std::path::Path;

use prowess_archive::{SourceReadError, SourceTree};
use prowess_format::{Code, Diagnostic};

use super::json::Parsed;
use super::limits::LOADS_MAX;
use super::load::{CheckedManifest, LoadedPlugin, MANIFESTS, PluginLoad, load_plugin};
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
    let mut files = Vec::new();
    let mut loads = 0;
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
        loads += 1;
        if loads > LOADS_MAX {
            let message = format!("only the first {LOADS_MAX} plugins of this source were read");
            let diagnostic = Diagnostic::warning(Code::PluginLimit, message);
            let path = TreeView::new(tree, root).full_path(MARKETPLACES[0]);
            let diagnostics = vec![diagnostic.help("split the marketplace")];
            files.push(CheckedManifest { path, text: Vec::new(), diagnostics });
            break;
        }
        let load = load_plugin(tree, &dir, Some(entry))?;
        files.extend(load.files);
        plugins.extend(load.plugin);
    }
    for file in files {
        match found.files.iter_mut().find(|known| known.path == file.path) {
            None => found.files.push(file),
            Some(known) => {
                // Several entries may name the same directory.
                let new = file.diagnostics.into_iter();
                let new: Vec<_> = new.filter(|diagnostic| !known.diagnostics.contains(diagnostic)).collect();
                known.diagnostics.extend(new);
            }
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((found, plugins))
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
