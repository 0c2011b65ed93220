//! `prowess outdated`: shows which installed skills have newer versions. Nothing is changed.

use prowess::lock::{LockEntry, LockFile};
use prowess_package::{PlanAction, PlanItem};
use serde_json::{Value, json};

use super::super::audit::SuppressionLists;
use super::super::{CommandResult, SUCCESS, check_failed};
use super::install::report_invalid;
use super::prompts::TerminalPrompter;
use super::update::not_installed;
use super::{cancellable_task, failure, file_urls, install_targets};
use crate::args::GlobalArgs;
use crate::args::packages::{AnswerArgs, OutdatedArgs};
use crate::columns::pad;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, pluralize};
use crate::progress;

/// The number of characters of a commit or tree hash that are shown.
const HASH_SHOWN: usize = 12;

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &OutdatedArgs,
    output: &mut Output,
) -> CommandResult {
    let task = cancellable_task();
    let lists = SuppressionLists::load(context, output)?;
    let checks = lists.install_checks(context);
    // Whether a new version may be installed is asked by `update`.
    let answers = AnswerArgs { yes: true, on_conflict: None, accept_risk: true };
    let mut prompter = TerminalPrompter::new(&answers, global, &task);
    let (mut items, mut installed): (Vec<PlanItem>, Vec<String>) = (Vec::new(), Vec::new());
    for target in install_targets(context, &args.scope)? {
        let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        installed.extend(lock.skills.iter().map(|locked| locked.name.clone()));
        if lock.skills.is_empty() {
            continue;
        }
        let plan = progress::with_task_progress(global, &task, || {
            prowess_package::plan_update(&[], &target, &checks, &mut prompter, file_urls(), &task)
        });
        items.extend(plan.map_err(|error| report_invalid(error, output))?.items);
    }
    if let Some(name) = args.names.iter().find(|name| !installed.contains(name)) {
        return Err(not_installed(name, &installed));
    }
    items.retain(|item| args.names.is_empty() || args.names.contains(&item.name));
    let outdated = items.iter().filter(|item| item.action.is_change()).count();
    let failed = items.iter().any(|item| matches!(item.action, PlanAction::Fail(_)));
    if output.json() {
        let skills: Vec<Value> = items.iter().map(item_json).collect();
        output.write_json(&json!({"schema": 1, "outdated": outdated, "skills": skills}))?;
    } else {
        print_items(&items, output)?;
        print_summary(items.len(), outdated, output);
    }
    Ok(if outdated == 0 && !failed { SUCCESS } else { check_failed() })
}

fn print_items(items: &[PlanItem], output: &mut Output) -> std::io::Result<()> {
    let shown: Vec<&PlanItem> = items.iter().filter(|item| item.action != PlanAction::Keep).collect();
    let width = shown.iter().map(|item| crate::columns::width(&clean(&item.name))).max().unwrap_or(0);
    for item in shown {
        let (mark, tone) = match item.action {
            PlanAction::Fail(_) => ("✗", TextStyle::Bad),
            PlanAction::Skip(_) => ("○", TextStyle::Faint),
            PlanAction::Remove => ("-", TextStyle::Caution),
            PlanAction::Add | PlanAction::Replace | PlanAction::Keep => ("↑", TextStyle::Caution),
        };
        let mark = output.styled_text(tone, mark);
        let name = output.styled_text(TextStyle::Strong, &pad(&clean(&item.name), width));
        output.line(format!("{mark} {name}  {}", describe(item)))?;
    }
    Ok(())
}

/// Returns what is known about the newer version of a skill.
fn describe(item: &PlanItem) -> String {
    match &item.action {
        PlanAction::Keep => "up to date".to_owned(),
        PlanAction::Skip(reason) | PlanAction::Fail(reason) => clean(reason).into_owned(),
        PlanAction::Add if item.before.is_none() => {
            format!("new in {}; to install it: prowess update", plugin_of(&item.after))
        }
        PlanAction::Add => "missing; to install it again: prowess update".to_owned(),
        PlanAction::Remove => {
            format!("no longer in {}; to remove it: prowess update", plugin_of(&item.before))
        }
        PlanAction::Replace => {
            let version = |entry: &Option<LockEntry>| entry.as_ref().map(short_version).unwrap_or_default();
            format!("{} → {}", version(&item.before), version(&item.after))
        }
    }
}

/// Returns the plugin of a skill. Only skills of plugins are added and removed.
fn plugin_of(entry: &Option<LockEntry>) -> String {
    let plugin = entry.as_ref().and_then(|entry| entry.plugin.as_ref());
    plugin.map_or_else(|| "its plugin".to_owned(), |plugin| format!("plugin {}", clean(&plugin.name)))
}

/// Returns the commit of a skill, or its tree hash if it does not come from a repository.
fn short_version(entry: &LockEntry) -> String {
    let hash = match &entry.commit {
        Some(commit) => commit.as_str(),
        None => entry.tree.rsplit(':').next().unwrap_or_default(),
    };
    clean(hash.get(..HASH_SHOWN).unwrap_or(hash)).into_owned()
}

fn print_summary(total: usize, outdated: usize, output: &mut Output) {
    output.note(match (total, outdated) {
        (0, _) => "no skills installed; run `prowess install SOURCE` to install one".to_owned(),
        (_, 0) => format!("{}, no newer versions", pluralize(total, "skill")),
        (_, outdated) => {
            format!("{outdated} of {} can be updated; to update: prowess update", pluralize(total, "skill"))
        }
    });
}

fn item_json(item: &PlanItem) -> Value {
    let status = match &item.action {
        PlanAction::Keep => "current",
        PlanAction::Replace => "outdated",
        PlanAction::Remove => "removed",
        PlanAction::Add if item.before.is_none() => "new",
        PlanAction::Add => "missing",
        PlanAction::Skip(_) => "skipped",
        PlanAction::Fail(_) => "failed",
    };
    let version = |entry: &Option<LockEntry>| {
        entry
            .as_ref()
            .map(|entry| json!({"commit": entry.commit, "ref": entry.reference, "tree": entry.tree}))
    };
    let mut value = json!({
        "name": item.name, "folder": item.dir, "status": status,
        "installed": version(&item.before), "available": version(&item.after),
    });
    if let PlanAction::Skip(reason) | PlanAction::Fail(reason) = &item.action {
        value["reason"] = json!(reason);
    }
    value
}
