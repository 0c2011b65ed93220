//! A client that talks to a server in the same process.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use prowess_lsp::{ServerOptions, SessionEnd, serve};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

/// The capabilities of a modern editor.
pub(crate) fn capabilities() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16"]},
        "workspace": {
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
            "didChangeWatchedFiles": {"dynamicRegistration": true},
            "codeLens": {"refreshSupport": true}
        },
        "window": {"workDoneProgress": true},
        "textDocument": {
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
        }
    })
}

/// A workspace with a server and a client.
pub(crate) struct Session {
    pub(crate) temp: TempDir,
    connection: Option<Connection>,
    server: Option<JoinHandle<SessionEnd>>,
    next_id: i32,
    /// The messages of the server that no call has waited for yet.
    pub(crate) inbox: Vec<Message>,
}

impl Session {
    /// Starts a server that is not initialized.
    pub(crate) fn uninitialized(options: ServerOptions) -> Self {
        let (connection, server) = Connection::memory();
        let server = std::thread::spawn(move || serve(server, options));
        let temp = tempfile::tempdir().unwrap();
        Self { temp, connection: Some(connection), server: Some(server), next_id: 0, inbox: Vec::new() }
    }

    /// Starts a session of a modern editor.
    pub(crate) fn start() -> Self {
        Self::with(capabilities(), json!({}))
    }

    pub(crate) fn with(capabilities: Value, options: Value) -> Self {
        let mut session = Self::uninitialized(ServerOptions::default());
        session.initialize(capabilities, options);
        session
    }

    pub(crate) fn initialize(&mut self, capabilities: Value, options: Value) -> Value {
        let folder = json!({"uri": self.uri(""), "name": "test"});
        let params = json!({
            "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options,
            "workspaceFolders": [folder]
        });
        let result = self.request("initialize", params).unwrap();
        self.notify("initialized", json!({}));
        result
    }

    pub(crate) fn path(&self, inner: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(inner)
    }

