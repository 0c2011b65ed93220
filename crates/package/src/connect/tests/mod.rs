//! What is written for each client, and that everything else stays.

mod difference;
mod files;
mod rich;
mod table;

use std::path::{Path, PathBuf};

use prowess::Surroundings;

use super::{Machine, Name, Os, Server};

/// A home and a project of their own.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["home", "project", "bin"] {
            std::fs::create_dir(folder.path().join(inner)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    fn machine(&self) -> Machine {
        machine(&self.path("home"), &self.path("project"), self.path("bin").into())
    }
}

fn machine(home: &Path, project: &Path, path: std::ffi::OsString) -> Machine {
    let world = Surroundings { project: project.to_owned(), home: Some(home.to_owned()), path };
    Machine { world, os: Os::Linux, variables: Vec::new() }
}

fn name() -> Name {
    Name::parse("prowess").unwrap()
}

fn stdio() -> Server {
    Server::Stdio { command: "prowess".to_owned(), args: vec!["mcp".to_owned()] }
}
