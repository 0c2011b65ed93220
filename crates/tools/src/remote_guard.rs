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

/// Returns an error while the conversation has text of a remote skill, unless the user allowed running: the text may
/// have caused the call.
pub(crate) fn check_run_allowed(snapshot: &Snapshot, session: &Session) -> Result<(), ToolError> {
    let is_allowed = |name: &&str| match snapshot.get(name) {
        Some(skill) => match skill.remote() {
            Some(remote) => remote.approval().grants().allow_run,
            None => !session.ledger.has_file_set(name),
        },
        // Of restored conversations, only the names are known. Those of remote skills begin with the server's label.
        None => !session.ledger.has_file_set(name) && !name.contains('/'),
    };
    let mut names = session.ledger.names().chain(session.remote_reads.iter().map(String::as_str));
    match names.find(|name| !is_allowed(name)) {
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
