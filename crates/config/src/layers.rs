//! Finds the configuration files, their order, and the preset.

use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Severity};

use super::ConfigInputs;
use super::dialect::ConfigDialect;
use super::environment::Environment;
use super::file::{ConfigSymlinks, read_config_text};
use super::layer_reader::{FileAuthority, LayerReader, LoadState};
use super::origin::ConfigLayer;
use super::tree::{ConfigSyntaxError, ConfigTree, TreeKind, parse_toml, parse_yaml};
use prowess::FileDiagnostic;
use prowess::policy::Preset;

/// A configuration file, which may be missing.
pub(super) struct ConfigDocument {
    pub(super) path: PathBuf,
    layer: ConfigLayer,
    authority: FileAuthority,
    dialect: ConfigDialect,
    content: DocumentContent,
}

enum DocumentContent {
    Missing,
    Unreadable(Diagnostic),
    Text(String, Result<Option<ConfigTree>, Vec<ConfigSyntaxError>>),
}

/// Returns the preset, and the files from the lowest to the highest precedence. `replacement` is the path of a
/// file of the user or the project, and the text to use instead of its contents.
pub(super) fn find_layers(
    inputs: &ConfigInputs,
    replacement: Option<(&Path, &str)>,
) -> (Preset, Vec<ConfigDocument>) {
    let host = &inputs.host;
    let environment = Environment(&inputs.environment);
    let explicit = inputs.file.clone().or_else(|| environment.get("PROWESS_CONFIG").map(PathBuf::from));
    let explicit = explicit.map(|path| ConfigDocument::explicit(&path));
    let is_explicit =
        |path: &Path| explicit.as_ref().is_some_and(|explicit| is_same_path(&explicit.path, path));

    let user = |path: &str, dialect| {
        let path = host.home.as_ref()?.join(path);
        // Each file is used once, in the layer with the highest precedence.
        let text = replacement.filter(|(replaced, _)| *replaced == path).map(|(_, text)| text);
        (!is_explicit(&path)).then(|| match text {
            Some(text) => ConfigDocument::of_text(
                &path,
                ConfigLayer::User,
                FileAuthority::User,
                dialect,
                text.to_owned(),
            ),
            None => ConfigDocument::trusted(&path, ConfigLayer::User, dialect),
        })
    };
    let requested_preset =
        inputs.preset.or_else(|| environment.preset()).or_else(|| explicit.as_ref()?.preset());
    let prowess = || user(".prowess/config.toml", ConfigDialect::Prowess);
    let (preset, mut documents) = match requested_preset {
        Some(Preset::Harness) => (Preset::Harness, Vec::new()),
        Some(preset) => (preset, prowess().into_iter().collect()),
        // The file that selects the preset belongs to it.
        None => {
            let file = prowess();
            let preset = file.as_ref().and_then(ConfigDocument::preset).unwrap_or_default();
            (preset, Vec::from_iter(file))
        }
    };
    if preset == Preset::Harness {
        documents.extend(user(".agent/config.yaml", ConfigDialect::Harness));
    }

    let in_home = host.home.as_ref().is_some_and(|home| is_same_path(home, &host.project));
    if preset == Preset::Chat {
        let path = host.project.join("config.toml");
        if !is_explicit(&path) {
            documents.push(ConfigDocument::trusted(&path, ConfigLayer::Project, ConfigDialect::Chat));
        }
    } else if !in_home {
        let path = host.project.join(".prowess/config.toml");
        let text = replacement.filter(|(replaced, _)| *replaced == path).map(|(_, text)| text.to_owned());
        if !is_explicit(&path) {
            documents.push(match text {
                Some(text) => {
                    let (layer, authority) = (ConfigLayer::Project, FileAuthority::Project);
                    ConfigDocument::of_text(&path, layer, authority, ConfigDialect::Prowess, text)
                }
                None => ConfigDocument::project(&path, &host.project),
            });
        }
    }
    documents.extend(explicit);
    (preset, documents)
}

