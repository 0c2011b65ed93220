//! Creates a skill: a complete directory with a valid manifest, or nothing.

use std::io::ErrorKind;
use std::path::PathBuf;

use prowess::lock::LockFile;
use prowess_format::{Code, Diagnostic, Rules, SkillName, hidden, parse};

use super::{FieldError, UserSkillError};
use crate::error::PackageError;
use crate::install::{InstallPlan, parse_dir_name};
use crate::install_target::InstallTarget;
use crate::install_target::commit::rename_noreplace;
use prowess_archive::limits::FILE_MAX;

/// The input for a new skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSkill<'a> {
    /// The name of the directory.
    pub id: &'a str,
    /// The name in the manifest.
    pub name: &'a str,
    /// What the skill does, and when to use it.
    pub description: &'a str,
    /// The instructions; a placeholder if `None`.
    pub body: Option<&'a str>,
}

/// A created skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedSkill {
    /// The name of the directory, derived from the requested id.
    pub id: String,
    /// The path of its `SKILL.md`.
    pub skill_md_path: PathBuf,
    /// Warnings; no errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Creates a skill.
pub fn create_skill(
    new: &NewSkill<'_>,
    target: &InstallTarget,
    rules: &Rules,
) -> Result<CreatedSkill, UserSkillError> {
    let (id, text, diagnostics) = validate(new, rules)?;
    let dir = target.root.join(&id);
    let exists = || UserSkillError::Exists(id.clone());
    if std::fs::symlink_metadata(&dir).is_ok() {
        return Err(exists());
    }
    let plan = InstallPlan::begin(target)?;
    let staged = plan.stage()?.new_dir(&id);
    let failed = |error| PackageError::io("write", &dir)(error);
    std::fs::create_dir_all(&staged)
        .and_then(|()| std::fs::write(staged.join("SKILL.md"), &text))
        .map_err(failed)?;
    let _guard = target.lock()?;
    let mut lock = LockFile::read(&target.lock_path).map_err(PackageError::from)?;
    let key = target.lock_key(&dir);
    if lock.entry(&key).is_some() {
        // An installed skill was deleted by hand; the new one is unrelated.
        lock.set(&key, None);
        target.write_lock(&lock)?;
    }
    rename_noreplace(&staged, &dir).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => exists(),
        _ => failed(error).into(),
    })?;
    Ok(CreatedSkill { skill_md_path: dir.join("SKILL.md"), id, diagnostics })
}

/// Returns the id, the text of the file and its diagnostics; or the errors of all fields.
fn validate(new: &NewSkill<'_>, rules: &Rules) -> Result<(String, String, Vec<Diagnostic>), UserSkillError> {
    let mut errors = Vec::new();
    let mut report = |field, message: String| errors.push(FieldError { field, message });
    let id = parse_id(new.id).map_err(|message| report("id", message)).unwrap_or_default();
    for (field, text) in [("name", new.name), ("description", new.description)] {
        if text.trim().is_empty() {
            report(field, "it is empty".to_owned());
        } else if let Some((_, c)) = hidden::find_hidden(&on_one_line(text)) {
            report(field, format!("it contains the hidden character {}", c.escape_unicode()));
        }
    }
    if new.body.is_some_and(|body| body.len() as u64 > FILE_MAX) {
        report("body", format!("it is longer than {FILE_MAX} bytes"));
    }
    if !errors.is_empty() {
        return Err(UserSkillError::InvalidFields(errors));
    }
    let text = skill_md(new);
    let parsed = parse(text.as_bytes(), Some(&id), rules);
    let errors = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let fields: Vec<_> = errors
        .map(|error| FieldError { field: field_for_code(error.code), message: error.message.clone() })
        .collect();
    match fields.is_empty() {
        true => Ok((id, text, parsed.diagnostics)),
        false => Err(UserSkillError::InvalidFields(fields)),
    }
}

/// Converts an id to the name of a directory. Rejects ids that look like a path.
fn parse_id(raw: &str) -> Result<String, String> {
    if raw.contains(['/', '\\', ':', '\0']) || raw.trim().starts_with('.') {
        return Err("it looks like a path".to_owned());
    }
    let describe = |error: prowess_format::NameError| error.to_string().replacen("the name", "it", 1);
    let id = SkillName::parse(raw).map_err(describe)?.suggestion();
    let id = id.trim_matches('-');
    if id.is_empty() {
        return Err("it contains neither a letter nor a digit".to_owned());
    }
    parse_dir_name(id).map_err(|error| error.to_string())
}

/// Returns the form field of a diagnostic.
fn field_for_code(code: Code) -> &'static str {
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
    let instructions = "Describe step by step what the model should do.";
    let body = match new.body.filter(|body| !body.trim().is_empty()) {
        Some(body) => body.trim_start_matches(['\n', '\r']).to_owned(),
        None => format!("# {name}\n\n{instructions}\n"),
    };
    let end = if body.ends_with('\n') { "" } else { "\n" };
    format!(
        "---\nname: {}\ndescription: {}\n---\n\n{body}{end}",
        if is_plain(&name) { name.clone() } else { quote_yaml(&name) },
        quote_yaml(&on_one_line(new.description))
    )
}

/// Returns `true` if YAML parses the unquoted text as the same string.
fn is_plain(text: &str) -> bool {
    let keywords = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(is_allowed)
        && !keywords.contains(&text)
}

fn quote_yaml(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
