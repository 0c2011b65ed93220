//! `prowess verify`: compares installed skills with the lock file.
//!
//! A modified skill is not loaded until the user accepts exactly its current files with `--accept`.

use prowess::shell::quote;
use prowess_package::{InstallScope, InstallTarget, VerificationStatus, VerifiedSkill};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::super::{CommandResult, SUCCESS, check_failed};
use super::update::not_installed;
use super::{display_path, failure, install_targets};
use crate::args::packages::VerifyArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean, pluralize};

pub(in crate::commands) fn run(
    context: &CommandContext,
    args: &VerifyArgs,
    output: &mut Output,
) -> CommandResult {
    let targets = install_targets(context, &args.scope)?;
    let mut skills: Vec<(&InstallTarget, VerifiedSkill)> = Vec::new();
    let mut locked = false;
    for target in &targets {
        // A killed process may have left files without a lock file. Otherwise, `verify` below removes them.
        if !target.lock_path.exists() {
            let _ = target.clean_up();
        }
        // Without a lock file, nothing was installed.
        if target.lock_path.exists() || !args.names.is_empty() {
            let verified = prowess_package::verify_skills(target).map_err(failure)?;
            skills.extend(verified.into_iter().map(|verified| (target, verified)));
        }
        locked |= target.lock_path.exists();
    }
    for name in &args.names {
        if !skills.iter().any(|(_, verified)| verified.name == *name) {
            let installed: Vec<String> = skills.iter().map(|(_, verified)| verified.name.clone()).collect();
            return Err(not_installed(name, &installed));
        }
    }
    if !args.names.is_empty() {
        skills.retain(|(_, verified)| args.names.contains(&verified.name));
    }
    if args.accept {
        return accept_all(&skills, context, output);
    }
    let is_bad = |verified: &VerifiedSkill| verified.status != VerificationStatus::Ok && !verified.accepted;
    let failed = skills.iter().filter(|(_, verified)| is_bad(verified)).count();
    if output.json() {
        let skills: Vec<Value> = skills.iter().map(|(_, verified)| to_json(verified)).collect();
        output.write_json(&json!({"schema": 1, "skills": skills}))?;
    } else if skills.is_empty() {
        output.note(match locked {
            true => "the lock file contains no skills",
            false => "no skills installed; run `prowess install SOURCE` to install one",
        });
    } else {
        let width =
            skills.iter().map(|(_, verified)| clean(&verified.name).width()).max().unwrap_or_default();
        for (_, verified) in &skills {
            print_skill(verified, width.min(40), context, output)?;
        }
        let unlocked =
            skills.iter().filter(|(_, verified)| verified.status == VerificationStatus::Unlocked).count();
        let total = pluralize(skills.len(), "skill");
        output.line(match (failed - unlocked, unlocked) {
            (0, 0) => format!("{total}, all unmodified"),
            (0, unlocked) => format!("{total}, {unlocked} not installed by prowess, the others unmodified"),
            (different, 0) => format!("{total}, {different} modified or missing"),
            (different, unlocked) => {
                format!("{total}, {different} modified or missing, {unlocked} not installed by prowess")
            }
        })?;
        for scope in [InstallScope::Project, InstallScope::User] {
            let in_scope =
                skills.iter().filter(|(target, verified)| target.scope == scope && is_bad(verified));
            print_remedies(&in_scope.map(|(_, verified)| verified).collect::<Vec<_>>(), scope, output);
        }
    }
    Ok(if failed == 0 { SUCCESS } else { check_failed() })
}

