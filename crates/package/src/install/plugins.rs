//! Selects the plugins of a source, and their skills.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use prowess::lock::LockedPlugin;
use prowess_archive::SourceTree;
use prowess_format::Diagnostic;
use prowess_format::hidden::escape_and_truncate;
use prowess_format::suggest;

use super::{InstallRequest, SkillChoice};
use crate::acquire::{AcquiredSource, Candidate, NameSource, SourceContents, acquire_source};
use crate::agent_plugins::{
    CheckedManifest, FoundPlugins, LoadedPlugin, MarketplaceEntry, PluginLoad, PluginSource, find_plugins,
    load_all_plugins, load_entry, load_plugin,
};
use crate::error::PackageError;
use crate::source::Source;
use crate::task::Task;

/// The maximum length of a version in the lock file, in characters.
const VERSION_MAX: usize = 64;

/// A plugin whose skills are installed.
#[derive(Debug)]
pub struct PlannedPlugin {
    /// The plugin.
    pub plugin: LoadedPlugin,
    /// Its record in the lock file.
    pub record: LockedPlugin,
    /// The files with diagnostics.
    pub files: Vec<CheckedManifest>,
}

impl PlannedPlugin {
    fn new(load: PluginLoad, marketplace: Option<&str>) -> Option<Self> {
        let plugin = load.plugin?;
        let record = LockedPlugin {
            name: plugin.manifest.name.as_str().to_owned(),
            version: plugin
                .manifest
                .version
                .as_ref()
                .map(|version| version.chars().take(VERSION_MAX).collect()),
            path: (!plugin.root.is_empty()).then(|| plugin.root.clone()),
            marketplace: marketplace.map(str::to_owned),
        };
        let files = load.files.into_iter().filter(|file| !file.diagnostics.is_empty()).collect();
        Some(Self { plugin, record, files })
    }
}

/// The source to install from, after the entry of a marketplace was followed to another repository.
pub(super) struct FollowedSource {
    pub(super) acquired: AcquiredSource,
    /// The entry that was followed, and the name of its marketplace.
    entry: Option<(MarketplaceEntry, String)>,
    root: String,
}

/// Fetches the repository of the named plugin, if the marketplace says that it is in another one.
pub(super) fn follow_marketplace(
    request: &InstallRequest,
    acquired: AcquiredSource,
    scratch: &Path,
    task: &Arc<Task>,
) -> Result<FollowedSource, PackageError> {
    let root = match (&request.source, &acquired.contents) {
        (Source::Git { subdir: Some(subdir), .. }, _) => subdir.as_str().to_owned(),
        (Source::Archive(_) | Source::ArchiveUrl(_), SourceContents::Tree(tree)) => only_dir(&**tree),
        _ => String::new(),
    };
    let Some((entry, marketplace)) = find_remote_entry(request, &acquired, &root)? else {
        return Ok(FollowedSource { acquired, entry: None, root });
    };
    let name = entry.name.as_str();
    if request.plugins.len() > 1 {
        return Err(PackageError::PluginSource {
            name: name.to_owned(),
            reason: "it is in another repository".to_owned(),
            hint: "install it with a command of its own".to_owned(),
        });
    }
    let (source, root) = match &entry.source {
        PluginSource::Remote { source, subdir } => {
            (source, subdir.as_ref().map(|subdir| subdir.as_str().to_owned()).unwrap_or_default())
        }
        PluginSource::Local(_) | PluginSource::Unsupported(_) => {
            return Ok(FollowedSource { acquired, entry: None, root });
        }
    };
    let acquired = acquire_source(source, None, request.file_urls, &scratch.join("plugin"), task)?;
    Ok(FollowedSource { acquired, entry: Some((entry, marketplace)), root })
}

