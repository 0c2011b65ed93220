//! A directory of skills, or its equivalent in the binary or on a server.

use std::path::{Path, PathBuf};

use crate::policy::Scope;

/// A source of skills: an existing directory, the binary, or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    canonical: PathBuf,
    scope: Scope,
    base: Option<PathBuf>,
    kind: RootKind,
}

/// Where the skills of a root are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootKind {
    Dir,
    /// A directory of custom commands.
    Commands(CommandDialect),
    /// Embedded in the binary.
    Embedded,
    /// On a server.
    Remote,
}

/// The client whose custom commands a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandDialect {
    /// Claude Code: in any subdirectory, and offered to models if it has a description.
    ClaudeCode,
    /// Codex: directly in the directory, with arguments from `$1`, and never offered to models.
    Codex,
}

impl Root {
    pub(crate) fn embedded() -> Self {
        let path = PathBuf::from("bundled:");
        Self { canonical: path.clone(), path, scope: Scope::Bundled, base: None, kind: RootKind::Embedded }
    }

    /// Returns the root for the server with this label. Its canonical path cannot exist, so nothing can be read
    /// through it by mistake.
    pub(crate) fn remote(label: &str) -> Self {
        let path = PathBuf::from(format!("mcp:{label}"));
        let canonical = Path::new("/dev/null").join(&path);
        Self { path, canonical, scope: Scope::Remote, base: None, kind: RootKind::Remote }
    }

    pub(crate) fn dir(path: PathBuf, canonical: PathBuf, scope: Scope, base: Option<PathBuf>) -> Self {
        Self { path, canonical, scope, base, kind: RootKind::Dir }
    }

    /// Returns the root of a directory with custom commands.
    #[must_use]
    pub(crate) fn with_commands(self, dialect: CommandDialect) -> Self {
        Self { kind: RootKind::Commands(dialect), ..self }
    }

    /// Returns the client whose custom commands the root holds; `None` if it holds skills.
    pub fn command_dialect(&self) -> Option<CommandDialect> {
        match self.kind {
            RootKind::Commands(dialect) => Some(dialect),
            RootKind::Dir | RootKind::Embedded | RootKind::Remote => None,
        }
    }

    /// Returns the path as configured.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path with all symlinks resolved.
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Returns the scope of the root's skills.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the project directory whose trust the skills need; `None` if they need none.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Returns `true` if the skills are embedded in the binary.
    pub fn is_embedded(&self) -> bool {
        self.kind == RootKind::Embedded
    }

    /// Returns `true` if the skills are on a server. Their files are read through its
    /// [`RemoteSource`](crate::remote::RemoteSource).
    pub fn is_remote(&self) -> bool {
        self.kind == RootKind::Remote
    }

    /// Returns `true` if the root is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.kind, RootKind::Dir | RootKind::Commands(_))
    }

    /// Returns the label shown to users: "Bundled", "Project", "Claude", "User", "Plugin" or "MCP".
    pub fn label(&self) -> &'static str {
        let claude = self.path.components().any(|component| component.as_os_str() == ".claude");
        match self.scope {
            Scope::Project if claude => "Claude",
            Scope::Remote => "MCP",
            Scope::Bundled => "Bundled",
            Scope::User => "User",
            Scope::Project => "Project",
            Scope::Plugin => "Plugin",
        }
    }
}
