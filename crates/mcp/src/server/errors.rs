//! Errors with the codes of the protocol.

use prowess::ErrorCode as Code;
use prowess::format::hidden::escape_and_truncate;
use prowess::resources::ReadResourceError;
use prowess_tools::WorkspaceError;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

use crate::page::UnknownCursorError;
use crate::uri::{ParseSkillUriError, URI_MAX};

/// The parameters are invalid, or something that has no specific code does not exist.
pub(super) fn invalid_params(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// The resource does not exist. The SDK chooses the code for the client's revision.
pub(super) fn resource_not_found(message: impl Into<String>) -> ErrorData {
    ErrorData::resource_not_found(message.into(), None)
}

/// Adds the URI of the resource to an error, unless it is too long.
pub(super) fn with_uri(error: ErrorData, uri: &str) -> ErrorData {
    let data = (uri.len() <= URI_MAX).then(|| json!({"uri": uri}));
    ErrorData { data, ..error }
}

/// An internal error or an error of the file system.
pub(super) fn internal_error(message: impl Into<String>) -> ErrorData {
    ErrorData::internal_error(message.into(), None)
}

/// The method is unknown.
pub(super) fn method_not_found(method: &str) -> ErrorData {
    let message = format!("unknown method {}", escape_and_truncate(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The message is not allowed in this state.
pub(super) fn invalid_request(message: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
}

impl From<UnknownCursorError> for ProtocolError {
    fn from(_: UnknownCursorError) -> Self {
        Self(invalid_params("unknown cursor; start again without a cursor"))
    }
}

impl From<ParseSkillUriError> for ProtocolError {
    fn from(error: ParseSkillUriError) -> Self {
        Self(invalid_params(error.to_string()))
    }
}

/// An error that converts to [`ErrorData`].
#[derive(Debug)]
pub(super) struct ProtocolError(pub(super) ErrorData);

impl From<ErrorData> for ProtocolError {
    fn from(error: ErrorData) -> Self {
        Self(error)
    }
}

impl From<ProtocolError> for ErrorData {
    fn from(error: ProtocolError) -> Self {
        error.0
    }
}

/// Converts a read error.
pub(super) fn from_read_error(error: &ReadResourceError) -> ErrorData {
    match error.code() {
        Code::NotFound => resource_not_found(error.to_string()),
        Code::InternalError => internal_error(error.to_string()),
        _ => invalid_params(error.to_string()),
    }
}

/// Converts an error of a workspace.
pub(super) fn from_workspace_error(error: &WorkspaceError) -> ErrorData {
    match error.code() {
        Code::NotFound => resource_not_found(error.to_string()),
        Code::Unavailable => internal_error(error.to_string()),
        _ => invalid_params(error.to_string()),
    }
}
