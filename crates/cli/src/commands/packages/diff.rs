//! `prowess diff`: shows local edits of an installed skill, compared with its installed version.
//!
//! The lock file records only digests, so the installed version is fetched from its source, and used only if it has the
//! recorded tree hash.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use prowess::lock::LockFile;
use prowess::shell::quote;
use prowess::{VisitedEntry, visit_files};
use prowess_package::{InstallTarget, PlanAction, RestoreFilter, limits};
use serde_json::{Value, json};
use similar::TextDiff;

use super::super::audit::SuppressionLists;
use super::super::{CommandResult, SUCCESS};
use super::install::report_invalid;
use super::prompts::TerminalPrompter;
use super::update::not_installed;
use super::{cancellable_task, display_path, failure, file_urls, install_targets};
use crate::args::GlobalArgs;
use crate::args::packages::{AnswerArgs, ConflictChoice, DiffArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};
use crate::progress;

/// How long lines of one file are compared before the difference is only approximate.
const COMPARE_MAX: Duration = Duration::from_secs(2);

/// The changes of one file.
struct FileDiff {
    path: String,
    change: &'static str,
    is_binary: bool,
    /// The unified diff; empty for binary files.
    text: String,
}

/// The contents of a file, or why it has none.
#[derive(PartialEq, Eq)]
enum FileContent {
    Bytes { bytes: Vec<u8>, executable: bool },
    Other(String),
}

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &DiffArgs,
    output: &mut Output,
) -> CommandResult {
    let target = find_target(&args.name, context, args)?;
    reject_symlink(&args.name, &target, context)?;
    let task = cancellable_task();
    let lists = SuppressionLists::load(context, output)?;
    let checks = lists.install_checks(context);
    // Nothing is installed, so nothing has to be confirmed.
    let answers = AnswerArgs { yes: true, on_conflict: Some(ConflictChoice::Overwrite), accept_risk: true };
    let mut prompter = TerminalPrompter::new(&answers, global, &task);
    let names = [args.name.clone()];
    let plan = progress::with_task_progress(global, &task, || {
        let filter = RestoreFilter { source: None, names: &names };
        prowess_package::plan_restore(&filter, &target, &checks, &mut prompter, file_urls(), &task)
    });
    let plan = plan.map_err(|error| report_invalid(error, output))?;
    let (mut diffs, mut dir) = (Vec::new(), target.root.join(&args.name));
    for item in &plan.items {
        dir.clone_from(&item.dir);
        if let (false, Some(original)) = (item.action == PlanAction::Keep, plan.staged_dir(item)) {
            diffs.extend(diff_dirs(&original, &item.dir));
        }
    }
    if output.json() {
        let files: Vec<Value> = diffs.iter().map(FileDiff::json).collect();
        output.write_json(&json!({"schema": 1, "name": args.name, "folder": dir, "files": files}))?;
        return Ok(SUCCESS);
    }
    for diff in &diffs {
        output.text(&diff.text)?;
        if diff.is_binary {
            output.line(format!("binary file {} ({})", clean(&diff.path), diff.change))?;
        }
    }
    if diffs.is_empty() {
        output.note(format!("{} has no local changes: {}", clean(&args.name), display_path(&dir, context)));
    }
    Ok(SUCCESS)
}

/// Returns the install target whose lock file has the skill, the project first.
fn find_target(name: &str, context: &CommandContext, args: &DiffArgs) -> Result<InstallTarget, Failure> {
    let mut installed = Vec::new();
    for target in install_targets(context, &args.scope)? {
        let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        if lock.skills.iter().any(|locked| locked.name == name) {
            return Ok(target);
        }
        installed.extend(lock.skills.into_iter().map(|locked| locked.name));
    }
    Err(not_installed(name, &installed))
}

/// Rejects a skill whose directory was replaced, because a symlink may lead to files that are not of the skill.
fn reject_symlink(name: &str, target: &InstallTarget, context: &CommandContext) -> Result<(), Failure> {
    let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
    for locked in lock.skills.iter().filter(|locked| locked.name == name) {
        let dir = target.dir(locked).map_err(failure)?;
        // Of a directory that is missing, all files are removed.
        let is_replaced = std::fs::symlink_metadata(&dir).is_ok_and(|metadata| !metadata.is_dir());
        if is_replaced {
            let message = format!("{} is not a directory, so it was not read", display_path(&dir, context));
            let hint = format!("run `prowess verify {}` to see how to restore it", clean(&quote(name)));
            return Err(Failure::new(ErrorCode::Conflict, message).hint(hint));
        }
    }
    Ok(())
}

/// Returns the changes of all files between two directories, by path.
fn diff_dirs(original: &Path, current: &Path) -> Vec<FileDiff> {
    let (old, new) = (read_dir(original), read_dir(current));
    let mut paths: Vec<&String> = old.keys().chain(new.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().filter_map(|path| diff_file(path, old.get(path), new.get(path))).collect()
}

fn read_dir(dir: &Path) -> BTreeMap<String, FileContent> {
    let mut files = BTreeMap::new();
    visit_files(dir, limits::FILE_MAX, &mut |path, entry| {
        let content = match entry {
            VisitedEntry::File { executable, bytes } => FileContent::Bytes { bytes, executable },
            VisitedEntry::Symlink(target) => FileContent::Other(format!("symlink to {}", target.display())),
            VisitedEntry::Skipped(reason) => FileContent::Other(reason),
        };
        files.insert(path.to_owned(), content);
    });
    files
}

fn diff_file(path: &str, old: Option<&FileContent>, new: Option<&FileContent>) -> Option<FileDiff> {
    let change = match (old, new) {
        (old, new) if old == new => return None,
        (None, _) => "added",
        (_, None) => "removed",
        (Some(_), Some(_)) => "modified",
    };
    let (old_lines, new_lines) = (text_of(old), text_of(new));
    let (Some(old_lines), Some(new_lines)) = (old_lines, new_lines) else {
        return Some(FileDiff { path: path.to_owned(), change, is_binary: true, text: String::new() });
    };
    let name = |side: &str, content: Option<&FileContent>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::configure().timeout(COMPARE_MAX).diff_lines(&old_lines, &new_lines);
    let mut text = diff.unified_diff().header(&name("a", old), &name("b", new)).to_string();
    if let (Some(FileContent::Bytes { executable: before, .. }), Some(FileContent::Bytes { executable, .. })) =
        (old, new)
        && before != executable
    {
        let verb = if *executable { "now" } else { "no longer" };
        text = format!("{path} is {verb} executable\n{text}");
    }
    Some(FileDiff { path: path.to_owned(), change, is_binary: false, text })
}

/// Returns the text of a file; empty if it does not exist, `None` if it is binary.
fn text_of(content: Option<&FileContent>) -> Option<String> {
    match content {
        None => Some(String::new()),
        Some(FileContent::Bytes { bytes, .. }) if !bytes.contains(&0) => {
            String::from_utf8(bytes.clone()).ok()
        }
        Some(FileContent::Bytes { .. }) => None,
        Some(FileContent::Other(description)) => Some(format!("{description}\n")),
    }
}

impl FileDiff {
    fn json(&self) -> Value {
        json!({"path": self.path, "change": self.change, "binary": self.is_binary, "diff": self.text})
    }
}
