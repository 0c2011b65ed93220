//! `prowess list`: the skills a model would be offered.

use std::collections::HashSet;

use prowess::{Skill, Snapshot};
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct};

use super::{Outcome, YES, called, nothing_found, print_located, standing};
use crate::args::Global;
use crate::columns;
use crate::context::Context;
use crate::output::{Output, Tone, counted, cut};
use crate::report::DiagnosticJson;

pub(super) fn run(context: &Context, global: &Global, all: bool, output: &mut Output) -> Outcome {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    if output.json() {
        output.answer(&ListJson { snapshot: &snapshot, all })?;
        return Ok(YES);
    }
    people(context, &snapshot, all, output)?;
    remarks(context, &snapshot, all, output);
    Ok(YES)
}

fn listed(snapshot: &Snapshot, all: bool) -> impl Iterator<Item = &Skill> {
    snapshot.all().iter().filter(move |skill| all || skill.is_enabled())
}

fn people(context: &Context, snapshot: &Snapshot, all: bool, output: &mut Output) -> std::io::Result<()> {
    let names = listed(snapshot, all).map(|skill| columns::width(&called(skill, context)));
    let widest = names.max().unwrap_or(0).min(output.width() / 2 - 2).min(32);
    for skill in listed(snapshot, all) {
        for line in row(skill, &called(skill, context), widest, output) {
            output.line(line)?;
        }
    }
    Ok(())
}

/// The lines for one skill: one in a pipe, on a terminal as many as fit.
fn row(skill: &Skill, name: &str, widest: usize, output: &Output) -> Vec<String> {
    let alone = output.is_terminal() && columns::width(name) > widest;
    let column = if alone { widest } else { widest.max(columns::width(name)) } + 2;
    let mut texts = match standing(skill) {
        None => vec![cut(skill.description(), output.width().saturating_sub(column).max(20))],
        // What keeps a skill from being offered is never cut short: its end says what to do.
        Some((status, rest)) => {
            let mut lines = output.wrapped(&format!("{status} {rest}"), column);
            if let Some(first) = lines.first_mut() {
                let painted = output.tone(Tone::Caution, &status);
                *first = first.replacen(&status, &painted, 1);
            }
            lines
        }
    };
    if alone {
        texts.insert(0, String::new());
    }
    let indent = " ".repeat(column);
    let name = output.tone(Tone::Strong, &columns::pad(name, widest));
    let first = |text: &String| format!("{name}  {text}").trim_end().to_owned();
    let rest = texts.iter().skip(1).map(|text| format!("{indent}{text}"));
    texts.first().map(first).into_iter().chain(rest).collect()
}

/// What is not in the list, and why the list may be empty.
fn remarks(context: &Context, snapshot: &Snapshot, all: bool, output: &mut Output) {
    if !context.policy().enabled {
        return nothing_found(context, output);
    }
    let said: Vec<_> = snapshot.general_diagnostics().cloned().collect();
    if output.verbose() {
        print_located(output, &snapshot.diagnostics().collect::<Vec<_>>());
    } else {
        print_located(output, &said.into_iter().filter(|located| !is_collision(located)).collect::<Vec<_>>());
    }
    let (links, others): (Vec<&Skill>, Vec<&Skill>) =
        snapshot.all().iter().filter(|skill| !skill.is_enabled()).partition(|skill| skill.link().is_some());
    // A link to a skill that is offered, for another agent, is no other skill.
    let offered: HashSet<_> = match links.is_empty() {
        true => HashSet::new(),
        false => snapshot.enabled().map(|skill| skill.canonical_folder()).collect(),
    };
    let links = links.iter().filter(|skill| !offered.contains(&skill.canonical_folder()));
    let hidden = others.len() + links.count();
    if snapshot.all().is_empty() {
        nothing_found(context, output);
    } else if hidden > 0 && !all {
        let are = if hidden == 1 { "is" } else { "are" };
        let more =
            if hidden == snapshot.all().len() { counted(hidden, "skill") } else { format!("{hidden} more") };
        output.remark(format!("{more} {are} not offered; prowess list --all tells why"));
    }
}

fn is_collision(located: &prowess::Located) -> bool {
    use prowess_format::Code;
    matches!(located.diagnostic.code, Code::Shadowed | Code::ShadowsBundled | Code::SameName)
}

/// The contract's shape, written skill by skill: ten thousand of them are never held twice.
struct ListJson<'a> {
    snapshot: &'a Snapshot,
    all: bool,
}

impl Serialize for ListJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = serializer.serialize_struct("List", 3)?;
        answer.serialize_field("schema", &1)?;
        answer.serialize_field("skills", &Skills(self))?;
        answer.serialize_field("diagnostics", &Diagnostics(self.snapshot))?;
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
#[derive(Serialize)]
pub(super) struct SkillJson<'a> {
    id: std::borrow::Cow<'a, str>,
    name: std::borrow::Cow<'a, str>,
    description: &'a str,
    scope: &'static str,
    source: std::borrow::Cow<'a, str>,
    location: String,
    status: &'static str,
    reason: Option<String>,
    bytes: u64,
}

impl<'a> SkillJson<'a> {
    pub(super) fn of(skill: &'a Skill) -> Self {
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
