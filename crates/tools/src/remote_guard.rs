//! Restrictions for conversations that load remote skills, which come from other MCP servers.

use prowess::format::hidden;
use prowess::{ErrorCode, Skill, Snapshot};

use crate::envelope::ToolError;
use crate::session::Session;

/// Returns an error if the files of a remote skill changed since the conversation loaded it.
pub(crate) fn check_loaded_files(skill: &Skill, session: &Session) -> Result<(), ToolError> {
    session
        .ledger
        .check_file_set(skill.key(), skill)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))
}

/// Returns an error while the conversation has instructions of a remote skill, unless the user allowed running:
/// the instructions may have caused the call.
pub(crate) fn check_run_allowed(snapshot: &Snapshot, session: &Session) -> Result<(), ToolError> {
    let is_allowed = |name: &&str| {
        let remote = snapshot.get(name).and_then(|skill| skill.remote());
        remote.is_some_and(|remote| remote.approval().grants().allow_run)
    };
    match session.ledger.remote_names().find(|name| !is_allowed(name)) {
        None => Ok(()),
        Some(name) => {
            let name = hidden::escape_for_display(name);
            let message = format!(
                "cannot run anything while {name} is loaded in this conversation, because it comes from a server. The user can \
                 allow it: prowess trust --mcp {name} --allow-run"
            );
            Err(ToolError::new(ErrorCode::AccessDenied, message))
        }
    }
}
