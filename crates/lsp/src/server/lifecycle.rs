//! The beginning of a session, and what the background reports.

use std::path::{Path, PathBuf};

use gen_lsp_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, InitializeResult, MessageType,
    Registration, RegistrationParams, ServerInfo, ShowMessageParams,
};
use lsp_server::ErrorCode;
use serde_json::{Value, json};
use url::Url;

use super::{Phase, RequestError, Server};
use crate::background::{Background, BackgroundEvent, ScanTask};
use crate::capabilities::server_capabilities;
use crate::client::ClientSupport;
use crate::workspace::{WorkspaceIndex, WorkspaceSkill};

/// The token of the progress of a scan.
const PROGRESS: &str = "prowess/scan";

/// The maximum length of a message to the user, in characters.
const MESSAGE_MAX: usize = 2_000;

impl Server {
    pub(super) fn initialize(&mut self, params: &Value) -> Result<Value, RequestError> {
        if !params.is_object() {
            return Err(RequestError::new(ErrorCode::InvalidParams, "the parameters are not an object"));
        }
        self.client = ClientSupport::from_capabilities(params.get("capabilities").unwrap_or(&Value::Null));
        self.folders = folders(params);
        if let Some(options) = params.get("initializationOptions") {
            self.change_settings(options);
        }
        self.phase = Phase::Running;
        let (background, events) = Background::start(&self.options.rules);
        (self.background, self.events) = (Some(background), events);
        let result = InitializeResult {
            capabilities: server_capabilities(self.client.encoding),
            server_info: Some(ServerInfo {
                name: "prowess".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        };
        to_json(&result)
    }

    /// Applies settings of the client, and reports those that are not valid.
    pub(super) fn change_settings(&mut self, value: &Value) {
        let (settings, problems) = self.settings.updated(value);
        self.settings = settings;
        for problem in problems {
            self.show_message(MessageType::Warning, &problem);
        }
    }

    /// Registers for changes of files and starts the first scan, after `initialized`.
    pub(super) fn start(&mut self) {
        if self.client.watched_files
            && let Ok(params) = serde_json::to_value(watch_registration())
        {
            self.request("client/registerCapability", params);
        }
        self.scan();
    }

    /// Searches the folders of the client and the configured directories for skills.
    pub(super) fn scan(&self) {
        let mut dirs = self.folders.clone();
        dirs.extend(self.options.roots.iter().cloned());
        dirs.sort();
        dirs.dedup();
        self.send_scan(ScanTask::Scan(dirs));
    }

    pub(super) fn send_scan(&self, task: ScanTask) {
        if let Some(background) = &self.background {
            // The thread ends only with the server.
            let _ended = background.scans.send(task);
        }
    }

    pub(super) fn handle_event(&mut self, event: BackgroundEvent) {
        match event {
            BackgroundEvent::ScanStarted => self.begin_progress(),
            BackgroundEvent::Scanned(skills) => {
                self.index = WorkspaceIndex::default();
                skills.into_iter().for_each(|skill| self.index.insert(skill));
                self.index_open_documents();
                let message = format!("comparing {} skills", self.index.len());
                self.report_progress(json!({"kind": "report", "message": message}));
            }
            BackgroundEvent::Updated(skills) => {
                for (path, name) in skills {
                    // The names of open documents are those of the client, not those on disk.
                    if self.is_open(&path) {
                        continue;
                    }
                    match name {
                        Some(name) => self.index.insert(WorkspaceSkill { path, name }),
                        None => self.index.remove(&path),
                    }
                }
            }
            BackgroundEvent::Indexed(index) => {
                self.neighbours = Some(index);
                let message = format!("{} skills", self.index.len());
                self.report_progress(json!({"kind": "end", "message": message}));
                self.is_scanning = false;
                if self.client.lens_refresh {
                    self.request("workspace/codeLens/refresh", Value::Null);
                }
            }
            BackgroundEvent::Lenses(id, lenses) => {
                if self.pending.remove(&id) {
                    self.respond(id, to_json(&lenses));
                }
            }
            BackgroundEvent::FilesChecked(uri, found) => self.set_file_diagnostics(&uri, found),
        }
    }

    fn is_open(&self, path: &Path) -> bool {
        Url::from_file_path(path).is_ok_and(|uri| self.documents.contains_key(&uri))
    }

    fn begin_progress(&mut self) {
        if !self.client.progress || self.is_scanning {
            return;
        }
        self.is_scanning = true;
        self.request("window/workDoneProgress/create", json!({"token": PROGRESS}));
        self.report_progress(json!({"kind": "begin", "title": "prowess", "message": "searching for skills"}));
    }

    fn report_progress(&self, value: Value) {
        if self.is_scanning {
            self.notify("$/progress", json!({"token": PROGRESS, "value": value}));
        }
    }

    /// Shows a message to the user.
    pub(super) fn show_message(&self, kind: MessageType, text: &str) {
        let message = prowess_format::hidden::escape_for_display(text).chars().take(MESSAGE_MAX).collect();
        if let Ok(params) = serde_json::to_value(ShowMessageParams { kind, message }) {
            self.notify("window/showMessage", params);
        }
    }
}

/// Converts a result. Fails only for a value that JSON cannot express.
pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(value)
        .map_err(|error| RequestError::new(ErrorCode::InternalError, error.to_string()))
}

/// Returns the folders that a client opens. Those that are not on disk are left out.
fn folders(params: &Value) -> Vec<PathBuf> {
    let path = |uri: &Value| Url::parse(uri.as_str()?).ok().and_then(|uri| folder_path(&uri));
    match params.get("workspaceFolders").and_then(Value::as_array) {
        Some(folders) => folders.iter().filter_map(|folder| path(folder.get("uri")?)).collect(),
        None => match params.get("rootUri").and_then(path) {
            Some(root) => vec![root],
            None => params
                .get("rootPath")
                .and_then(Value::as_str)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .into_iter()
                .collect(),
        },
    }
}

/// Returns the path of a folder on disk.
pub(super) fn folder_path(uri: &Url) -> Option<PathBuf> {
    (uri.scheme() == "file").then(|| uri.to_file_path().ok()).flatten()
}

/// Returns the registration for changes of all files: those of skills decide whether a reference is valid.
fn watch_registration() -> RegistrationParams {
    let watcher = FileSystemWatcher { glob_pattern: GlobPattern::Pattern("**/*".to_owned()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
    RegistrationParams {
        registrations: vec![Registration {
            id: "prowess/files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: serde_json::to_value(options).ok(),
        }],
    }
}
