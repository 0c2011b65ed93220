//! `prowess new`: make a skill.

use std::path::{Path, PathBuf};

use prowess::policy::{ProjectTrust, RootPlace};
use prowess::shell::quote;
use prowess::{short_path, trust};
use prowess_format::{NameRule, Rules, SkillName, hidden, parse};
use serde_json::json;

use super::{Outcome, YES};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(
    context: &Context,
    name: &str,
    description: &str,
    folder: Option<PathBuf>,
    output: &mut Output,
) -> Outcome {
    let name = sound_name(name)?;
    let text = skill_md(&name, description)?;
    let parent = match folder {
        Some(folder) => std::path::absolute(folder)?,
        None => default_folder(context)?,
    };
    let skill = parent.join(name.as_str());
    create(&parent, &skill, &text)?;
    let file = skill.join("SKILL.md");
    if output.json() {
        output.answer(&json!({"schema": 1, "name": name.as_str(), "location": file}))?;
        return Ok(YES);
    }
    let short = clean_path(&short_path(&file, &context.surroundings));
    output.line(format!("made {short}"))?;
    let trust = if waits_for_trust(context, &skill) {
        "; prowess trust lets models see this project's skills"
    } else {
        ""
    };
    output.remark(format!("next: write its instructions, then: prowess check {}{trust}", quote(&short)));
    Ok(YES)
}

/// Whether a project's skill is not seen until the user trusts the project.
fn waits_for_trust(context: &Context, skill: &Path) -> bool {
    let world = &context.surroundings;
    let trusted =
        || trust::record_for(&world.project, world).is_some_and(|record| record.trusted && !record.pinned);
    context.policy().trust == ProjectTrust::Required && skill.starts_with(&world.project) && !trusted()
}

const GOOD_NAME: &str = "use lower-case letters, digits and single hyphens";

fn sound_name(name: &str) -> Result<SkillName, Failure> {
    let parsed = SkillName::parse(name).map_err(|error| Failure::call(error.to_string()).hint(GOOD_NAME))?;
    let breaks = parsed.breaks(NameRule::Unicode);
    if breaks.is_empty() && parsed.length() <= 64 {
        return Ok(parsed);
    }
    let reasons: Vec<_> = breaks.iter().map(ToString::to_string).collect();
    let reasons = if reasons.is_empty() {
        "it is longer than 64 characters".to_owned()
    } else {
        reasons.join(", and ")
    };
    let failure = Failure::call(format!("{parsed} is not a good name: {reasons}"));
    match parsed.suggestion().trim_end_matches('-') {
        "" => Err(failure.hint(GOOD_NAME)),
        better => Err(failure.hint(format!("prowess new {better} --description …"))),
    }
}

/// The file, which must be valid to the letter before it is written.
fn skill_md(name: &SkillName, description: &str) -> Result<String, Failure> {
    let quoted = description.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r', '\t'], " ");
    let text = format!(
        "---\nname: {name}\ndescription: \"{quoted}\"\n---\n\n# {name}\n\nSay here, step by step, what a model has to do.\n"
    );
    let refused = |message: String| {
        let hint = "say what it does and when to use it: --description \"Fills PDF forms. Use when …\"";
        Failure::call(message).hint(hint)
    };
    // YAML does not take these between quotes at all, and would call it a mistake of the frontmatter.
    if let Some((_, c)) = hidden::first(description) {
        return Err(refused(format!("the description has the hidden character {}", c.escape_unicode())));
    }
    let parsed = parse(text.as_bytes(), Some(name.as_str()), &Rules::strict());
    match parsed.diagnostics.into_iter().find(prowess_format::Diagnostic::is_error) {
        None => Ok(text),
        Some(error) => Err(refused(error.message)),
    }
}

fn default_folder(context: &Context) -> Result<PathBuf, Failure> {
    let roots = &context.policy().scan.roots;
    let given = roots.iter().find(|spec| spec.given).map(|spec| spec.path().to_owned());
    let writable = |spec: &&prowess::RootSpec| {
        matches!(spec.place, RootPlace::Project(_)) && spec.scope != prowess::Scope::Bundled
    };
    let own = roots.iter().find(writable).map(|spec| context.surroundings.project.join(spec.path()));
    given.or(own).ok_or_else(|| {
        Failure::call("this configuration has no project directory").hint("name one with --dir")
    })
}

/// The folder appears whole or not at all: it is made beside its place and renamed into it.
fn create(parent: &Path, skill: &Path, text: &str) -> Result<(), Failure> {
    if skill.symlink_metadata().is_ok() {
        let message = format!("{} is already there", clean_path(skill));
        return Err(
            Failure::new(ErrorCode::Conflict, message).hint("choose another name, or delete it first")
        );
    }
    std::fs::create_dir_all(parent).map_err(cannot_create(parent))?;
    sweep(parent);
    let staged = parent.join(format!("{STAGED}{}", std::process::id()));
    let made = std::fs::create_dir(&staged)
        .and_then(|()| std::fs::write(staged.join("SKILL.md"), text))
        .and_then(|()| std::fs::rename(&staged, skill));
    if made.is_err() {
        // Nothing half-made stays behind; that it cannot be removed is no news after the failure itself.
        let _ = std::fs::remove_dir_all(&staged);
    }
    made.map_err(cannot_create(skill))
}

fn cannot_create(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| {
        let message = format!("cannot create {}: {error}", clean_path(path));
        Failure::from(error).message(message)
    }
}

/// What is being made is named so, with the number of the process that makes it.
const STAGED: &str = ".prowess-new-";

/// Removes what processes left behind that were killed while they made a skill.
fn sweep(parent: &std::path::Path) {
    let left = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix(STAGED)).and_then(|number| number.parse().ok());
        // No other process has the number of this one.
        number.is_some_and(|number| number == std::process::id() || prowess_fs::has_ended(number))
    });
    // What cannot be removed is in nobody's way.
    left.for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}
