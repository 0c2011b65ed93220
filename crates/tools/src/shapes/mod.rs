//! The JSON that programs read, the same on every face: the command line prints it, the server sends it.
//!
//! What stands here is promised to scripts: it may be added to, not changed.

mod answers;
mod info;
mod list;
mod provenance;

pub use answers::{files, prompted, read, routed, settings};
pub use info::{Facts, fields, served};
pub use list::{DiagnosticJson, ListJson, SkillJson, listed};
pub use provenance::Provenance;
