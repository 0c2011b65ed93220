//! Symlinks and copies of installed skills in the directories of other agents, such as `.claude/skills`.

use std::path::{Path, PathBuf};

use prowess_package::agents::{self, KnownAgent};
use prowess_package::interchange::copies::{SkillCopy, find_copies};
use prowess_package::interchange::link::{self, LinkError, LinkMode};
use prowess_package::{InstallPlan, InstallScope, InstallTarget, PlanAction, PlanItem};

use super::display_path;
use crate::context::CommandContext;
use crate::failure::Failure;

/// Returns the agents with these names.
pub(super) fn agents(names: &[String]) -> Result<Vec<&'static KnownAgent>, Failure> {
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

/// The symlinks and copies to create after the installation.
pub(super) struct PlannedLinks {
    links: Vec<(PathBuf, &'static KnownAgent)>,
    target: InstallTarget,
    mode: LinkMode,
}

/// A skill in the directory of an agent.
pub(super) struct AgentLink {
    pub(super) skill: PathBuf,
    agent: &'static str,
    kind: LinkKind,
    path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkKind {
    /// The agent reads the directory where the skill is installed.
    SharedDir,
    Existing,
    Link,
    Copy,
    Removed,
}

/// Plans the symlinks and copies before the installation, so that a conflict in an agent's directory stops it.
pub(super) fn plan_links(
    plan: &InstallPlan,
    agents: &[&'static KnownAgent],
    mode: LinkMode,
) -> Result<PlannedLinks, Failure> {
    let items = plan.items.iter().filter(|item| !matches!(item.action, PlanAction::Skip(_)));
    let links = items.flat_map(|item| agents.iter().map(|agent| (item.dir.clone(), *agent))).collect();
    let planned = PlannedLinks { links, target: plan.target.clone(), mode };
    planned.preview()?;
    Ok(planned)
}

impl PlannedLinks {
    /// Returns the symlinks and copies that would be created.
    pub(super) fn preview(&self) -> Result<Vec<AgentLink>, Failure> {
        self.map_links(link::plan_link_before_install)
    }

    pub(super) fn perform(&self) -> Result<Vec<AgentLink>, Failure> {
        self.map_links(|skill, agent, scope, mode| {
            let plan = link::plan_link(skill, agent, scope, mode)?;
            link::apply_link(skill, &plan).map(|()| plan)
        })
    }

    fn map_links(
        &self,
        decide: impl Fn(&Path, &KnownAgent, link::AgentScope<'_>, LinkMode) -> Result<link::LinkPlan, LinkError>,
    ) -> Result<Vec<AgentLink>, Failure> {
        let Some(scope) = agent_scope(&self.target) else { return Ok(Vec::new()) };
        let decide = |(skill, agent): &(PathBuf, &'static KnownAgent)| {
            let (kind, path) = match decide(skill, agent, scope, self.mode).map_err(failure)? {
                link::LinkPlan::SameDirectory => (LinkKind::SharedDir, skill.clone()),
                link::LinkPlan::Exists(path) => (LinkKind::Existing, path),
                link::LinkPlan::Symlink { path, .. } => (LinkKind::Link, path),
                link::LinkPlan::Copy { path } => (LinkKind::Copy, path),
            };
            Ok(AgentLink { skill: skill.clone(), agent: agent.id, kind, path })
        };
        self.links.iter().map(decide).collect()
    }
}

impl AgentLink {
    /// Returns the description of the symlink or copy.
    pub(super) fn describe(&self, applied: bool, context: &CommandContext) -> String {
        let (agent, path) = (self.agent, display_path(&self.path, context));
        match (self.kind, applied) {
            (LinkKind::SharedDir, _) => format!("{agent} uses {path}"),
            (LinkKind::Existing, _) => format!("already linked for {agent}: {path}"),
            (LinkKind::Link, true) => format!("linked for {agent}: {path}"),
            (LinkKind::Link, false) => format!("would link for {agent}: {path}"),
            (LinkKind::Copy, true) => format!("copied for {agent}: {path}"),
            (LinkKind::Copy, false) => format!("would copy for {agent}: {path}"),
            (LinkKind::Removed, true) => format!("removed for {agent}: {path}"),
            (LinkKind::Removed, false) => format!("would remove for {agent}: {path}"),
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let kind = match self.kind {
            LinkKind::SharedDir => "same",
            LinkKind::Existing => "there",
            LinkKind::Link => "link",
            LinkKind::Copy => "copy",
            LinkKind::Removed => "removed",
        };
        serde_json::json!({"agent": self.agent, "kind": kind, "path": self.path})
    }
}

/// Removes the symlinks and copies of a removed skill; if `applied` is `false`, only returns them.
pub(super) fn remove_links(item: &PlanItem, target: &InstallTarget, applied: bool) -> Vec<AgentLink> {
    let Some(scope) = agent_scope(target) else { return Vec::new() };
    let skill = &item.dir;
    let removed_link = |agent: &'static KnownAgent, path| AgentLink {
        skill: skill.clone(),
        agent: agent.id,
        kind: LinkKind::Removed,
        path,
    };
    let mut links = Vec::new();
    for agent in agents::AGENTS {
        // A symlink that cannot be removed is dangling and will be reported by discovery.
        let removed = match applied {
            true => link::unlink(skill, agent, scope),
            false => link::find_link(skill, agent, scope),
        };
        // Some agents share a directory.
        let path =
            removed.ok().flatten().filter(|path| !links.iter().any(|link: &AgentLink| link.path == *path));
        links.extend(path.map(|path| removed_link(agent, path)));
    }
    for copied in copies_of(item, scope) {
        // A copy that cannot be removed is not reported.
        if !applied || copied.remove().is_ok() {
            links.push(removed_link(copied.agent, copied.path));
        }
    }
    links
}

/// Updates the copies of updated skills.
pub(super) fn refresh_copies(
    items: &[PlanItem],
    target: &InstallTarget,
    applied: bool,
) -> Result<Vec<AgentLink>, Failure> {
    let Some(scope) = agent_scope(target) else { return Ok(Vec::new()) };
    let mut links = Vec::new();
    for item in items.iter().filter(|item| item.action == PlanAction::Replace) {
        for copied in copies_of(item, scope) {
            if applied {
                copied.refresh(&item.dir).map_err(failure)?;
            }
            let (skill, agent) = (item.dir.clone(), copied.agent.id);
            links.push(AgentLink { skill, agent, kind: LinkKind::Copy, path: copied.path });
        }
    }
    Ok(links)
}

fn copies_of(item: &PlanItem, scope: link::AgentScope<'_>) -> Vec<SkillCopy> {
    let tree = item.before.as_ref().map(|before| before.tree.as_str());
    tree.map(|tree| find_copies(&item.dir, tree, scope)).unwrap_or_default()
}

fn agent_scope(target: &InstallTarget) -> Option<link::AgentScope<'_>> {
    let base = target.base()?;
    Some(match target.scope {
        InstallScope::Project => link::AgentScope::Project(base),
        InstallScope::User => link::AgentScope::Home(base),
    })
}

fn failure(error: LinkError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        LinkError::Conflict(_) => failure.hint("move it away, or omit --agent"),
        LinkError::NoHomeDir(_) => failure.hint("pass --project to install it in the project"),
        _ => failure,
    }
}
