//! Whether what was installed is still that.

use prowess::lock::Lock;
use prowess::short_path;
use prowess_package::{Verification, Verified};

use super::super::packages;
use super::{Finding, State};
use crate::context::Context;
use crate::output::{clean_path, counted};
use crate::scope::ScopeArgs;

/// What was installed, where it can be compared with its lock.
pub(super) fn installed(context: &Context) -> Vec<Finding> {
    let what = "installed";
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
    let mut findings = Vec::new();
    for place in packages::places(context, &ScopeArgs::default()).unwrap_or_default() {
        let told = match Lock::read(&place.lock) {
            Err(error) => Err((error.to_string(), "mend that file, or take it back from version control")),
            Ok(lock) if lock.skills.is_empty() && lock.pending.is_none() => continue,
            Ok(lock) if lock.pending.is_some() => {
                let told = format!("{} tells of a change that was interrupted", short(&place.lock));
                Err((told, "prowess verify finishes it"))
            }
            Ok(lock) => prowess_package::verify(&place)
                .map(|verified| (lock.skills.len(), verified))
                .map_err(|error| (error.to_string(), "prowess verify shows more")),
        };
        findings.push(match told {
            Err((told, help)) => Finding { what, state: State::Problem, told, help: Some(help.to_owned()) },
            Ok((count, verified)) => {
                let bad = |one: &&Verified| {
                    !one.accepted && !matches!(one.status, Verification::Ok | Verification::Unlocked)
                };
                let names: Vec<_> = verified.iter().filter(bad).map(|one| one.name.as_str()).collect();
                let all = format!("{}, as {} says", counted(count, "skill"), short(&place.lock));
                match names.is_empty() {
                    true => Finding { what, state: State::Fine, told: all, help: None },
                    false => {
                        let told = format!("{all}, but not {}", names.join(", "));
                        let help = Some("prowess verify shows how they differ".to_owned());
                        Finding { what, state: State::Note, told, help }
                    }
                }
            }
        });
    }
    findings
}
