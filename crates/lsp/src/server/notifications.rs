//! Notifications of the client. Malformed and unknown ones are ignored, as the protocol requires.

use std::path::{Path, PathBuf};

use gen_lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, FileChangeType,
};
use lsp_server::Notification;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::lifecycle::folder_path;
use super::{CANCEL, Server, requests};
use crate::background::ScanTask;
use crate::document::{DocumentKind, OpenDocument};

impl Server {
    pub(super) fn handle_notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" => self.start(),
            CANCEL => {
                if let Some(id) = requests::cancelled_id(&params) {
                    self.cancel(id);
                }
            }
            "textDocument/didOpen" => with(params, |params| self.open(params)),
            "textDocument/didChange" => with(params, |params| self.change(params)),
            "textDocument/didSave" => with(params, |params| self.save(&params)),
            "textDocument/didClose" => with(params, |params| self.close(&params)),
            "workspace/didChangeWatchedFiles" => with(params, |params| self.change_files(params)),
            "workspace/didChangeConfiguration" => with(params, |params| self.change_configuration(&params)),
            "workspace/didChangeWorkspaceFolders" => with(params, |params| self.change_folders(params)),
            _ => {}
        }
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let document = OpenDocument::new(item.uri.clone(), item.version, item.text);
        self.documents.insert(item.uri.clone(), document);
        self.outdated.insert(item.uri.clone());
        self.check_files(&item.uri);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.text_document_identifier.uri;
        if let Some(document) = self.documents.get_mut(&uri) {
            document.change(params.text_document.version, params.content_changes, self.client.encoding);
            self.outdated.insert(uri);
        }
    }

    fn save(&mut self, params: &DidSaveTextDocumentParams) {
        let uri = &params.text_document.uri;
        self.check_files(uri);
        // A client that does not watch files still reports those that it saves itself.
        if let Some(path) = folder_path(uri) {
            self.file_changed(&path);
            if is_skill_file(&path) {
                self.send_scan(ScanTask::Update(vec![path]));
            }
        }
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let uri = &params.text_document.uri;
        let Some(document) = self.documents.remove(uri) else { return };
        self.outdated.remove(uri);
        if document.is_skill() {
            self.clear_diagnostics(uri);
        }
        // Its unsaved name no longer counts.
        if let DocumentKind::SkillFile(path) = document.kind {
            self.send_scan(ScanTask::Update(vec![path]));
        }
    }

    fn change_files(&mut self, params: DidChangeWatchedFilesParams) {
        let mut skills = Vec::new();
        for event in params.changes {
            let Some(path) = folder_path(&event.uri) else { continue };
            self.file_changed(&path);
            if !is_skill_file(&path) {
                continue;
            }
            if event.kind == FileChangeType::Deleted {
                self.index.remove(&path);
                self.outdated.remove(&event.uri);
                self.clear_diagnostics(&event.uri);
            }
            skills.push(path);
        }
        if !skills.is_empty() {
            self.send_scan(ScanTask::Update(skills));
        }
    }

    /// Checks the open skills whose directory contains a file again, because they may refer to it.
    fn file_changed(&mut self, path: &Path) {
        for (uri, document) in &mut self.documents {
            let contains = document.dir().is_some_and(|dir| path.starts_with(dir));
            if contains {
                document.invalidate();
                self.outdated.insert(uri.clone());
            }
        }
    }

    fn change_configuration(&mut self, params: &DidChangeConfigurationParams) {
        self.change_settings(&params.settings);
        for (uri, document) in &mut self.documents {
            document.invalidate();
            self.outdated.insert(uri.clone());
        }
    }

    fn change_folders(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let paths = |uris: Vec<Url>| uris.iter().filter_map(folder_path).collect::<Vec<PathBuf>>();
        let removed = paths(params.event.removed.into_iter().map(|folder| folder.uri).collect());
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(paths(params.event.added.into_iter().map(|folder| folder.uri).collect()));
        self.scan();
    }
}

fn is_skill_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

/// Passes the parameters of a notification on, if they are valid.
fn with<P: DeserializeOwned>(params: Value, handle: impl FnOnce(P)) {
    if let Ok(params) = serde_json::from_value(params) {
        handle(params);
    }
}
