//! What a file system says when it refuses, in words, and what to do about it.

use std::io::{Error, ErrorKind};

use prowess_fs::is_link_error;

/// Why.
pub(crate) fn words(error: &Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::AlreadyExists => "there is something else in its place".to_owned(),
        _ if is_link_error(error) => "there is a link in its place".to_owned(),
        kind => kind.to_string(),
    }
}

/// What to do next.
pub(crate) fn hint(error: &Error) -> Option<String> {
    let hint = match error.kind() {
        ErrorKind::StorageFull => "make room; nothing was changed",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "make it writable, or choose another place: --user, --project"
        }
        ErrorKind::AlreadyExists | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            "move away what is there; nothing was changed"
        }
        _ if is_link_error(error) => "move away what is there; nothing was changed",
        _ => return None,
    };
    Some(hint.to_owned())
}
