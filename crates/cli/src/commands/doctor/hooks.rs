//! Lists the prompt hooks that are installed in other agents, and the last problem of the hook.

use prowess_fs::read_bounded;
use prowess_package::InstallScope;
use prowess_package::connect::ConnectAction;
use prowess_package::connect::hooks::{HOOK_CLIENTS, plan_hook_uninstall};

use super::super::hook::LOG_FILE_MAX;
use super::super::mcp::client_env;
use super::super::packages::display_path;
use super::{CheckState, DoctorCheck};
use crate::args::GlobalArgs;
use crate::context::CommandContext;

/// Returns the installed hooks; `None` if there are none.
pub(super) fn check(context: &CommandContext, global: &GlobalArgs) -> Option<DoctorCheck> {
    let env = client_env(context, global);
    let installed: Vec<String> = HOOK_CLIENTS
        .iter()
        .flat_map(|client| [InstallScope::User, InstallScope::Project].map(|scope| (client, scope)))
        .filter_map(|(client, scope)| plan_hook_uninstall(&env, client, scope).ok())
        .filter(|plan| plan.change.action == ConnectAction::Remove)
        .map(|plan| format!("{} ({})", plan.client.id, display_path(&plan.change.file, context)))
        .collect();
    if installed.is_empty() {
        return None;
    }
    let log = context.host_env.state_dir().map(|state| state.join("hook.log"));
    let log_text = log.as_deref().and_then(|log| read_bounded(log, LOG_FILE_MAX)).unwrap_or_default();
    let last = String::from_utf8_lossy(&log_text).lines().last().map(str::to_owned);
    let (state, help) = match (last, log) {
        (Some(line), Some(log)) => {
            (CheckState::Note, Some(format!("last problem in {}: {line}", display_path(&log, context))))
        }
        _ => (CheckState::Fine, None),
    };
    Some(DoctorCheck { subject: "hooks", state, message: installed.join(", "), help })
}
