//! What PostgreSQL says when something fails, as one of our errors.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::super::StoreError;

pub(super) fn of(error: &Error) -> StoreError {
    let Some(said) = error.as_db_error() else {
        // The cause says more than the error: "connection refused", "unknown issuer".
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let text = format!("{error}").trim_end_matches(&cause).to_owned() + &cause;
        let io = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
        return match io.map(std::io::Error::kind) {
            // A certificate that is not trusted will not be so a little later.
            Some(std::io::ErrorKind::InvalidData) => StoreError::Refused(text),
            Some(_) => StoreError::Gone(text),
            None if error.is_closed() => StoreError::Gone(text),
            None => StoreError::Internal(text),
        };
    };
    let (state, text) = (said.code(), said.message().to_owned());
    if [SqlState::DISK_FULL].contains(state) {
        return StoreError::Full;
    }
    match state.code().get(..2) {
        // Out of connections or memory; shut down or starting; lost.
        Some("53" | "57" | "08") if *state != SqlState::QUERY_CANCELED => StoreError::Gone(text),
        Some("57" | "55" | "40") => StoreError::Busy(text),
        // Password, rights, a database that is not there, one that is read-only.
        Some("28" | "42" | "3D" | "25") if *state != SqlState::SYNTAX_ERROR => StoreError::Refused(text),
        _ => StoreError::Internal(format!("{text} ({})", state.code())),
    }
}
