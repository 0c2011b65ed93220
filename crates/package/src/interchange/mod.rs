//! Living with other agents and their tools: their lock, their folders, links into them.
//!
//! | module | subject |
//! |---|---|
//! | [`skills_lock`] | `skills-lock.json`, which many projects already have |
//! | [`link`] | one installed skill in the folders of several agents |
//! | [`copies`] | copies instead of links, kept in step |
//! | [`import`] | skills that are in the folders of other agents already |

pub mod copies;
pub mod import;
pub mod link;
pub mod skills_lock;
