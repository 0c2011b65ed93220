//! Symlinks and copies of installed skills in the directories of other agents, such as `.claude/skills`.

use std::path::{Path, PathBuf};

use prowess::lock::LinkAction;
use prowess_package::interchange::copies::{SkillCopy, find_copies};
use prowess_package::interchange::link::{self, AgentScope, LinkError, LinkMode, LinkPlan};
use prowess_package::{InstallPlan, LinkChange, LinkEffect, PlanAction, PlanItem, agents};

use super::agents_in_use::{AgentChoice, AgentDirs};
use super::display_path;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::clean;

/// The symlinks and copies that belong to a change of skills.
#[derive(Default)]
pub(super) struct PlannedLinks {
    links: Vec<AgentLink>,
    is_explicit: bool,
}

/// The symlinks and copies of a command, to print.
#[derive(Default)]
pub(super) struct LinkList {
    pub(super) links: Vec<AgentLink>,
    /// Whether the user named the agents, so that all of them are listed for each skill.
    pub(super) is_explicit: bool,
}

/// A skill in the directory of an agent.
pub(super) struct AgentLink {
    pub(super) skill: PathBuf,
    agent: &'static str,
    kind: LinkKind,
    path: PathBuf,
}

#[derive(Clone, PartialEq, Eq)]
enum LinkKind {
    /// The agent reads the directory where the skill is installed.
    SharedDir,
    Existing,
    Link,
    Copy,
    Removed,
    /// The skill is not available to the agent, with the reason.
    Failed(String),
}

/// Plans the symlinks and copies before the installation, so that a conflict in the directory of an agent that was named stops
/// it. For other agents, a conflict is only reported.
pub(super) fn plan_links(
    plan: &InstallPlan,
    choice: &AgentChoice,
    mode: LinkMode,
    dirs: &AgentDirs,
) -> Result<PlannedLinks, Failure> {
    let mut planned = PlannedLinks { links: Vec::new(), is_explicit: choice.is_explicit };
    let Some(scope) = dirs.scope() else { return Ok(planned) };
    let is_installed = |item: &&PlanItem| !matches!(item.action, PlanAction::Skip(_) | PlanAction::Fail(_));
    for item in plan.items.iter().filter(is_installed) {
        let mut copies = stale_copies(item, scope);
        for agent in &choice.agents {
            let decided = link::plan_link_before_install(&item.dir, agent, scope, mode);
            let (kind, path) = match decided {
                Ok(LinkPlan::SameDirectory) => (LinkKind::SharedDir, item.dir.clone()),
                Ok(LinkPlan::Exists(path)) if copies.iter().any(|copy| copy.path == path) => {
                    copies.retain(|copy| copy.path != path);
                    (LinkKind::Copy, path)
                }
                Ok(LinkPlan::Exists(path)) => (LinkKind::Existing, path),
                Ok(LinkPlan::Symlink { path, .. }) => (LinkKind::Link, path),
                Ok(LinkPlan::Copy { path }) => (LinkKind::Copy, path),
                // The agent has the same files already.
                Err(LinkError::Conflict(path)) if is_same_version(item, &path, scope) => {
                    (LinkKind::Existing, path)
                }
                Err(error) if choice.is_explicit => return Err(failure(error)),
                Err(error) => {
                    let dir = scope.agent_dir(agent).unwrap_or_default();
                    (LinkKind::Failed(error.to_string()), dir.join(&item.name))
                }
            };
            planned.links.push(AgentLink { skill: item.dir.clone(), agent: agent.id, kind, path });
        }
        planned.links.extend(copies.into_iter().map(|copy| AgentLink::new(item, &copy, LinkKind::Copy)));
    }
    Ok(planned)
}

/// Plans to remove the symlinks and copies of skills that are removed.
pub(super) fn plan_removals(items: &[PlanItem], dirs: &AgentDirs) -> PlannedLinks {
    let Some(scope) = dirs.scope() else { return PlannedLinks::default() };
    let mut links: Vec<AgentLink> = Vec::new();
    for item in items.iter().filter(|item| item.action == PlanAction::Remove) {
        for agent in agents::AGENTS {
            let path = link::find_link(&item.dir, agent, scope).ok().flatten();
            // Some agents share a directory.
            let path = path.filter(|path| !links.iter().any(|link| link.path == *path));
            let removed =
                |path| AgentLink { skill: item.dir.clone(), agent: agent.id, kind: LinkKind::Removed, path };
            links.extend(path.map(removed));
        }
        let copies = copies_of(item, scope);
        links.extend(copies.iter().map(|copy| AgentLink::new(item, copy, LinkKind::Removed)));
    }
    PlannedLinks { links, is_explicit: true }
}

/// Plans to replace the copies of skills that are updated, and to remove the symlinks and copies of removed ones.
pub(super) fn plan_updated_links(items: &[PlanItem], dirs: &AgentDirs) -> PlannedLinks {
    let Some(scope) = dirs.scope() else { return PlannedLinks::default() };
    let refreshed = items.iter().flat_map(|item| {
        stale_copies(item, scope).into_iter().map(|copy| AgentLink::new(item, &copy, LinkKind::Copy))
    });
    let mut planned = plan_removals(items, dirs);
    planned.links.extend(refreshed);
    planned
}

impl PlannedLinks {
    /// Returns the planned links, for a dry run.
    pub(super) fn into_links(self) -> Vec<AgentLink> {
        self.links
    }

