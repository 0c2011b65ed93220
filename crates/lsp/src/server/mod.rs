//! The server: its state, and the loop that handles messages.
//!
//! One thread handles all messages in order. What takes time in proportion to the workspace runs in the
//! [background](crate::background), so that an edit never waits for it.

mod lifecycle;
mod notifications;
mod publish;
mod requests;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, never, select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::Value;
use url::Url;

use crate::background::{Background, BackgroundEvent};
use crate::client::ClientSupport;
use crate::document::OpenDocument;
use crate::neighbours::NeighbourIndex;
use crate::settings::{ServerOptions, Settings};
use crate::workspace::WorkspaceIndex;

/// The method that cancels a request.
const CANCEL: &str = "$/cancelRequest";

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client asked to shut down, then to exit.
    Exit,
    /// The client exited without asking to shut down, or closed the connection.
    Aborted,
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Starting,
    /// After `initialize`.
    Running,
    /// After `shutdown`.
    ShutDown,
}

/// An error response.
#[derive(Debug)]
struct RequestError {
    code: ErrorCode,
    message: String,
}

impl RequestError {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Whether a request is answered now or by the background.
enum Answer {
    Now(Value),
    Later,
}

struct Server {
    sender: Sender<Message>,
    options: ServerOptions,
    settings: Settings,
    client: ClientSupport,
    phase: Phase,
    folders: Vec<PathBuf>,
    documents: HashMap<Url, OpenDocument>,
    /// The documents whose diagnostics must be published.
    outdated: HashSet<Url>,
    /// The files for which each document has published diagnostics, besides its own.
    other_files: HashMap<Url, publish::OtherFiles>,
    index: WorkspaceIndex,
    neighbours: Option<Arc<NeighbourIndex>>,
    background: Option<Background>,
    events: Receiver<BackgroundEvent>,
    /// The requests that the background answers.
    pending: HashSet<RequestId>,
    next_id: i32,
    is_scanning: bool,
}

/// Serves a client until it exits.
pub fn serve(connection: Connection, options: ServerOptions) -> SessionEnd {
    let Connection { sender, receiver } = connection;
    let settings = options.settings.clone();
    let mut server = Server {
        sender,
        options,
        settings,
        client: ClientSupport::default(),
        phase: Phase::Starting,
        folders: Vec::new(),
        documents: HashMap::new(),
        outdated: HashSet::new(),
        other_files: HashMap::new(),
        index: WorkspaceIndex::default(),
        neighbours: None,
        background: None,
        events: never(),
        pending: HashSet::new(),
        next_id: 0,
        is_scanning: false,
    };
    server.run(&receiver)
}

impl Server {
    fn run(&mut self, messages: &Receiver<Message>) -> SessionEnd {
        loop {
            let (mut batch, mut event) = (Vec::new(), None);
            let events = self.events.clone();
            select! {
                recv(messages) -> message => match message {
                    Ok(message) => batch.push(message),
                    Err(_) => return SessionEnd::Aborted,
                },
                recv(events) -> received => event = received.ok(),
            }
            if let Some(event) = event {
                self.handle_event(event);
            }
            // Messages that are waiting may cancel each other.
            batch.extend(messages.try_iter());
            let cancelled = cancelled_ids(&batch);
            for message in batch {
                if let Some(end) = self.handle_message(message, &cancelled) {
                    return end;
                }
            }
            self.publish_outdated();
        }
    }

    fn handle_message(&mut self, message: Message, cancelled: &HashSet<RequestId>) -> Option<SessionEnd> {
        match message {
            Message::Request(request) if cancelled.contains(&request.id) => {
                self.respond(request.id, Err(cancelled_error()));
            }
            Message::Request(request) => self.handle_request(request),
            Message::Notification(notification) if notification.method == "exit" => {
                let is_clean = self.phase == Phase::ShutDown;
                return Some(if is_clean { SessionEnd::Exit } else { SessionEnd::Aborted });
            }
            Message::Notification(notification) if self.phase == Phase::Running => {
                self.handle_notification(notification);
            }
            // Notifications before `initialize` are dropped, and responses need no action.
            Message::Notification(_) | Message::Response(_) => {}
        }
        None
    }

    fn handle_request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let result = match (self.phase, method.as_str()) {
            (Phase::Starting, "initialize") => self.initialize(&params).map(Answer::Now),
            (Phase::Starting, _) => {
                Err(RequestError::new(ErrorCode::ServerNotInitialized, "send initialize first"))
            }
            (Phase::Running | Phase::ShutDown, "initialize") => {
                Err(RequestError::new(ErrorCode::InvalidRequest, "the server is already initialized"))
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Answer::Now(Value::Null))
            }
            (Phase::Running, method) => self.dispatch(&id, method, params),
            (Phase::ShutDown, _) => {
                Err(RequestError::new(ErrorCode::InvalidRequest, "the server is shutting down"))
            }
        };
        match result {
            Ok(Answer::Later) => {}
            Ok(Answer::Now(value)) => self.respond(id, Ok(value)),
            Err(error) => self.respond(id, Err(error)),
        }
    }

    /// Answers a request that the background has not answered yet.
    fn cancel(&mut self, id: RequestId) {
        if self.pending.remove(&id) {
            self.respond(id, Err(cancelled_error()));
        }
    }

    fn respond(&self, id: RequestId, result: Result<Value, RequestError>) {
        let response = match result {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, error.code as i32, error.message),
        };
        self.send(response);
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Sends a request whose response is not needed.
    fn request(&mut self, method: &str, params: Value) {
        self.next_id = self.next_id.wrapping_add(1);
        let id = RequestId::from(format!("prowess-{}", self.next_id));
        self.send(Request { id, method: method.to_owned(), params });
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone closes the other channel, too, which ends the session.
        let _closed = self.sender.send(message.into());
    }
}

fn cancelled_error() -> RequestError {
    RequestError::new(ErrorCode::RequestCanceled, "the client cancelled the request")
}

/// Returns the requests of a batch that a later message of the batch cancels.
fn cancelled_ids(batch: &[Message]) -> HashSet<RequestId> {
    let id = |message: &Message| match message {
        Message::Notification(notification) if notification.method == CANCEL => {
            requests::cancelled_id(&notification.params)
        }
        Message::Notification(_) | Message::Request(_) | Message::Response(_) => None,
    };
    batch.iter().filter_map(id).collect()
}
