//! Living with other agents and their tools: their lock, their folders, links into them.
//!
//! | module | subject |
//! |---|---|
//! | [`skills_lock`] | `skills-lock.json`, which many projects already have |
//! | [`link`] | one installed skill in the folders of several agents |
//! | [`import`] | skills that are in the folders of other agents already |

pub mod import;
pub mod link;
pub mod skills_lock;
