//! Checks installed skills against their lock files.

use prowess::lock::LockFile;
use prowess::short_path;
use prowess_package::{VerificationStatus, VerifiedSkill};

use super::super::packages;
use super::{CheckState, DoctorCheck};
use crate::context::CommandContext;
use crate::output::{clean_path, pluralize};
use crate::scope::ScopeArgs;

/// Returns a result for each lock file.
pub(super) fn check(context: &CommandContext) -> Vec<DoctorCheck> {
    let subject = "installed";
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.host_env));
    let mut checks = Vec::new();
    for target in packages::install_targets(context, &ScopeArgs::default()).unwrap_or_default() {
        let message = match LockFile::read(&target.lock_path) {
            Err(error) => Err((error.to_string(), "fix that file, or restore it from version control")),
            Ok(lock) if lock.skills.is_empty() && lock.pending.is_none() => continue,
            Ok(lock) if lock.pending.is_some() => {
                let message = format!("{} contains an interrupted change", short(&target.lock_path));
                Err((message, "run `prowess verify` to finish it"))
            }
            Ok(lock) => prowess_package::verify_skills(&target)
                .map(|verified| (lock.skills.len(), verified))
                .map_err(|error| (error.to_string(), "run `prowess verify` for details")),
        };
        checks.push(match message {
            Err((message, help)) => {
                DoctorCheck { subject, state: CheckState::Problem, message, help: Some(help.to_owned()) }
            }
            Ok((count, verified)) => {
                let is_bad = |skill: &&VerifiedSkill| {
                    !skill.accepted
                        && !matches!(skill.status, VerificationStatus::Ok | VerificationStatus::Unlocked)
                };
                let names: Vec<_> = verified.iter().filter(is_bad).map(|skill| skill.name.as_str()).collect();
                let summary = format!("{} in {}", pluralize(count, "skill"), short(&target.lock_path));
                match names.is_empty() {
                    true => DoctorCheck { subject, state: CheckState::Fine, message: summary, help: None },
                    false => {
                        let message = format!("{summary}; modified or missing: {}", names.join(", "));
                        let help = Some("run `prowess verify` to see the differences".to_owned());
                        DoctorCheck { subject, state: CheckState::Note, message, help }
                    }
                }
            }
        });
    }
    checks
}
