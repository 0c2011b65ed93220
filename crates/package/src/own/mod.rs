//! The user's own skills: made, changed, sent and deleted by a program that people look at.
//!
//! | module | subject |
//! |---|---|
//! | `make` | a new skill from an id, a name, a description and instructions |
//! | `read` | one file of a skill, whatever became of the skill |
//! | `write` | one file of a skill, unless somebody else changed it meanwhile |
//! | `accepted` | what was installed and is edited here is accepted as it becomes |
//! | `delete` | a skill and what the lock says of it |
//!
//! [`Place::own`](crate::Place::own) says where new ones go, [`Place::of_own`](crate::Place::of_own) which ones may be
//! changed and why not, and [`plan_import`](crate::plan_import) takes what is sent.
//!
//! What must always hold: only the user's own skills change; nothing is written outside a skill's folder, and no link is
//! followed; a manifest that would not load is not written; and whoever is killed leaves the old state or the new one.

mod accepted;
mod delete;
mod error;
mod make;
mod read;
mod write;

pub use delete::delete;
pub use error::{FieldError, OwnError};
pub use make::{Made, NewSkill, make};
pub use read::read;
pub use write::{Expected, Written, write};
