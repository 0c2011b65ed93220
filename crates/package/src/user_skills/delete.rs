//! Deletes a skill: moves it away with one rename, and removes its lock entry.

use prowess::{HostEnv, Policy, Skill};

use super::UserSkillError;
use crate::agents::{AGENTS, AgentHome};
use crate::install::plan_remove;
use crate::install_target::{InstallScope, InstallTarget};
use crate::interchange::copies::find_copies;
use crate::interchange::link;

/// Deletes a skill of the user, installed or created, and its symlinks and copies in the directories of other agents.
pub fn delete_skill(skill: &Skill, policy: &Policy, host: &HostEnv) -> Result<(), UserSkillError> {
    let name = skill.name().into_owned();
    let target = InstallTarget::for_editing(skill, policy, host)
        .map_err(|reason| UserSkillError::NotEditable { name: name.clone(), reason })?;
    let dir = skill.dir();
    let plan = plan_remove(&[(&name, &dir)], &target)?;
    let trees: Vec<String> =
        plan.items.iter().filter_map(|item| Some(item.before.as_ref()?.tree.clone())).collect();
    plan.commit()?;
    let Some(base) = target.base() else { return Ok(()) };
    let home = AgentHome::new(base);
    let scope = match target.scope {
        InstallScope::Project => link::AgentScope::Project(base),
        InstallScope::User => link::AgentScope::Home(&home),
    };
    for agent in AGENTS {
        // A symlink that cannot be removed is dangling, and is reported where it is found.
        let _ = link::unlink(&dir, agent, scope);
    }
    for copy in trees.iter().flat_map(|tree| find_copies(&dir, tree, scope)) {
        let _ = copy.remove();
    }
    Ok(())
}
