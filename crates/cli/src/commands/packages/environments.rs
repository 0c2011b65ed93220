//! The environments that lock files pin.

use std::path::PathBuf;

use prowess::lock::LockFile;
use prowess::resources::read_skill_files;
use prowess::{Skill, SkillStatus, Snapshot};
use prowess_package::InstallTarget;
use prowess_sandbox::environments::{ScriptSources, is_pin_needed};

use super::super::env::{self, BuildConsent, BuildRequest, short_id};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::output::{Output, clean};

/// Removes pinned packages whose requirements the skills in these directories no longer have. Packages that stay pinned by
/// mistake are never used, so failures are ignored.
pub(super) fn drop_stale_pins(dirs: &[PathBuf], context: &CommandContext, global: &GlobalArgs) {
    let has_pins = |lock: &LockFile| lock.skills.iter().any(|locked| !locked.environments.is_empty());
    let host = &context.host_env;
    let locks = [Some(prowess::lock::project_lock_path(&host.project)), prowess::lock::user_lock_path(host)];
    if !locks.iter().flatten().any(|path| LockFile::read(path).is_ok_and(|lock| has_pins(&lock))) {
        return;
    }
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    for skill in enabled_in(&snapshot, dirs) {
        let Ok(files) = read_skill_files(skill) else { continue };
        let sources = ScriptSources::from(&files);
        let _ = prowess::lock::retain_environments(skill, host, |pin| is_pin_needed(&sources, pin));
    }
}

/// Builds the environments that the lock file pins for the skills in these directories. Returns `false` if one cannot be
/// built; the skills stay installed.
///
/// The lock file names the packages with versions and digests, so there is no question. Packages that are not pinned for
/// this interpreter are installed only with `--yes`.
pub(super) fn build_pinned(
    target: &InstallTarget,
    dirs: &[PathBuf],
    yes: bool,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) -> bool {
    let lock = LockFile::read(&target.lock_path).unwrap_or_default();
    let is_pinned = |locked: &&prowess::lock::LockEntry| !locked.environments.is_empty();
    let pinned = lock.skills.iter().filter(is_pinned).filter_map(|locked| target.dir(locked).ok());
    let pinned: Vec<PathBuf> = pinned.filter(|dir| dirs.contains(dir)).collect();
    if pinned.is_empty() {
        return true;
    }
    let consent = if yes { BuildConsent::Given } else { BuildConsent::OnlyPinned };
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let mut is_complete = true;
    for skill in enabled_in(&snapshot, &pinned) {
        let name = clean(&skill.name()).into_owned();
        let request = BuildRequest { skill, script: None, consent, upgrade: false };
        match env::build(context, global, &request, output) {
            Ok(outcome) => {
                for (_, record) in &outcome.built {
                    output.note(format!("environment {} for {name} is ready", short_id(&record.id)));
                }
                if outcome.left_out > 0 {
                    output.note(format!(
                        "the lock file pins packages of {name} for other interpreters; run `prowess env build {name}` to install them for this one"
                    ));
                }
            }
            Err(failure) => {
                is_complete = false;
                output.note(format!(
                    "the environment of {name} was not built: {}; the skill is installed; run `prowess env build {name}` to try again",
                    clean(&failure.into_message())
                ));
            }
        }
    }
    is_complete
}

/// Returns the enabled skills in these directories.
fn enabled_in<'s>(snapshot: &'s Snapshot, dirs: &'s [PathBuf]) -> impl Iterator<Item = &'s Skill> {
    let is_in = |skill: &&Skill| dirs.contains(&skill.dir());
    snapshot.all().iter().filter(|skill| matches!(skill.status(), SkillStatus::Enabled)).filter(is_in)
}
