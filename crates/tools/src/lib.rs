//! Skills as tools that any model can call.
//!
//! A [`Toolbox`] offers the tools of a policy's preset, with JSON Schemas, and answers their calls, each in one
//! [`Envelope`]. A [`Session`] is one conversation: it remembers what was loaded.
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
//! let system = system_prompt(&toolbox, &session, Some("please greet me"));
//! let tools = toolbox.definitions();              // goes to the model with the system prompt
//! assert!(system.contains("hello-world") && tools.iter().any(|tool| tool.name == "skills.activate"));
//! // …and when the model calls one of them:
//! let answer = toolbox.call(&mut session, "skills.activate", json!({"name": "hello-world"}));
//! assert!(answer.text.contains("<skill_content name=\"hello-world\">"));
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `toolsets`, the tools that skills bring are there, too, while their skill is active in the session.
//!
//! Embedders who bring their own file tool take the catalog with locations instead:
//!
//! ```
//! use prowess::disclose::{Request, catalog};
//! use prowess::policy::Location;
//! use prowess::{Policy, Registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::default();
//! let registry = Registry::open(policy.clone())?;
//! let request = Request { location: Location::Shown, ..Request::of(&policy) };
//! let system = catalog(&registry.snapshot(), &policy, &request).text;
//! assert!(system.contains("<location>"));        // the model reads that file with the embedder's own tool
//! # Ok(())
//! # }
//! ```

mod answers;
mod catalogs;
mod definition;
mod envelope;
mod invoke;
mod params;
mod run;
mod served;
mod session;
pub mod shapes;
mod system;
pub mod tokens;
mod toolbox;
mod uses;

pub use definition::{Tool, ToolDefinition, key};
pub use envelope::{Context, Envelope, Outcome, Stats, ToolError};
pub use run::Runner;
pub use session::{About, OnOutput, Session, Waiting};
pub use system::{Prompt, PromptRequest, prompt, system_prompt};
pub use toolbox::Toolbox;
