//! What was done, in words and as JSON.

use std::path::Path;
use std::process::ExitCode;

use prowess::lock::{Capabilities, Locked};
use prowess_package::{Action, Changes, Conflict, Item, PackageError, Place};
use serde_json::{Value, json};

use super::super::{YES, no};
use super::links::Linked;
use super::short;
use crate::context::Context;
use crate::output::{Output, Tone, clean, counted};

/// That a name is taken, and by what.
pub(super) fn conflict(conflict: &Conflict<'_>) -> PackageError {
    let name = conflict.prepared.name.clone();
    let message = match (conflict.installed, conflict.modified) {
        (Some(_), true) => format!("{name} was modified since it was installed"),
        (Some(locked), false) => format!("{name} is already installed, from {}", locked.source),
        (None, _) => format!("{name} is already there, and was not installed by Prowess"),
    };
    let hint = match (conflict.installed, conflict.modified) {
        (Some(locked), false) if locked.source == conflict.source => format!(
            "prowess update {name} brings it up to date; --yes --on-conflict overwrite, skip or rename decides"
        ),
        (Some(_), true) => {
            format!("prowess verify {name} shows what; --yes --on-conflict overwrite replaces it")
        }
        (Some(_), false) | (None, _) => {
            "decide with --yes --on-conflict overwrite, skip or rename, or give it a --name".to_owned()
        }
    };
    PackageError::Choose { message, hint }
}

/// The differences, one line each.
pub(super) fn changes(changes: &Changes) -> Vec<String> {
    let mut lines = Vec::new();
    for (mark, paths) in [("+", &changes.added), ("-", &changes.removed), ("~", &changes.changed)] {
        lines.extend(paths.iter().map(|path| format!("{mark} {}", clean(path))));
    }
    for (what, capabilities) in [("new", &changes.gained), ("gone", &changes.lost)] {
        lines.extend(brings(capabilities).into_iter().map(|(kind, list)| format!("{what} {kind}: {list}")));
    }
    for (what, granted) in [("granted now", &changes.granted), ("no longer granted", &changes.revoked)] {
        if !granted.is_empty() {
            lines.push(format!("{what}: {}", clean(&granted.told())));
        }
    }
    lines
}

/// What a skill brings, by kind.
fn brings(capabilities: &Capabilities) -> Vec<(&'static str, String)> {
    let Capabilities { scripts, hosts, tools, env } = capabilities;
    let all = [("scripts", scripts), ("hosts", hosts), ("tools", tools), ("variables", env)];
    let few = |set: &std::collections::BTreeSet<String>| {
        let shown: Vec<_> = set.iter().take(6).map(|word| clean(word).into_owned()).collect();
        let more = set.len().saturating_sub(6);
        if more > 0 { format!("{}, and {more} more", shown.join(", ")) } else { shown.join(", ") }
    };
    all.into_iter().filter(|(_, set)| !set.is_empty()).map(|(kind, set)| (kind, few(set))).collect()
}

/// The source of a skill, with its commit.
pub(in crate::commands) fn origin(locked: &Locked) -> String {
    format!("{}{}", clean(&locked.source), at(locked))
}

/// Which folder of the source, and at what.
fn at(locked: &Locked) -> String {
    let inner = locked.path.as_deref().map(|path| format!(" ({path})")).unwrap_or_default();
    let at = match (&locked.reference, &locked.commit) {
        (Some(reference), Some(commit)) => format!(" at {reference}, commit {}", short_commit(commit)),
        (None, Some(commit)) => format!(" at commit {}", short_commit(commit)),
        _ => String::new(),
    };
    clean(&format!("{inner}{at}")).into_owned()
}

