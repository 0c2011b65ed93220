//! `prowess hook`: suggests skills inside other agents, through a hook on the user's messages.

mod change;
mod prompt;
mod render;

use super::CommandResult;
use crate::args::{GlobalArgs, HookArgs, HookCommand};
use crate::context::CommandContext;
use crate::output::Output;
pub(super) use prompt::LOG_FILE_MAX;
pub(crate) use prompt::{is_prompt_call, run as prompt};

pub(super) fn run(global: &GlobalArgs, args: &HookArgs, output: &mut Output) -> CommandResult {
    match &args.command {
        // The hook has its own entry point, which never fails.
        HookCommand::Prompt(_) => Ok(super::SUCCESS),
        HookCommand::Install(args) => {
            // An invalid configuration of Prowess does not prevent changes to a client's configuration.
            change::install(&CommandContext::load_unchecked(global)?, global, args, output)
        }
        HookCommand::Uninstall(args) => {
            change::uninstall(&CommandContext::load_unchecked(global)?, global, args, output)
        }
    }
}
