//! The store, the model, and the chat that is meant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::Preset;
use prowess_chat::provider::connect;
use prowess_chat::store::{self, Address, Chat as Kept, NewChat, Store, StoreError};
use prowess_chat::turn::Agent;
use prowess_config::{Provider, ToolCalling};

use super::trouble::{self, of_store, unknown_chat};
use crate::args::{Chat, Global, StoreArgs};
use crate::commands::serving::not_available;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean_path;

/// How somebody goes on after something was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// With another call of the program.
    Call,
    /// With the next message.
    Here,
}

impl Again {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Call => "what was said is kept; prowess chat --continue \"…\" goes on",
            Self::Here => "what was said is kept; the next message goes on",
        }
    }
}

/// All that turns need.
pub(super) struct Setup {
    pub(super) agent: Agent,
    pub(super) toolbox: Arc<prowess_tools::Toolbox>,
    pub(super) store: Arc<dyn Store>,
    /// What is said when the provider does not take the key.
    pub(super) key: Option<String>,
    pub(super) again: Again,
    preset: String,
    provider: Provider,
    /// Whether the model is offered tools, as far as was said; and what is found out is said once.
    tools: AtomicBool,
}

impl Setup {
    pub(super) async fn new(
        context: &Context,
        global: &Global,
        call: &Chat,
        again: Again,
    ) -> Result<Self, Failure> {
        let wanted = &context.configuration.chat;
        // The turn ends what it started; there is nobody else to.
        let cancel = prowess_sandbox::Cancel::default();
        let toolbox = Arc::new(super::super::toolbox_until(context, global, cancel));
        let model = connect(wanted, |name| std::env::var_os(name), &toolbox)
            .map_err(|error| trouble::of_setup(&error))?;
        let store = open(context, &call.place).await?;
        let key = match (&wanted.key_env, &wanted.key_file) {
            (Some(name), _) => Some(format!("the variable {name}")),
            (None, Some(path)) => Some(clean_path(path)),
            (None, None) => None,
        };
        Ok(Self {
            agent: Agent::new(Arc::clone(&toolbox), model, wanted.limits),
            toolbox,
            store,
            key,
            again,
            preset: context.policy().preset.as_str().to_owned(),
            provider: wanted.provider,
            tools: AtomicBool::new(wanted.tools == ToolCalling::Auto),
        })
    }

    /// Returns `true` once it turns out that the model cannot call tools.
    pub(super) fn lost_tools(&self) -> bool {
        !self.agent.model().can_call_tools() && self.tools.swap(false, Ordering::Relaxed)
    }

    /// How many skills were found and are not offered; `None` where all are.
    pub(super) fn not_available(&self) -> Option<String> {
        not_available(&self.toolbox.snapshot())
    }

    /// That there is no model, and how to have one; `None` where there is.
    pub(super) fn no_model(&self, context: &Context) -> Option<String> {
        (self.provider == Provider::Rehearsal).then(|| {
            let file = match context.surroundings.home {
                Some(_) if context.policy().preset != Preset::Harness => "~/.prowess/config.toml",
                _ => "a file that --config names",
            };
            format!(
                "no model is configured, so this is a rehearsal: it shows what a model would be given. \
                 To talk to one, set chat.provider, chat.model and chat.key-env in {file}"
            )
        })
    }
}

/// Opens the store that the call, the environment or the configuration names.
pub(in crate::commands) async fn open(
    context: &Context,
    place: &StoreArgs,
) -> Result<Arc<dyn Store>, Failure> {
    let configured = context.configuration.chat.store.as_ref().map(|store| store.written());
    let written = place.store.as_deref().or(configured);
    let address = Address::of(&context.surroundings, written).map_err(of_store)?;
    store::open(&address).await.map_err(of_store)
}

/// The chat that somebody means.
pub(super) enum Meant {
    /// One that is there.
    Old(Box<Kept>),
    /// One that is begun with its first message, so that nothing is left of a conversation in which nothing was said.
    New,
}

impl Meant {
    pub(super) async fn of(call: &Chat, setup: &Setup) -> Result<Self, Failure> {
        if let Some(id) = &call.chat {
            let kept = setup.store.chat(id).await.map_err(|error| match error {
                StoreError::NoChat => unknown_chat(id),
                error => of_store(error),
            })?;
            return Ok(Self::Old(Box::new(kept)));
        }
        if !call.latest {
            return Ok(Self::New);
        }
        let page = setup.store.chats(None, 1).await.map_err(of_store)?;
        match page.chats.into_iter().next() {
            Some(kept) => Ok(Self::Old(Box::new(kept))),
            None => Err(Failure::new(ErrorCode::NotFound, "there is no chat to go on with")
                .hint("begin one without --continue")),
        }
    }

    /// Its id; a new one is begun now.
    pub(super) async fn begun(&self, setup: &Setup) -> Result<String, Failure> {
        match self {
            Self::Old(kept) => Ok(kept.id.clone()),
            Self::New => {
                let new = NewChat { title: String::new(), preset: setup.preset.clone() };
                Ok(setup.store.create_chat(new).await.map_err(of_store)?.id)
            }
        }
    }
}
