//! Which files there are, which preset they make, and in which order they count.

use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Severity};

use super::Inputs;
use super::environment::Environment;
use super::file::{Links, read};
use super::foreign::Dialect;
use super::origin::Layer;
use super::read::{Reader, Standing, State};
use super::tree::{Kind, Malformed, Tree, toml, yaml};
use prowess::Located;
use prowess::policy::Preset;

/// One file, read or not.
pub(super) struct Document {
    pub(super) path: PathBuf,
    layer: Layer,
    standing: Standing,
    dialect: Dialect,
    content: Content,
}

enum Content {
    Missing,
    Unreadable(Diagnostic),
    Text(String, Result<Option<Tree>, Vec<Malformed>>),
}

/// The preset, and the files in the order in which they count.
/// Where `instead` names a file of the user's, its text counts, and not what is on disk.
pub(super) fn find(inputs: &Inputs, instead: Option<(&Path, &str)>) -> (Preset, Vec<Document>) {
    let world = &inputs.surroundings;
    let environment = Environment(&inputs.environment);
    let given = inputs.file.clone().or_else(|| environment.get("PROWESS_CONFIG").map(PathBuf::from));
    let given = given.map(|path| Document::given(&path));
    let is_given = |path: &Path| given.as_ref().is_some_and(|given| same(&given.path, path));

    let user = |path: &str, dialect| {
        let path = world.home.as_ref()?.join(path);
        // A file counts once, where it counts most.
        let text = instead.filter(|(known, _)| *known == path).map(|(_, text)| text);
        (!is_given(&path)).then(|| match text {
            Some(text) => Document::of_text(&path, Layer::User, Standing::Own, dialect, text.to_owned()),
            None => Document::own(&path, Layer::User, dialect),
        })
    };
    let decided = inputs.preset.or_else(|| environment.preset()).or_else(|| given.as_ref()?.preset());
    let prowess = || user(".prowess/config.toml", Dialect::Prowess);
    let (preset, mut documents) = match decided {
        Some(Preset::Harness) => (Preset::Harness, Vec::new()),
        Some(preset) => (preset, prowess().into_iter().collect()),
        // A file that names the preset counts in it.
        None => {
            let file = prowess();
            let preset = file.as_ref().and_then(Document::preset).unwrap_or_default();
            (preset, Vec::from_iter(file))
        }
    };
    if preset == Preset::Harness {
        documents.extend(user(".agent/config.yaml", Dialect::Harness));
    }

    let in_home = world.home.as_ref().is_some_and(|home| same(home, &world.project));
    if preset == Preset::Chat {
        let path = world.project.join("config.toml");
        if !is_given(&path) {
            documents.push(Document::own(&path, Layer::Project, Dialect::Chat));
        }
    } else if !in_home {
        let path = world.project.join(".prowess/config.toml");
        if !is_given(&path) {
            documents.push(Document::project(&path, &world.project));
        }
    }
    documents.extend(given);
    (preset, documents)
}

/// Whether two paths lead to the same file or folder, which is there.
fn same(one: &Path, other: &Path) -> bool {
    matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

impl Document {
    /// A file that its owner may link and set everything in.
    fn own(path: &Path, layer: Layer, dialect: Dialect) -> Self {
        Self::read(path, layer, Standing::Own, dialect, Links::Followed)
    }

    /// A project's file.
    fn project(path: &Path, project: &Path) -> Self {
        Self::read(path, Layer::Project, Standing::Project, Dialect::Prowess, Links::Refused(project))
    }

    /// The file of `--config`, which has to be there.
    fn given(path: &Path) -> Self {
        let mut document = Self::own(path, Layer::Given, Dialect::Prowess);
        if matches!(document.content, Content::Missing) {
            let message = "the configuration file is not there";
            document.content = Content::Unreadable(Diagnostic::error(Code::ConfigUnreadable, message));
        }
        document
    }

    fn read(path: &Path, layer: Layer, standing: Standing, dialect: Dialect, links: Links<'_>) -> Self {
        let content = match read(path, links, standing.severity()) {
            Ok(None) => Content::Missing,
            Err(diagnostic) => Content::Unreadable(diagnostic),
            Ok(Some(text)) => return Self::of_text(path, layer, standing, dialect, text),
        };
        Self { path: path.to_owned(), layer, standing, dialect, content }
    }

    fn of_text(path: &Path, layer: Layer, standing: Standing, dialect: Dialect, text: String) -> Self {
        let content = match path.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => {
                let tree = toml(&text, dialect.path());
                Content::Text(text, tree)
            }
            Some("yaml" | "yml") => {
                let tree = yaml(&text, dialect.path());
                Content::Text(text, tree)
            }
            _ => Content::Unreadable(unknown_ending(standing.severity())),
        };
        Self { path: path.to_owned(), layer, standing, dialect, content }
    }

    /// Whether it was read.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.content, Content::Text(..))
    }

    /// The preset it names, if there is one of that name.
    fn preset(&self) -> Option<Preset> {
        let Content::Text(_, Ok(Some(tree))) = &self.content else { return None };
        match &tree.get("preset")?.value.kind {
            Kind::Text(name) => name.parse().ok(),
            _ => None,
        }
    }

    /// Takes it over what is in force.
    pub(super) fn apply(&self, state: &mut State) {
        match &self.content {
            Content::Missing => {}
            Content::Unreadable(diagnostic) => {
                state.diagnostics.push(Located::new(&self.path, diagnostic.clone()));
            }
            Content::Text(text, tree) => {
                let mut reader = Reader::new(state, &self.path, text, self.layer, self.standing);
                match tree {
                    Ok(Some(tree)) => self.dialect.read(tree, &mut reader),
                    Ok(None) => {}
                    // Half of a file could leave out the half that forbids something: nothing is taken.
                    Err(malformed) => {
                        for Malformed { span, message } in malformed {
                            let message = format!("the configuration is not well formed: {message}");
                            reader.say(Code::ConfigSyntax, *span, message, None);
                        }
                    }
                }
                reader.finish();
            }
        }
    }
}

fn unknown_ending(severity: Severity) -> Diagnostic {
    let message = "whether the configuration file is TOML or YAML cannot be told from its ending";
    Diagnostic::new(Code::ConfigUnreadable, severity, message).help("let it end in .toml, .yaml or .yml")
}
