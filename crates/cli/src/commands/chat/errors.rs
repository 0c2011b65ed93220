//! Failures of a chat, with hints.

use prowess_chat::provider::{ModelError, ModelSetupError, SecretError};
use prowess_chat::store::StoreError;
use prowess_chat::turn::TurnError;

use super::setup::ChatSetup;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean;

/// Converts an error of the store.
pub(in crate::commands) fn store_failure(error: StoreError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        StoreError::ChatNotFound => failure.hint("run `prowess chats` for a list"),
        StoreError::TurnInProgress => {
            failure.hint("another process is replying in this chat; wait for it, or start a new chat")
        }
        StoreError::FileNotFound(_) => {
            failure.hint("run `prowess chats files ID`, or /files in a chat, for a list")
        }
        StoreError::FileName { .. } => failure.hint("rename the file"),
        StoreError::TooManyFiles { .. } => {
            failure.hint("delete files of the chat, or raise chat.workspace-files in the configuration")
        }
        StoreError::Busy(_) => failure.hint("try again later, or stop the program that uses it"),
        StoreError::Full => failure.hint("free some disk space and try again"),
        StoreError::Unreachable(_) => failure.hint(
            "check that the database is running and accepts connections; --store, PROWESS_STORE and chat.store set \
             its address",
        ),
        StoreError::Io(_) => failure.hint(
            "check the disk and its free space; --store, PROWESS_STORE and chat.store set the location",
        ),
        StoreError::Refused(_) => failure.hint("check its permissions, or select another store with --store"),
        StoreError::NotAStore(_) => {
            failure.hint("select another file with --store, PROWESS_STORE or chat.store")
        }
        StoreError::Invalid(_)
        | StoreError::TooLarge { .. }
        | StoreError::TurnEnded
        | StoreError::NewerVersion { .. }
        | StoreError::Damaged(_)
        | StoreError::Internal(_) => failure,
        // The enum is non-exhaustive.
        _ => failure,
    }
}

pub(in crate::commands) fn unknown_chat(id: &str) -> Failure {
    let message = format!("chat {} not found", clean(&id.chars().take(80).collect::<String>()));
    Failure::new(ErrorCode::NotFound, message).hint("run `prowess chats` for a list")
}

/// Converts an error of the model setup.
pub(super) fn setup_failure(error: &ModelSetupError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        ModelSetupError::NoModel(_) => {
            failure.hint("set it in ~/.prowess/config.toml, under [chat]: model = \"…\"")
        }
        ModelSetupError::Secret(SecretError::NotSet(name)) => {
            failure.hint(format!("set it to your API key: export {}=…", clean(name)))
        }
        ModelSetupError::Secret(SecretError::TooPermissive { .. }) => failure,
        _ => failure.hint("run `prowess config` to see the settings and their origins"),
    }
}

/// Converts an error of a turn.
pub(super) fn turn_failure(error: &TurnError, setup: &ChatSetup) -> Failure {
    let again = setup.continue_hint.as_str();
    let failure = Failure::new(error.code(), error.to_string());
    let TurnError::Model(model) = error else {
        return match error {
            TurnError::Record(_) => failure.hint(again),
            _ => failure,
        };
    };
    match model {
        ModelError::Connect(_) => {
            failure.hint(format!("check chat.base-url and whether the server is running; {again}"))
        }
        ModelError::KeyRejected { .. } => match &setup.key_location {
            Some(location) => failure.hint(format!("check the API key in {location}, and chat.base-url")),
            None => failure.hint("set the API key with chat.key-env or chat.key-file"),
        },
        ModelError::Busy { .. } | ModelError::ServerError { .. } => {
            failure.hint(format!("try again later; {again}"))
        }
        ModelError::Rejected { .. } => {
            failure.hint("check chat.model; run `prowess config` to see the settings")
        }
        ModelError::TooLong(_) => {
            failure.hint("set chat.context-tokens to the context size of the model, or start a new chat")
        }
        ModelError::Redirect(_) | ModelError::NotAStream(_) => {
            failure.hint("run `prowess config` to see the settings")
        }
        _ => failure.hint(again),
    }
}
