//! Prompt hooks: a command that a client runs for each message of the user, and whose output it shows to the model.
//!
//! | module | subject |
//! |---|---|
//! | `clients` | the clients, where their hooks are registered, and how their models load skills |
//! | `command` | the command line of the hook |
//! | `generated` | files that contain only the hook |
//! | `plan` | plans the change of a client's file |
//! | `error` | why a hook was not registered |
//!
//! Invariants: hooks of others stay, in their order; uninstalling restores every byte; a generated file that somebody
//! changed is neither replaced nor removed; a client's own trust decision is never made for the user.

mod clients;
mod command;
mod error;
mod generated;
mod plan;

#[cfg(test)]
mod tests;

pub use clients::{HOOK_CLIENTS, HookClient, SkillTool, find_hook_client};
pub use command::HookCommand;
pub use error::HookError;
pub use plan::{HookPlan, plan_hook_install, plan_hook_uninstall};

use super::client_env::ClientEnv;
use super::status::{ClientTrace, trace_of};

/// Returns evidence that a client is installed; `None` if there is none.
pub fn find_hook_trace(env: &ClientEnv, client: &HookClient) -> Option<ClientTrace> {
    trace_of(env, client.traces, client.programs)
}
