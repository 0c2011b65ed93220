//! Checks the manifests of plugins and marketplaces for `prowess check`.

use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic};
use prowess_package::DirTree;
use prowess_package::agent_plugins::{CheckedManifest, has_manifest, load_all_plugins};

/// The result for a manifest, or for another file that makes a plugin incomplete.
pub(super) struct ManifestCheck {
    pub(super) path: PathBuf,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Checks the plugin or marketplace in a directory, and the plugins of the marketplace that are in it. Returns nothing
/// for other paths.
pub(super) fn check_manifests(path: &Path) -> Vec<ManifestCheck> {
    // Most directories have no manifest, and listing them again would take time.
    if !has_manifest(path) {
        return Vec::new();
    }
    let Ok(path) = std::path::absolute(path) else { return Vec::new() };
    let loaded = DirTree::open(&path).and_then(|tree| load_all_plugins(&tree, ""));
    let files = match loaded {
        Ok((found, _)) => found.files,
        Err(error) => {
            let message = format!("the plugin cannot be checked: {error}");
            let diagnostics = vec![Diagnostic::error(Code::DirectoryUnreadable, message)];
            return vec![ManifestCheck { path, diagnostics }];
        }
    };
    let absolute = |file: CheckedManifest| {
        let path = path.join(&file.path).components().collect();
        ManifestCheck { path, diagnostics: file.diagnostics }
    };
    files.into_iter().map(absolute).collect()
}
