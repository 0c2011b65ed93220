//! What went wrong, in the words and with the codes of the protocol.

use prowess::ErrorCode as Code;
use prowess::format::hidden::brief;
use prowess::resource::AccessError;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

use crate::page::Unknown;
use crate::uri::{URI_MAX, UriError};

/// What was asked for cannot be understood, or is not there where the protocol has no better word.
pub(super) fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// A resource that is not there. The SDK gives it the code that the client's revision has for it.
pub(super) fn absent(message: impl Into<String>) -> ErrorData {
    ErrorData::resource_not_found(message.into(), None)
}

/// An error that says which resource it is about. What is too long to be an address is not sent back.
pub(super) fn about(error: ErrorData, uri: &str) -> ErrorData {
    let data = (uri.len() <= URI_MAX).then(|| json!({"uri": uri}));
    ErrorData { data, ..error }
}

/// The file system failed us, or we failed.
pub(super) fn internal(message: impl Into<String>) -> ErrorData {
    ErrorData::internal_error(message.into(), None)
}

/// A method that nobody has.
pub(super) fn no_method(method: &str) -> ErrorData {
    let message = format!("there is no method {}", brief(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// A message that does not belong here.
pub(super) fn out_of_place(message: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
}

impl From<Unknown> for Said {
    fn from(_: Unknown) -> Self {
        Self(invalid("this cursor was not given out here for this list; begin again without one"))
    }
}

impl From<UriError> for Said {
    fn from(error: UriError) -> Self {
        Self(invalid(error.to_string()))
    }
}

/// An error on its way to the client.
#[derive(Debug)]
pub(super) struct Said(pub(super) ErrorData);

impl From<ErrorData> for Said {
    fn from(error: ErrorData) -> Self {
        Self(error)
    }
}

impl From<Said> for ErrorData {
    fn from(said: Said) -> Self {
        said.0
    }
}

/// Why a file cannot be had.
pub(super) fn access(error: &AccessError) -> ErrorData {
    match error.code() {
        Code::NotFound => absent(error.to_string()),
        Code::InternalError => internal(error.to_string()),
        _ => invalid(error.to_string()),
    }
}
