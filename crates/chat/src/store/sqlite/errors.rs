//! Converts errors of SQLite and the operating system.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode as Code;

use super::super::{StoreAddress, StoreError};

pub(super) fn to_store_error(path: &Path, busy_timeout: Duration, error: rusqlite::Error) -> StoreError {
    let Some(code) = error.sqlite_error_code() else { return StoreError::Internal(error.to_string()) };
    match code {
        Code::DatabaseBusy | Code::DatabaseLocked => {
            StoreError::Busy(format!("waited {} ms for {}", busy_timeout.as_millis(), display_path(path)))
        }
        Code::DiskFull => StoreError::Full,
        Code::DatabaseCorrupt | Code::NotADatabase => StoreError::Damaged(display_path(path)),
        Code::PermissionDenied | Code::ReadOnly | Code::CannotOpen => {
            StoreError::Refused(format!("cannot open or write {}", display_path(path)))
        }
        Code::SystemIoFailure => StoreError::Io(format!("I/O error in {}: {error}", display_path(path))),
        _ => StoreError::Internal(error.to_string()),
    }
}

pub(super) fn from_io_error(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full
        }
        _ => StoreError::Refused(format!("{}: {error}", display_path(path))),
    }
}

pub(super) fn display_path(path: &Path) -> String {
    StoreAddress::File(path.to_owned()).to_string()
}
