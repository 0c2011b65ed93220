//! Parses `SKILL.md` bytes into a [`Document`] and its [`Diagnostic`]s.
//!
//! This crate is pure: no files, no clock, no async. Parsing never fails as a whole: for any bytes it returns a
//! [`ParseOutcome`] with what was understood, and a diagnostic with code, line and column for every problem.
//!
//! ```
//! use prowess_format::{parse, Rules};
//!
//! let source = b"---\nname: pdf\ndescription: Fill forms: fast\n---\n# PDF\n";
//! let parsed = parse(source, Some("pdf"), &Rules::standard());
//!
//! let document = parsed.document.expect("the unquoted colon was repaired");
//! assert_eq!(document.manifest.description(), "Fill forms: fast");
//! assert_eq!(parsed.diagnostics[0].code.as_str(), "SK022");
//! assert_eq!(parsed.diagnostics[0].location.map(|location| location.line), Some(3));
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`document`] | parsing bytes into a [`Document`] |
//! | [`fence`] | finding the frontmatter |
//! | [`yaml`] | parsing YAML into a tree of nodes with spans |
//! | [`repair`] | quoting values that need quotes |
//! | [`fix`] | applying the edits that diagnostics suggest |
//! | [`manifest`] | reading typed fields from the tree, checked against [`Rules`] |
//! | [`name`] | skill names |
//! | [`dialects`] | the frontmatter keys and rules of clients |
//! | [`schema`] | a JSON Schema of the frontmatter |
//! | [`diagnostic`] | codes, severities, locations |
//! | [`error_code`] | the error codes that every interface reports |
//! | [`hidden`] | invisible characters |
//! | [`everyday`] | everyday words, which are poor keywords |
//! | [`suggest`] | "did you mean" suggestions |

mod capabilities;
pub mod diagnostic;
pub mod dialects;
pub mod document;
pub mod error_code;
pub mod everyday;
pub mod fence;
pub mod fix;
pub mod hidden;
pub mod manifest;
pub mod name;
mod named_enum;
mod position;
pub mod repair;
mod rules;
pub mod schema;
pub mod suggest;
pub mod yaml;

pub use capabilities::Capabilities;
pub use diagnostic::{Code, Diagnostic, Fix, Location, Severity};
pub use document::{Document, HeadOutcome, ParseOutcome, parse, parse_command, parse_head};
pub use error_code::ErrorCode;
pub use fix::{FixedSource, apply_fixes};
pub use manifest::{Manifest, OpenClawRequires, Triggers};
pub use name::{NameError, NameViolation, SkillName};
pub use position::{LineMap, Span};
pub use rules::{KnownKeys, NameRule, PreambleLevel, Repair, RuleLevel, Rules};
pub use yaml::Value;
