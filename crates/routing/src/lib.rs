//! Finds the skills that match a message, and the reasons.
//!
//! From strongest to weakest: a skill mentioned by name, a phrase named by its author, a keyword, verb or
//! pattern, and last the words that message and skill share. Files are read only when needed: triggers are
//! known from the frontmatter, and bodies are read only if triggers leave room for more matches.
//!
//! | module | subject |
//! |---|---|
//! | [`mention`] | `/name`, `$name`, "use the name skill" |
//! | [`eval`] | measuring the quality of a ranking |
//! | `words`, `stem`, `stop_words`, `translations`, `aliases` | words and their variants |
//! | `frequency` | how frequent words are in general |
//! | `query`, `index`, `index_cache` | the query, the index, and its cache on disk |
//! | `typos`, `edit_distance`, `vocabulary`, `prefixes`, `phrase` | typing errors, prefixes and quoted phrases |
//! | `rerank`, `confidence`, `reasons` | reranking the best candidates, their confidence, and the reasons |
//! | [`semantic`] | semantic similarity, if configured |
//! | [`lint()`], `missing_words` | skills that are hard to distinguish, and words that would help |

mod aliases;
mod complete;
mod confidence;
mod edit_distance;
pub mod eval;
mod frequency;
mod index;
mod index_cache;
mod lexical;
mod lint;
mod list_request;
pub mod mention;
mod missing_words;
mod pattern;
mod phrase;
mod prefixes;
mod prose;
mod query;
mod rank;
mod reasons;
mod rerank;
mod router;
pub mod semantic;
mod skill_texts;
mod stem;
mod stop_words;
mod text;
mod translations;
mod triggers;
mod typos;
mod vocabulary;
mod words;

pub use complete::{COMPLETIONS_MAX, Completion, complete, complete_named};
pub use confidence::{CONFIDENCE_MIN, EVIDENCE, EVIDENCE_BIAS, EVIDENCE_NAMES, EVIDENCE_WEIGHTS, Evidence};
pub use lexical::{LexicalIndex, RankedSkill};
pub use lint::{CONFUSABLE_SHARE, RoutingAdvice, lint};
pub use list_request::asks_for_list;
pub use missing_words::missing_words;
pub use pattern::PATTERN_MAX;
pub use rank::{MatchKind, RouteOptions, Routing, SkillMatch, Tier};
pub use rerank::{FEATURES, FeatureWeights};
pub use router::Router;
pub use text::{BODY_MAX, QUERY_MAX, SkillTexts, fold};
pub use triggers::{KEYWORD_MAX, TRIGGERS_MAX, TriggerHit, TriggerIndex, TriggerKind};
pub use typos::QueryExpansion;
