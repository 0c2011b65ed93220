//! The JSON output for programs, shared by the command line and the server.
//!
//! This output is stable: fields may be added, but not changed.

mod info;
mod list;
mod provenance;
mod responses;

pub use info::{SkillDetails, manifest_fields, remote_json};
pub use list::{AgentsByDir, DiagnosticJson, ListFilter, ListJson, SkillJson, listed_skills};
pub use provenance::Provenance;
pub use responses::{files_json, prompt_json, resource_json, routing_json, settings_json};
