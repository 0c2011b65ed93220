//! The files that a skill names: links of the document, and where a reference leads.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gen_lsp_types::{DocumentLink, Location, Position};
use prowess::references::{file_references, inner_path};
use url::Url;

use crate::document::SkillView;
use crate::frontmatter::{TextParts, YamlPlace, place_at};
use crate::skill_files::{PathState, path_state};

/// A reference to a path inside the skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillReference {
    /// The bytes of the path.
    pub(crate) bytes: Range<usize>,
    /// The path inside the skill; `None` if it is outside.
    pub(crate) inner: Option<PathBuf>,
}

/// Returns the references of a skill, in the body and in `toolsets` and `scripts`.
fn references(view: &SkillView<'_>) -> Vec<SkillReference> {
    let parts = TextParts::find(view.text);
    file_references(view.text.as_bytes(), parts.body)
        .into_iter()
        .map(|reference| SkillReference { bytes: reference.span.range(), inner: inner_path(reference.path) })
        .collect()
}

/// Returns the reference at an offset.
pub(crate) fn reference_at(view: &SkillView<'_>, offset: usize) -> Option<SkillReference> {
    let contains = |bytes: &Range<usize>| bytes.start <= offset && offset <= bytes.end;
    if let Some(reference) = references(view).into_iter().find(|reference| contains(&reference.bytes)) {
        return Some(reference);
    }
    let parts = TextParts::find(view.text);
    let yaml = parts.yaml.as_ref().filter(|_| parts.is_in_yaml(offset))?;
    match place_at(view.text, yaml, offset)? {
        YamlPlace::Value { key: "toolsets" | "scripts", parent: None, word, range } => {
            let path = word.split(':').next().unwrap_or_default();
            let bytes = range.start..range.start + path.len();
            Some(SkillReference { bytes, inner: inner_path(path) })
                .filter(|reference| reference.inner.is_some())
        }
        YamlPlace::Value { .. } | YamlPlace::Key { .. } => None,
    }
}

/// Returns the place that a reference leads to, if it is an existing file of the skill.
pub(crate) fn definition(view: &SkillView<'_>, position: Position) -> Option<Location> {
    let reference = reference_at(view, view.offset(position))?;
    let (dir, inner) = (view.dir?, reference.inner?);
    let uri = file_uri(dir, &inner)?;
    matches!(path_state(dir, &inner), PathState::File(_))
        .then(|| Location { uri, range: gen_lsp_types::Range::default() })
}

/// Returns the links to existing files of the skill.
pub(crate) fn document_links(view: &SkillView<'_>) -> Vec<DocumentLink> {
    let Some(dir) = view.dir else { return Vec::new() };
    let link = |reference: SkillReference| {
        let inner = reference.inner?;
        let target = file_uri(dir, &inner)?;
        matches!(path_state(dir, &inner), PathState::File(_)).then(|| DocumentLink {
            range: view.range(reference.bytes),
            target: Some(target),
            tooltip: None,
            data: None,
        })
    };
    references(view).into_iter().filter_map(link).collect()
}

/// Returns the address of a file of a skill.
pub(crate) fn file_uri(dir: &Path, inner: &Path) -> Option<Url> {
    Url::from_file_path(dir.join(inner)).ok()
}
