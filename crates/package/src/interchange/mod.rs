//! Interoperability with other agents and installers: lock files, directories, symlinks.
//!
//! | module | subject |
//! |---|---|
//! | [`skills_lock`] | `skills-lock.json`, which many projects already have |
//! | [`link`] | makes an installed skill available to other agents |
//! | [`copies`] | copies instead of symlinks |
//! | [`agent_skills`] | finds skills in the directories of other agents |

pub mod agent_skills;
pub mod copies;
pub mod link;
pub mod skills_lock;
