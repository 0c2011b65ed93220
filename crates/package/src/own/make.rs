//! A new skill: its folder appears whole, with a manifest that loads, or not at all.

use std::io::ErrorKind;
use std::path::PathBuf;

use prowess::lock::Lock;
use prowess_format::{Code, Diagnostic, Rules, SkillName, hidden, parse};

use super::{FieldError, OwnError};
use crate::error::PackageError;
use crate::install::{Plan, folder_name};
use crate::place::Place;
use crate::place::commit::move_to;
use prowess_archive::limits::FILE_MAX;

/// What somebody filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSkill<'a> {
    /// The folder's name.
    pub id: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// What it does, and when to use it.
    pub description: &'a str,
    /// The instructions; none says that they are to be written.
    pub body: Option<&'a str>,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The folder's name: the id, as a folder can be called.
    pub id: String,
    /// Its `SKILL.md`.
    pub location: PathBuf,
    /// What there is to say about it; no errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes a skill.
pub fn make(new: &NewSkill<'_>, place: &Place, rules: &Rules) -> Result<Made, OwnError> {
    let (id, text, diagnostics) = judged(new, rules)?;
    let folder = place.root.join(&id);
    let exists = || OwnError::Exists(id.clone());
    if std::fs::symlink_metadata(&folder).is_ok() {
        return Err(exists());
    }
    let plan = Plan::begin(place)?;
    let staged = plan.stage()?.new_folder(&id);
    let failed = |error| PackageError::io("written", &folder)(error);
    std::fs::create_dir_all(&staged)
        .and_then(|()| std::fs::write(staged.join("SKILL.md"), &text))
        .map_err(failed)?;
    let _guard = place.guard()?;
    let mut lock = Lock::read(&place.lock).map_err(PackageError::from)?;
    let key = place.key(&folder);
    if lock.skill(&key).is_some() {
        // Somebody deleted by hand what was installed there; this is something else.
        lock.set(&key, None);
        place.write(&lock)?;
    }
    move_to(&staged, &folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => exists(),
        _ => failed(error).into(),
    })?;
    Ok(Made { location: folder.join("SKILL.md"), id, diagnostics })
}

/// The id, the file, and what there is to say about it; or what is wrong, field by field.
fn judged(new: &NewSkill<'_>, rules: &Rules) -> Result<(String, String, Vec<Diagnostic>), OwnError> {
    let mut wrong = Vec::new();
    let mut note = |field, message: String| wrong.push(FieldError { field, message });
    let id = sound_id(new.id).map_err(|message| note("id", message)).unwrap_or_default();
    for (field, text) in [("name", new.name), ("description", new.description)] {
        if text.trim().is_empty() {
            note(field, "it is empty".to_owned());
        } else if let Some((_, c)) = hidden::first(&on_one_line(text)) {
            note(field, format!("it has the hidden character {}", c.escape_unicode()));
        }
    }
    if new.body.is_some_and(|body| body.len() as u64 > FILE_MAX) {
        note("body", format!("it is longer than {FILE_MAX} bytes"));
    }
    if !wrong.is_empty() {
        return Err(OwnError::Fields(wrong));
    }
    let text = skill_md(new);
    let parsed = parse(text.as_bytes(), Some(&id), rules);
    let errors = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let fields: Vec<_> = errors
        .map(|error| FieldError { field: field_of(error.code), message: error.message.clone() })
        .collect();
    match fields.is_empty() {
        true => Ok((id, text, parsed.diagnostics)),
        false => Err(OwnError::Fields(fields)),
    }
}

/// An id as a folder can be called: what could be taken for a path is refused, the rest made to fit.
fn sound_id(raw: &str) -> Result<String, String> {
    if raw.contains(['/', '\\', ':', '\0']) || raw.trim().starts_with('.') {
        return Err("it could be taken for a path".to_owned());
    }
    let wrong = |error: prowess_format::NameError| error.to_string().replacen("the name", "it", 1);
    let id = SkillName::parse(raw).map_err(wrong)?.suggestion();
    let id = id.trim_matches('-');
    if id.is_empty() {
        return Err("it has no letter and no digit".to_owned());
    }
    folder_name(id).map_err(|error| error.to_string())
}

/// What the field is called that a diagnostic is about.
fn field_of(code: Code) -> &'static str {
    match code {
        Code::MissingName | Code::NameType | Code::NameLong | Code::NameForm => "name",
        Code::NamePath | Code::NameFolder | Code::HiddenText => "name",
        Code::MissingDescription | Code::DescriptionType | Code::DescriptionLong => "description",
        _ => "body",
    }
}

fn on_one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r', '\t'], " ")
}

fn skill_md(new: &NewSkill<'_>) -> String {
    let name = on_one_line(new.name);
    let instructions = "Say here, step by step, what a model has to do.";
    let body = match new.body.filter(|body| !body.trim().is_empty()) {
        Some(body) => body.trim_start_matches(['\n', '\r']).to_owned(),
        None => format!("# {name}\n\n{instructions}\n"),
    };
    let end = if body.ends_with('\n') { "" } else { "\n" };
    format!(
        "---\nname: {}\ndescription: {}\n---\n\n{body}{end}",
        if is_plain(&name) { name.clone() } else { quoted(&name) },
        quoted(&on_one_line(new.description))
    )
}

/// Whether YAML takes a text for nothing but itself.
fn is_plain(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain) && !words.contains(&text)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
