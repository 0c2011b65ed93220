//! `SKILL.md` bytes in, a [`Document`] and its [`Diagnostic`]s out.
//!
//! This crate is pure: no files, no clock, no async. It never fails as a whole: whatever the bytes are, the answer is
//! a [`Parsed`] that says what was understood and, with code, line and column, what was not.
//!
//! ```
//! use prowess_format::{parse, Rules};
//!
//! let source = b"---\nname: pdf\ndescription: Fill forms: fast\n---\n# PDF\n";
//! let parsed = parse(source, Some("pdf"), &Rules::standard());
//!
//! let document = parsed.document.expect("it loads, because the colon was quoted for it");
//! assert_eq!(document.manifest.description(), "Fill forms: fast");
//! assert_eq!(parsed.diagnostics[0].code.as_str(), "SK022");
//! assert_eq!(parsed.diagnostics[0].at.map(|at| at.line), Some(3));
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`document`] | the way from bytes to a [`Document`] |
//! | [`fence`] | where the frontmatter begins and ends |
//! | [`yaml`] | YAML text to a tree of nodes that know their place |
//! | [`repair`] | quoting what people forget to quote |
//! | [`manifest`] | the tree to typed fields, judged by [`Rules`] |
//! | [`name`] | what a skill may be called |
//! | [`diagnostic`] | codes, severities, places |
//! | [`error_code`] | the kinds of failures, as every interface reports them |
//! | [`hidden`] | characters that nobody sees |

mod capabilities;
pub mod diagnostic;
pub mod document;
pub mod error_code;
pub mod fence;
pub mod hidden;
pub mod manifest;
pub mod name;
mod position;
pub mod repair;
mod rules;
pub mod suggest;
pub mod yaml;

pub use capabilities::Capabilities;
pub use diagnostic::{Code, Diagnostic, Fix, Place, Severity};
pub use document::{Document, Head, Parsed, parse, parse_head};
pub use error_code::ErrorCode;
pub use manifest::{Manifest, Triggers};
pub use name::{NameBreak, NameError, SkillName};
pub use position::{LineMap, Span};
pub use rules::{KnownKeys, Level, NameRule, Preamble, Repair, Rules};
pub use yaml::Value;
