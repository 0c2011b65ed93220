//! Activation: loads a skill's instructions and turns them, with the arguments, into the text for a model.
//!
//! The policy's [`ActivationMode`] decides what that text contains: only the instructions, the whole `SKILL.md`,
//! or the instructions in an XML element with a list of the skill's files.
//!
//! Each activation reads and parses `SKILL.md` again, since it may have been deleted or replaced after discovery.
//! The manifest from discovery is reused only if the file's fingerprint is unchanged. The result contains exactly
//! the bytes that were verified. What few callers need (digest, frontmatter as JSON, diagnostics, list of files)
//! is computed on demand.
//!
//! The text for the model has no terminal escapes and no control characters. Hidden Unicode characters stay,
//! because some scripts need them; [`ActivatedSkill::diagnostics`] warns about them.

pub mod arguments;
mod attachments;
mod error;
mod frontmatter;
mod lazy;
mod pieces;
mod render;
mod shown_warnings;
mod single_line;
pub mod tiers;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use prowess_format::fence::{self, Extent, FenceSearch};
use prowess_format::{
    Code, Diagnostic, Document, HeadOutcome, Manifest, ParseOutcome, parse_command, parse_head,
};
use serde_json::{Map, Value};

pub use arguments::{Arguments, ParseArgumentsError};
pub use error::ActivateError;
pub use frontmatter::verbatim_frontmatter;
pub use shown_warnings::ShownWarnings;
pub use tiers::SkillTiers;

use crate::inline_references;
use crate::policy::{ActivationMode, Policy};
use crate::remote::RemoteSkill;
use crate::resources::open::{self, SkillMd};
use crate::resources::{Truncation, text};
use crate::skill::{CommandDialect, DiscoveredSkill, ResourceUnavailable, Skill};
use attachments::{Attachment, read_attachments};
use lazy::LazyFields;

/// An activated skill.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ActivatedSkill {
    /// The skill's name.
    pub name: String,
    /// The skill's directory.
    pub base_dir: PathBuf,
    /// How much of `SKILL.md` is shown, if not all.
    pub truncated: Option<Truncation>,
    /// `allowed-tools`; `None` if the skill does not list any.
    pub allowed_tools: Option<Vec<String>>,
    /// The arguments.
    pub args: Arguments,
    /// The server of a remote skill; `None` for a local skill.
    pub origin: Option<RemoteOrigin>,
    source: String,
    body: Range<usize>,
    lazy: LazyFields,
    mode: ActivationMode,
    argument_names: Vec<Box<str>>,
    /// The client whose custom command this is; `None` for a skill.
    command: Option<CommandDialect>,
    /// The project's directory, if the instructions refer to it.
    project_dir: Option<PathBuf>,
    /// The outputs of the first commands in the instructions.
    outputs: Vec<CommandOutput>,
    attachments: Vec<Attachment>,
}

/// A command in the instructions, and its output, which the model is shown in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// The command.
    pub command: String,
    /// The output.
    pub output: String,
}

/// The server of a remote skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteOrigin {
    /// The title of the source: `MCP server docs`.
    pub title: String,
    /// The URI of the skill's `SKILL.md`.
    pub uri: String,
    /// The digest over all files that the server lists. Files that are read later must belong to the same list.
    pub file_set: String,
}

impl RemoteOrigin {
    fn new(remote: &RemoteSkill) -> Self {
        let entry = remote.entry();
        Self { title: remote.origin(), uri: entry.uri.clone(), file_set: entry.files_digest() }
    }
}

/// How many files were omitted from a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourcesTruncation {
    /// The number of listed files.
    pub shown: usize,
    /// The number of all files.
    pub total: usize,
    /// Whether there are more than `total`, because counting stopped.
    pub or_more: bool,
}

impl fmt::Display for ResourcesTruncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_more = if self.or_more { "at least " } else { "" };
        write!(f, "[{} of {or_more}{} files listed]", self.shown, self.total)
    }
}

/// Loads a skill's instructions in the mode of the policy.
///
/// ```
/// use prowess::{Policy, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("hello-world").ok_or("missing bundled skill")?;
///
/// let activated = prowess::activation::activate(skill, Some("Ada"), registry.policy())?;
/// assert!(activated.content().starts_with("<skill_content name=\"hello-world\">\n"));
/// assert!(activated.content().ends_with("</skill_content>"));
/// assert_eq!(activated.frontmatter()["name"], "hello-world");
/// # Ok(())
/// # }
/// ```
pub fn activate(skill: &Skill, args: Option<&str>, policy: &Policy) -> Result<ActivatedSkill, ActivateError> {
    activate_with_mode(skill, args, policy, policy.activation)
}

