//! What a conversation that loads skills of servers may not do.

use prowess::format::hidden;
use prowess::policy::Policy;
use prowess::{ErrorCode, Skill, Snapshot};

use crate::definition::key;
use crate::envelope::ToolError;
use crate::session::Session;

/// Refuses files of a server's skill that is no longer what the conversation loaded.
pub(crate) fn admit(skill: &Skill, policy: &Policy, session: &Session) -> Result<(), ToolError> {
    session
        .ledger
        .admit(&key(skill, policy), skill)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))
}

/// Refuses to run anything while the conversation has instructions of a server, unless the user said that it may: those
/// instructions may be what asks for it.
pub(crate) fn may_run(snapshot: &Snapshot, session: &Session) -> Result<(), ToolError> {
    let granted = |name: &&str| {
        let supplied = snapshot.get(name).and_then(|skill| skill.supplied());
        supplied.is_some_and(|supplied| supplied.standing().grants().allow_run)
    };
    match session.ledger.served().find(|name| !granted(name)) {
        None => Ok(()),
        Some(name) => {
            let name = hidden::shown(name);
            let message = format!(
                "nothing is run while {name} is loaded in this conversation: it comes from a server. The user can allow \
                 it: prowess trust --mcp {name} --allow-run"
            );
            Err(ToolError::new(ErrorCode::AccessDenied, message))
        }
    }
}
