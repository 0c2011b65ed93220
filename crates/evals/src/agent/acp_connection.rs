//! The messages of the Agent Client Protocol, version 1: JSON-RPC, one message per line.
//!
//! Only what a client without files and terminals needs. The published crate is not used, because it changes the order of
//! keys in all JSON that this program writes.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc as async_mpsc;

use super::TranscriptEntry;
use super::acp_process::IncomingLine;
use super::transcript::{REPLY_MAX, TranscriptBuilder, shorten};

/// The error code of JSON-RPC for an unknown method.
const METHOD_NOT_FOUND: i64 = -32_601;

/// Why a request to an agent has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AcpError {
    /// The agent reported an error.
    #[error("{0}")]
    Reported(String),
    /// The agent sent something that is not a message.
    #[error("the agent sent an invalid message: {0}")]
    Invalid(String),
    /// The agent ended before it answered.
    #[error("the agent ended before it answered")]
    Closed,
}

/// A connection to an agent.
pub(super) struct AcpConnection {
    outgoing: mpsc::Sender<String>,
    incoming: async_mpsc::UnboundedReceiver<IncomingLine>,
    session: Arc<Mutex<SessionState>>,
    last_id: u64,
}

impl AcpConnection {
    pub(super) fn new(
        outgoing: mpsc::Sender<String>,
        incoming: async_mpsc::UnboundedReceiver<IncomingLine>,
        session: Arc<Mutex<SessionState>>,
    ) -> Self {
        Self { outgoing, incoming, session, last_id: 0 }
    }

    /// Sends a request, and returns its id.
    pub(super) fn send_request(&mut self, method: &str, params: Value) -> Result<u64, AcpError> {
        self.last_id += 1;
        self.send(json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))?;
        Ok(self.last_id)
    }

    pub(super) fn send_notification(&self, method: &str, params: Value) -> Result<(), AcpError> {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Waits for the response to a request. Meanwhile, records updates, and answers requests of the agent.
    pub(super) async fn response(&mut self, id: u64) -> Result<Value, AcpError> {
        loop {
            let line = match self.incoming.recv().await {
                None => return Err(AcpError::Closed),
                Some(Err(error)) => return Err(AcpError::Invalid(error.to_string())),
                Some(Ok(line)) => line,
            };
            // A line that is not a message, or is nested too deeply, is like other output of the program.
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
            match (message.get("method").and_then(Value::as_str), message.get("id")) {
                (Some("session/update"), None) => lock(&self.session).add_update(&message["params"]),
                // Other notifications are not needed.
                (Some(_), None) => {}
                (Some(method), Some(request_id)) => {
                    let answer = answer(method, &message["params"], request_id);
                    self.send(answer)?;
                }
                (None, Some(response_id)) if response_id.as_u64() == Some(id) => {
                    return match message.get("error").filter(|error| !error.is_null()) {
                        Some(error) => Err(AcpError::Reported(describe_error(error))),
                        None => Ok(message["result"].take()),
                    };
                }
                // A response to a request that was given up.
                (None, _) => {}
            }
        }
    }

    fn send(&self, message: Value) -> Result<(), AcpError> {
        self.outgoing.send(message.to_string()).map_err(|_| AcpError::Closed)
    }
}

/// Returns the answer to a request of the agent.
fn answer(method: &str, params: &Value, id: &Value) -> Value {
    match method {
        "session/request_permission" => {
            json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": allow(params)}})
        }
        _ => {
            let message = "this client offers no files and no terminals";
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": METHOD_NOT_FOUND, "message": message}})
        }
    }
}

/// Chooses the option that allows what the agent asks for, once if possible.
fn allow(params: &Value) -> Value {
    let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let option = ["allow_once", "allow_always"]
        .iter()
        .find_map(|kind| options.iter().find(|option| option["kind"] == **kind));
    match option {
        Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
        None => json!({"outcome": "cancelled"}),
    }
}

fn describe_error(error: &Value) -> String {
    let data = match &error["data"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        data => data.to_string(),
    };
    let message = error["message"].as_str().unwrap_or_default();
    let parts = [message, &data].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    shorten(&parts.join(": "), 1_000)
}

/// What is known of the session.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    /// The id, if the session was created.
    pub(super) id: Option<String>,
    transcript: TranscriptBuilder,
    /// The message that the agent is writing.
    message: String,
    last_message: String,
}

pub(super) fn lock(session: &Mutex<SessionState>) -> std::sync::MutexGuard<'_, SessionState> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the last message of the agent and the transcript.
pub(super) fn take_transcript(session: &Mutex<SessionState>) -> (String, Vec<TranscriptEntry>) {
    let mut session = std::mem::take(&mut *lock(session));
    session.end_message();
    (session.last_message, session.transcript.finish())
}

impl SessionState {
    fn add_update(&mut self, params: &Value) {
        if self.id.is_some() && params["sessionId"].as_str() != self.id.as_deref() {
            return;
        }
        let update = &params["update"];
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => {
                if let Some(text) = update.pointer("/content/text").and_then(Value::as_str)
                    && self.message.len() <= REPLY_MAX
                {
                    self.message.push_str(text);
                }
            }
            Some("tool_call") => {
                self.end_message();
                let name = update["name"].as_str().or_else(|| update["title"].as_str()).unwrap_or_default();
                let id = update["toolCallId"].as_str().unwrap_or_default();
                let arguments = json_text(&update["rawInput"]).unwrap_or_default();
                if self.transcript.has_call(id) {
                    self.transcript.update_call(id, Some(name), Some(&arguments));
                } else {
                    self.transcript.add_call(id, name, &arguments);
                }
                self.set_result(id, update);
            }
            Some("tool_call_update") => {
                let id = update["toolCallId"].as_str().unwrap_or_default();
                let arguments = json_text(&update["rawInput"]);
                self.transcript.update_call(id, update["name"].as_str(), arguments.as_deref());
                self.set_result(id, update);
            }
            _ => {}
        }
    }

    fn set_result(&mut self, id: &str, update: &Value) {
        let content = update["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<&str> = content.iter().filter_map(text_of_content).collect();
        let failed = update["status"] == "failed";
        match (texts.is_empty(), json_text(&update["rawOutput"])) {
            (false, _) => self.transcript.set_result(id, &texts.join("\n"), failed),
            (true, Some(output)) => self.transcript.set_result(id, &output, failed),
            (true, None) if failed => self.transcript.set_result(id, "", true),
            (true, None) => {}
        }
    }

    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        if !message.trim().is_empty() {
            self.transcript.add_text(&message);
            self.last_message = shorten(&message, REPLY_MAX);
        }
    }
}

fn json_text(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

fn text_of_content(content: &Value) -> Option<&str> {
    match content["type"].as_str()? {
        "content" => content.pointer("/content/text")?.as_str(),
        "diff" => content["newText"].as_str(),
        _ => None,
    }
}
