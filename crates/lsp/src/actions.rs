//! Code actions: fixes of diagnostics, and creating missing files.

use gen_lsp_types::{
    CodeAction, CodeActionKind, CreateFile, CreateFileOptions, DocumentChange, Range, TextEdit,
};
use prowess::check::CheckedSkill;
use prowess::references::inner_path;
use prowess_format::{Code, Diagnostic, Fix};

use crate::client::ClientSupport;
use crate::diagnostics::to_protocol;
use crate::document::SkillView;
use crate::edits::{DocumentEdits, workspace_edit};
use crate::references::file_uri;
use crate::skill_files::{PathState, path_state};

/// Returns the actions for a range. `only` limits their kinds.
pub(crate) fn code_actions(
    view: &SkillView<'_>,
    checked: &CheckedSkill,
    range: Range,
    only: Option<&[CodeActionKind]>,
    client: &ClientSupport,
) -> Vec<CodeAction> {
    if !client.code_action_literals {
        return Vec::new();
    }
    // Fixes are offered on the whole lines of a problem, so that the cursor need not be exactly on it.
    let wanted = range.start.line..=range.end.line;
    let is_touched = |diagnostic: &&Diagnostic| {
        let span = diagnostic.location.map(|location| location.span.range()).unwrap_or_default();
        let lines = view.range(span);
        lines.start.line <= *wanted.end() && *wanted.start() <= lines.end.line
    };
    let builder = ActionBuilder { view, client };
    let mut actions = Vec::new();
    if is_wanted(only, &CodeActionKind::QuickFix) {
        for diagnostic in checked.diagnostics.iter().filter(is_touched) {
            actions.extend(builder.fix(diagnostic));
            actions.extend(builder.create_file(diagnostic));
        }
    }
    // It is offered even without a cursor at a problem, because clients apply it when a file is saved.
    if is_wanted(only, &CodeActionKind::SourceFixAll) {
        actions.extend(builder.fix_all(&checked.diagnostics, only.is_some()));
    }
    actions
}

/// Returns `true` if a client asks for actions of a kind, or of one that contains it: `source` contains
/// `source.fixAll`.
fn is_wanted(only: Option<&[CodeActionKind]>, kind: &CodeActionKind) -> bool {
    let name = |kind: &CodeActionKind| {
        serde_json::to_value(kind)
            .ok()
            .and_then(|name| name.as_str().map(ToOwned::to_owned))
            .unwrap_or_default()
    };
    let name_of_kind = name(kind);
    only.is_none_or(|only| {
        only.iter().map(name).any(|wanted| {
            let rest = name_of_kind.strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
        })
    })
}

struct ActionBuilder<'a> {
    view: &'a SkillView<'a>,
    client: &'a ClientSupport,
}

impl ActionBuilder<'_> {
    fn fix(&self, diagnostic: &Diagnostic) -> Option<CodeAction> {
        let fix = diagnostic.fix.as_deref()?;
        let title = match &diagnostic.help {
            Some(help) => format!("fix {}: {}", diagnostic.code.as_str(), first_line(help)),
            None => format!("fix {}", diagnostic.code.as_str()),
        };
        Some(CodeAction {
            diagnostics: Some(vec![to_protocol(diagnostic, self.view)]),
            is_preferred: Some(true),
            ..self.action(title, CodeActionKind::QuickFix, vec![self.edit(fix)], Vec::new())
        })
    }

    fn fix_all(&self, diagnostics: &[Diagnostic], is_explicit: bool) -> Option<CodeAction> {
        let mut fixes: Vec<&Fix> = diagnostics.iter().filter_map(|found| found.fix.as_deref()).collect();
        fixes.sort_by_key(|fix| (fix.span.start, fix.span.end));
        // Of overlapping fixes only the first can be applied at once.
        let mut end = None;
        fixes.retain(|fix| {
            let is_free = end.is_none_or(|end| fix.span.start >= end);
            end = if is_free { Some(fix.span.end) } else { end };
            is_free
        });
        if fixes.is_empty() || (fixes.len() < 2 && !is_explicit) {
            return None;
        }
        let edits = fixes.iter().map(|fix| self.edit(fix)).collect();
        let title = "fix all problems that have a fix".to_owned();
        Some(self.action(title, CodeActionKind::SourceFixAll, edits, Vec::new()))
    }

    fn create_file(&self, diagnostic: &Diagnostic) -> Option<CodeAction> {
        if diagnostic.code != Code::MissingReference || !self.client.create_file {
            return None;
        }
        let path = self.view.text.get(diagnostic.location?.span.range())?;
        let (dir, inner) = (self.view.dir?, inner_path(path)?);
        // A directory on the way may be a symlink to somewhere else.
        let parents = inner.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        let is_inside = |state| matches!(state, PathState::Dir | PathState::Missing);
        let is_creatable = path_state(dir, &inner) == PathState::Missing
            && parents.into_iter().all(|parent| is_inside(path_state(dir, parent)));
        let uri = file_uri(dir, &inner).filter(|_| is_creatable)?;
        let options = CreateFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) };
        let create = CreateFile { uri, options: Some(options), annotation_id: None };
        let shown = prowess_format::hidden::escape_for_display(path);
        let action = self.action(
            format!("create {shown}"),
            CodeActionKind::QuickFix,
            Vec::new(),
            vec![DocumentChange::CreateFile(create)],
        );
        Some(CodeAction { diagnostics: Some(vec![to_protocol(diagnostic, self.view)]), ..action })
    }

    fn edit(&self, fix: &Fix) -> TextEdit {
        self.view.edit(fix.span.range(), fix.text.clone())
    }

    fn action(
        &self,
        title: String,
        kind: CodeActionKind,
        edits: Vec<TextEdit>,
        operations: Vec<DocumentChange>,
    ) -> CodeAction {
        let document = DocumentEdits { uri: self.view.uri.clone(), version: Some(self.view.version), edits };
        let edit = workspace_edit(vec![document], operations, self.client);
        CodeAction { title, kind: Some(kind), edit: Some(edit), ..CodeAction::default() }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_contain_others() {
        let all = CodeActionKind::SourceFixAll;
        assert!(is_wanted(None, &all) && is_wanted(Some(&[CodeActionKind::Source]), &all));
        assert!(is_wanted(Some(&[CodeActionKind::Empty]), &all));
        assert!(!is_wanted(Some(&[CodeActionKind::QuickFix]), &all) && !is_wanted(Some(&[]), &all));
    }
}
