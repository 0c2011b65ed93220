//! Deleting a skill: it is moved away with one rename, and what the lock says of it goes with it.

use prowess::{Policy, Skill, Surroundings};

use super::OwnError;
use crate::agents::AGENTS;
use crate::install::plan_remove;
use crate::interchange::copies::copies;
use crate::interchange::link;
use crate::place::{For, Place};

/// Deletes a skill of the user's, installed or made, and the links to it and copies of it in other agents' folders.
pub fn delete(skill: &Skill, policy: &Policy, world: &Surroundings) -> Result<(), OwnError> {
    let name = skill.name().into_owned();
    let place =
        Place::of_own(skill, policy, world).map_err(|why| OwnError::NotOwn { name: name.clone(), why })?;
    let folder = skill.folder();
    let plan = plan_remove(&[(&name, &folder)], &place)?;
    let trees: Vec<String> =
        plan.items.iter().filter_map(|item| Some(item.before.as_ref()?.tree.clone())).collect();
    plan.commit()?;
    let elsewhere = place.base().map(|base| match place.scope {
        For::Project => link::Place::Project(base),
        For::User => link::Place::Home(base),
    });
    let Some(elsewhere) = elsewhere else { return Ok(()) };
    for agent in AGENTS {
        // A link that cannot be removed leads nowhere, and is reported as such where it is.
        let _ = link::unlink(&folder, agent, elsewhere);
    }
    for copied in trees.iter().flat_map(|tree| copies(&folder, tree, elsewhere)) {
        // A copy that cannot be removed stays.
        let _ = copied.remove();
    }
    Ok(())
}
