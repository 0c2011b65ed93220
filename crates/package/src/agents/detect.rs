//! Finds the agents that are in use.

use std::path::Path;

use super::{AGENTS, AgentHome, AgentTrace, KnownAgent, SHARED_DIR};

/// The maximum size of a `package.json` that is read.
const PACKAGE_JSON_MAX: u64 = 1024 * 1024;

/// Returns the agents that are in use, by their files in the project and the home directory. Without a project, only those in
/// the home directory count.
///
/// An agent that keeps skills of a project in a directory that is not hidden, such as `skills`, counts in a project only if
/// the project itself shows it: otherwise such a directory would appear in every project of the user.
pub fn find_agents_in_use(project: Option<&Path>, home: Option<&AgentHome>) -> Vec<&'static KnownAgent> {
    let is_in_use = |agent: &&KnownAgent| {
        let in_project = project.is_some_and(|project| agent.is_in_project(project));
        let in_home = || home.is_some_and(|home| agent.is_in_home(home));
        in_project || ((project.is_none() || agent.has_hidden_project_dir()) && in_home())
    };
    AGENTS.iter().filter(is_in_use).collect()
}

impl KnownAgent {
    fn is_in_project(&self, project: &Path) -> bool {
        let own =
            self.project.split('/').next().filter(|dir| dir.starts_with('.') && self.project != SHARED_DIR);
        let shows = |trace: &AgentTrace| match trace {
            AgentTrace::Project(path) => project.join(path).exists(),
            AgentTrace::Package { dir, dependency } => {
                project.join(dir).is_dir() && depends_on(&project.join("package.json"), dependency)
            }
            AgentTrace::User(_) => false,
        };
        own.is_some_and(|dir| project.join(dir).is_dir()) || self.traces.iter().any(shows)
    }

    fn is_in_home(&self, home: &AgentHome) -> bool {
        self.traces.iter().any(|trace| match trace {
            AgentTrace::User(path) => home.resolve(path).is_some_and(|path| path.exists()),
            AgentTrace::Project(_) | AgentTrace::Package { .. } => false,
        })
    }
}

/// Returns `true` if a `package.json` lists a dependency.
fn depends_on(package_json: &Path, name: &str) -> bool {
    let bytes = prowess::read_bounded(package_json, PACKAGE_JSON_MAX).unwrap_or_default();
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return false };
    ["dependencies", "devDependencies"].iter().any(|key| package[*key].get(name).is_some())
}
