//! All skills, and what there is to say about them.

use std::borrow::Cow;
use std::path::Path;

use prowess::format::Diagnostic;
use prowess::{Skill, Snapshot};
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct};

/// The skills that are told of: those on offer, or all.
pub fn listed(snapshot: &Snapshot, all: bool) -> impl Iterator<Item = &Skill> {
    snapshot.all().iter().filter(move |skill| all || skill.is_enabled())
}

/// The contract's shape, written skill by skill: ten thousand of them are never held twice.
#[derive(Debug)]
pub struct ListJson<'a> {
    /// The skills.
    pub snapshot: &'a Snapshot,
    /// Whether those that are not offered are in it, too.
    pub all: bool,
}

impl Serialize for ListJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let passed_over: Vec<_> =
            self.snapshot.passed_over().iter().map(|path| path.to_string_lossy()).collect();
        let fields = 3 + usize::from(!passed_over.is_empty());
        let mut answer = serializer.serialize_struct("List", fields)?;
        answer.serialize_field("schema", &1)?;
        answer.serialize_field("skills", &Skills(self))?;
        answer.serialize_field("diagnostics", &Diagnostics(self.snapshot))?;
        if passed_over.is_empty() {
            answer.skip_field("passed_over")?;
        } else {
            answer.serialize_field("passed_over", &passed_over)?;
        }
        answer.end()
    }
}

struct Skills<'a>(&'a ListJson<'a>);

impl Serialize for Skills<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for skill in listed(self.0.snapshot, self.0.all) {
            list.serialize_element(&SkillJson::of(skill))?;
        }
        list.end()
    }
}

struct Diagnostics<'a>(&'a Snapshot);

impl Serialize for Diagnostics<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for located in self.0.diagnostics() {
            list.serialize_element(&DiagnosticJson::new(&located.path, &located.diagnostic))?;
        }
        list.end()
    }
}

/// One skill in the contract's shape.
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
}

impl<'a> SkillJson<'a> {
    /// Of a skill, whatever became of it.
    pub fn of(skill: &'a Skill) -> Self {
        Self {
            id: skill.id(),
            name: skill.name(),
            description: skill.description(),
            scope: skill.root().scope().as_str(),
            source: skill.root().path().to_string_lossy(),
            location: skill.location().to_string_lossy().into_owned(),
            status: skill.status().as_str(),
            reason: skill.reason(),
            bytes: skill.bytes(),
        }
    }
}

/// One diagnostic as it stands in `list --json` and in `check --format json`.
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
    /// A diagnostic of the file at `path`.
    pub fn new(path: &'a Path, diagnostic: &'a Diagnostic) -> Self {
        Self {
            code: diagnostic.code.as_str(),
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            path: path.to_string_lossy(),
            line: diagnostic.at.map(|at| at.line),
            column: diagnostic.at.map(|at| at.column),
            help: diagnostic.help.as_deref(),
        }
    }
}