    /// Performs the plan of the skills together with this one, and returns the changes of skills and links.
    pub(super) fn commit(
        mut self,
        plan: InstallPlan,
    ) -> Result<(Vec<PlanItem>, Vec<AgentLink>), prowess_package::PackageError> {
        let changes: Vec<(usize, LinkChange)> = self.changes();
        let in_order: Vec<LinkChange> = changes.iter().map(|(_, change)| change.clone()).collect();
        let committed = plan.commit_with_links(&in_order)?;
        for ((index, _), result) in changes.into_iter().zip(committed.links) {
            let Some(link) = self.links.get_mut(index) else { continue };
            match result {
                Ok(LinkEffect::Created(LinkMode::Copy)) => link.kind = LinkKind::Copy,
                Ok(_) => {}
                Err(error) => link.kind = LinkKind::Failed(error.to_string()),
            }
        }
        Ok((committed.items, self.links))
    }

    /// Returns the changes, each with the index of its link.
    fn changes(&self) -> Vec<(usize, LinkChange)> {
        let change = |(index, link): (usize, &AgentLink)| {
            let action = match link.kind {
                LinkKind::Link => LinkAction::Symlink,
                LinkKind::Copy => LinkAction::Copy,
                LinkKind::Removed => LinkAction::Remove,
                LinkKind::SharedDir | LinkKind::Existing | LinkKind::Failed(_) => return None,
            };
            Some((index, LinkChange { path: link.path.clone(), skill: link.skill.clone(), action }))
        };
        self.links.iter().enumerate().filter_map(change).collect()
    }

    /// Returns `true` if the user named the agents.
    pub(super) fn is_explicit(&self) -> bool {
        self.is_explicit
    }
}

impl LinkList {
    /// Returns the agents to which skills are available, without duplicates.
    pub(super) fn agents(&self) -> Vec<&'static str> {
        let mut agents: Vec<&'static str> = Vec::new();
        let available =
            self.links.iter().filter(|link| !matches!(link.kind, LinkKind::Failed(_) | LinkKind::Removed));
        for link in available {
            if !agents.contains(&link.agent) {
                agents.push(link.agent);
            }
        }
        agents
    }

    /// Returns the links to print for a skill: all if the user named the agents, else changes and failures. With several
    /// skills, changes are summarized.
    pub(super) fn shown_for<'a>(
        &'a self,
        skill: &'a Path,
        in_full: bool,
    ) -> impl Iterator<Item = &'a AgentLink> {
        self.links.iter().filter(move |link| {
            let is_shown = self.is_explicit || link.is_failed() || (in_full && link.is_change());
            link.skill == skill && is_shown
        })
    }
}

impl AgentLink {
    fn new(item: &PlanItem, copy: &SkillCopy, kind: LinkKind) -> Self {
        Self { skill: item.dir.clone(), agent: copy.agent.id, kind, path: copy.path.clone() }
    }

    /// Returns `true` if something is created, replaced or removed.
    pub(super) fn is_change(&self) -> bool {
        matches!(self.kind, LinkKind::Link | LinkKind::Copy | LinkKind::Removed)
    }

    /// Returns `true` if the skill is not available to the agent.
    pub(super) fn is_failed(&self) -> bool {
        matches!(self.kind, LinkKind::Failed(_))
    }

    /// Returns the description of the symlink or copy.
    pub(super) fn describe(&self, applied: bool, context: &CommandContext) -> String {
        let (agent, path) = (self.agent, display_path(&self.path, context));
        match (&self.kind, applied) {
            (LinkKind::SharedDir, _) => format!("{agent} uses {path}"),
            (LinkKind::Existing, _) => format!("already linked for {agent}: {path}"),
            (LinkKind::Link, true) => format!("linked for {agent}: {path}"),
            (LinkKind::Link, false) => format!("would link for {agent}: {path}"),
            (LinkKind::Copy, true) => format!("copied for {agent}: {path}"),
            (LinkKind::Copy, false) => format!("would copy for {agent}: {path}"),
            (LinkKind::Removed, true) => format!("removed for {agent}: {path}"),
            (LinkKind::Removed, false) => format!("would remove for {agent}: {path}"),
            (LinkKind::Failed(reason), _) => format!("not linked for {agent}: {}", clean(reason)),
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let kind = match self.kind {
            LinkKind::SharedDir => "same",
            LinkKind::Existing => "there",
            LinkKind::Link => "link",
            LinkKind::Copy => "copy",
            LinkKind::Removed => "removed",
            LinkKind::Failed(_) => "failed",
        };
        let mut value = serde_json::json!({"agent": self.agent, "kind": kind, "path": self.path});
        if let LinkKind::Failed(reason) = &self.kind {
            value["reason"] = reason.as_str().into();
        }
        value
    }
}

/// Returns the unmodified copies of a skill that is replaced.
fn stale_copies(item: &PlanItem, scope: AgentScope<'_>) -> Vec<SkillCopy> {
    if item.action == PlanAction::Replace { copies_of(item, scope) } else { Vec::new() }
}

/// Returns `true` if a directory of an agent has the files that are installed.
fn is_same_version(item: &PlanItem, path: &Path, scope: AgentScope<'_>) -> bool {
    let copies = item.after.as_ref().map(|after| find_copies(&item.dir, &after.tree, scope));
    copies.unwrap_or_default().iter().any(|copy| copy.path == path)
}

fn copies_of(item: &PlanItem, scope: AgentScope<'_>) -> Vec<SkillCopy> {
    let tree = item.before.as_ref().map(|before| before.tree.as_str());
    tree.map(|tree| find_copies(&item.dir, tree, scope)).unwrap_or_default()
}

pub(super) fn failure(error: LinkError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        LinkError::Conflict(_) => failure.hint("move it away, or omit --agent"),
        LinkError::NoHomeDir(_) => failure.hint("pass --project to install it in the project"),
        _ => failure,
    }
}