fn activate_with_mode(
    skill: &Skill,
    args: Option<&str>,
    policy: &Policy,
    mode: ActivationMode,
) -> Result<ActivatedSkill, ActivateError> {
    if let Some(unavailable) = ResourceUnavailable::for_use(skill) {
        // If the file could not be read during discovery, read it again for an exact error code.
        let unreadable = skill.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::Unreadable);
        let read_error = if unreadable { open::read_skill_md(skill).err() } else { None };
        return Err(read_error
            .map_or_else(|| unavailable.into(), |error| ActivateError::from_read_error(skill, error)));
    }
    let args = Arguments::parse(args)?;
    let file = match skill.remote() {
        Some(remote) => SkillMd { bytes: skill.verifier.fetch_skill_md(remote)?, is_unchanged: false },
        None => open::read_skill_md(skill).map_err(|error| ActivateError::from_read_error(skill, error))?,
    };
    skill.verifier.verify(skill, skill.file.as_str(), &file.bytes)?;
    let parts = SkillMdParts::parse(skill, &file, policy)?;
    let lazy = LazyFields::new(&skill.discovered, &policy.manifest, parts.yaml);
    let (source, body, truncated) =
        prepare_source(file.bytes, parts.body, policy.limits.skill_md_bytes, &lazy);
    Ok(ActivatedSkill {
        name: skill.name().into_owned(),
        base_dir: match skill.is_command() {
            true => skill.dir().parent().map(Path::to_owned).unwrap_or_default(),
            false => skill.dir(),
        },
        truncated,
        // A remote skill can only request tools; the user has to grant them.
        allowed_tools: parts.allowed_tools.filter(|_| may_allow_tools(skill)),
        origin: skill.remote().map(RemoteOrigin::new),
        args,
        body: body..source.len(),
        project_dir: project_dir(skill, &source),
        argument_names: parts.argument_names,
        command: skill.root().command_dialect(),
        outputs: Vec::new(),
        attachments: read_attachments(skill, &source[body..], policy, mode),
        source,
        lazy,
        mode,
    })
}

/// The parts of a `SKILL.md` that an activation needs.
struct SkillMdParts {
    yaml: Range<usize>,
    body: usize,
    allowed_tools: Option<Vec<String>>,
    argument_names: Vec<Box<str>>,
}

impl SkillMdParts {
    /// Finds the parts. Bytes that are unchanged since discovery were already parsed: only their fences are
    /// located again.
    fn parse(skill: &Skill, file: &SkillMd, policy: &Policy) -> Result<Self, ActivateError> {
        if skill.is_command() {
            let parsed = parse_command(&file.bytes, &skill.dir_name());
            let document =
                parsed.document.ok_or_else(|| ActivateError::invalid(skill, &parsed.diagnostics))?;
            return Ok(Self::from_document(&document));
        }
        if let (true, Some(manifest)) = (file.is_unchanged, skill.manifest())
            && let FenceSearch::Found(fences) = fence::find_fences(&file.bytes, Extent::Whole)
        {
            return Ok(Self {
                yaml: fences.yaml,
                body: fences.body,
                allowed_tools: allowed_tools(manifest),
                argument_names: manifest.arguments().to_vec(),
            });
        }
        match parse_head(&file.bytes, Extent::Whole, Some(&skill.dir_name()), &policy.manifest) {
            HeadOutcome::Done(ParseOutcome { document: Some(document), .. }) => {
                Ok(Self::from_document(&document))
            }
            HeadOutcome::Done(ParseOutcome { document: None, diagnostics }) => {
                Err(ActivateError::invalid(skill, &diagnostics))
            }
            HeadOutcome::NeedMore => Err(ActivateError::invalid(skill, &[])),
        }
    }

    fn from_document(document: &Document) -> Self {
        Self {
            yaml: document.frontmatter.start as usize..document.frontmatter.end as usize,
            body: document.body as usize,
            allowed_tools: allowed_tools(&document.manifest),
            argument_names: document.manifest.arguments().to_vec(),
        }
    }
}

/// Returns `true` if the skill's `allowed-tools` take effect.
pub(super) fn may_allow_tools(skill: &DiscoveredSkill) -> bool {
    skill.remote().is_none_or(|remote| remote.approval().grants().allow_tools)
}

/// Returns the project's directory for a local skill whose text refers to it.
fn project_dir(skill: &Skill, source: &str) -> Option<PathBuf> {
    let is_needed = skill.remote().is_none() && source.contains("${CLAUDE_PROJECT_DIR}");
    is_needed.then(|| skill.verifier.project_dir().to_owned())
}

fn allowed_tools(manifest: &Manifest) -> Option<Vec<String>> {
    manifest.allowed_tools().map(|tools| tools.iter().map(|tool| String::from(&**tool)).collect())
}

