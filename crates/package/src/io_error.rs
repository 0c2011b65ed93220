//! Messages and hints for I/O errors.

use std::io::{Error, ErrorKind};

use prowess_fs::is_symlink_error;

/// Returns the message for an I/O error.
pub(crate) fn describe_io_error(error: &Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::AlreadyExists => "it already exists".to_owned(),
        _ if is_symlink_error(error) => "it is a symlink".to_owned(),
        kind => kind.to_string(),
    }
}

/// Returns a hint for an I/O error.
pub(crate) fn io_error_hint(error: &Error) -> Option<String> {
    let hint = match error.kind() {
        ErrorKind::StorageFull => "free some disk space; nothing was changed",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "make it writable, or choose another scope with --user or --project"
        }
        ErrorKind::AlreadyExists | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            "move the existing file away; nothing was changed"
        }
        _ if is_symlink_error(error) => "move the existing file away; nothing was changed",
        _ => return None,
    };
    Some(hint.to_owned())
}