/// Prints the commands that restore or accept the modified skills of a scope.
fn print_remedies(differing: &[&VerifiedSkill], scope: InstallScope, output: &mut Output) {
    let exists = |verified: &&&VerifiedSkill| {
        matches!(
            verified.status,
            VerificationStatus::Modified | VerificationStatus::Extra | VerificationStatus::Symlink
        )
    };
    let names = |skills: &[&VerifiedSkill], prefix: &str| {
        skills.iter().map(|verified| format!(" {prefix}{}", quote(&verified.name))).collect::<String>()
    };
    let scope = scope.as_str();
    let existing: Vec<&VerifiedSkill> = differing.iter().filter(exists).copied().collect();
    let locked = differing.iter().filter(|verified| verified.status != VerificationStatus::Unlocked);
    let locked: Vec<&VerifiedSkill> = locked.copied().collect();
    if !locked.is_empty() {
        let overwrite = if existing.is_empty() { "" } else { " --yes --on-conflict overwrite" };
        let skills = names(&locked, "--skill ");
        output.note(format!(
            "to restore the installed version: prowess install --locked{skills} --scope {scope}{overwrite}"
        ));
    }
    let acceptable = existing.into_iter().filter(|verified| verified.status != VerificationStatus::Symlink);
    let acceptable: Vec<&VerifiedSkill> = acceptable.collect();
    if !acceptable.is_empty() {
        let skills = names(&acceptable, "");
        output.note(format!("to accept the changes: prowess verify{skills} --accept --scope {scope}"));
    }
}

fn to_json(verified: &VerifiedSkill) -> Value {
    let file = |(path, change): &(String, prowess::lock::FileChange)| json!({"path": path, "status": change.as_str()});
    json!({
        "name": verified.name,
        "status": verified.status.as_str(),
        "files": verified.files.iter().map(file).collect::<Vec<_>>(),
        "folder": verified.dir,
        "accepted": verified.accepted,
        "problem": verified.problem,
        "tree": verified.locked.as_ref().map(|locked| &locked.tree),
        "source": verified.locked.as_ref().map(|locked| &locked.source),
        "commit": verified.locked.as_ref().and_then(|locked| locked.commit.as_ref()),
    })
}

fn print_skill(
    verified: &VerifiedSkill,
    width: usize,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (mark, tone) = match verified.status {
        VerificationStatus::Ok => ("✓", TextStyle::Good),
        VerificationStatus::Unlocked => ("○", TextStyle::Caution),
        _ => ("✗", TextStyle::Bad),
    };
    let accepted = if verified.accepted { ", accepted" } else { "" };
    let mark = output.styled_text(tone, mark);
    let name = output.styled_text(TextStyle::Strong, &verified.name);
    let status = verified.status.as_str();
    let space = " ".repeat(width.saturating_sub(clean(&verified.name).width()));
    let dir = display_path(&verified.dir, context);
    output.line(format!("{mark} {name}{space}  {status:<8}{accepted}  {dir}"))?;
    for (path, change) in &verified.files {
        output.line(format!("    {:<8} {}", change.as_str(), clean(path)))?;
    }
    if let Some(problem) = &verified.problem {
        output.line(format!("    {}", clean(problem)))?;
    }
    Ok(())
}

fn accept_all(
    skills: &[(&InstallTarget, VerifiedSkill)],
    context: &CommandContext,
    output: &mut Output,
) -> CommandResult {
    for (target, verified) in skills {
        match verified.status {
            VerificationStatus::Modified | VerificationStatus::Extra => {
                prowess_package::accept_modified(target, verified).map_err(failure)?;
            }
            VerificationStatus::Ok => {}
            status => {
                let message = format!("cannot accept {}: it is {}", verified.name, status.as_str());
                return Err(Failure::new(ErrorCode::Conflict, message));
            }
        }
    }
    if output.json() {
        let names: Vec<_> = skills.iter().map(|(_, verified)| &verified.name).collect();
        output.write_json(&json!({"schema": 1, "accepted": names}))?;
        return Ok(SUCCESS);
    }
    for (_, verified) in skills {
        let mark = output.styled_text(TextStyle::Good, "✓");
        let state = if verified.status == VerificationStatus::Ok { "unmodified" } else { "accepted" };
        output.line(format!(
            "{mark} {}  {state}  {}",
            clean(&verified.name),
            display_path(&verified.dir, context)
        ))?;
    }
    Ok(SUCCESS)
}
