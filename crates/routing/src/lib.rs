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
//! | `words`, `stem`, `stop`, `abroad`, `aliases` | what a word is |
//! | `query`, `index`, `kept` | what is looked for, where, and what of it stays on disk |
//! | `lenient`, `near`, `vocabulary`, `starred`, `phrase` | typing errors, beginnings of words, and what stands in quotation marks |
//! | `look`, `fits`, `why` | the second look at the best, whether they fit, and why |
//! | [`semantic`] | closeness in meaning, where somebody configured it |
//! | [`lint()`] | which skills are hard to tell apart |

mod abroad;
mod aliases;
mod ask;
mod complete;
pub mod eval;
mod fits;
mod index;
mod kept;
mod lenient;
mod lexical;
mod lint;
mod look;
pub mod mention;
mod near;
mod pattern;
mod phrase;
mod prose;
mod query;
mod rank;
mod router;
pub mod semantic;
mod starred;
mod stem;
mod stop;
mod text;
mod texts;
mod triggers;
mod vocabulary;
mod why;
mod words;

pub use ask::asks_for_list;
pub use complete::{COMPLETIONS_MAX, Completion, complete, complete_called};
pub use fits::FITS;
pub use lenient::Beyond;
pub use lexical::{Lexical, Ranked};
pub use lint::{Advice, lint};
pub use look::{INGREDIENTS, Weights};
pub use pattern::PATTERN_MAX;
pub use rank::{Match, MatchKind, Options, Routing, Tier};
pub use router::Router;
pub use text::{BODY_MAX, QUERY_MAX, Texts, fold};
pub use triggers::{Hit, KEYWORD_MAX, TRIGGERS_MAX, TriggerIndex, TriggerKind};
