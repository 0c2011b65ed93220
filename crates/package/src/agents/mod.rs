//! The agents that Prowess knows: their names, the directories in which they find skills, and the files that show that an
//! agent is in use.

mod detect;
mod table;

use std::path::{Path, PathBuf};

use prowess_format::suggest;

pub use crate::client_path::VARIABLES;
use crate::client_path::{ClientPath, TargetOs};
pub use detect::find_agents_in_use;
pub use table::AGENTS;

/// An agent that Prowess knows, and its skill directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAgent {
    /// The name on the command line.
    pub id: &'static str,
    /// The product name.
    pub title: &'static str,
    /// The directory in a project, relative to the project.
    pub project: &'static str,
    /// Other directories of a project that the agent reads.
    also_project: &'static [&'static str],
    /// The directory in the home directory: the first one whose parent exists, else the first one; empty if there is none.
    home: &'static [ClientPath],
    /// Other directories in the home directory that the agent reads.
    also_home: &'static [ClientPath],
    /// Files and directories that show that the agent is in use.
    traces: &'static [AgentTrace],
}

/// A file or directory that shows that an agent is in use. A hidden directory of a project that contains the agent's skills
/// is one as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgentTrace {
    /// In the project.
    Project(&'static str),
    /// In the home directory.
    User(ClientPath),
    /// A directory in the project whose `package.json` has this dependency.
    Package { dir: &'static str, dependency: &'static str },
}

/// The home directory, and the variables that move directories of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentHome {
    /// The home directory.
    pub dir: PathBuf,
    /// The variables of [`VARIABLES`] that are set. Callers that override the home directory leave them out: they refer to
    /// the real one.
    pub variables: Vec<(String, PathBuf)>,
}

impl AgentHome {
    /// Returns a home directory without variables.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), variables: Vec::new() }
    }

    fn resolve(&self, path: &ClientPath) -> Option<PathBuf> {
        path.resolve(Some(&self.dir), TargetOs::current(), &self.variables)
    }
}

impl KnownAgent {
    /// Returns the skill directory of the user; `None` if the agent has none.
    pub fn home_dir(&self, home: &AgentHome) -> Option<PathBuf> {
        let dirs = || self.home.iter().filter_map(|path| home.resolve(path));
        let is_used = |dir: &PathBuf| dir.parent().is_some_and(Path::is_dir);
        dirs().find(is_used).or_else(|| dirs().next())
    }

    /// Returns the directories of a project in which the agent finds skills, its own first.
    pub fn project_dirs(&self, project: &Path) -> Vec<PathBuf> {
        std::iter::once(&self.project).chain(self.also_project).map(|dir| project.join(dir)).collect()
    }

    /// Returns the directories of the user in which the agent finds skills, its own first.
    pub fn home_dirs(&self, home: &AgentHome) -> Vec<PathBuf> {
        let others = self.also_home.iter().filter_map(|path| home.resolve(path));
        self.home_dir(home).into_iter().chain(others).collect()
    }

    /// Returns `true` if the directory in a project is hidden, such as `.claude/skills`.
    fn has_hidden_project_dir(&self) -> bool {
        self.project.starts_with('.')
    }
}

/// The error for an agent that Prowess does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {name}")]
pub struct UnknownAgentError {
    /// The requested name.
    pub name: String,
    /// The most similar known name.
    pub suggestion: Option<&'static str>,
}

/// Returns the agent with this name.
///
/// ```
/// use prowess_package::agents::find_agent;
///
/// assert_eq!(find_agent("claude-code").unwrap().project, ".claude/skills");
/// assert_eq!(find_agent("claude-cod").unwrap_err().suggestion, Some("claude-code"));
/// ```
pub fn find_agent(name: &str) -> Result<&'static KnownAgent, UnknownAgentError> {
    AGENTS.iter().find(|agent| agent.id == name).ok_or_else(|| UnknownAgentError {
        name: name.to_owned(),
        suggestion: suggest::nearest(name, AGENTS.iter().map(|agent| agent.id)),
    })
}

/// The directory that many agents share and into which Prowess installs.
pub const SHARED_DIR: &str = ".agents/skills";

#[cfg(test)]
mod tests;
