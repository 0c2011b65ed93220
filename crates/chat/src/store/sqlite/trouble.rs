//! What SQLite and the system say when something fails, as one of our errors.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode as Code;

use super::super::{Address, StoreError};

pub(super) fn of(path: &Path, busy: Duration, error: rusqlite::Error) -> StoreError {
    let Some(code) = error.sqlite_error_code() else { return StoreError::Internal(error.to_string()) };
    match code {
        Code::DatabaseBusy | Code::DatabaseLocked => {
            StoreError::Busy(format!("waited {} ms for {}", busy.as_millis(), place(path)))
        }
        Code::DiskFull => StoreError::Full,
        Code::DatabaseCorrupt | Code::NotADatabase => StoreError::Damaged(place(path)),
        Code::PermissionDenied | Code::ReadOnly | Code::CannotOpen => {
            StoreError::Refused(format!("{} cannot be opened or written to", place(path)))
        }
        Code::SystemIoFailure => StoreError::Gone(format!("the disk of {} fails: {error}", place(path))),
        _ => StoreError::Internal(error.to_string()),
    }
}

pub(super) fn of_io(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full
        }
        _ => StoreError::Refused(format!("{}: {error}", place(path))),
    }
}

pub(super) fn place(path: &Path) -> String {
    Address::File(path.to_owned()).to_string()
}
