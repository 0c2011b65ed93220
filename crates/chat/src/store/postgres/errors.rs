//! Converts errors of PostgreSQL.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::super::StoreError;

pub(super) fn to_store_error(error: &Error) -> StoreError {
    let Some(db_error) = error.as_db_error() else {
        // The cause has the details: "connection refused", "unknown issuer".
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let text = format!("{error}").trim_end_matches(&cause).to_owned() + &cause;
        let io = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
        return match io.map(std::io::Error::kind) {
            // Retrying does not help with an untrusted certificate.
            Some(std::io::ErrorKind::InvalidData) => StoreError::Refused(text),
            Some(_) => StoreError::Unreachable(text),
            None if error.is_closed() => StoreError::Unreachable(text),
            None => StoreError::Internal(text),
        };
    };
    let (state, text) = (db_error.code(), db_error.message().to_owned());
    if [SqlState::DISK_FULL].contains(state) {
        return StoreError::Full;
    }
    match state.code().get(..2) {
        // Out of connections or memory; shutting down or starting; connection lost.
        Some("53" | "57" | "08") if *state != SqlState::QUERY_CANCELED => StoreError::Unreachable(text),
        Some("57" | "55" | "40") => StoreError::Busy(text),
        // Wrong password, missing privileges, missing database, read-only database.
        Some("28" | "42" | "3D" | "25") if *state != SqlState::SYNTAX_ERROR => StoreError::Refused(text),
        _ => StoreError::Internal(format!("{text} ({})", state.code())),
    }
}
