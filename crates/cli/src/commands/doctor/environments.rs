//! Checks the environments of scripts and the programs that build them.

use prowess::short_path;
use prowess_sandbox::Cancel;
use prowess_sandbox::environments::{EnvironmentStore, InstalledTool, StoredEnvironment};

use super::super::env::{new_builder, short_id, size, store};
use super::{CheckState, DoctorCheck};
use crate::context::CommandContext;
use crate::output::{clean, clean_path, pluralize};

/// Returns the programs that build environments, the number and size of the environments, and those that cannot be used.
pub(super) fn check(context: &CommandContext) -> Vec<DoctorCheck> {
    let store = match store(context) {
        Ok(store) => store,
        Err(failure) => {
            return vec![DoctorCheck {
                subject: "environments",
                state: CheckState::Note,
                message: failure.into_message(),
                help: Some(
                    "to use another directory, set environments.directory in ~/.prowess/config.toml"
                        .to_owned(),
                ),
            }];
        }
    };
    let mut checks: Vec<DoctorCheck> = match new_builder(context, Cancel::default()) {
        Ok(builder) => builder.installed_tools().iter().map(check_tool).collect(),
        Err(_) => Vec::new(),
    };
    let all = store.list();
    let bytes: u64 =
        all.iter().filter_map(|stored| stored.record.as_ref().ok()).map(|record| record.bytes).sum();
    let dir = clean_path(&short_path(store.dir(), &context.host_env));
    let message = match all.len() {
        0 => format!("none in {dir}"),
        count => format!("{} in {dir}, {}", pluralize(count, "environment"), size(bytes)),
    };
    checks.push(DoctorCheck { subject: "environments", state: CheckState::Fine, message, help: None });
    checks.extend(all.iter().filter_map(|stored| check_stored(&store, stored)));
    checks
}

fn check_tool(tool: &InstalledTool) -> DoctorCheck {
    let version = tool.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let purpose = match (tool.name, tool.is_used) {
        ("uv" | "pip", true) => ", installs Python packages",
        ("npm", true) => ", installs npm packages",
        ("pip", false) => ", not used because uv is installed",
        _ => "",
    };
    let (state, message) = match &tool.program {
        Ok(path) => (CheckState::Fine, format!("{}{version}{purpose}", clean_path(path))),
        Err(reason) => {
            let reason = reason.strip_prefix(tool.name).unwrap_or(reason).trim_start();
            (CheckState::Note, clean(reason).into_owned())
        }
    };
    DoctorCheck { subject: tool.name, state, message, help: None }
}

/// Returns an environment that cannot be used.
fn check_stored(store: &EnvironmentStore, stored: &StoredEnvironment) -> Option<DoctorCheck> {
    let reason = match &stored.record {
        Err(reason) => reason.clone(),
        Ok(_) => store.check(&stored.id).err()?.to_string(),
    };
    let help = match stored.usage.skills.first() {
        Some(skill) => format!(
            "run `prowess env build {}` to build it again, or `prowess env remove {}`",
            clean(skill),
            short_id(&stored.id)
        ),
        None => "run `prowess env prune` to remove it".to_owned(),
    };
    Some(DoctorCheck {
        subject: "environment",
        state: CheckState::Problem,
        message: format!("{} cannot be used: {}", short_id(&stored.id), clean(&reason)),
        help: Some(help),
    })
}
