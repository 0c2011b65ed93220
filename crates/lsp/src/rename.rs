//! Renaming a file of a skill, together with every text of the skill that names it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    DocumentChange, Position, PrepareRenamePlaceholder, RenameFile, RenameFileOptions, WorkspaceEdit,
};
use prowess::references::{file_references, inner_path, mentions};
use prowess_format::Span;
use url::Url;

use crate::client::ClientSupport;
use crate::document::{DocumentText, SkillView};
use crate::edits::{DocumentEdits, workspace_edit};
use crate::references::{file_uri, reference_at};
use crate::skill_files::{PathState, list_files, path_state, read_text};

/// The maximum size of a file whose references are changed, in bytes.
const TEXT_MAX: u64 = 1024 * 1024;

/// The maximum number of texts that are searched.
const TEXTS_MAX: usize = 200;

/// Why a file cannot be renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RenameError {
    #[error("no file of the skill is named at this position")]
    NoReference,
    #[error("{0} does not exist in the skill")]
    Missing(String),
    #[error("{0} is not a regular file of the skill")]
    NotAFile(String),
    #[error("SKILL.md must keep its name")]
    SkillFile,
    #[error("{0} is not a path inside the skill that links can contain")]
    InvalidTarget(String),
    #[error("{0} already exists")]
    TargetExists(String),
    #[error("the editor cannot rename files")]
    Unsupported,
}

/// Finds the text of an open document.
pub(crate) type OpenTexts<'a> = dyn Fn(&Path) -> Option<(Url, i32, Arc<DocumentText>)> + 'a;

/// Returns the path at a position, if the file can be renamed.
pub(crate) fn prepare_rename(
    view: &SkillView<'_>,
    position: Position,
    client: &ClientSupport,
) -> Result<PrepareRenamePlaceholder, RenameError> {
    let reference = reference_at(view, view.offset(position)).ok_or(RenameError::NoReference)?;
    let (dir, inner) = view.dir.zip(reference.inner.as_deref()).ok_or(RenameError::NoReference)?;
    check_source(dir, inner)?;
    if !client.rename_file {
        return Err(RenameError::Unsupported);
    }
    Ok(PrepareRenamePlaceholder { range: view.range(reference.bytes), placeholder: display(inner) })
}

/// Returns the edit that renames the file at a position to another path of the skill.
pub(crate) fn rename(
    view: &SkillView<'_>,
    position: Position,
    new_name: &str,
    client: &ClientSupport,
    open: &OpenTexts<'_>,
) -> Result<WorkspaceEdit, RenameError> {
    prepare_rename(view, position, client)?;
    let reference = reference_at(view, view.offset(position)).ok_or(RenameError::NoReference)?;
    let (dir, old) = view.dir.zip(reference.inner).ok_or(RenameError::NoReference)?;
    let new = check_target(dir, new_name)?;
    let (old_uri, new_uri) = file_uri(dir, &old)
        .zip(file_uri(dir, &new))
        .ok_or_else(|| RenameError::InvalidTarget(new_name.to_owned()))?;
    let options = RenameFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) };
    let operation = RenameFile { old_uri, new_uri, options: Some(options), annotation_id: None };
    let edits = reference_edits(dir, &old, &new, view, open);
    Ok(workspace_edit(edits, vec![DocumentChange::RenameFile(operation)], client))
}

/// Returns the edits for a file that the client is about to rename.
pub(crate) fn edits_before_rename(
    dir: &Path,
    old: &Path,
    new: &Path,
    view: &SkillView<'_>,
    open: &OpenTexts<'_>,
) -> Vec<DocumentEdits> {
    let is_file = check_source(dir, old).is_ok();
    match new.to_str().is_some_and(is_linkable) && is_file {
        true => reference_edits(dir, old, new, view, open),
        false => Vec::new(),
    }
}

fn check_source(dir: &Path, inner: &Path) -> Result<(), RenameError> {
    let is_skill = inner.to_str().is_some_and(|path| path.eq_ignore_ascii_case("SKILL.md"));
    match path_state(dir, inner) {
        _ if is_skill => Err(RenameError::SkillFile),
        PathState::File(_) => Ok(()),
        PathState::Missing => Err(RenameError::Missing(display(inner))),
        PathState::Dir | PathState::Other => Err(RenameError::NotAFile(display(inner))),
    }
}

/// Checks that a path is inside the skill and free, and that no directory on the way is a symlink.
fn check_target(dir: &Path, new_name: &str) -> Result<PathBuf, RenameError> {
    let invalid = || RenameError::InvalidTarget(prowess_format::hidden::escape_for_display(new_name).into());
    let inner = inner_path(new_name).filter(|_| is_linkable(new_name)).ok_or_else(invalid)?;
    match path_state(dir, &inner) {
        PathState::Missing => {}
        PathState::File(_) | PathState::Dir => return Err(RenameError::TargetExists(display(&inner))),
        PathState::Other => return Err(invalid()),
    }
    let parents = inner.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    for parent in parents {
        match path_state(dir, parent) {
            PathState::Dir | PathState::Missing => {}
            PathState::File(_) | PathState::Other => return Err(invalid()),
        }
    }
    Ok(inner)
}

