//! What is installed: the environments of a skill, and the programs that build them.

use std::path::PathBuf;

use super::builder::{EnvironmentBuilder, EnvironmentPlan};
use super::interpreter_info::interpreter_info;
use super::pins::PinState;
use super::python::Installer;
use super::record::{EnvironmentKind, EnvironmentRecord};

/// The state of an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentState {
    /// It is ready.
    Built(Box<EnvironmentRecord>),
    /// It has not been built.
    Missing,
    /// It exists, but cannot be used.
    Broken {
        /// The id.
        id: String,
        /// The reason.
        reason: String,
    },
}

/// A program that builds or uses environments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledTool {
    /// The name.
    pub name: &'static str,
    /// The program, or why it is not available.
    pub program: Result<PathBuf, String>,
    /// The version, if it is known without starting the program.
    pub version: Option<String>,
    /// Whether environments are built with it.
    pub is_used: bool,
}

impl EnvironmentBuilder<'_> {
    /// Returns the state of the environment for a plan. Nothing is resolved, fetched or built.
    pub fn state(&self, plan: &EnvironmentPlan) -> EnvironmentState {
        let set = match self.pin_state(plan) {
            PinState::Pinned(set) => Some(set.clone()),
            PinState::Unpinned | PinState::OtherInterpreter(_) => self.earlier_resolution(plan),
        };
        let Some(id) = set.map(|set| set.id()) else { return EnvironmentState::Missing };
        if self.store().path(&id).symlink_metadata().is_err() {
            return EnvironmentState::Missing;
        }
        match self.store().verified_record(&id, "") {
            Ok(record) => EnvironmentState::Built(Box::new(record)),
            Err(error) => EnvironmentState::Broken { id, reason: error.to_string() },
        }
    }

    /// Returns the programs that build and use environments. Interpreters that were not seen before are started in the
    /// sandbox, to ask for their versions.
    pub fn installed_tools(&self) -> Vec<InstalledTool> {
        let is_uv = matches!(self.python_installer(), Installer::Uv(_));
        let mut tools = Vec::new();
        for (name, kind, installer) in
            [("python3", EnvironmentKind::Python, "pip"), ("node", EnvironmentKind::Node, "npm")]
        {
            let interpreter = self.find_interpreter(kind);
            let info = interpreter
                .as_ref()
                .ok()
                .and_then(|paths| interpreter_info(&self.store, paths, kind, &self.sandbox).ok());
            tools.push(InstalledTool {
                name,
                program: describe(&interpreter.as_ref().map(|paths| paths.program.clone())),
                version: info.as_ref().map(|info| info.version.clone()),
                is_used: interpreter.is_ok(),
            });
            let program = match (&interpreter, kind) {
                (Err(_), _) => Err(format!("needs {name}")),
                (Ok(paths), EnvironmentKind::Node) => describe(&self.find_npm(paths)),
                (Ok(paths), EnvironmentKind::Python) => match &info {
                    Some(info) if info.has_module("pip") => Ok(paths.program.clone()),
                    Some(info) if info.has_bundled_pip() => Ok(paths.program.clone()),
                    _ => Err(format!("is not available for {}", paths.program.display())),
                },
            };
            if kind == EnvironmentKind::Python {
                let uv = self.find_program(&["uv"]).map(|paths| paths.program);
                tools.push(InstalledTool {
                    name: "uv",
                    program: describe(&uv),
                    version: None,
                    is_used: is_uv,
                });
            }
            let is_used = program.is_ok() && (kind == EnvironmentKind::Node || !is_uv);
            tools.push(InstalledTool { name: installer, program, version: None, is_used });
        }
        tools
    }
}

fn describe<E: std::fmt::Display>(found: &Result<PathBuf, E>) -> Result<PathBuf, String> {
    match found {
        Ok(path) => Ok(path.clone()),
        Err(error) => Err(error.to_string()),
    }
}
