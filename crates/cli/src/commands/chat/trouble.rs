//! What went wrong, with what to do next.

use prowess_chat::provider::{ModelError, SecretError, SetupError};
use prowess_chat::store::StoreError;
use prowess_chat::turn::TurnError;

use super::setup::Setup;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean;

/// The store did not do it.
pub(in crate::commands) fn of_store(error: StoreError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        StoreError::NoChat => failure.hint("prowess chats lists them"),
        StoreError::Writing => {
            failure.hint("another prowess answers there; wait for it, or begin a new chat")
        }
        StoreError::Busy(_) => failure.hint("try again in a moment, or end the program that holds it"),
        StoreError::Full => failure.hint("make room and say it again"),
        StoreError::Gone(_) => failure.hint(
            "is it there, and is there room? --store, PROWESS_STORE and chat.store say where chats are kept",
        ),
        StoreError::Refused(_) => {
            failure.hint("see who may read and write there; --store names another place")
        }
        StoreError::Foreign(_) => failure.hint("name another file with --store, PROWESS_STORE or chat.store"),
        StoreError::Invalid(_)
        | StoreError::TooLarge { .. }
        | StoreError::Ended
        | StoreError::Newer { .. }
        | StoreError::Damaged(_)
        | StoreError::Internal(_) => failure,
        // The enum may grow.
        _ => failure,
    }
}

/// There is no such chat.
pub(in crate::commands) fn unknown_chat(id: &str) -> Failure {
    let message = format!("there is no chat {}", clean(&id.chars().take(80).collect::<String>()));
    Failure::new(ErrorCode::NotFound, message).hint("prowess chats lists them")
}

/// There is no model.
pub(super) fn of_setup(error: &SetupError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        SetupError::NoModel(_) => {
            failure.hint("name it in ~/.prowess/config.toml, under [chat]: model = \"…\"")
        }
        SetupError::Secret(SecretError::NotSet(name)) => {
            failure.hint(format!("put the key into it: export {}=…", clean(name)))
        }
        SetupError::Secret(SecretError::Open { .. }) => failure,
        _ => failure.hint("prowess config shows what is set, and where"),
    }
}

/// The answer broke off.
pub(super) fn of_turn(error: &TurnError, setup: &Setup) -> Failure {
    let again = setup.again.as_str();
    let failure = Failure::new(error.code(), error.to_string());
    let TurnError::Model(model) = error else {
        return match error {
            TurnError::Record(_) => failure.hint(again),
            _ => failure,
        };
    };
    match model {
        ModelError::Connect(_) => {
            failure.hint(format!("check chat.base-url and whether the server is up; {again}"))
        }
        ModelError::Key { .. } => match &setup.key {
            Some(place) => failure.hint(format!("check the key in {place}, and chat.base-url")),
            None => failure.hint("name its key with chat.key-env or chat.key-file"),
        },
        ModelError::Busy { .. } | ModelError::OutOfOrder { .. } => {
            failure.hint(format!("try again later; {again}"))
        }
        ModelError::Refused { .. } => failure.hint("check chat.model; prowess config shows what is set"),
        ModelError::TooLong(_) => {
            failure.hint("set chat.context-tokens to what the model takes, or begin a new chat")
        }
        ModelError::Redirect(_) | ModelError::NotAStream(_) => {
            failure.hint("prowess config shows what is set")
        }
        _ => failure.hint(again),
    }
}
