//! The documents that are open in the client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};
use prowess::check::{CheckedSkill, check_edited, check_source};
use prowess_format::{Rules, Span};
use url::Url;

use crate::position::{LineIndex, PositionEncoding};
use crate::settings::Settings;

/// A text and its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentText {
    pub(crate) text: String,
    pub(crate) lines: LineIndex,
}

impl DocumentText {
    pub(crate) fn new(text: String) -> Self {
        let lines = LineIndex::new(&text);
        Self { text, lines }
    }

    /// Applies a change of the client.
    fn apply(&mut self, change: TextDocumentContentChangeEvent, encoding: PositionEncoding) {
        match change {
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(change) => {
                let span = self.lines.span(&self.text, change.range, encoding);
                self.text.replace_range(span, &change.text);
                self.lines = LineIndex::new(&self.text);
            }
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(change) => {
                *self = Self::new(change.text);
            }
        }
    }
}

/// What a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// A `SKILL.md` on disk, or to be saved there.
    SkillFile(PathBuf),
    /// A skill without a directory, such as one that was never saved.
    LooseSkill,
    /// Another file; its text is used instead of that on disk.
    Other(Option<PathBuf>),
}

impl DocumentKind {
    /// Returns what a document with this address is.
    pub(crate) fn of(uri: &Url) -> Self {
        let is_skill = |name: &str| name.eq_ignore_ascii_case("SKILL.md");
        if uri.scheme() == "file" {
            return match uri.to_file_path() {
                Ok(path) if path.file_name().and_then(|name| name.to_str()).is_some_and(is_skill) => {
                    Self::SkillFile(path)
                }
                Ok(path) => Self::Other(Some(path)),
                Err(()) => Self::Other(None),
            };
        }
        let name = uri.path().rsplit('/').next().unwrap_or_default();
        match uri.scheme() == "untitled" || is_skill(name) {
            true => Self::LooseSkill,
            false => Self::Other(None),
        }
    }
}

/// An open document.
#[derive(Debug)]
pub(crate) struct OpenDocument {
    pub(crate) uri: Url,
    pub(crate) version: i32,
    pub(crate) kind: DocumentKind,
    pub(crate) content: Arc<DocumentText>,
    /// The result for the current text and settings, once it was needed.
    checked: Option<Arc<CheckedSkill>>,
}

impl OpenDocument {
    pub(crate) fn new(uri: Url, version: i32, text: String) -> Self {
        let kind = DocumentKind::of(&uri);
        Self { uri, version, kind, content: Arc::new(DocumentText::new(text)), checked: None }
    }

    /// Applies the changes of the client, in order.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) {
        let content = Arc::make_mut(&mut self.content);
        changes.into_iter().for_each(|change| content.apply(change, encoding));
        self.version = version;
        self.checked = None;
    }

    /// Discards the result of the check, because settings or files have changed.
    pub(crate) fn invalidate(&mut self) {
        self.checked = None;
    }

    /// Returns the directory of the skill.
    pub(crate) fn dir(&self) -> Option<&Path> {
        match &self.kind {
            DocumentKind::SkillFile(path) => path.parent(),
            DocumentKind::LooseSkill | DocumentKind::Other(_) => None,
        }
    }

    /// Returns `true` if the document is a skill.
    pub(crate) fn is_skill(&self) -> bool {
        !matches!(self.kind, DocumentKind::Other(_))
    }

    /// Checks the document, as `prowess check` would; `None` if it is not a skill.
    pub(crate) fn check(&mut self, rules: &Rules, settings: &Settings) -> Option<Arc<CheckedSkill>> {
        if self.checked.is_none() {
            let strict = Rules::strict();
            let rules = if settings.strict { &strict } else { rules };
            let source = self.content.text.as_bytes();
            let mut checked = match &self.kind {
                DocumentKind::SkillFile(path) => check_edited(path, source, rules, &settings.agents),
                DocumentKind::LooseSkill => {
                    check_source(Path::new("SKILL.md"), source, rules, &settings.agents)
                }
                DocumentKind::Other(_) => return None,
            };
            checked.diagnostics.retain(|diagnostic| !settings.ignore.contains(&diagnostic.code));
            checked.client_diagnostics.retain(|found| !settings.ignore.contains(&found.diagnostic.code));
            self.checked = Some(Arc::new(checked));
        }
        self.checked.clone()
    }

    /// Returns a view of the text for requests.
    pub(crate) fn view(&self, encoding: PositionEncoding) -> SkillView<'_> {
        SkillView {
            uri: &self.uri,
            version: self.version,
            text: &self.content.text,
            lines: &self.content.lines,
            dir: self.dir(),
            encoding,
        }
    }
}

/// The text of a skill as requests see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillView<'d> {
    pub(crate) uri: &'d Url,
    pub(crate) version: i32,
    pub(crate) text: &'d str,
    pub(crate) lines: &'d LineIndex,
    /// The directory of the skill, if it has one.
    pub(crate) dir: Option<&'d Path>,
    pub(crate) encoding: PositionEncoding,
}

impl SkillView<'_> {
    /// Returns the byte offset of a position.
    pub(crate) fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.text, position, self.encoding)
    }

    /// Returns the range of byte offsets.
    pub(crate) fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        self.lines.range(self.text, Span::new(bytes.start, bytes.end), self.encoding)
    }

    /// Returns an edit that replaces bytes.
    pub(crate) fn edit(&self, bytes: std::ops::Range<usize>, new_text: impl Into<String>) -> TextEdit {
        TextEdit { range: self.range(bytes), new_text: new_text.into() }
    }

    /// Returns the text of the line before an offset.
    pub(crate) fn line_before(&self, offset: usize) -> &str {
        let line = self.lines.line(self.text, self.lines.line_of(offset));
        self.text.get(line.start..offset.max(line.start)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_skills_by_their_address() {
        let kind = |uri: &str| DocumentKind::of(&Url::parse(uri).unwrap());
        assert_eq!(kind("file:///a/b/SKILL.md"), DocumentKind::SkillFile("/a/b/SKILL.md".into()));
        assert_eq!(kind("file:///a/my%20b/skill.md"), DocumentKind::SkillFile("/a/my b/skill.md".into()));
        assert_eq!(kind("file:///a/README.md"), DocumentKind::Other(Some("/a/README.md".into())));
        assert_eq!(kind("file://host/SKILL.md"), DocumentKind::Other(None));
        assert_eq!(kind("untitled:Untitled-1"), DocumentKind::LooseSkill);
        assert_eq!(kind("vscode-vfs://github/o/r/SKILL.md"), DocumentKind::LooseSkill);
        assert_eq!(kind("git:/a/README.md"), DocumentKind::Other(None));
    }
}
