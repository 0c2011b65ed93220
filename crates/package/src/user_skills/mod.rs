//! Creates, edits and deletes the user's skills from a user interface.
//!
//! | module | subject |
//! |---|---|
//! | `create` | a new skill from an id, a name, a description and instructions |
//! | `read` | reads a file of a skill, even if the skill is not available |
//! | `write` | writes a file of a skill, unless another program changed it |
//! | `rename` | renames and deletes files of a skill, unless another program changed them |
//! | `accept` | accepts edits of installed skills |
//! | `delete` | deletes a skill and its lock entry |
//!
//! [`InstallTarget::user_skills`](crate::InstallTarget::user_skills) returns where new ones are created,
//! [`InstallTarget::for_editing`](crate::InstallTarget::for_editing) whether a skill may be changed, and
//! [`plan_import`](crate::plan_import) imports uploads.
//!
//! Invariants: only the user's skills change; nothing is written outside of a skill's directory, and no symlink is
//! followed; an invalid manifest is not written; a killed process leaves either the old or the new state.

mod accept;
mod create;
mod delete;
mod error;
mod read;
mod rename;
mod write;

pub use create::{CreatedSkill, NewSkill, create_skill};
pub use delete::delete_skill;
pub use error::{FieldError, UserSkillError};
pub use read::read_skill_file;
pub use rename::{delete_skill_file, rename_skill_file};
pub use write::{ExpectedContent, WrittenFile, write_skill_file};
