//! Skills that were installed once, where other agents look for them.

use std::path::{Path, PathBuf};

use prowess_package::agents::{self, Agent};
use prowess_package::interchange::copies::{Copied, copies};
use prowess_package::interchange::link::{self, How, LinkError};
use prowess_package::{Action, For, Item, Place, Plan};

use super::short;
use crate::context::Context;
use crate::failure::Failure;

/// The agents of these names.
pub(super) fn agents(names: &[String]) -> Result<Vec<&'static Agent>, Failure> {
    let unknown = |error: agents::UnknownAgent| {
        let failure = Failure::call(format!("there is no agent named {}", crate::output::clean(&error.name)));
        failure.hint(match error.near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", all()),
        })
    };
    names.iter().map(|name| agents::agent(name).map_err(unknown)).collect()
}

fn all() -> String {
    let ids: Vec<_> = agents::AGENTS.iter().map(|agent| agent.id).collect();
    ids.join(", ")
}

/// What is to be linked once the skills are there.
pub(super) struct Planned {
    links: Vec<(PathBuf, &'static Agent)>,
    place: Place,
    how: How,
}

/// A skill in an agent's folder, and what becomes of it there.
pub(super) struct Linked {
    pub(super) skill: PathBuf,
    agent: &'static str,
    kind: Kind,
    at: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The agent reads the folder it is installed in.
    Same,
    There,
    Link,
    Copy,
    Gone,
}

/// Decides before anything is installed, so that a name that is taken in an agent's folder stops everything.
pub(super) fn planned(plan: &Plan, agents: &[&'static Agent], how: How) -> Result<Planned, Failure> {
    let items = plan.items.iter().filter(|item| !matches!(item.action, Action::Skip(_)));
    let links = items.flat_map(|item| agents.iter().map(|agent| (item.folder.clone(), *agent))).collect();
    let planned = Planned { links, place: plan.place.clone(), how };
    planned.foreseen()?;
    Ok(planned)
}

impl Planned {
    /// What would be linked.
    pub(super) fn foreseen(&self) -> Result<Vec<Linked>, Failure> {
        self.each(link::foresee)
    }

    /// Links it.
    pub(super) fn perform(&self) -> Result<Vec<Linked>, Failure> {
        self.each(|skill, agent, place, how| {
            let plan = link::plan(skill, agent, place, how)?;
            link::perform(skill, &plan).map(|()| plan)
        })
    }

    fn each(
        &self,
        decide: impl Fn(&Path, &Agent, link::Place<'_>, How) -> Result<link::Plan, LinkError>,
    ) -> Result<Vec<Linked>, Failure> {
        let Some(place) = folders(&self.place) else { return Ok(Vec::new()) };
        let decide = |(skill, agent): &(PathBuf, &'static Agent)| {
            let (kind, at) = match decide(skill, agent, place, self.how).map_err(failure)? {
                link::Plan::SameFolder => (Kind::Same, skill.clone()),
                link::Plan::There(at) => (Kind::There, at),
                link::Plan::Link { at, .. } => (Kind::Link, at),
                link::Plan::Copy { at } => (Kind::Copy, at),
            };
            Ok(Linked { skill: skill.clone(), agent: agent.id, kind, at })
        };
        self.links.iter().map(decide).collect()
    }
}

impl Linked {
    /// For people.
    pub(super) fn told(&self, done: bool, context: &Context) -> String {
        let (agent, at) = (self.agent, short(&self.at, context));
        match (self.kind, done) {
            (Kind::Same, _) => format!("{agent} reads {at}"),
            (Kind::There, _) => format!("{agent} has it: {at}"),
            (Kind::Link, true) => format!("linked for {agent}: {at}"),
            (Kind::Link, false) => format!("would link for {agent}: {at}"),
            (Kind::Copy, true) => format!("copied for {agent}: {at}"),
            (Kind::Copy, false) => format!("would copy for {agent}: {at}"),
            (Kind::Gone, true) => format!("removed for {agent}: {at}"),
            (Kind::Gone, false) => format!("would remove for {agent}: {at}"),
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        let kind = match self.kind {
            Kind::Same => "same",
            Kind::There => "there",
            Kind::Link => "link",
            Kind::Copy => "copy",
            Kind::Gone => "removed",
        };
        serde_json::json!({"agent": self.agent, "kind": kind, "path": self.at})
    }
}

/// Takes away the links to a skill that is about to go, and its copies; or says which.
pub(super) fn leave(item: &Item, place: &Place, done: bool) -> Vec<Linked> {
    let Some(place) = folders(place) else { return Vec::new() };
    let skill = &item.folder;
    let gone =
        |agent: &'static Agent, at| Linked { skill: skill.clone(), agent: agent.id, kind: Kind::Gone, at };
    let mut left = Vec::new();
    for agent in agents::AGENTS {
        // A link that cannot be removed leads nowhere, and is reported as such where it is.
        let removed = match done {
            true => link::unlink(skill, agent, place),
            false => link::linked(skill, agent, place),
        };
        // Some agents share a folder.
        let at = removed.ok().flatten().filter(|at| !left.iter().any(|known: &Linked| known.at == *at));
        left.extend(at.map(|at| gone(agent, at)));
    }
    for copied in copied(item, place) {
        // A copy that cannot be removed stays, and is not told of.
        if !done || copied.remove().is_ok() {
            left.push(gone(copied.agent, copied.at));
        }
    }
    left
}

/// Brings the copies of updated skills up to date.
pub(super) fn follow(items: &[Item], place: &Place, done: bool) -> Result<Vec<Linked>, Failure> {
    let Some(place) = folders(place) else { return Ok(Vec::new()) };
    let mut followed = Vec::new();
    for item in items.iter().filter(|item| item.action == Action::Replace) {
        for copied in copied(item, place) {
            if done {
                copied.refresh(&item.folder).map_err(failure)?;
            }
            let (skill, agent) = (item.folder.clone(), copied.agent.id);
            followed.push(Linked { skill, agent, kind: Kind::Copy, at: copied.at });
        }
    }
    Ok(followed)
}

fn copied(item: &Item, place: link::Place<'_>) -> Vec<Copied> {
    let tree = item.before.as_ref().map(|before| before.tree.as_str());
    tree.map(|tree| copies(&item.folder, tree, place)).unwrap_or_default()
}

fn folders(place: &Place) -> Option<link::Place<'_>> {
    let base = place.base()?;
    Some(match place.scope {
        For::Project => link::Place::Project(base),
        For::User => link::Place::Home(base),
    })
}

fn failure(error: LinkError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        LinkError::Conflict(_) => failure.hint("move it away, or leave out --agent"),
        LinkError::NoFolder(_) => failure.hint("install it into a project: --project"),
        _ => failure,
    }
}