/// Returns `true` if a path can be written in a link and in text without quotes.
fn is_linkable(path: &str) -> bool {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '=' | ',');
    !path.ends_with('/') && path.chars().all(is_plain)
}

fn display(inner: &Path) -> String {
    inner.to_string_lossy().into_owned()
}

/// Returns the edits of all texts of a skill that name a file.
fn reference_edits(
    dir: &Path,
    old: &Path,
    new: &Path,
    view: &SkillView<'_>,
    open: &OpenTexts<'_>,
) -> Vec<DocumentEdits> {
    let texts = list_files(dir).into_iter().filter(|path| is_text(path)).take(TEXTS_MAX);
    texts
        .filter_map(|path| {
            let inner = Path::new(&path);
            let (uri, version, content) = match open(&dir.join(inner)) {
                Some((uri, version, content)) => (uri, Some(version), content),
                None => {
                    let text = read_text(dir, inner, TEXT_MAX)?;
                    (file_uri(dir, inner)?, None, Arc::new(DocumentText::new(text)))
                }
            };
            let document = SkillView { uri: &uri, text: &content.text, lines: &content.lines, ..*view };
            let replaced = replacements(&content.text, inner, old, new);
            let edits = replaced
                .into_iter()
                .map(|(span, text)| document.edit(span.range(), text))
                .collect::<Vec<_>>();
            (!edits.is_empty()).then(|| DocumentEdits { uri: uri.clone(), version, edits })
        })
        .collect()
}

fn is_text(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "markdown", "mdx", "txt"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns the places of a text that name the file `old`, and what replaces them. Paths start at the directory of the
/// skill; in links, they may also start at the directory of the text itself.
fn replacements(text: &str, inner: &Path, old: &Path, new: &Path) -> Vec<(Span, String)> {
    let mut found: Vec<(Span, String)> =
        mentions(text, &display(old)).into_iter().map(|span| (span, display(new))).collect();
    let own_dir = inner.parent().unwrap_or(Path::new(""));
    if !own_dir.as_os_str().is_empty() {
        for reference in file_references(text.as_bytes(), 0) {
            let is_known = |(span, _): &(Span, String)| {
                span.start < reference.span.end && reference.span.start < span.end
            };
            if resolve(own_dir, reference.path).as_deref() == Some(old) && !found.iter().any(is_known) {
                found.push((reference.span, relative(own_dir, new)));
            }
        }
    }
    found.sort_by_key(|(span, _)| span.start);
    found
}

/// Returns the path inside the skill that a relative path leads to; `None` if it is outside.
fn resolve(dir: &Path, path: &str) -> Option<PathBuf> {
    let mut resolved = dir.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved)
}

/// Returns the path from a directory of the skill to a file of the skill.
fn relative(dir: &Path, target: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (dir.components().collect(), target.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    let down = to.iter().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, inner: &str, old: &str, new: &str) -> String {
        let mut result = text.to_owned();
        for (span, replacement) in
            replacements(text, Path::new(inner), Path::new(old), Path::new(new)).into_iter().rev()
        {
            result.replace_range(span.range(), &replacement);
        }
        result
    }

    #[test]
    fn every_mention_is_replaced() {
        let text = "[a](guide.md#x) `./guide.md` my-guide.md guide.md.bak sub/guide.md guide.md.";
        assert_eq!(
            replaced(text, "SKILL.md", "guide.md", "docs/new.md"),
            "[a](docs/new.md#x) `./docs/new.md` my-guide.md guide.md.bak sub/guide.md docs/new.md."
        );
    }

    #[test]
    fn links_relative_to_a_text_stay_relative() {
        let text = "[b](b.md) [c](../scripts/x.py) references/b.md [d](sub/b.md)";
        assert_eq!(
            replaced(text, "references/a.md", "references/b.md", "references/new/b.md"),
            "[b](new/b.md) [c](../scripts/x.py) references/new/b.md [d](sub/b.md)"
        );
        assert_eq!(
            replaced(text, "references/a.md", "scripts/x.py", "y.py"),
            "[b](b.md) [c](../y.py) references/b.md [d](sub/b.md)"
        );
    }

    #[test]
    fn targets_stay_inside_of_the_skill() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("pdf");
        std::fs::create_dir_all(dir.join("sub")).unwrap();
        std::fs::write(dir.join("a.md"), "").unwrap();
        prowess_fs::create_symlink(Path::new(".."), &dir.join("up")).unwrap();
        let check = |name: &str| check_target(&dir, name).map_err(|error| error.to_string());
        assert_eq!(check("./sub/new.md"), Ok("sub/new.md".into()));
        assert_eq!(check("a.md"), Err("a.md already exists".to_owned()));
        for name in
            ["", "../x.md", "/x.md", "up/x.md", "a b.md", "a).md", "a.md/x", "sub/", "x\u{202e}.md", "$x.md"]
        {
            let error = check(name).unwrap_err();
            assert!(
                error.ends_with("is not a path inside the skill that links can contain"),
                "{name}: {error}"
            );
        }
    }
}
