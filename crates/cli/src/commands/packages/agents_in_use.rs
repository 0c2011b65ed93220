//! The agents for which skills are linked: those that the user names, or those that are in use.

use std::path::PathBuf;

use prowess::{Preset, Snapshot};
use prowess_package::agents::{self, AgentHome, KnownAgent, find_agents_in_use};
use prowess_package::interchange::link::AgentScope;
use prowess_package::{InstallScope, InstallTarget};

use prowess_tools::json::AgentsByDir;

use super::super::mcp::client_env;
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::Failure;

/// Agents, and whether the user named them.
pub(in crate::commands) struct AgentChoice {
    pub(in crate::commands) agents: Vec<&'static KnownAgent>,
    pub(in crate::commands) is_explicit: bool,
}

impl AgentChoice {
    /// Returns the named agents, or those in use.
    pub(super) fn new(names: &[String], dirs: &AgentDirs, context: &CommandContext) -> Result<Self, Failure> {
        match names.is_empty() {
            true => Ok(Self { agents: dirs.agents_in_use(context), is_explicit: false }),
            false => Ok(Self { agents: named_agents(names)?, is_explicit: true }),
        }
    }

    /// Returns no agents.
    pub(super) fn none() -> Self {
        Self { agents: Vec::new(), is_explicit: false }
    }
}

/// Returns the agents with these names.
pub(super) fn named_agents(names: &[String]) -> Result<Vec<&'static KnownAgent>, Failure> {
    let unknown = |error: agents::UnknownAgentError| {
        let failure = Failure::usage(format!("unknown agent {}", crate::output::clean(&error.name)));
        failure.hint(match error.suggestion {
            Some(similar) => format!("did you mean {similar}?"),
            None => format!("known agents: {}", known_agents()),
        })
    };
    names.iter().map(|name| agents::find_agent(name).map_err(unknown)).collect()
}

fn known_agents() -> String {
    let ids: Vec<_> = agents::AGENTS.iter().map(|agent| agent.id).collect();
    ids.join(", ")
}

/// The directories in which agents are searched, for one scope.
pub(in crate::commands) struct AgentDirs {
    scope: InstallScope,
    project: Option<PathBuf>,
    home: Option<AgentHome>,
}

impl AgentDirs {
    /// Returns the directories for the scope of an install target.
    pub(in crate::commands) fn new(
        target: &InstallTarget,
        context: &CommandContext,
        global: &GlobalArgs,
    ) -> Self {
        Self::for_scope(target.scope, context, global)
    }

    /// Returns the directories for a scope.
    pub(in crate::commands) fn for_scope(
        scope: InstallScope,
        context: &CommandContext,
        global: &GlobalArgs,
    ) -> Self {
        let project = (scope == InstallScope::Project).then(|| context.host_env.project.clone());
        let variables = client_env(context, global).variables;
        let home = context.host_env.home.clone().map(|dir| AgentHome { dir, variables });
        Self { scope, project, home }
    }

    /// Returns the scope of the agents' directories; `None` without a home directory.
    pub(in crate::commands) fn scope(&self) -> Option<AgentScope<'_>> {
        match self.scope {
            InstallScope::Project => self.project.as_deref().map(AgentScope::Project),
            InstallScope::User => self.home.as_ref().map(AgentScope::Home),
        }
    }

    /// Returns the agents in use that have a skill directory in this scope. Skills are linked only in preset `standard` and
    /// without `--root`: other presets describe applications with directories of their own.
    pub(in crate::commands) fn agents_in_use(&self, context: &CommandContext) -> Vec<&'static KnownAgent> {
        if context.policy().preset != Preset::Standard || !context.roots.is_empty() {
            return Vec::new();
        }
        let Some(scope) = self.scope() else { return Vec::new() };
        let mut agents = find_agents_in_use(self.project.as_deref(), self.home.as_ref());
        agents.retain(|agent| scope.agent_dir(agent).is_some());
        agents
    }
}

/// Returns the agents in use to which each skill is available: those that read its directory, and those with a symlink to it.
pub(in crate::commands) fn agents_by_dir(
    snapshot: &Snapshot,
    context: &CommandContext,
    global: &GlobalArgs,
) -> AgentsByDir {
    let scopes = [InstallScope::Project, InstallScope::User];
    let scopes = scopes.map(|scope| AgentDirs::for_scope(scope, context, global));
    let mut agents: Vec<&'static KnownAgent> =
        scopes.iter().flat_map(|dirs| dirs.agents_in_use(context)).collect();
    agents.sort_by_key(|agent| agent.id);
    agents.dedup();
    let mut by_dir = AgentsByDir::new();
    if agents.is_empty() {
        return by_dir;
    }
    let scopes: Vec<AgentScope<'_>> = scopes.iter().filter_map(AgentDirs::scope).collect();
    // The skills of each directory, which several agents may read, and the targets of its symlinks.
    let mut read: AgentsByDir = AgentsByDir::new();
    for agent in agents {
        for dir in scopes.iter().flat_map(|scope| scope.read_dirs(agent)) {
            let Ok(dir) = std::fs::canonicalize(dir) else { continue };
            let names = read.entry(dir).or_default();
            if !names.contains(&agent.id) {
                names.push(agent.id);
            }
        }
    }
    for (dir, names) in &read {
        let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        for target in links.filter_map(|entry| std::fs::canonicalize(entry.path()).ok()) {
            by_dir.entry(target).or_default().extend(names);
        }
    }
    for skill in snapshot.all().iter().filter(|skill| skill.root().is_dir()) {
        let dir = skill.canonical_dir();
        let names = dir.parent().and_then(|parent| read.get(parent)).cloned().unwrap_or_default();
        by_dir.entry(dir).or_default().extend(names);
    }
    for names in by_dir.values_mut() {
        names.sort_unstable();
        names.dedup();
    }
    by_dir
}
