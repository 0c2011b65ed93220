//! Skills as tools that any model can call.
//!
//! A [`Toolbox`] offers the tools of a policy's preset, with JSON Schemas, and answers each call with an
//! [`Envelope`]. A [`Session`] is one conversation, and records which skills it has loaded.
//!
//! ```
//! use std::sync::Arc;
//! use prowess::{Policy, Registry};
//! use prowess_tools::{Session, Toolbox, system_prompt};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let toolbox = Toolbox::new(Arc::new(Registry::open(Policy::default())?));
//! let mut session = Session::default();
//! let system = system_prompt(&toolbox, &session, Some("please review this"));
//! let tools = toolbox.definitions();              // pass these to the model with the system prompt
//! assert!(system.contains("code-review") && tools.iter().any(|tool| tool.name == "skills.activate"));
//! // When the model calls one of them:
//! let response = toolbox.call(&mut session, "skills.activate", json!({"name": "code-review"}));
//! assert!(response.text.contains("<skill_content name=\"code-review\">"));
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `toolsets`, the tools of skills are available, too, while their skill is active in the
//! session.
//!
//! Applications with their own file tool can use the catalog with locations instead:
//!
//! ```
//! use prowess::catalog::{CatalogRequest, render_catalog};
//! use prowess::policy::LocationVisibility;
//! use prowess::{Policy, Registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::default();
//! let registry = Registry::open(policy.clone())?;
//! let request = CatalogRequest { location: LocationVisibility::Shown, ..CatalogRequest::from_policy(&policy) };
//! let system = render_catalog(&registry.snapshot(), &policy, &request).text;
//! assert!(system.contains("<location>"));        // the model reads that file with the application's tool
//! # Ok(())
//! # }
//! ```

mod catalog_cache;
mod consent;
mod definition;
mod dispatch;
mod envelope;
mod inline_commands;
mod inputs;
mod invoke;
pub mod json;
mod params;
mod prompt;
mod remote_guard;
mod run;
mod session;
pub mod tokens;
mod toolbox;
mod usage_recorder;
mod workspace;
mod workspace_tools;

pub use consent::{ConsentCallback, ConsentDecisions, DecisionCallback};
pub use definition::{BuiltinTool, ToolDefinition};
pub use envelope::{CallContext, CallStats, CallStatus, Envelope, ToolError};
pub use prompt::{PromptRequest, RenderedPrompt, render_prompt, system_prompt};
pub use run::ScriptRunner;
pub use session::{CallOptions, ConversationInfo, OutputCallback, Session};
pub use toolbox::Toolbox;
pub use workspace::{
    ConversationWorkspace, MemoryWorkspace, WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles,
    WorkspaceWrite,
};
