//! A directory of skills, or what stands for one.

use std::path::{Path, PathBuf};

use crate::policy::Scope;

/// A directory of skills that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    canonical: PathBuf,
    scope: Scope,
    base: Option<PathBuf>,
    kind: Kind,
}

/// What a root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    /// Inside the binary.
    Embedded,
    /// At a server.
    Supplied,
}

impl Root {
    pub(crate) fn embedded() -> Self {
        let path = PathBuf::from("bundled:");
        Self { canonical: path.clone(), path, scope: Scope::Bundled, base: None, kind: Kind::Embedded }
    }

    /// What a server of this label offers. Whoever takes it for a folder finds that nothing can lie there.
    pub(crate) fn supplied(label: &str) -> Self {
        let path = PathBuf::from(format!("mcp:{label}"));
        let canonical = Path::new("/dev/null").join(&path);
        Self { path, canonical, scope: Scope::Served, base: None, kind: Kind::Supplied }
    }

    pub(crate) fn folder(path: PathBuf, canonical: PathBuf, scope: Scope, base: Option<PathBuf>) -> Self {
        Self { path, canonical, scope, base, kind: Kind::Folder }
    }

    /// As it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Without any link.
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Whose skills it holds.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The project folder whose trust decides, where that matters.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Whether it lies inside the binary.
    pub fn is_embedded(&self) -> bool {
        self.kind == Kind::Embedded
    }

    /// Whether it is a server, which nothing is read from but through its supply.
    pub fn is_supplied(&self) -> bool {
        self.kind == Kind::Supplied
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    /// What people call it: "Bundled", "Project", "Claude", "User", "Plugin", "MCP".
    pub fn label(&self) -> &'static str {
        let claude = self.path.components().any(|component| component.as_os_str() == ".claude");
        match self.scope {
            Scope::Project if claude => "Claude",
            Scope::Served => "MCP",
            Scope::Bundled => "Bundled",
            Scope::User => "User",
            Scope::Project => "Project",
            Scope::Plugin => "Plugin",
        }
    }
}
