//! Calls of tools in a test environment.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;

use prowess::Preset;
pub use prowess_testing::TestEnv;
use prowess_tools::{Envelope, Session, Toolbox};
use serde_json::{Value, json};

pub trait CallTools {
    /// Executes one call in a new conversation.
    fn call(&self, tool: &str, params: Value) -> Envelope;

    /// Returns `true` if a text contains a local path.
    fn is_named_in(&self, text: &str) -> bool;
}

impl CallTools for TestEnv {
    fn call(&self, tool: &str, params: Value) -> Envelope {
        checked(self.toolbox().call(&mut Session::default(), tool, params))
    }

    fn is_named_in(&self, text: &str) -> bool {
        self.redact(text) != text
    }
}

/// Creates an environment with one skill `a` with this body, and its toolbox.
pub fn one_skill(preset: Preset, body: &str) -> (TestEnv, Arc<Toolbox>) {
    let env = TestEnv::new(preset);
    env.skill("a", body);
    let toolbox = env.toolbox();
    (env, toolbox)
}

/// Returns a conversation in which the user requested these skills.
pub fn requesting(skills: &[&str]) -> Session {
    let mut session = Session::default();
    skills.iter().for_each(|name| session.mark_invoked(name));
    session
}

/// Returns the names of the tools that skills provide.
pub fn skill_tools(toolbox: &Toolbox, session: &Session) -> Vec<String> {
    let names = toolbox.definitions_in(session).into_iter().map(|tool| tool.name);
    names.filter(|name| !name.starts_with("skills.")).collect()
}

/// Checks that an envelope has exactly the documented fields.
pub fn checked(envelope: Envelope) -> Envelope {
    let value = serde_json::to_value(&envelope).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    match value["status"].as_str().unwrap() {
        "error" => {
            assert_eq!(keys, ["context", "data", "error", "stats", "status", "text"]);
            let fields: Vec<_> = value["error"].as_object().unwrap().keys().collect();
            assert_eq!(fields, ["code", "message"]);
            assert_eq!(value["data"], json!({}));
            let code = value["error"]["code"].as_str().unwrap();
            assert!(prowess::ErrorCode::ALL.iter().any(|known| known.as_str() == code));
            assert_eq!(value["error"]["message"], value["text"]);
            assert!(!envelope.text.contains('\n') && !envelope.text.is_empty());
        }
        "partial" => {
            assert_eq!(keys, ["context", "data", "stats", "status", "text"]);
            assert!(value["data"]["truncated"] == true || value["data"]["failed_items"].is_array());
        }
        status => {
            assert_eq!((status, keys), ("success", vec!["context", "data", "stats", "status", "text"]));
        }
    }
    assert!(value["data"].is_object());
    assert!(value["stats"]["time_ms"].is_u64());
    assert!(value["context"]["cwd"].is_string());
    envelope
}

/// Returns the code and message of a failed call.
pub fn error(envelope: &Envelope) -> (&'static str, &str) {
    let error = envelope.error.as_ref().unwrap();
    (error.code.as_str(), &error.message)
}
