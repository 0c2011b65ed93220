//! All skills and their diagnostics.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use prowess::format::Diagnostic;
use prowess::{Skill, Snapshot};
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct};

/// Which skills are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFilter {
    /// The enabled skills without the bundled examples.
    WithoutExamples,
    /// The enabled skills.
    Enabled,
    /// All skills, with any status.
    All,
}

/// Returns the skills of a list. Symlinks to skills that are listed anyway are left out.
pub fn listed_skills(snapshot: &Snapshot, filter: ListFilter) -> impl Iterator<Item = &Skill> {
    snapshot.without_links().filter(move |skill| match filter {
        ListFilter::WithoutExamples => skill.is_enabled() && !skill.is_example(),
        ListFilter::Enabled => skill.is_enabled(),
        ListFilter::All => true,
    })
}

/// The names of the agents to which each skill is available, by its canonical directory.
pub type AgentsByDir = HashMap<PathBuf, Vec<&'static str>>;

/// The JSON of a list of skills. Serializes skill by skill, to avoid a copy of large collections.
#[derive(Debug)]
pub struct ListJson<'a> {
    /// The skills.
    pub snapshot: &'a Snapshot,
    /// Which of them are listed.
    pub filter: ListFilter,
    /// The plugins of installed skills, by directory.
    pub plugins: Option<&'a HashMap<PathBuf, String>>,
    /// The agents to which the skills are available; `None` leaves them out.
    pub agents: Option<&'a AgentsByDir>,
}

impl Serialize for ListJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let passed_over: Vec<_> =
            self.snapshot.skipped_dirs().iter().map(|path| path.to_string_lossy()).collect();
        let fields = 3 + usize::from(!passed_over.is_empty());
        let mut structure = serializer.serialize_struct("List", fields)?;
        structure.serialize_field("schema", &1)?;
        structure.serialize_field("skills", &SkillsJson(self))?;
        structure.serialize_field("diagnostics", &DiagnosticsJson(self.snapshot))?;
        if passed_over.is_empty() {
            structure.skip_field("passed_over")?;
        } else {
            structure.serialize_field("passed_over", &passed_over)?;
        }
        structure.end()
    }
}

struct SkillsJson<'a>(&'a ListJson<'a>);

impl Serialize for SkillsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for skill in listed_skills(self.0.snapshot, self.0.filter) {
            let agents_of = |agents: &AgentsByDir| agents.get(&skill.canonical_dir()).cloned();
            let agents = self.0.agents.map(|agents| agents_of(agents).unwrap_or_default());
            let plugins = self.0.plugins.filter(|plugins| !plugins.is_empty());
            let plugin = plugins.and_then(|plugins| plugins.get(&skill.dir())).map(String::as_str);
            list.serialize_element(&SkillJson { agents, plugin, ..SkillJson::new(skill) })?;
        }
        list.end()
    }
}

struct DiagnosticsJson<'a>(&'a Snapshot);

impl Serialize for DiagnosticsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for located in self.0.diagnostics() {
            list.serialize_element(&DiagnosticJson::new(&located.path, &located.diagnostic))?;
        }
        list.end()
    }
}

/// The JSON of one skill.
#[derive(Debug, Serialize)]
pub struct SkillJson<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    description: &'a str,
    scope: &'static str,
    source: Cow<'a, str>,
    location: String,
    status: &'static str,
    reason: Option<String>,
    bytes: u64,
    /// The plugin that the skill was installed with; only in the output of `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<&'static str>>,
    /// `command` for a custom command.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// `true` for a bundled example, which models are not offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argument_hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a [Box<str>]>,
}

impl<'a> SkillJson<'a> {
    /// Returns the JSON of a skill with any status.
    pub fn new(skill: &'a Skill) -> Self {
        Self {
            id: skill.id(),
            name: skill.name(),
            description: skill.description(),
            scope: skill.root().scope().as_str(),
            source: skill.root().path().to_string_lossy(),
            location: skill.skill_md_path().to_string_lossy().into_owned(),
            status: skill.status().as_str(),
            reason: skill.reason(),
            bytes: skill.skill_md_size(),
            plugin: None,
            agents: None,
            kind: skill.is_command().then_some("command"),
            example: skill.is_example().then_some(true),
            argument_hint: skill.manifest().and_then(|manifest| manifest.argument_hint()),
            arguments: skill
                .manifest()
                .map(|manifest| manifest.arguments())
                .filter(|arguments| !arguments.is_empty()),
        }
    }
}

/// The JSON of a diagnostic in `list --json` and `check --format json`.
#[derive(Debug, Serialize)]
pub struct DiagnosticJson<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    path: Cow<'a, str>,
    line: Option<u32>,
    column: Option<u32>,
    help: Option<&'a str>,
}

impl<'a> DiagnosticJson<'a> {
    /// Returns the JSON of a diagnostic for the file at `path`.
    pub fn new(path: &'a Path, diagnostic: &'a Diagnostic) -> Self {
        Self {
            code: diagnostic.code.as_str(),
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            path: path.to_string_lossy(),
            line: diagnostic.location.map(|location| location.line),
            column: diagnostic.location.map(|location| location.column),
            help: diagnostic.help.as_deref(),
        }
    }
}
