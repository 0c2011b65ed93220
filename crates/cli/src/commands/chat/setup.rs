//! The store, the model and the selected chat. Without a configured model, the rehearsal shows what a model would receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::Preset;
use prowess_chat::provider::connect;
use prowess_chat::store::{self, Chat, NewChat, Store, StoreAddress, StoreError};
use prowess_chat::turn::Agent;
use prowess_config::{ChatFileLimits, ChatProvider, ToolCalling};

use super::errors::{self, store_failure, unknown_chat};
use crate::args::{ChatArgs, GlobalArgs, StoreArgs};
use crate::commands::server_common::unavailable_summary;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean_path;

/// How the user continues after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContinueHint {
    /// By running the program again.
    NewProcess,
    /// By sending the next message.
    NextMessage,
}

impl ContinueHint {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::NewProcess => "the chat is saved; to continue it: prowess chat --continue \"…\"",
            Self::NextMessage => "the chat is saved; send another message to continue",
        }
    }
}

/// The resources of a chat.
pub(super) struct ChatSetup {
    pub(super) agent: Agent,
    pub(super) toolbox: Arc<prowess_tools::Toolbox>,
    pub(super) store: Arc<dyn Store>,
    pub(super) file_limits: ChatFileLimits,
    /// The location of the API key, for error messages.
    pub(super) key_location: Option<String>,
    pub(super) continue_hint: ContinueHint,
    preset: String,
    provider: ChatProvider,
    /// Whether the model is expected to support tools. Cleared when the loss of tools has been reported.
    tools: AtomicBool,
}

impl ChatSetup {
    pub(super) async fn new(
        context: &CommandContext,
        global: &GlobalArgs,
        args: &ChatArgs,
        again: ContinueHint,
    ) -> Result<Self, Failure> {
        let settings = &context.configuration.chat;
        // Never triggered: a turn stops its own scripts.
        let cancel = prowess_sandbox::Cancel::default();
        let toolbox = Arc::new(super::super::cancellable_toolbox(context, global, cancel));
        let model = connect(settings, |name| std::env::var_os(name), &toolbox)
            .map_err(|error| errors::setup_failure(&error))?;
        let store = open_store(context, &args.store_args).await?;
        let key = match (&settings.key_env, &settings.key_file) {
            (Some(name), _) => Some(format!("the variable {name}")),
            (None, Some(path)) => Some(clean_path(path)),
            (None, None) => None,
        };
        Ok(Self {
            agent: Agent::new(Arc::clone(&toolbox), model, settings.limits)
                .with_skill_models(settings.skill_models.clone()),
            toolbox,
            store,
            file_limits: settings.files,
            key_location: key,
            continue_hint: again,
            preset: context.policy().preset.as_str().to_owned(),
            provider: settings.provider,
            tools: AtomicBool::new(settings.tools == ToolCalling::Auto),
        })
    }

    /// Returns `true` once, after the model has turned out not to support tools.
    pub(super) fn take_tools_lost(&self) -> bool {
        !self.agent.model().can_call_tools() && self.tools.swap(false, Ordering::Relaxed)
    }

    /// Returns the number of skills that are not available, or `None` if all are.
    pub(super) fn unavailable_summary(&self) -> Option<String> {
        unavailable_summary(&self.toolbox.snapshot())
    }

    /// Returns a notice for rehearsal mode, or `None` if a model is configured.
    pub(super) fn rehearsal_notice(&self, context: &CommandContext) -> Option<String> {
        (self.provider == ChatProvider::Rehearsal).then(|| {
            let file = match context.host_env.home {
                Some(_) if context.policy().preset != Preset::Harness => "~/.prowess/config.toml",
                _ => "a file given with --config",
            };
            format!(
                "no model is configured; rehearsal mode shows what a model would receive. \
                 To use a model, set chat.provider, chat.model and chat.key-env in {file}"
            )
        })
    }
}

/// Opens the store given by options, environment or configuration.
pub(in crate::commands) async fn open_store(
    context: &CommandContext,
    args: &StoreArgs,
) -> Result<Arc<dyn Store>, Failure> {
    let configured = context.configuration.chat.store.as_ref().map(|store| store.expose());
    let address = args.store.as_deref().or(configured);
    let address = StoreAddress::resolve(&context.host_env, address).map_err(store_failure)?;
    store::open(&address).await.map_err(store_failure)
}

pub(super) enum SelectedChat {
    Existing(Box<Chat>),
    /// A new chat. It is created with its first message, so that no empty chats are stored.
    New,
}

impl SelectedChat {
    pub(super) async fn select(args: &ChatArgs, setup: &ChatSetup) -> Result<Self, Failure> {
        if let Some(id) = &args.chat {
            let stored = setup.store.chat(id).await.map_err(|error| match error {
                StoreError::ChatNotFound => unknown_chat(id),
                error => store_failure(error),
            })?;
            return Ok(Self::Existing(Box::new(stored)));
        }
        if !args.latest {
            return Ok(Self::New);
        }
        let page = setup.store.chats(None, 1).await.map_err(store_failure)?;
        match page.chats.into_iter().next() {
            Some(stored) => Ok(Self::Existing(Box::new(stored))),
            None => Err(Failure::new(ErrorCode::NotFound, "there is no chat to continue")
                .hint("omit --continue to start a chat")),
        }
    }

    /// Returns the id of the chat, which is created if it is new.
    pub(super) async fn get_or_create(&self, setup: &ChatSetup) -> Result<String, Failure> {
        match self {
            Self::Existing(stored) => Ok(stored.id.clone()),
            Self::New => {
                let new = NewChat { title: String::new(), preset: setup.preset.clone() };
                Ok(setup.store.create_chat(new).await.map_err(store_failure)?.id)
            }
        }
    }
}