    pub(crate) fn uri(&self, inner: &str) -> Url {
        Url::from_file_path(self.path(inner)).unwrap()
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, inner: &str, text: &str) -> &Self {
        let path = self.path(inner);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn send(&self, message: impl Into<Message>) {
        self.connection.as_ref().unwrap().sender.send(message.into()).unwrap();
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Sends a request and returns its id.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> RequestId {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        self.send(Request { id: id.clone(), method: method.to_owned(), params });
        id
    }

    /// Sends a request and returns its result, or the code and message of its error.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send_request(method, params);
        self.response(&id)
    }

    pub(crate) fn response(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        let is_response =
            |message: &Message| matches!(message, Message::Response(response) if response.id == *id);
        match self.wait(is_response) {
            Message::Response(Response { response_result, .. }) => {
                response_result.map_err(|error| (error.code, error.message))
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the next message of the server that matches. Others are kept for later.
    pub(crate) fn wait(&mut self, matches: impl Fn(&Message) -> bool) -> Message {
        if let Some(index) = self.inbox.iter().position(&matches) {
            return self.inbox.remove(index);
        }
        loop {
            let received = self.connection.as_ref().unwrap().receiver.recv_timeout(Duration::from_secs(60));
            let message = received.unwrap_or_else(|error| panic!("{error}; received: {:?}", self.inbox));
            if matches(&message) {
                return message;
            }
            self.inbox.push(message);
        }
    }

    /// Waits for a notification or request of the server, and returns its parameters.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        let message = self.wait(|message| match message {
            Message::Notification(notification) => notification.method == method,
            Message::Request(request) => request.method == method,
            Message::Response(_) => false,
        });
        match message {
            Message::Notification(notification) => notification.params,
            Message::Request(request) => request.params,
            Message::Response(_) => Value::Null,
        }
    }

    /// Opens a document and returns its diagnostics.
    pub(crate) fn open(&mut self, inner: &str, text: &str) -> Vec<String> {
        let uri = self.uri(inner);
        self.open_uri(&uri, text)
    }

    pub(crate) fn open_uri(&mut self, uri: &Url, text: &str) -> Vec<String> {
        let item = json!({"uri": uri, "languageId": "markdown", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
        self.diagnostics(uri, Some(1))
    }

    /// Writes a skill and opens it.
    pub(crate) fn open_saved(&mut self, inner: &str, text: &str) -> Vec<String> {
        self.write(inner, text);
        self.open(inner, text)
    }

    pub(crate) fn change(&mut self, inner: &str, version: i32, changes: Value) -> Vec<String> {
        let uri = self.uri(inner);
        let document = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
        self.diagnostics(&uri, Some(version))
    }

    /// Waits for the diagnostics of a version, one line each.
    pub(crate) fn diagnostics(&mut self, uri: &Url, version: Option<i32>) -> Vec<String> {
        let message = self.wait(|message| {
            matches!(message, Message::Notification(notification)
                if notification.method == "textDocument/publishDiagnostics"
                    && notification.params["uri"] == json!(uri)
                    && notification.params.get("version").cloned() == version.map(|version| json!(version)))
        });
        let Message::Notification(notification) = message else { panic!() };
        let show = |found: &Value| {
            let message = found["message"].as_str().unwrap().lines().next().unwrap();
            let severity = ["error", "warning", "info"][found["severity"].as_u64().unwrap() as usize - 1];
            format!("{} {severity} {}: {message}", range(&found["range"]), found["code"].as_str().unwrap())
        };
        notification.params["diagnostics"].as_array().unwrap().iter().map(show).collect()
    }

    /// Asks about the position of `|` in the text of an open document, which must be there without the mark.
    pub(crate) fn ask(&mut self, method: &str, inner: &str, marked: &str) -> Result<Value, (i32, String)> {
        let params = self.at(inner, marked);
        self.request(method, params)
    }

    /// Opens or replaces a document, and returns the parameters for the position of `|`.
    pub(crate) fn at(&mut self, inner: &str, marked: &str) -> Value {
        let offset = marked.find('|').expect("the text has no mark");
        let text = marked.replacen('|', "", 1);
        let (line, column) = {
            let before = &text[..offset];
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count(), before[start..].encode_utf16().count())
        };
        self.open(inner, &text);
        json!({"textDocument": {"uri": self.uri(inner)}, "position": {"line": line, "character": column}})
    }

    /// Closes the connection and returns how the session ended.
    pub(crate) fn end(mut self) -> SessionEnd {
        self.connection = None;
        self.server.take().unwrap().join().unwrap()
    }

    /// Replaces the path of the workspace in a text.
    pub(crate) fn clean(&self, text: &str) -> String {
        let path = self.temp.path().canonicalize().unwrap();
        let uri = Url::from_file_path(&path).unwrap();
        let path = path.to_str().unwrap();
        // Hyphens are escaped in Markdown.
        let escaped = path.replace('-', "\\-").replace('_', "\\_");
        text.replace(uri.as_str(), "WORKSPACE").replace(path, "WORKSPACE").replace(&escaped, "WORKSPACE")
    }

    /// Applies the text edits of a workspace edit to a text.
    pub(crate) fn apply(&self, edit: &Value, inner: &str, text: &str) -> String {
        let uri = json!(self.uri(inner));
        let mut edits: Vec<Value> = Vec::new();
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            if change["textDocument"]["uri"] == uri {
                edits.extend(change["edits"].as_array().unwrap().iter().cloned());
            }
        }
        edits.extend(edit["changes"][uri.as_str().unwrap()].as_array().into_iter().flatten().cloned());
        apply_edits(&edits, text)
    }
}

/// Applies edits whose columns are ASCII.
pub(crate) fn apply_edits(edits: &[Value], text: &str) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + position["character"].as_u64().unwrap() as usize
    };
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| {
            (
                offset(&edit["range"]["start"])..offset(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    edits.into_iter().fold(text.to_owned(), |mut text, (range, new)| {
        text.replace_range(range, new);
        text
    })
}

/// Shows a range as `line:column-line:column`, counted from 0.
pub(crate) fn range(range: &Value) -> String {
    let position = |end: &str| format!("{}:{}", range[end]["line"], range[end]["character"]);
    format!("{}-{}", position("start"), position("end"))
}

/// A valid skill with this name and body.
pub(crate) fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Reads {name} files. Use when asked.\n---\n{body}")
}

pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
