//! From a message to the skills that answer it, and why.
//!
//! Strongest first: a skill that is called by name, a phrase that its author named, a keyword, verb or pattern, and last
//! the words that message and skill share. Nothing is read from disk before it is needed: triggers are known from the
//! frontmatter, bodies are read only where triggers leave room.
//!
//! | module | subject |
//! |---|---|
//! | [`mention`] | `/name`, `$name`, "use the name skill" |
//! | [`eval`] | how good a ranking is |

mod ask;
mod complete;
pub mod eval;
mod lexical;
pub mod mention;
mod pattern;
mod prose;
mod rank;
mod router;
mod text;
mod triggers;
mod words;

pub use ask::asks_for_list;
pub use complete::{COMPLETIONS_MAX, Completion, complete, complete_called};
pub use lexical::{BODY_MAX, Lexical, Ranked, Texts};
pub use pattern::PATTERN_MAX;
pub use rank::{Match, MatchKind, Options, Routing, Tier};
pub use router::Router;
pub use text::{QUERY_MAX, fold};
pub use triggers::{Hit, KEYWORD_MAX, TRIGGERS_MAX, TriggerIndex, TriggerKind};