/// Returns the text to show, the offset of its body, and how it was truncated. If the text differs from the
/// bytes, all lazy fields are computed from the bytes first.
fn prepare_source(
    bytes: Vec<u8>,
    body: usize,
    limit: u64,
    lazy: &LazyFields,
) -> (String, usize, Option<Truncation>) {
    let is_long = bytes.len() as u64 > limit;
    let mut bytes = match String::from_utf8(bytes) {
        Ok(source) if !is_long && !text::has_controls(source.as_bytes()) => return (source, body, None),
        Ok(source) => source.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    lazy.compute_all(&bytes);
    let truncated = text::truncate_bytes(&mut bytes, limit);
    let (source, body) = decode(bytes, body);
    (source, body, truncated)
}

/// Decodes the bytes and removes terminal escapes. Returns the text and the offset of its body. Copies only text
/// that is not UTF-8.
fn decode(bytes: Vec<u8>, body: usize) -> (String, usize) {
    let mut body = body.min(bytes.len());
    let mut source = String::from_utf8(bytes).unwrap_or_else(|error| {
        let (head, tail) = error.as_bytes().split_at(body);
        let mut text = String::from_utf8_lossy(head).into_owned();
        body = text.len();
        text.push_str(&String::from_utf8_lossy(tail));
        text
    });
    body -= text::strip_escapes(&mut source, body);
    (source, body)
}

impl ActivatedSkill {
    /// Returns the shown text of `SKILL.md`, without terminal escapes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the frontmatter with all keys.
    pub fn frontmatter(&self) -> &Map<String, Value> {
        self.lazy.frontmatter(self.source.as_bytes())
    }

    /// Returns the digest of all bytes of `SKILL.md`.
    pub fn digest(&self) -> &str {
        self.lazy.digest(self.source.as_bytes())
    }

    /// Returns warnings about the current file. None of them is an error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.lazy.diagnostics(self.source.as_bytes())
    }

    /// Returns the other files, sorted, at most a hundred. They are listed on the first call.
    pub fn resources(&self) -> &[String] {
        &self.lazy.resources().files
    }

    /// Returns those [`resources`](Self::resources) that the instructions mention, in the order of their first
    /// mention.
    ///
    /// ```
    /// use prowess::{Policy, Registry};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::open(Policy::default())?;
    /// let snapshot = registry.snapshot();
    /// let skill = snapshot.get("code-review").ok_or("missing bundled skill")?;
    /// let activated = prowess::activation::activate(skill, None, registry.policy())?;
    /// assert_eq!(activated.mentioned_resources(), ["references/traps.md", "references/severity.md"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mentioned_resources(&self) -> Vec<&str> {
        crate::references::mentioned_paths(self.body(), self.resources().iter().map(String::as_str))
    }

    /// Returns how many files there are, if not all are listed.
    pub fn resources_truncation(&self) -> Option<ResourcesTruncation> {
        self.lazy.resources().truncation
    }

    /// Returns the unmodified instructions.
    pub fn body(&self) -> &str {
        self.source.get(self.body.clone()).unwrap_or_default()
    }

    /// Returns the commands in the instructions, written as `` !`command` ``, in order. They are only meant to be run in
    /// [`ActivationMode::Wrapped`], and never for a remote skill or a prompt of Codex.
    pub fn inline_commands(&self) -> impl Iterator<Item = &str> {
        let is_defined = self.mode == ActivationMode::Wrapped
            && self.origin.is_none()
            && self.command != Some(CommandDialect::Codex);
        let body = if is_defined { render::shown_body(self) } else { "" };
        inline_references::commands(body).map(|command| command.text)
    }

    /// Returns the names of the arguments, and the arguments with these names.
    pub fn named_arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.argument_names.iter().map(AsRef::as_ref);
        names.zip(self.args.words().iter().map(String::as_str))
    }

    /// Shows outputs in place of the first commands. An output whose command is not at its place is ignored.
    pub fn set_command_outputs(&mut self, mut outputs: Vec<CommandOutput>) {
        for output in &mut outputs {
            text::strip_escapes(&mut output.output, 0);
        }
        self.outputs = outputs;
    }

    /// Returns the outputs that are shown in place of commands.
    pub fn command_outputs(&self) -> &[CommandOutput] {
        &self.outputs
    }

    /// Returns the text for the model, in the mode of the policy.
    ///
    /// Measures the text before writing it, so that the result is the only allocation, apart from the list of
    /// files if the mode shows it and it is not loaded yet.
    pub fn content(&self) -> String {
        let mut length = render::Length(0);
        // Writing to a counter or a string cannot fail.
        let _ = self.write_content(&mut length);
        let mut content = String::with_capacity(length.0);
        let _ = self.write_content(&mut content);
        content
    }

    /// Writes the text for the model.
    pub fn write_content(&self, out: &mut impl fmt::Write) -> fmt::Result {
        render::write_content(self, out)
    }
}