/// Returns `true` if two paths point to the same existing file or directory.
fn is_same_path(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

impl ConfigDocument {
    /// Reads a file that may be a symlink and may set everything.
    fn trusted(path: &Path, layer: ConfigLayer, dialect: ConfigDialect) -> Self {
        Self::read(path, layer, FileAuthority::User, dialect, ConfigSymlinks::Followed)
    }

    /// Reads a project's file.
    fn project(path: &Path, project: &Path) -> Self {
        Self::read(
            path,
            ConfigLayer::Project,
            FileAuthority::Project,
            ConfigDialect::Prowess,
            ConfigSymlinks::Rejected(project),
        )
    }

    /// Reads the file passed with `--config`, which must exist.
    fn explicit(path: &Path) -> Self {
        let mut document = Self::trusted(path, ConfigLayer::Explicit, ConfigDialect::Prowess);
        if matches!(document.content, DocumentContent::Missing) {
            let message = "the configuration file does not exist";
            document.content =
                DocumentContent::Unreadable(Diagnostic::error(Code::ConfigUnreadable, message));
        }
        document
    }

    fn read(
        path: &Path,
        layer: ConfigLayer,
        authority: FileAuthority,
        dialect: ConfigDialect,
        links: ConfigSymlinks<'_>,
    ) -> Self {
        let content = match read_config_text(path, links, authority.severity()) {
            Ok(None) => DocumentContent::Missing,
            Err(diagnostic) => DocumentContent::Unreadable(diagnostic),
            Ok(Some(text)) => return Self::of_text(path, layer, authority, dialect, text),
        };
        Self { path: path.to_owned(), layer, authority, dialect, content }
    }

    fn of_text(
        path: &Path,
        layer: ConfigLayer,
        authority: FileAuthority,
        dialect: ConfigDialect,
        text: String,
    ) -> Self {
        let content = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => {
                let tree = parse_toml(&text, dialect.path());
                DocumentContent::Text(text, tree)
            }
            Some("yaml" | "yml") => {
                let tree = parse_yaml(&text, dialect.path());
                DocumentContent::Text(text, tree)
            }
            _ => DocumentContent::Unreadable(unknown_extension(authority.severity())),
        };
        Self { path: path.to_owned(), layer, authority, dialect, content }
    }

    /// Returns `true` if the file was read.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.content, DocumentContent::Text(..))
    }

    /// Returns the preset that the file selects, if it is valid.
    fn preset(&self) -> Option<Preset> {
        let DocumentContent::Text(_, Ok(Some(tree))) = &self.content else { return None };
        match &tree.get("preset")?.value.kind {
            TreeKind::Text(name) => name.parse().ok(),
            _ => None,
        }
    }

    /// Applies the file to the current values.
    pub(super) fn apply(&self, state: &mut LoadState) {
        match &self.content {
            DocumentContent::Missing => {}
            DocumentContent::Unreadable(diagnostic) => {
                state.diagnostics.push(FileDiagnostic::new(&self.path, diagnostic.clone()));
            }
            DocumentContent::Text(text, tree) => {
                let mut reader = LayerReader::new(state, &self.path, text, self.layer, self.authority);
                match tree {
                    Ok(Some(tree)) => self.dialect.apply(tree, &mut reader),
                    Ok(None) => {}
                    // If a file is invalid, none of it is applied: the missing part may contain restrictions.
                    Err(malformed) => {
                        for ConfigSyntaxError { span, message } in malformed {
                            let message = format!("invalid syntax: {message}");
                            reader.report(Code::ConfigSyntax, *span, message, None);
                        }
                    }
                }
                reader.finish();
            }
        }
    }
}

fn unknown_extension(severity: Severity) -> Diagnostic {
    let message = "unknown extension of the configuration file";
    Diagnostic::new(Code::ConfigUnreadable, severity, message).help("use the extension .toml, .yaml or .yml")
}
