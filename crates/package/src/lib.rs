//! Installs skills from any source, manages them, and verifies that they are unchanged.
//!
//! ```text
//! SOURCE ─ source ──► Source         git · directory · archive · index of a site
//!        ─ acquire ─► SourceTree     its files; nothing is written yet
//!        ─ stage ───► PreparedSkill  written next to the target, parsed, audited, hashed
//!        ─ commit ──► installed      one rename; the lock file records the skill and its source
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`switch`] | enables and disables skills and sources |
//! | [`plugins`] | the skills that `skills.plugins` in `~/.agent/config.yaml` lists (preset `harness`) |
//! | [`agent_plugins`] | packages of skills and other parts: Agent Plugins and marketplaces |
//! | [`settings`] | changes the user's settings from a user interface |
//! | [`agents`] | other agents: their skill directories, and whether they are in use |
//! | [`agents_md`] | lists skills in `AGENTS.md` |
//! | [`sync`] | brings the directories of other agents in line with the lock file |
//! | [`connect`] | registers Prowess in the configuration of MCP clients |
//! | [`interchange`] | interoperability with other agents and installers |
//! | [`mod@find`] | searches the skill indexes of sites |
//! | [`user_skills`] | creates, edits and deletes the user's skills from a user interface |
//! | [`limits`] | the limits for data from untrusted sources |
//! | [`source`] | the sources that `install` accepts |
//! | [`archive`] | `.zip`, `.skill` and `.tar.gz`, read strictly into memory |
//! | [`well_known`] | sites that publish an index of skills |
//! | [`pack`] | packs skills into archives, and publishes them for a web server |
//!
//! Invariants: an external name becomes a path only as an [`InnerPath`]; everything that is read has a limit in
//! [`limits`]; an incomplete skill is never visible at its target.

mod acquire;
pub mod agent_plugins;
pub mod agents;
pub mod agents_md;
mod client_path;
pub mod connect;
mod containment;
mod error;
mod fetch;
pub mod find;
mod install;
mod install_target;
pub mod interchange;
mod io_error;
pub mod pack;
pub mod plugins;
pub mod settings;
pub mod source;
pub mod switch;
pub mod sync;
mod task;
pub mod user_skills;

pub use acquire::{Candidate, FileUrls, find_candidates};
pub use error::PackageError;
pub use fetch::http::{HttpError, Timeouts};
pub use fetch::{DirTree, git, well_known};
pub use install::{
    CommittedPlan, IdentifiedBy, ImportRequest, InstallChecks, InstallConflict, InstallPlan, InstallRequest,
    OnConflict, OnInvalid, PlanAction, PlanItem, PlannedPlugin, PreparedSkill, Prompter, RestoreFilter,
    SkillChanges, SkillChoice, Upload, plan_import, plan_install, plan_remove, plan_restore, plan_update,
};
pub use install_target::{
    InstallScope, InstallTarget, LinkChange, LinkEffect, NotEditableReason, VerificationStatus,
    VerifiedSkill, accept_modified, format_iso_time, verify_skills,
};
pub use prowess_archive::{
    self as archive, InnerPath, InnerPathError, MemoryFile, MemoryTree, SourceEntry, SourceEntryKind,
    SourceReadError, SourceTree, limits,
};
pub use prowess_audit as audit;
pub use task::{Cancelled, Task};
