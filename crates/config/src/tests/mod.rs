//! Test projects with configuration files.

mod broken;
mod chat;
mod dialects;
mod embeddings;
mod layers;
mod narrowing;
mod sources;
mod table;

use std::path::{Path, PathBuf};

use super::{ConfigInputs, Configuration, load};
use prowess::HostEnv;
use prowess::policy::Preset;

/// A home directory, a project, and the other inputs of a configuration.
struct TestProject {
    temp_dir: tempfile::TempDir,
    inputs: ConfigInputs,
}

impl TestProject {
    fn new() -> Self {
        let temp_dir = tempfile::tempdir().unwrap();
        let (home, project) = (temp_dir.path().join("home"), temp_dir.path().join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let inputs = ConfigInputs::new(HostEnv { project, home: Some(home), path: Default::default() });
        Self { temp_dir, inputs }
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

    fn config_file(mut self, name: &str, text: &str) -> Self {
        self.inputs.file = Some(self.path(name));
        self.file(name, text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.inputs.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp_dir.path().join(path)
    }

    fn load(&self) -> Configuration {
        load(&self.inputs)
    }

    /// Shortens a path for tests.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.temp_dir.path()).unwrap_or(path).display().to_string()
    }

    /// Returns all diagnostics with their locations and hints.
    fn report(&self) -> String {
        let lines = self.load().diagnostics.into_iter().map(|located| {
            let at = located
                .diagnostic
                .location
                .map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
            let help =
                located.diagnostic.help.as_ref().map_or_else(String::new, |help| format!("\n    {help}"));
            format!("{}{at} {}{help}", self.short(&located.path), located.diagnostic)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns a value and its origin, as `prowess config` prints them.
    fn value(&self, key: &str) -> String {
        let setting = self.load().setting(key).unwrap().clone();
        let origin = setting.origin.to_string().replace(&format!("{}/", self.temp_dir.path().display()), "");
        format!("{} ({origin})", setting.value)
    }
}
