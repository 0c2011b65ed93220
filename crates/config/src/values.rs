//! The effective values while the layers are applied.

use std::path::PathBuf;

use super::chat::ChatSettings;
use super::check::CheckSettings;
use super::embeddings::EmbeddingsSettings;
use super::mcp_source::McpSource;
use super::test_settings::TestSettings;
use prowess::policy::{ActivationMode, Policy};

/// The default number of skills that are pushed at once.
const DEFAULT_MAX_PUSHED: u32 = 3;

/// All values that keys can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigValues {
    pub(super) policy: Policy,
    /// Not part of the policy, because it is not about skills.
    pub(super) chat: ChatSettings,
    /// Not part of the policy, either.
    pub(super) embeddings: EmbeddingsSettings,
    /// Not part of the policy, either.
    pub(super) test: TestSettings,
    /// Separate from the policy, whose activation only holds it in the mode `pushed`, so that the order of keys
    /// does not matter.
    pub(super) max_pushed: u32,
    /// The servers that provide skills.
    pub(super) mcp_sources: Vec<McpSource>,
    /// The sites whose skill indexes are searched.
    pub(super) indexes: Vec<String>,
    /// The settings of `prowess check`.
    pub(super) check: CheckSettings,
    /// The home directory, which replaces `~` in paths.
    pub(super) home: Option<PathBuf>,
}

impl ConfigValues {
    pub(super) fn from_policy(policy: Policy, home: Option<PathBuf>) -> Self {
        let max_pushed = match policy.activation {
            ActivationMode::Pushed { max } => max,
            _ => DEFAULT_MAX_PUSHED,
        };
        let (chat, embeddings) = (ChatSettings::default(), EmbeddingsSettings::default());
        let (mcp_sources, indexes) = (Vec::new(), Vec::new());
        Self {
            policy,
            chat,
            embeddings,
            max_pushed,
            mcp_sources,
            indexes,
            check: CheckSettings::default(),
            test: TestSettings::default(),
            home,
        }
    }

    pub(super) fn into_policy(mut self) -> Policy {
        if let ActivationMode::Pushed { max } = &mut self.policy.activation {
            *max = self.max_pushed;
        }
        self.policy
    }
}

/// Access to one of the values.
pub(super) struct ValueLens<T> {
    pub(super) get: fn(&ConfigValues) -> &T,
    pub(super) get_mut: fn(&mut ConfigValues) -> &mut T,
}

// Creates the lens for a path such as `policy.scan.depth`.
macro_rules! lens {
    ($($field:ident).+) => {
        ValueLens { get: |values| &values.$($field).+, get_mut: |values| &mut values.$($field).+ }
    };
}
pub(super) use lens;
