//! `prowess verify`.

use prowess::shell::quote;
use prowess_package::{For, Place, Verification, Verified};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::super::{Outcome, YES, no};
use super::{failure, places, short};
use crate::args::packages::Verify;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean, counted};

pub(in crate::commands) fn run(context: &Context, call: &Verify, output: &mut Output) -> Outcome {
    let places = places(context, &call.scope)?;
    let mut found: Vec<(&Place, Verified)> = Vec::new();
    let mut locked = false;
    for place in &places {
        // What a killed process left can be all there is; comparing clears it, too, and says where it cannot be cleared.
        if !place.lock.exists() {
            let _ = place.tidy();
        }
        // Where nobody ever installed anything, there is nothing that could have been locked.
        if place.lock.exists() || !call.names.is_empty() {
            let verified = prowess_package::verify(place).map_err(failure)?;
            found.extend(verified.into_iter().map(|verified| (place, verified)));
        }
        locked |= place.lock.exists();
    }
    for name in &call.names {
        if !found.iter().any(|(_, verified)| verified.name == *name) {
            let message = format!("no installed skill is named {}", clean(name));
            return Err(
                Failure::new(ErrorCode::NotFound, message).hint("prowess plugins lists what was installed")
            );
        }
    }
    if !call.names.is_empty() {
        found.retain(|(_, verified)| call.names.contains(&verified.name));
    }
    if call.accept {
        return accept(&found, context, output);
    }
    let bad = |verified: &Verified| verified.status != Verification::Ok && !verified.accepted;
    let wrong = found.iter().filter(|(_, verified)| bad(verified)).count();
    if output.json() {
        let skills: Vec<Value> = found.iter().map(|(_, verified)| to_json(verified)).collect();
        output.answer(&json!({"schema": 1, "skills": skills}))?;
    } else if found.is_empty() {
        output.remark(match locked {
            true => "the lock names no skills",
            false => "nothing is installed, so there is nothing to compare; prowess install SOURCE installs a skill",
        });
    } else {
        let width = found.iter().map(|(_, verified)| clean(&verified.name).width()).max().unwrap_or_default();
        for (_, verified) in &found {
            tell(verified, width.min(40), context, output)?;
        }
        let made = found.iter().filter(|(_, verified)| verified.status == Verification::Unlocked).count();
        let skills = counted(found.len(), "skill");
        output.line(match (wrong - made, made) {
            (0, 0) => format!("{skills}, all as installed"),
            (0, made) => format!("{skills}, {made} not installed by prowess, the others as installed"),
            (wrong, 0) => format!("{skills}, {wrong} not as installed"),
            (wrong, made) => format!("{skills}, {wrong} not as installed, {made} not installed by prowess"),
        })?;
        for scope in [For::Project, For::User] {
            let of_scope = found.iter().filter(|(place, verified)| place.scope == scope && bad(verified));
            remedies(&of_scope.map(|(_, verified)| verified).collect::<Vec<_>>(), scope, output);
        }
    }
    Ok(if wrong == 0 { YES } else { no() })
}

/// The commands that restore or accept what differs in one scope.
fn remedies(differing: &[&Verified], scope: For, output: &mut Output) {
    let is_kept = |verified: &&&Verified| {
        matches!(verified.status, Verification::Modified | Verification::Extra | Verification::Link)
    };
    let names = |skills: &[&Verified], before: &str| {
        skills.iter().map(|verified| format!(" {before}{}", quote(&verified.name))).collect::<String>()
    };
    let scope = scope.as_str();
    let kept: Vec<&Verified> = differing.iter().filter(is_kept).copied().collect();
    let locked = differing.iter().filter(|verified| verified.status != Verification::Unlocked);
    let locked: Vec<&Verified> = locked.copied().collect();
    if !locked.is_empty() {
        let overwrite = if kept.is_empty() { "" } else { " --yes --on-conflict overwrite" };
        let skills = names(&locked, "--skill ");
        output.remark(format!(
            "to restore what was installed: prowess install --locked{skills} --scope {scope}{overwrite}"
        ));
    }
    let acceptable = kept.into_iter().filter(|verified| verified.status != Verification::Link);
    let acceptable: Vec<&Verified> = acceptable.collect();
    if !acceptable.is_empty() {
        let skills = names(&acceptable, "");
        output.remark(format!("to keep it as it is: prowess verify{skills} --accept --scope {scope}"));
    }
}

fn to_json(verified: &Verified) -> Value {
    let file =
        |(path, change): &(String, prowess::lock::Change)| json!({"path": path, "status": change.as_str()});
    json!({
        "name": verified.name,
        "status": verified.status.as_str(),
        "files": verified.files.iter().map(file).collect::<Vec<_>>(),
        "folder": verified.folder,
        "accepted": verified.accepted,
        "problem": verified.problem,
        "tree": verified.locked.as_ref().map(|locked| &locked.tree),
        "source": verified.locked.as_ref().map(|locked| &locked.source),
        "commit": verified.locked.as_ref().and_then(|locked| locked.commit.as_ref()),
    })
}

fn tell(verified: &Verified, width: usize, context: &Context, output: &mut Output) -> std::io::Result<()> {
    let (mark, tone) = match verified.status {
        Verification::Ok => ("✓", Tone::Good),
        Verification::Unlocked => ("○", Tone::Caution),
        _ => ("✗", Tone::Bad),
    };
    let accepted = if verified.accepted { ", accepted as it is" } else { "" };
    let mark = output.tone(tone, mark);
    let name = output.tone(Tone::Strong, &verified.name);
    let status = verified.status.as_str();
    let space = " ".repeat(width.saturating_sub(clean(&verified.name).width()));
    let folder = short(&verified.folder, context);
    output.line(format!("{mark} {name}{space}  {status:<8}{accepted}  {folder}"))?;
    for (path, change) in &verified.files {
        output.line(format!("    {:<8} {}", change.as_str(), clean(path)))?;
    }
    if let Some(problem) = &verified.problem {
        output.line(format!("    {}", clean(problem)))?;
    }
    Ok(())
}

fn accept(found: &[(&Place, Verified)], context: &Context, output: &mut Output) -> Outcome {
    for (place, verified) in found {
        match verified.status {
            Verification::Modified | Verification::Extra => {
                prowess_package::accept(place, verified).map_err(failure)?;
            }
            Verification::Ok => {}
            status => {
                let message = format!("{} cannot be accepted: it is {}", verified.name, status.as_str());
                return Err(Failure::new(ErrorCode::Conflict, message));
            }
        }
    }
    if output.json() {
        let names: Vec<_> = found.iter().map(|(_, verified)| &verified.name).collect();
        output.answer(&json!({"schema": 1, "accepted": names}))?;
        return Ok(YES);
    }
    for (_, verified) in found {
        let mark = output.tone(Tone::Good, "✓");
        let word = if verified.status == Verification::Ok { "as installed" } else { "accepted as it is" };
        output.line(format!(
            "{mark} {}  {word}  {}",
            clean(&verified.name),
            short(&verified.folder, context)
        ))?;
    }
    Ok(YES)
}
