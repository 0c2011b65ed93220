//! Worlds of files, and what the configuration makes of them.

mod broken;
mod chat;
mod embeddings;
mod foreign;
mod layers;
mod narrowing;
mod sources;
mod table;

use std::path::{Path, PathBuf};

use super::{Configuration, Inputs, load};
use prowess::Surroundings;
use prowess::policy::Preset;

/// A home, a project, and what else a configuration is made from.
struct World {
    folder: tempfile::TempDir,
    inputs: Inputs,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let inputs = Inputs::new(Surroundings { project, home: Some(home), path: Default::default() });
        Self { folder, inputs }
    }

    fn preset(mut self, preset: Preset) -> Self {
        self.inputs.preset = Some(preset);
        self
    }

    fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        self.file("home/.prowess/config.toml", text)
    }

    fn project(self, text: &str) -> Self {
        self.file("project/.prowess/config.toml", text)
    }

    fn given(mut self, name: &str, text: &str) -> Self {
        self.inputs.file = Some(self.path(name));
        self.file(name, text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.inputs.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn load(&self) -> Configuration {
        load(&self.inputs)
    }

    /// A path as tests write it.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.folder.path()).unwrap_or(path).display().to_string()
    }

    /// Every diagnostic with its place and help.
    fn said(&self) -> String {
        let lines = self.load().diagnostics.into_iter().map(|located| {
            let at =
                located.diagnostic.at.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
            let help =
                located.diagnostic.help.as_ref().map_or_else(String::new, |help| format!("\n    {help}"));
            format!("{}{at} {}{help}", self.short(&located.path), located.diagnostic)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// A value and its origin, as `prowess config` would print them.
    fn value(&self, key: &str) -> String {
        let setting = self.load().setting(key).unwrap().clone();
        let origin = setting.origin.to_string().replace(&format!("{}/", self.folder.path().display()), "");
        format!("{} ({origin})", setting.value)
    }
}
