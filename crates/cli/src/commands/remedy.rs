//! What to do about a skill that is not offered, where its reason does not say so itself.

use prowess::registry::{Disabled, Modified, Shadowed, Untrusted};
use prowess::shell::{quote, quote_path};
use prowess::{Skill, Status};
use prowess_format::{Code, Rules, parse};
use prowess_package::switch;

use super::switch::enable_command;
use crate::context::Context;

/// The next step, if there is one to name.
pub(super) fn remedy(skill: &Skill, context: &Context) -> Option<String> {
    Some(match skill.status() {
        Status::Disabled(
            Disabled::Configuration | Disabled::Default | Disabled::NotListed | Disabled::Source,
        ) => {
            let name = skill.name();
            let way = switch::disabled_by(&context.inputs, &context.roots, &name)?;
            match (enable_command(&way, &name), &way.mention) {
                (Some(command), _) => format!("to switch it on: {command}"),
                (None, Some(mention)) => format!("take it out of {mention}"),
                (None, None) => return None,
            }
        }
        Status::Disabled(Disabled::TooMany(_)) => "raise scan.max-skills in the configuration".to_owned(),
        Status::Unavailable(missing) => install(missing),
        Status::Modified(Modified::Files(_)) => format!("to restore what was installed: {}", restore(skill)),
        Status::Untrusted(Untrusted::Link(target)) => {
            format!("look at it, then: prowess trust {}", quote_path(target))
        }
        Status::Shadowed(Shadowed { same_folder: false, .. }) => "rename or delete one of the two".to_owned(),
        Status::Invalid => return misnamed(skill).map(|file| format!("rename {file} to SKILL.md")),
        // The reason says what to do.
        Status::Untrusted(
            Untrusted::Project(_)
            | Untrusted::NestedRepository(_)
            | Untrusted::Changed(_)
            | Untrusted::Added(_)
            | Untrusted::Unapproved(_)
            | Untrusted::Replaced(_),
        )
        | Status::Modified(Modified::Lock(_))
        | Status::Shadowed(Shadowed { same_folder: true, .. })
        | Status::Enabled => return None,
    })
}

/// The command that restores a skill that was modified.
pub(super) fn restore(skill: &Skill) -> String {
    let scope = if skill.root().base().is_some() { "project" } else { "user" };
    restore_command(&skill.name(), scope)
}

/// The command that restores an installed skill of a scope.
pub(super) fn restore_command(name: &str, scope: &str) -> String {
    let name = quote(name);
    format!("prowess install --locked --skill {name} --scope {scope} --yes --on-conflict overwrite")
}

/// That commands should be installed.
pub(super) fn install(commands: &[impl AsRef<str>]) -> String {
    let names: Vec<_> = commands.iter().map(AsRef::as_ref).collect();
    let are = if names.len() == 1 { "it is" } else { "they are" };
    format!("install {} and make sure that {are} on PATH", names.join(" and "))
}

/// How to get a better sandbox.
pub(super) fn sandbox(why: &str) -> &'static str {
    match why {
        why if why.contains("bubblewrap is not installed") => "for tier 1: apt-get install bubblewrap",
        why if why.contains("Landlock") => "scripts need Linux 6.2 or later with Landlock enabled",
        why if why.contains("only on Linux") || why.contains("Linux only") => "scripts run on Linux",
        _ => "for tier 1, bubblewrap must be allowed to make user namespaces (sysctl, AppArmor, container)",
    }
}

/// A file that was perhaps meant to be the `SKILL.md` that is not there.
fn misnamed(skill: &Skill) -> Option<String> {
    if !skill.root().is_folder() || !skill.diagnostics().iter().any(|said| said.code == Code::MissingFile) {
        return None;
    }
    let entries = std::fs::read_dir(skill.folder()).ok()?;
    let files =
        entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<_> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let alike = |name: &&String| name.to_lowercase().starts_with("skill");
    let reads_as_one = |name: &&String| {
        let source = prowess::read_bounded(&skill.folder().join(name), 256 * 1024);
        name.to_lowercase().ends_with(".md")
            && source.is_some_and(|source| parse(&source, None, &Rules::standard()).document.is_some())
    };
    names.iter().find(alike).or_else(|| names.iter().find(reads_as_one)).cloned()
}