/// Returns the directory that contains all files of an archive; empty if there is none.
fn only_dir(tree: &dyn SourceTree) -> String {
    let top = |path: &[u8]| path.iter().position(|byte| *byte == b'/').map(|end| path[..end].to_vec());
    let mut tops = tree.entries().iter().map(|entry| top(&entry.path));
    match tops.next().flatten() {
        Some(first) if tops.all(|other| other.as_ref() == Some(&first)) => {
            String::from_utf8(first).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Returns the entry of a named plugin that is in another repository, and the name of the marketplace.
fn find_remote_entry(
    request: &InstallRequest,
    acquired: &AcquiredSource,
    root: &str,
) -> Result<Option<(MarketplaceEntry, String)>, PackageError> {
    let SourceContents::Tree(tree) = &acquired.contents else { return Ok(None) };
    if request.plugins.is_empty() {
        return Ok(None);
    }
    let Some(marketplace) = find_plugins(&**tree, root)?.marketplace else { return Ok(None) };
    let name = marketplace.name.as_str().to_owned();
    let is_remote = |entry: &MarketplaceEntry| {
        let is_named = request.plugins.iter().any(|name| name == entry.name.as_str());
        is_named && matches!(entry.source, PluginSource::Remote { .. })
    };
    Ok(marketplace.plugins.into_iter().find(is_remote).map(|entry| (entry, name)))
}

impl FollowedSource {
    /// Returns the plugins to install; `None` if skills are selected without regard to plugins. With `--all`, these
    /// are all plugins in the source.
    pub(super) fn choose_plugins(
        &self,
        request: &InstallRequest,
    ) -> Result<Option<Vec<PlannedPlugin>>, PackageError> {
        let source_text = || request.source.to_string();
        let SourceContents::Tree(tree) = &self.acquired.contents else {
            return match request.plugins.first() {
                None => Ok(None),
                Some(name) => Err(plugin_not_found(name, source_text(), Vec::new())),
            };
        };
        if let Some((entry, marketplace)) = &self.entry {
            let load = load_plugin(&**tree, &self.root, Some(entry))?;
            return Ok(Some(vec![planned(load, Some(marketplace), entry.name.as_str())?]));
        }
        match (&request.plugins[..], &request.skills) {
            ([], SkillChoice::Named(_)) => Ok(None),
            ([], SkillChoice::All) => Ok(Some(all_plugins(&**tree, &self.root)?)),
            ([], SkillChoice::Ask) => only_plugin(&**tree, &self.root),
            (names, _) => {
                let found = find_plugins(&**tree, &self.root)?;
                let choose = |name: &String| choose_named(&**tree, &self.root, &found, name, source_text);
                names.iter().map(choose).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    /// Returns the skills of the plugins, sorted by directory.
    pub(super) fn skills_of(&self, plugins: &[PlannedPlugin]) -> Result<Vec<Candidate>, PackageError> {
        if let Some(empty) = plugins.iter().find(|planned| planned.plugin.skills.is_empty()) {
            let plugin = &empty.plugin;
            let servers = (!plugin.servers.is_empty()).then_some("MCP servers");
            let parts = servers.into_iter().chain(plugin.parts.iter().map(|part| part.as_str()));
            return Err(PackageError::PluginWithoutSkills {
                name: empty.record.name.clone(),
                parts: parts.map(str::to_owned).collect(),
            });
        }
        let mut candidates = self.acquired.candidates(true, NameSource::Directory)?;
        let records = plugin_records(plugins);
        candidates.retain(|candidate| records.contains_key(candidate.dir.as_str()));
        Ok(candidates)
    }

    /// Returns `true` if the plugin is in another repository than its marketplace.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.entry.is_some()
    }

    /// Adds the plugins of the source to the error for several skills.
    pub(super) fn name_plugins(&self, error: PackageError) -> PackageError {
        let plugins = match &self.acquired.contents {
            SourceContents::Tree(tree) => find_plugins(&**tree, &self.root).map(|found| available(&found)),
            SourceContents::Site(_) => Ok(Vec::new()),
        };
        match (error, plugins) {
            (PackageError::MultipleSkills { source_text, available: skills }, Ok(plugins))
                if !plugins.is_empty() =>
            {
                PackageError::MultiplePlugins { source_text, plugins, skills }
            }
            (error, _) => error,
        }
    }
}

/// Returns the record of each skill, by its directory in the source. A skill of several plugins belongs to the first.
pub(super) fn plugin_records(plugins: &[PlannedPlugin]) -> HashMap<&str, &LockedPlugin> {
    let mut records = HashMap::new();
    for planned in plugins {
        for dir in &planned.plugin.skills {
            records.entry(dir.as_str()).or_insert(&planned.record);
        }
    }
    records
}

/// Returns the plugin in the root of a source, if the source is a plugin with skills and nothing else.
fn only_plugin(tree: &dyn SourceTree, root: &str) -> Result<Option<Vec<PlannedPlugin>>, PackageError> {
    let FoundPlugins { marketplace, plugin, files } = find_plugins(tree, root)?;
    let plugin = plugin.filter(|plugin| marketplace.is_none() && !plugin.skills.is_empty());
    let has_own_skill = || {
        let path = if root.is_empty() { "SKILL.md".to_owned() } else { format!("{root}/SKILL.md") };
        tree.entries().binary_search_by(|entry| entry.path.as_ref().cmp(path.as_bytes())).is_ok()
    };
    // A source with a SKILL.md is that skill.
    let plugin = plugin.filter(|plugin| plugin.skills.iter().any(|dir| *dir == root) || !has_own_skill());
    Ok(PlannedPlugin::new(PluginLoad { plugin, files }, None).map(|planned| vec![planned]))
}

/// Returns all plugins in the source that have skills.
fn all_plugins(tree: &dyn SourceTree, root: &str) -> Result<Vec<PlannedPlugin>, PackageError> {
    let (found, plugins) = load_all_plugins(tree, root)?;
    let marketplace = found.marketplace.as_ref().map(|marketplace| marketplace.name.as_str());
    let load = |plugin: LoadedPlugin| PluginLoad { plugin: Some(plugin), files: Vec::new() };
    let listed = plugins.into_iter().filter_map(|plugin| PlannedPlugin::new(load(plugin), marketplace));
    let own = found.plugin.and_then(|plugin| PlannedPlugin::new(load(plugin), None));
    Ok(listed.chain(own).filter(|planned| !planned.plugin.skills.is_empty()).collect())
}

fn choose_named(
    tree: &dyn SourceTree,
    root: &str,
    found: &FoundPlugins,
    name: &str,
    source_text: impl Fn() -> String,
) -> Result<PlannedPlugin, PackageError> {
    let marketplace = found.marketplace.as_ref();
    let entry = marketplace.and_then(|list| list.plugins.iter().find(|entry| entry.name.as_str() == name));
    if let Some(entry) = entry {
        let marketplace = marketplace.map(|list| list.name.as_str());
        return match (&entry.source, load_entry(tree, root, entry)?) {
            (PluginSource::Local(_), Some(load)) => planned(load, marketplace, name),
            (PluginSource::Unsupported(reason), _) => Err(PackageError::PluginSource {
                name: name.to_owned(),
                reason: reason.clone(),
                hint: "use a plugin whose source is a directory, github, url or git-subdir".to_owned(),
            }),
            (PluginSource::Local(_) | PluginSource::Remote { .. }, _) => {
                Err(plugin_not_found(name, source_text(), available(found)))
            }
        };
    }
    let load = PluginLoad { plugin: found.plugin.clone(), files: found.files.clone() };
    match &found.plugin {
        Some(plugin) if plugin.manifest.name.as_str() == name => planned(load, None, name),
        // A rejected manifest explains why there is no plugin.
        None if marketplace.is_none() && load.files.iter().any(has_error) => planned(load, None, name),
        _ => Err(plugin_not_found(name, source_text(), available(found))),
    }
}

fn has_error(file: &CheckedManifest) -> bool {
    file.diagnostics.iter().any(Diagnostic::is_error)
}

/// Returns a plugin, or the error of the manifest that rejects it.
fn planned(load: PluginLoad, marketplace: Option<&str>, name: &str) -> Result<PlannedPlugin, PackageError> {
    let rejected = load.files.iter().find(|file| has_error(file)).cloned();
    PlannedPlugin::new(load, marketplace).ok_or_else(|| match rejected {
        Some(CheckedManifest { path, text, diagnostics }) => {
            PackageError::InvalidManifest { path, diagnostics, text }
        }
        None => PackageError::NotFound(format!("plugin {} has no manifest", escape_and_truncate(name))),
    })
}

fn available(found: &FoundPlugins) -> Vec<String> {
    let listed = found.marketplace.iter().flat_map(|marketplace| &marketplace.plugins);
    let own = found.plugin.iter().map(|plugin| &plugin.manifest.name);
    let mut names: Vec<String> = Vec::new();
    for name in listed.map(|entry| &entry.name).chain(own) {
        if !names.iter().any(|known| known == name.as_str()) {
            names.push(name.as_str().to_owned());
        }
    }
    names
}

fn plugin_not_found(name: &str, source_text: String, mut available: Vec<String>) -> PackageError {
    // The most similar name comes first.
    let nearest = suggest::nearest(name, available.iter().map(String::as_str)).map(str::to_owned);
    available.sort_by_key(|known| Some(known) != nearest.as_ref());
    PackageError::PluginNotInSource { name: name.to_owned(), source_text, available }
}
