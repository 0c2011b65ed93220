//! Files that the instructions attach, written as `@path`: files of the skill, or of the project for a custom command.
//!
//! Claude Code attaches files of the project for skills, too. Here, the text of an installed skill must not decide which
//! files of the user a model reads.

use super::{ActivationMode, CommandDialect};
use crate::inline_references;
use crate::policy::Policy;
use crate::resources::{self, ReadFileTool};
use crate::skill::Skill;

/// The maximum number of files. Further ones are not attached.
const FILES_MAX: usize = 8;

/// The maximum number of bytes of all files.
const BYTES_MAX: usize = 64 * 1024;

/// An attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attachment {
    /// The path, as in the instructions.
    pub(super) path: String,
    /// The text, without terminal escapes.
    pub(super) content: String,
    /// Whether the text is shorter than the file.
    pub(super) is_truncated: bool,
}

/// Reads the files that the instructions attach. What cannot be read as text is not attached.
pub(super) fn read_attachments(
    skill: &Skill,
    body: &str,
    policy: &Policy,
    mode: ActivationMode,
) -> Vec<Attachment> {
    let dialect = skill.root().command_dialect();
    if mode != ActivationMode::Wrapped || skill.remote().is_some() || dialect == Some(CommandDialect::Codex) {
        return Vec::new();
    }
    let mut attachments: Vec<Attachment> = Vec::new();
    let mut remaining = BYTES_MAX;
    for path in inline_references::files(body) {
        if attachments.len() == FILES_MAX || remaining == 0 {
            break;
        }
        if attachments.iter().any(|attachment| attachment.path == path) {
            continue;
        }
        let read = match dialect {
            Some(_) => read_project_file(skill, path, policy),
            None => read_skill_file(skill, path, policy),
        };
        let Some((content, mut is_truncated)) = read else { continue };
        // The text must not end its own element.
        let mut content = content.replace("</file", "&lt;/file");
        if content.len() > remaining {
            content.truncate(content.floor_char_boundary(remaining));
            is_truncated = true;
        }
        remaining -= content.len();
        attachments.push(Attachment { path: path.to_owned(), content, is_truncated });
    }
    attachments
}

fn read_skill_file(skill: &Skill, path: &str, policy: &Policy) -> Option<(String, bool)> {
    let file = resources::read_text(skill, path, &policy.limits).ok()?;
    Some((file.content, file.truncated.is_some()))
}

fn read_project_file(skill: &Skill, path: &str, policy: &Policy) -> Option<(String, bool)> {
    let project = skill.verifier.project_dir();
    let file = ReadFileTool::with_policy(project, policy).read(path).ok()?;
    Some((file.content, file.truncated.is_some()))
}
