//! Skills that were installed once, where other agents look for them.

use std::path::PathBuf;

use prowess_package::agents::{self, Agent};
use prowess_package::interchange::link::{self, How, LinkError};
use prowess_package::{Action, For, Place, Plan};

use super::short;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;

/// The agents of these names.
pub(super) fn agents(names: &[String]) -> Result<Vec<&'static Agent>, Failure> {
    let unknown = |error: agents::UnknownAgent| {
        let near = error.near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        Failure::call(format!("there is no agent named {}", crate::output::clean(&error.name)))
            .hint(format!("{near}prowess install --agent takes {}", few()))
    };
    names.iter().map(|name| agents::agent(name).map_err(unknown)).collect()
}

fn few() -> String {
    let ids: Vec<_> = agents::AGENTS.iter().map(|agent| agent.id).collect();
    ids.join(", ")
}

/// What is to be linked once the skills are there.
pub(super) struct Planned {
    links: Vec<(PathBuf, &'static Agent)>,
    place: Place,
    how: How,
}

/// Decides before anything is installed, so that a name that is taken in an agent's folder stops everything.
pub(super) fn planned(plan: &Plan, agents: &[&'static Agent], how: How) -> Result<Planned, Failure> {
    let mut links = Vec::new();
    for agent in agents {
        for item in plan.items.iter().filter(|item| !matches!(item.action, Action::Skip(_))) {
            let folder = folders(&plan.place).and_then(|place| place.folder(agent));
            let Some(folder) = folder else { return Err(failure(LinkError::NoFolder(agent.id))) };
            let at = folder.join(&item.name);
            let is_new = item.action == Action::Add && at != item.folder;
            if is_new && std::fs::symlink_metadata(&at).is_ok_and(|there| !there.is_symlink()) {
                return Err(failure(LinkError::Conflict(at)));
            }
            links.push((item.folder.clone(), *agent));
        }
    }
    Ok(Planned { links, place: plan.place.clone(), how })
}

impl Planned {
    pub(super) fn perform(&self, context: &Context, output: &mut Output) -> Result<(), Failure> {
        let Some(place) = folders(&self.place) else { return Ok(()) };
        for (folder, agent) in &self.links {
            let plan = link::plan(folder, agent, place, self.how).map_err(failure)?;
            link::perform(folder, &plan).map_err(failure)?;
            let told = match &plan {
                link::Plan::SameFolder => format!("{} reads {}", agent.id, short(folder, context)),
                link::Plan::There(at) => format!("{} had it: {}", agent.id, short(at, context)),
                link::Plan::Link { at, .. } => format!("linked for {}: {}", agent.id, short(at, context)),
                link::Plan::Copy { at } => format!("copied for {}: {}", agent.id, short(at, context)),
            };
            if !output.json() {
                output.line(format!("    {told}"))?;
            }
        }
        Ok(())
    }
}

/// Takes away the links to a skill that is gone, or about to go.
pub(super) fn unlink(folder: &std::path::Path, place: &Place) {
    if let Some(place) = folders(place) {
        for agent in agents::AGENTS {
            // A link that cannot be removed leads nowhere, and is reported as such where it is.
            let _ = link::unlink(folder, agent, place);
        }
    }
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
