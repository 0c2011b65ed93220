//! The list of skills in `AGENTS.md`, for agents that read that file but do not know skills.

use std::path::{Path, PathBuf};

use prowess::{Skill, SkillStatus, Snapshot};
use prowess_config::edit::file::{self, EditFileError, SymlinkPolicy};
use prowess_package::agents_md::{self, BrokenBlockError, ListedSkill};
use serde_json::{Value, json};

use super::display_path;
use crate::args::GlobalArgs;
use crate::args::packages::SyncArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};

/// The name of the file.
const FILE_NAME: &str = "AGENTS.md";

/// The maximum size of the file.
const FILE_MAX: u64 = 1024 * 1024;

/// What happened to the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListChange {
    Unchanged,
    Written,
    Removed,
    /// It was left alone, because skills of the project are not trusted and would disappear from it.
    Untrusted,
}

/// The file and what happened to it.
pub(super) struct SyncedAgentsMd {
    path: PathBuf,
    change: ListChange,
    skills: usize,
}

/// Writes the list of the project's skills if the user asks for it or if the file has one, or removes it. Returns `None` if
/// there is no list and none is wanted. Unless the user asks for it, the list of an untrusted project is left alone.
pub(super) fn sync_agents_md(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &SyncArgs,
) -> Result<Option<SyncedAgentsMd>, Failure> {
    let project = context.host_env.project.as_path();
    let path = project.join(FILE_NAME);
    let before = match file::read_text_within(&path, FILE_MAX) {
        // A file that is not text has no list.
        Err(_) if !args.agents_md && !args.no_agents_md => return Ok(None),
        read => read.map_err(failure)?.unwrap_or_default(),
    };
    let has_list = agents_md::has_block(&before);
    if !args.agents_md && !has_list {
        return Ok(None);
    }
    let snapshot = context.registry_for(global, &[]).snapshot();
    if !args.agents_md && !args.no_agents_md && has_untrusted_skill(project, &snapshot) {
        return Ok(Some(SyncedAgentsMd { path, change: ListChange::Untrusted, skills: 0 }));
    }
    let skills = if args.no_agents_md { Vec::new() } else { listed_skills(project, &snapshot) };
    let edit = |text: &str| match args.no_agents_md {
        true => agents_md::without_block(text),
        false => agents_md::with_block(text, &skills),
    };
    let broken = |error: BrokenBlockError| {
        Failure::new(ErrorCode::Conflict, format!("{}: {error}", display_path(&path, context)))
    };
    let after = edit(&before).map_err(broken)?;
    let change = match (after == before, args.no_agents_md) {
        (true, _) => ListChange::Unchanged,
        (false, true) => ListChange::Removed,
        (false, false) => ListChange::Written,
    };
    if change != ListChange::Unchanged && !args.dry_run {
        file::edit_file_within(&path, SymlinkPolicy::Rejected(project), FILE_MAX, |current| {
            match current.unwrap_or_default() == before {
                true => Ok(Some(after.clone())),
                false => Err(EditFileError::ConcurrentChange { path: path.clone() }),
            }
        })
        .map_err(failure)?;
    }
    Ok(Some(SyncedAgentsMd { path, change, skills: skills.len() }))
}

/// Returns the enabled skills in the project. Other skills are not the same for everyone who reads the file.
fn listed_skills(project: &Path, snapshot: &Snapshot) -> Vec<ListedSkill> {
    let listed = |skill: &Skill| {
        let path = skill.skill_md_path();
        let path = path.strip_prefix(project).ok()?.to_string_lossy().into_owned();
        let (name, description) = (skill.name().into_owned(), skill.description().to_owned());
        Some(ListedSkill { name, description, path })
    };
    snapshot.enabled().filter_map(listed).collect()
}

fn has_untrusted_skill(project: &Path, snapshot: &Snapshot) -> bool {
    let is_untrusted = |skill: &Skill| {
        matches!(skill.status(), SkillStatus::Untrusted(_)) && skill.skill_md_path().starts_with(project)
    };
    snapshot.all().iter().any(is_untrusted)
}

impl SyncedAgentsMd {
    /// Returns a note about a list that was left alone.
    pub(super) fn note(&self, context: &CommandContext) -> Option<String> {
        let path = display_path(&self.path, context);
        (self.change == ListChange::Untrusted).then(|| {
            format!(
                "{path} is unchanged, because not all skills of the project are trusted; to trust them: prowess trust"
            )
        })
    }

    /// Returns what happened; `None` if nothing did.
    pub(super) fn describe(&self, dry_run: bool, context: &CommandContext) -> Option<String> {
        let path = display_path(&self.path, context);
        let skills = crate::output::pluralize(self.skills, "skill");
        Some(match (self.change, dry_run) {
            (ListChange::Unchanged | ListChange::Untrusted, _) => return None,
            (ListChange::Written, false) => format!("listed {skills} in {path}"),
            (ListChange::Written, true) => format!("would list {skills} in {path}"),
            (ListChange::Removed, false) => format!("removed the list of skills from {path}"),
            (ListChange::Removed, true) => format!("would remove the list of skills from {path}"),
        })
    }

    pub(super) fn json(&self) -> Value {
        let change = match self.change {
            ListChange::Unchanged => "there",
            ListChange::Written => "written",
            ListChange::Removed => "removed",
            ListChange::Untrusted => "untrusted",
        };
        json!({"path": self.path, "change": change, "skills": self.skills})
    }
}

fn failure(error: EditFileError) -> Failure {
    let code = match &error {
        EditFileError::Io { .. } => ErrorCode::PermissionDenied,
        _ => ErrorCode::Conflict,
    };
    Failure::new(code, error.to_string())
}