fn short_commit(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// One skill and what became of it, for people. Alone, it is told in full.
fn item(
    item: &Item,
    done: bool,
    in_full: bool,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    let (mark, tone) = match &item.action {
        Action::Add | Action::Replace | Action::Remove => ("✓", Tone::Good),
        Action::Keep => ("=", Tone::Faint),
        Action::Skip(_) => ("○", Tone::Caution),
        Action::Fail(_) => ("✗", Tone::Bad),
    };
    let word = match (&item.action, done) {
        (action, true) => action.as_str(),
        (Action::Add, false) => "would install",
        (Action::Replace, false) => "would update",
        (Action::Remove, false) => "would remove",
        (action, false) => action.as_str(),
    };
    let why = match &item.action {
        Action::Skip(why) | Action::Fail(why) => format!(": {}", clean(why)),
        Action::Keep => format!(" ({})", short(&item.folder, context)),
        Action::Add if !in_full => format!(" ({})", short(&item.folder, context)),
        Action::Add | Action::Replace | Action::Remove => String::new(),
    };
    let mark = output.tone(tone, mark);
    let name = output.tone(Tone::Strong, &item.name);
    output.line(format!("{mark} {word} {name}{why}"))?;
    if !matches!(item.action, Action::Add | Action::Replace) && !is_refused_increase(item) {
        return Ok(());
    }
    if in_full {
        details(item, context, output)?;
    } else if let Some(moved) = moved(item) {
        output.line(format!("    {moved}"))?;
    } else if let (Action::Add, Some(prepared)) = (&item.action, &item.prepared) {
        for (kind, list) in brings(&prepared.capabilities) {
            output.line(format!("    {kind:<9} {list}"))?;
        }
    }
    if let Some(changed) = item.changes().filter(|_| item.action != Action::Add) {
        for line in changes(&changed) {
            output.line(format!("    {line}"))?;
        }
    }
    warnings(item, output)
}

/// The exit code, after a line that counts what failed: 1 where anything did, or everything was left out.
pub(super) fn outcome(items: &[Item], done: &str, output: &mut Output) -> ExitCode {
    let failed = items.iter().filter(|item| matches!(item.action, Action::Fail(_))).count();
    let left_out = |item: &Item| matches!(item.action, Action::Skip(_) | Action::Fail(_));
    if failed > 0 && !output.json() {
        output.remark(format!("{} of {} could not be {done}", failed, counted(items.len(), "skill")));
    }
    match failed > 0 || (!items.is_empty() && items.iter().all(left_out)) {
        true => no(),
        false => YES,
    }
}

/// Whether an update was left out because of what it brings, which is then shown.
fn is_refused_increase(item: &Item) -> bool {
    let increases = || item.changes().is_some_and(|changes| changes.is_increase());
    matches!(item.action, Action::Skip(_)) && item.prepared.is_some() && increases()
}

/// From which commit to which.
fn moved(item: &Item) -> Option<String> {
    let commit = |locked: &Option<Locked>| locked.as_ref()?.commit.clone();
    let (before, after) = (commit(&item.before)?, commit(&item.after)?);
    (before != after).then(|| format!("commit {} → {}", short_commit(&before), short_commit(&after)))
}

fn details(item: &Item, context: &Context, output: &mut Output) -> std::io::Result<()> {
    let (Some(after), Some(prepared)) = (&item.after, &item.prepared) else { return Ok(()) };
    let bytes: u64 = prepared.tree.files().iter().map(|file| file.bytes).sum();
    let files = format!("{}, {}", counted(prepared.tree.files().len(), "file"), size(bytes));
    let from = match Path::new(&after.source) {
        path if path.is_absolute() => short(path, context) + &at(after),
        _ => origin(after),
    };
    let mut rows = vec![("to", short(&item.folder, context)), ("from", from), ("files", files)];
    rows.extend(brings(&prepared.capabilities));
    if !after.granted.is_empty() {
        rows.push(("granted", clean(&after.granted.told()).into_owned()));
    }
    rows.push(("tree", prepared.tree.hash()));
    let verdict = &prepared.verdict;
    let suppressed = match verdict.findings.len() - verdict.open().count() {
        0 => String::new(),
        count => format!(", {count} suppressed"),
    };
    rows.push(("audit", format!("{}{suppressed} (rules of {})", verdict.as_str(), verdict.rules)));
    for (key, value) in rows {
        output.line(format!("    {key:<9} {value}"))?;
    }
    Ok(())
}

/// What the audit found and the manifest warns about.
fn warnings(item: &Item, output: &mut Output) -> std::io::Result<()> {
    let Some(prepared) = &item.prepared else { return Ok(()) };
    let serious = |finding: &&prowess_package::audit::Finding| {
        finding.severity >= prowess_package::audit::Severity::Medium
    };
    for finding in prepared.verdict.open().filter(serious).take(10) {
        let severity = output.tone(Tone::Caution, finding.severity.as_str());
        let place = clean(&format!("{}:{}", finding.path, finding.line)).into_owned();
        output.line(format!("    {severity} {place} {} ({})", clean(&finding.message), finding.rule))?;
    }
    Ok(())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// One skill and what became of it, for programs.
pub(super) fn item_json(item: &Item) -> Value {
    let entry = item.after.as_ref().or(item.before.as_ref());
    let mut value = json!({
        "name": item.name,
        "action": item.action.as_str(),
        "folder": item.folder,
        "source": entry.map(|locked| &locked.source),
        "ref": entry.and_then(|locked| locked.reference.as_ref()),
        "commit": entry.and_then(|locked| locked.commit.as_ref()),
        "path": entry.and_then(|locked| locked.path.as_ref()),
        "tree": entry.map(|locked| &locked.tree),
        "audit": entry.map(|locked| &locked.audit.verdict),
    });
    if let Action::Skip(why) | Action::Fail(why) = &item.action {
        value["reason"] = json!(why);
    }
    if let Some(locked) = entry {
        value["capabilities"] = json!(locked.capabilities);
        value["granted"] = json!(locked.granted);
    }
    let shown = item.action == Action::Replace || is_refused_increase(item);
    if let Some(changes) = item.changes().filter(|_| shown) {
        value["changes"] = json!({
            "added": changes.added, "removed": changes.removed, "changed": changes.changed,
            "gained": changes.gained, "lost": changes.lost,
            "granted": changes.granted, "revoked": changes.revoked,
        });
    }
    if let Some(prepared) = &item.prepared {
        let found = |finding: &prowess_package::audit::Finding| {
            json!({"rule": finding.rule, "severity": finding.severity.as_str(), "path": finding.path,
                   "line": finding.line, "message": finding.message})
        };
        value["findings"] = prepared.verdict.open().map(found).collect();
    }
    value
}

/// Each skill, and below it what became of it in the folders of other agents.
pub(super) fn each(
    items: &[Item],
    links: &[Linked],
    done: bool,
    in_full: bool,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    for one in items {
        item(one, done, in_full, context, output)?;
        for link in links.iter().filter(|link| link.skill == one.folder) {
            output.line(format!("    {}", link.told(done, context)))?;
        }
    }
    Ok(())
}

/// Everything that one command did.
pub(super) fn all(
    items: &[Item],
    links: &[Linked],
    place: &Place,
    done: bool,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let skills: Vec<Value> = items.iter().map(item_json).collect();
        return output.answer(&json!({
            "schema": 1, "scope": place.scope.as_str(), "root": place.root, "lock": place.lock,
            "dry_run": !done, "skills": skills, "links": links.iter().map(Linked::json).collect::<Vec<_>>(),
        }));
    }
    each(items, links, done, items.len() == 1, context, output)
}

/// Where the lock is, for the last remark.
pub(super) fn lock_remark(items: &[Item], place: &Place, context: &Context) -> String {
    let lock = short(&place.lock, context);
    let local =
        |item: &&Item| item.after.as_ref().is_some_and(|after| Path::new(&after.source).is_absolute());
    match (place.scope, items.iter().find(local)) {
        (prowess_package::For::User, _) => format!("{lock} says what was installed"),
        (prowess_package::For::Project, None) => {
            format!("{lock} says what was installed; commit it with the skills")
        }
        (prowess_package::For::Project, Some(item)) => format!(
            "{lock} says what was installed; commit it with the skills\n\
             others cannot get {} again: its source lies outside the project, on this machine",
            clean(&item.name)
        ),
    }
}
