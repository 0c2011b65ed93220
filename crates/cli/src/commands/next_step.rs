//! The next step for a skill that is not available, unless its reason already contains it.

use prowess::registry::{DisabledReason, ModifiedReason, ShadowedBy, UntrustedReason};
use prowess::shell::{quote, quote_path};
use prowess::{Skill, SkillStatus};
use prowess_format::{Code, Rules, parse};
use prowess_package::switch;

use super::switch::enable_command;
use crate::context::CommandContext;

pub(super) fn next_step(skill: &Skill, context: &CommandContext) -> Option<String> {
    Some(match skill.status() {
        SkillStatus::Disabled(
            DisabledReason::Configuration
            | DisabledReason::Default
            | DisabledReason::NotListed
            | DisabledReason::Source,
        ) => {
            let name = skill.name();
            let cause = switch::find_disabling_entry(&context.inputs, &context.roots, &name)?;
            match (enable_command(&cause, &name), &cause.location) {
                (Some(command), _) => format!("to enable it: {command}"),
                (None, Some(mention)) => format!("remove it from {mention}"),
                (None, None) => return None,
            }
        }
        SkillStatus::Disabled(DisabledReason::TooMany(_)) => {
            "raise scan.max-skills in the configuration".to_owned()
        }
        SkillStatus::Unavailable(missing) => install_hint(missing),
        SkillStatus::Modified(ModifiedReason::Files(_)) => {
            format!("to restore the installed version: {}", restore_skill_command(skill))
        }
        SkillStatus::Untrusted(UntrustedReason::Link(target)) => {
            format!("to trust it after a review: prowess trust {}", quote_path(target))
        }
        SkillStatus::Shadowed(ShadowedBy { same_dir: false, .. }) => {
            "rename or delete one of the two".to_owned()
        }
        SkillStatus::Invalid => {
            return misnamed_manifest(skill).map(|file| format!("rename {file} to SKILL.md"));
        }
        // The reason contains the next step.
        SkillStatus::Untrusted(
            UntrustedReason::Project(_)
            | UntrustedReason::NestedRepository(_)
            | UntrustedReason::Changed(_)
            | UntrustedReason::Added(_)
            | UntrustedReason::Unapproved(_)
            | UntrustedReason::Replaced(_),
        )
        | SkillStatus::Modified(ModifiedReason::Lock(_))
        | SkillStatus::Shadowed(ShadowedBy { same_dir: true, .. })
        | SkillStatus::Enabled => return None,
    })
}

/// Returns the command that restores a modified skill.
pub(super) fn restore_skill_command(skill: &Skill) -> String {
    let scope = if skill.root().base().is_some() { "project" } else { "user" };
    restore_command(&skill.name(), scope)
}

/// Returns the command that restores an installed skill of a scope.
pub(super) fn restore_command(name: &str, scope: &str) -> String {
    let name = quote(name);
    format!("prowess install --locked --skill {name} --scope {scope} --yes --on-conflict overwrite")
}

/// Returns the hint to install missing commands.
pub(super) fn install_hint(commands: &[impl AsRef<str>]) -> String {
    let names: Vec<_> = commands.iter().map(AsRef::as_ref).collect();
    let verb = if names.len() == 1 { "it is" } else { "they are" };
    format!("install {} and make sure {verb} on PATH", names.join(" and "))
}

/// Returns the hint for a missing sandbox feature.
pub(super) fn sandbox_hint(reason: &str) -> &'static str {
    match reason {
        reason if reason.contains("bubblewrap is not installed") => {
            "for tier 1, install bubblewrap: apt-get install bubblewrap"
        }
        reason if reason.contains("Landlock") => "scripts require Linux 6.2 or later with Landlock enabled",
        reason if reason.contains("only on Linux") || reason.contains("Linux only") => {
            "scripts run only on Linux"
        }
        _ => "for tier 1, allow bubblewrap to create user namespaces (sysctl, AppArmor, container)",
    }
}

/// Returns a file that is probably a misnamed `SKILL.md`.
fn misnamed_manifest(skill: &Skill) -> Option<String> {
    if !skill.root().is_dir()
        || !skill.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::MissingFile)
    {
        return None;
    }
    let entries = std::fs::read_dir(skill.dir()).ok()?;
    let files =
        entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<_> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let has_similar_name = |name: &&String| name.to_lowercase().starts_with("skill");
    let is_manifest = |name: &&String| {
        let source = prowess::read_bounded(&skill.dir().join(name), 256 * 1024);
        name.to_lowercase().ends_with(".md")
            && source.is_some_and(|source| parse(&source, None, &Rules::standard()).document.is_some())
    };
    names.iter().find(has_similar_name).or_else(|| names.iter().find(is_manifest)).cloned()
}
