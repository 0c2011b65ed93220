//! Publishing diagnostics.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{Diagnostic, PublishDiagnosticsParams};
use prowess::FileDiagnostic;
use prowess::check::CheckedSkill;
use url::Url;

use super::Server;
use crate::background::DocumentTask;
use crate::diagnostics::to_protocol;
use crate::document::{DocumentKind, DocumentText, OpenDocument, SkillView};
use crate::skill_files::read_text;
use crate::workspace::WorkspaceSkill;

/// The maximum size of another file with diagnostics, in bytes.
const FILE_MAX: u64 = 1024 * 1024;

/// The diagnostics of a skill that are about other files.
#[derive(Debug, Default)]
pub(super) struct OtherFiles {
    /// Those of the last check of the document.
    of_agents: Vec<FileDiagnostic>,
    /// Those of the last check of the files.
    of_files: Vec<FileDiagnostic>,
    /// The files for which diagnostics are shown.
    published: Vec<Url>,
}

impl Server {
    /// Publishes the diagnostics of all documents that have changed.
    pub(super) fn publish_outdated(&mut self) {
        for uri in std::mem::take(&mut self.outdated) {
            self.publish(&uri);
        }
    }

    fn publish(&mut self, uri: &Url) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let Some(checked) = document.check(&self.options.rules, &self.settings) else { return };
        let view = document.view(self.client.encoding);
        let of_files = self.other_files.get(uri).map(|files| files.of_files.as_slice()).unwrap_or_default();
        let own =
            checked.client_diagnostics.iter().chain(of_files).filter(|found| found.path == checked.path);
        let diagnostics: Vec<Diagnostic> = checked
            .diagnostics
            .iter()
            .chain(own.map(|found| &found.diagnostic))
            .map(|diagnostic| to_protocol(diagnostic, &view))
            .collect();
        let version = document.version;
        let others = checked.client_diagnostics.iter().filter(|found| found.path != checked.path);
        let others: Vec<FileDiagnostic> = others.cloned().collect();
        self.send_diagnostics(uri.clone(), Some(version), diagnostics);
        self.update_index(&checked);
        if !others.is_empty() || self.other_files.contains_key(uri) {
            self.other_files.entry(uri.clone()).or_default().of_agents = others;
            self.publish_other_files(uri);
        }
    }

    /// Adds the names of all open documents, after those on disk were read.
    pub(super) fn index_open_documents(&mut self) {
        let check = |document: &mut OpenDocument| document.check(&self.options.rules, &self.settings);
        let checked: Vec<_> = self.documents.values_mut().filter_map(check).collect();
        checked.iter().for_each(|checked| self.update_index(checked));
    }

    /// Updates the name of one skill.
    fn update_index(&mut self, checked: &CheckedSkill) {
        if let Some(name) = checked.name.clone().filter(|_| checked.path.is_absolute()) {
            self.index.insert(WorkspaceSkill { path: checked.path.clone(), name });
        }
    }

    /// Checks the other files of a skill in the background.
    pub(super) fn check_files(&mut self, uri: &Url) {
        let Some(checker) = self.options.check_files.clone() else { return };
        let Some(document) = self.documents.get_mut(uri) else { return };
        let Some(checked) = document.check(&self.options.rules, &self.settings) else { return };
        let is_checked = checked.is_valid() && !checked.toolsets.is_empty();
        if !is_checked && !self.other_files.contains_key(uri) {
            return;
        }
        if let Some(background) = &self.background {
            let task = DocumentTask::Files { uri: uri.clone(), checked: Arc::clone(&checked), checker };
            // The thread ends only with the server.
            let _ended = background.documents.send(task);
        }
    }

    pub(super) fn set_file_diagnostics(&mut self, uri: &Url, mut found: Vec<FileDiagnostic>) {
        // The document may have been closed in the meantime.
        if self.documents.contains_key(uri) {
            found.retain(|found| !self.settings.ignore.contains(&found.diagnostic.code));
            let files = self.other_files.entry(uri.clone()).or_default();
            if files.of_files != found {
                files.of_files = found;
                self.outdated.insert(uri.clone());
            }
        }
    }

    /// Removes all diagnostics of a document that was closed.
    pub(super) fn clear_diagnostics(&mut self, uri: &Url) {
        self.send_diagnostics(uri.clone(), None, Vec::new());
        if let Some(files) = self.other_files.remove(uri) {
            files.published.into_iter().for_each(|other| self.send_diagnostics(other, None, Vec::new()));
        }
    }

    fn publish_other_files(&mut self, uri: &Url) {
        let Some(dir) = self.documents.get(uri).and_then(|document| document.dir()).map(Path::to_owned)
        else {
            return;
        };
        let Some(files) = self.other_files.get_mut(uri) else { return };
        let mut by_path: HashMap<PathBuf, Vec<&FileDiagnostic>> = HashMap::new();
        for found in files.of_agents.iter().chain(&files.of_files) {
            by_path.entry(found.path.clone()).or_default().push(found);
        }
        let mut messages = Vec::new();
        for (path, found) in by_path {
            let Ok(other) = Url::from_file_path(&path) else { continue };
            let content = other_text(&self.documents, &dir, &path);
            let view = SkillView {
                uri: &other,
                version: 0,
                text: &content.text,
                lines: &content.lines,
                dir: None,
                encoding: self.client.encoding,
            };
            let diagnostics = found.iter().map(|found| to_protocol(&found.diagnostic, &view)).collect();
            messages.push((other.clone(), diagnostics));
        }
        let before = std::mem::replace(
            &mut files.published,
            messages.iter().map(|(other, _)| other.clone()).collect(),
        );
        let gone = before.into_iter().filter(|other| !messages.iter().any(|(kept, _)| kept == other));
        let gone: Vec<_> = gone.map(|other| (other, Vec::new())).collect();
        for (other, diagnostics) in gone.into_iter().chain(messages) {
            // Those about the document itself are part of its own diagnostics.
            if other != *uri {
                self.send_diagnostics(other, None, diagnostics);
            }
        }
    }

    fn send_diagnostics(&self, uri: Url, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        let params = PublishDiagnosticsParams { uri, version, diagnostics };
        if let Ok(params) = serde_json::to_value(params) {
            self.notify("textDocument/publishDiagnostics", params);
        }
    }
}

/// Returns the text of another file of a skill: that of the client, or that on disk.
fn other_text(documents: &HashMap<Url, OpenDocument>, dir: &Path, path: &Path) -> Arc<DocumentText> {
    let is_path = |kind: &DocumentKind| matches!(kind, DocumentKind::Other(Some(open)) if open == path);
    if let Some(document) = documents.values().find(|document| is_path(&document.kind)) {
        return Arc::clone(&document.content);
    }
    let text = path.strip_prefix(dir).ok().and_then(|inner| read_text(dir, inner, FILE_MAX));
    Arc::new(DocumentText::new(text.unwrap_or_default()))
}
