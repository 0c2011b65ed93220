//! A skill's instructions, loaded: a name and arguments to the text that a model gets.
//!
//! `SKILL.md` is read anew at each activation, through the skill's contained folder, and judged anew: what
//! was found some time ago may have been deleted, emptied or replaced since. Only where the file system
//! vouches that the bytes are those which were judged then, the judgement stands. The bytes that are hashed
//! are the bytes that are used, and no copy of them is made but the one that is handed out. What not
//! everybody asks for (digest, frontmatter as JSON, diagnostics, files) is worked out for those who do.
//!
//! What a model sees has no terminal escapes and no control characters. Hidden Unicode stays, because a text
//! in some scripts needs it; [`Activated::diagnostics`] warns about it.

pub mod arguments;
mod error;
mod frontmatter;
mod late;
mod once;
mod pieces;
mod render;
pub mod tiers;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use prowess_format::fence::{self, Extent, Split};
use prowess_format::{Code, Diagnostic, Head, Manifest, Parsed, parse_head};
use serde_json::{Map, Value};

pub use arguments::{Arguments, ArgumentsError};
pub use error::ActivateError;
pub use frontmatter::verbatim_frontmatter;
pub use once::WarnedOnce;
pub use tiers::TierApi;

use crate::policy::{Activation, Policy};
use crate::resource::place::{self, SkillMd};
use crate::resource::{Truncation, text};
use crate::skill::{Closed, Found, Skill};
use crate::supply::Supplied;
use late::Late;

/// A skill that was activated.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Activated {
    /// The skill.
    pub name: String,
    /// Its folder.
    pub base_dir: PathBuf,
    /// How much of `SKILL.md` is shown, where it is not all.
    pub truncated: Option<Truncation>,
    /// `allowed-tools`; `None` where the skill does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// What was given with the name.
    pub args: Arguments,
    /// The server it came from; `None` for a skill of this machine.
    pub origin: Option<Origin>,
    source: String,
    body: Range<usize>,
    late: Late,
    form: Activation,
}

/// The server that a skill came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// What it is: `MCP server docs`.
    pub title: String,
    /// Where the skill's `SKILL.md` is there.
    pub uri: String,
    /// The set of files it was loaded with: what it reads later must be of this set.
    pub set: String,
}

impl Origin {
    fn of(supplied: &Supplied) -> Self {
        let offered = supplied.offered();
        Self { title: supplied.origin(), uri: offered.uri.clone(), set: offered.set() }
    }
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
/// assert_eq!(activated.frontmatter()["name"], "hello-world");
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
    let file = match skill.supplied() {
        Some(supplied) => SkillMd { bytes: skill.verify.fetch_skill_md(supplied)?, as_found: false },
        None => place::read_skill_md(skill).map_err(|error| ActivateError::read(skill, error))?,
    };
    skill.verify.admit(skill, skill.file.as_str(), &file.bytes)?;
    let parts = Parts::of(skill, &file, policy)?;
    let late = Late::new(&skill.found, &policy.manifest, parts.yaml);
    let (source, body, truncated) = shown(file.bytes, parts.body, policy.limits.skill_md_bytes, &late);
    Ok(Activated {
        name: skill.name().into_owned(),
        base_dir: skill.folder(),
        truncated,
        // A server that names tools asks for something; only the user can grant it.
        allowed_tools: parts.allowed_tools.filter(|_| may_name_tools(skill)),
        origin: skill.supplied().map(Origin::of),
        args,
        body: body..source.len(),
        source,
        late,
        form,
    })
}

/// What has to be known of a file before its text can be handed out.
struct Parts {
    yaml: Range<usize>,
    body: usize,
    allowed_tools: Option<Vec<String>>,
}

impl Parts {
    /// Bytes that are those which were found have been judged: only their fences are looked for again.
    fn of(skill: &Skill, file: &SkillMd, policy: &Policy) -> Result<Self, ActivateError> {
        if let (true, Some(manifest)) = (file.as_found, skill.manifest())
            && let Split::Found(fences) = fence::split(&file.bytes, Extent::Whole)
        {
            return Ok(Self { yaml: fences.yaml, body: fences.body, allowed_tools: tools(manifest) });
        }
        match parse_head(&file.bytes, Extent::Whole, Some(&skill.folder_name()), &policy.manifest) {
            Head::Done(Parsed { document: Some(document), .. }) => Ok(Self {
                yaml: document.frontmatter.start as usize..document.frontmatter.end as usize,
                body: document.body as usize,
                allowed_tools: tools(&document.manifest),
            }),
            Head::Done(Parsed { document: None, diagnostics }) => {
                Err(ActivateError::invalid(skill, &diagnostics))
            }
            Head::NeedMore => Err(ActivateError::invalid(skill, &[])),
        }
    }
}

/// Whether its `allowed-tools` count.
pub(super) fn may_name_tools(found: &Found) -> bool {
    found.supplied().is_none_or(|supplied| supplied.standing().grants().allow_tools)
}

fn tools(manifest: &Manifest) -> Option<Vec<String>> {
    manifest.allowed_tools().map(|tools| tools.iter().map(|tool| String::from(&**tool)).collect())
}

/// What is shown of the bytes, where the body begins in it, and what was cut. What is asked of the bytes
/// later is answered now where they do not stay as they are.
fn shown(bytes: Vec<u8>, body: usize, limit: u64, late: &Late) -> (String, usize, Option<Truncation>) {
    let is_long = bytes.len() as u64 > limit;
    let mut bytes = match String::from_utf8(bytes) {
        Ok(source) if !is_long && !text::has_controls(source.as_bytes()) => return (source, body, None),
        Ok(source) => source.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    late.answer(&bytes);
    let truncated = text::cut(&mut bytes, limit);
    let (source, body) = decode(bytes, body);
    (source, body, truncated)
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

impl Activated {
    /// The text of `SKILL.md`, as far as it is shown, without terminal escapes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The frontmatter, every key.
    pub fn frontmatter(&self) -> &Map<String, Value> {
        self.late.frontmatter(self.source.as_bytes())
    }

    /// The digest of the bytes of `SKILL.md`, all of them.
    pub fn digest(&self) -> &str {
        self.late.digest(self.source.as_bytes())
    }

    /// What there is to say about the file as it is now. None of it is an error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.late.diagnostics(self.source.as_bytes())
    }

    /// The other files, sorted; not more than a hundred. They are listed when they are first asked for.
    pub fn resources(&self) -> &[String] {
        &self.late.resources().files
    }

    /// Those of [`resources`](Self::resources) that the instructions name, in the order in which they do.
    ///
    /// ```
    /// use prowess::{Policy, Registry};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::open(Policy::default())?;
    /// let snapshot = registry.snapshot();
    /// let skill = snapshot.get("code-review").ok_or("it is bundled")?;
    /// let activated = prowess::activate::activate(skill, None, registry.policy())?;
    /// assert_eq!(activated.referred(), ["references/traps.md", "references/severity.md"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn referred(&self) -> Vec<&str> {
        crate::references::named(self.body(), self.resources().iter().map(String::as_str))
    }

    /// How many files there are, where not all are listed.
    pub fn resources_cut(&self) -> Option<ResourcesCut> {
        self.late.resources().cut
    }

    /// The instructions as they stand in the file.
    pub fn body(&self) -> &str {
        self.source.get(self.body.clone()).unwrap_or_default()
    }

    /// The text for the model, in the form of the policy.
    ///
    /// It is measured first and then written: the result is the only thing that is allocated, but for the
    /// list of files, where the form shows it and nobody has asked for it yet.
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
