//! A skill's instructions, loaded: a name and arguments to the text that a model gets.
//!
//! `SKILL.md` is read anew at each activation, through the skill's contained folder, and judged anew: what
//! was found some time ago may have been deleted, emptied or replaced since. The bytes that are hashed are
//! the bytes that are used, and no copy of them is made but the one that is handed out.
//!
//! What a model sees has no terminal escapes and no control characters. Hidden Unicode stays, because a text
//! in some scripts needs it; [`Activated::diagnostics`] warns about it.

pub mod arguments;
mod error;
mod frontmatter;
mod once;
mod pieces;
mod render;
pub mod tiers;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use prowess_format::{Code, Diagnostic, parse};
use serde_json::{Map, Value};

pub use arguments::{Arguments, ArgumentsError};
pub use error::ActivateError;
pub use once::WarnedOnce;
pub use tiers::TierApi;

use crate::policy::{Activation, Policy};
use crate::registry::Skill;
use crate::resource::{Closed, Truncation, listing, place, text};

/// The most files that a model is told of.
const RESOURCES_MAX: usize = 100;

/// A skill that was activated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Activated {
    /// The skill.
    pub name: String,
    /// Its folder.
    pub base_dir: PathBuf,
    /// The frontmatter, every key.
    pub frontmatter: Map<String, Value>,
    /// The text of `SKILL.md`, as far as it is shown, without terminal escapes.
    pub source: String,
    /// Where in it the instructions stand.
    pub body: Range<usize>,
    /// The other files, sorted; not more than a hundred.
    pub resources: Vec<String>,
    /// How many files there are, where not all are listed.
    pub resources_cut: Option<ResourcesCut>,
    /// How much of `SKILL.md` is shown, where it is not all.
    pub truncated: Option<Truncation>,
    /// The digest of the bytes of `SKILL.md`, all of them.
    pub digest: String,
    /// `allowed-tools`; `None` where the skill does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// What was given with the name.
    pub args: Arguments,
    /// What there is to say about the file as it is now. None of it is an error.
    pub diagnostics: Vec<Diagnostic>,
    form: Activation,
}

/// How many files were left out of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourcesCut {
    /// So many are listed.
    pub shown: usize,
    /// Of so many.
    pub total: usize,
    /// Whether there are even more than that: nobody counted on.
    pub or_more: bool,
}

impl fmt::Display for ResourcesCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_more = if self.or_more { "at least " } else { "" };
        write!(f, "[{} of {or_more}{} files listed]", self.shown, self.total)
    }
}

/// Loads a skill's instructions in the form of the policy.
///
/// ```
/// use prowess::{Policy, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("hello-world").ok_or("it is bundled")?;
///
/// let activated = prowess::activate::activate(skill, Some("Ada"), registry.policy())?;
/// assert!(activated.content().starts_with("<skill_content name=\"hello-world\">\n"));
/// assert!(activated.content().ends_with("</skill_content>"));
/// assert_eq!(activated.frontmatter["name"], "hello-world");
/// # Ok(())
/// # }
/// ```
pub fn activate(skill: &Skill, args: Option<&str>, policy: &Policy) -> Result<Activated, ActivateError> {
    activate_as(skill, args, policy, policy.activation)
}

fn activate_as(
    skill: &Skill,
    args: Option<&str>,
    policy: &Policy,
    form: Activation,
) -> Result<Activated, ActivateError> {
    if let Some(closed) = Closed::of(skill) {
        // What could not be read when it was found is asked for again: the system's own word is the code.
        let unreadable = skill.diagnostics().iter().any(|said| said.code == Code::Unreadable);
        let again = if unreadable { place::read_skill_md(skill).err() } else { None };
        return Err(again.map_or_else(|| closed.into(), |error| ActivateError::read(skill, error)));
    }
    let args = Arguments::parse(args)?;
    let mut bytes = place::read_skill_md(skill).map_err(|error| ActivateError::read(skill, error))?;
    let parsed = parse(&bytes, Some(&skill.id()), &policy.manifest);
    let Some(document) = parsed.document else {
        return Err(ActivateError::invalid(skill, &parsed.diagnostics));
    };
    let digest = crate::tree_hash::digest(&bytes);
    let yaml = document.frontmatter.start as usize..document.frontmatter.end as usize;
    let yaml = std::str::from_utf8(bytes.get(yaml).unwrap_or_default()).unwrap_or_default();
    let frontmatter = frontmatter::to_json(yaml);
    let truncated = text::cut(&mut bytes, policy.limits.skill_md_bytes);
    let (source, body) = decode(bytes, document.body as usize);
    let (resources, resources_cut) = resources(skill);
    let tools = document.manifest.allowed_tools();
    Ok(Activated {
        name: skill.name().into_owned(),
        base_dir: skill.folder(),
        frontmatter,
        body: body..source.len(),
        source,
        resources,
        resources_cut,
        truncated,
        digest,
        allowed_tools: tools.map(|tools| tools.iter().map(|tool| String::from(&**tool)).collect()),
        args,
        diagnostics: parsed.diagnostics,
        form,
    })
}

/// The bytes as text without escapes, and where the body begins in it. Only text that is not UTF-8 is copied.
fn decode(bytes: Vec<u8>, body: usize) -> (String, usize) {
    let mut body = body.min(bytes.len());
    let mut source = String::from_utf8(bytes).unwrap_or_else(|error| {
        let (head, rest) = error.as_bytes().split_at(body);
        let mut text = String::from_utf8_lossy(head).into_owned();
        body = text.len();
        text.push_str(&String::from_utf8_lossy(rest));
        text
    });
    body -= text::strip_escapes(&mut source, body);
    (source, body)
}

fn resources(skill: &Skill) -> (Vec<String>, Option<ResourcesCut>) {
    // The instructions are there; that the folder cannot be listed must not take them away.
    let contents = listing(skill, None).unwrap_or_default();
    let own = skill.file.as_str();
    let mut files: Vec<String> =
        contents.files.into_iter().map(|file| file.path).filter(|path| path != own).collect();
    let total = files.len();
    files.truncate(RESOURCES_MAX);
    let cut = ResourcesCut { shown: files.len(), total, or_more: contents.cut };
    (files, (cut.or_more || cut.shown < total).then_some(cut))
}

impl Activated {
    /// The instructions as they stand in the file.
    pub fn body(&self) -> &str {
        self.source.get(self.body.clone()).unwrap_or_default()
    }

    /// The text for the model, in the form of the policy.
    ///
    /// It is measured first and then written: the result is the only thing that is allocated.
    pub fn content(&self) -> String {
        let mut length = render::Length(0);
        // Neither a count nor a string refuses to be written to.
        let _ = self.write_content(&mut length);
        let mut content = String::with_capacity(length.0);
        let _ = self.write_content(&mut content);
        content
    }

    /// Writes the text for the model.
    pub fn write_content(&self, out: &mut impl fmt::Write) -> fmt::Result {
        render::write(self, out)
    }
}
