//! `prowess new`: creates a skill from a template.

mod questions;
mod templates;

use std::path::{Path, PathBuf};

use prowess::policy::{ProjectTrust, RootLocation};
use prowess::shell::quote;
use prowess::{short_path, trust};
use prowess_format::{NameRule, Rules, SkillName, hidden, parse};
use serde_json::json;

use super::{CommandResult, SUCCESS};
use crate::args::{GlobalArgs, NewArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};
use templates::{TemplateFile, files};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: NewArgs,
    output: &mut Output,
) -> CommandResult {
    // What is given is checked before anything is asked.
    args.name.as_deref().map(parse_name).transpose()?;
    let answers = questions::complete(args, global)?;
    let name = parse_name(&answers.name)?;
    let template = answers.template;
    let files = files(template, &name, &quote_description(&answers.description));
    check_files(&name, &answers.description, &files)?;
    let parent = match answers.dir {
        Some(dir) => std::path::absolute(dir)?,
        None => default_dir(context)?,
    };
    let skill = parent.join(name.as_str());
    create(&parent, &skill, &files)?;
    let file = skill.join("SKILL.md");
    if output.json() {
        let paths: Vec<_> = files.iter().map(|file| file.path).collect();
        output.write_json(&json!({
            "schema": 1, "name": name.as_str(), "location": file, "template": template.as_str(), "files": paths,
        }))?;
        return Ok(SUCCESS);
    }
    let shown = |path: &Path| clean_path(&short_path(path, &context.host_env));
    for file in &files {
        output.line(format!("created {}", shown(&skill.join(file.path))))?;
    }
    let trust = if needs_trust(context, &skill) {
        "; to make the project's skills available to models: prowess trust"
    } else {
        ""
    };
    let display = quote(&shown(&file)).into_owned();
    output.note(format!("next: {}, then check them: prowess check {display}{trust}", template.next_step()));
    if let Some(hint) = template.try_it(&name) {
        output.note(format!("hint: {hint}"));
    }
    Ok(SUCCESS)
}

/// Returns `true` if a skill is not available until the user trusts the project.
fn needs_trust(context: &CommandContext, skill: &Path) -> bool {
    let host_env = &context.host_env;
    let trusted = || {
        trust::record_for(&host_env.project, host_env).is_some_and(|record| record.trusted && !record.pinned)
    };
    context.policy().trust == ProjectTrust::Required && skill.starts_with(&host_env.project) && !trusted()
}

const NAME_HINT: &str = "use lower-case letters, digits and single hyphens";

fn parse_name(name: &str) -> Result<SkillName, Failure> {
    let parsed = SkillName::parse(name).map_err(|error| Failure::usage(error.to_string()).hint(NAME_HINT))?;
    let breaks = parsed.violations(NameRule::Unicode);
    if breaks.is_empty() && parsed.char_count() <= 64 {
        return Ok(parsed);
    }
    let reasons: Vec<_> = breaks.iter().map(ToString::to_string).collect();
    let reasons =
        if reasons.is_empty() { "it has more than 64 characters".to_owned() } else { reasons.join(", and ") };
    let failure = Failure::usage(format!("invalid skill name {parsed}: {reasons}"));
    match parsed.suggestion().trim_end_matches('-') {
        "" => Err(failure.hint(NAME_HINT)),
        suggestion => {
            Err(failure.hint(format!("try a valid name: prowess new {suggestion} --description TEXT")))
        }
    }
}

/// Returns the description as YAML.
fn quote_description(description: &str) -> String {
    let escaped = description.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r', '\t'], " ");
    format!("\"{escaped}\"")
}

/// Fails if the `SKILL.md` would not be valid. All templates but those with keys of Prowess are strictly valid.
fn check_files(name: &SkillName, description: &str, files: &[TemplateFile]) -> Result<(), Failure> {
    let refused = |message: String| {
        let hint =
            "describe what the skill does and when to use it: --description \"Fills PDF forms. Use when …\"";
        Failure::usage(message).hint(hint)
    };
    // YAML does not allow these characters, and the error would point at the frontmatter.
    if let Some((_, c)) = hidden::find_hidden(description) {
        return Err(refused(format!("the description contains the hidden character {}", c.escape_unicode())));
    }
    let rules = Rules { known_keys: Rules::standard().known_keys, ..Rules::strict() };
    let skill_md = files.iter().find(|file| file.path == "SKILL.md").map_or("", |file| file.text.as_str());
    let parsed = parse(skill_md.as_bytes(), Some(name.as_str()), &rules);
    match parsed.diagnostics.into_iter().find(prowess_format::Diagnostic::is_error) {
        None => Ok(()),
        Some(error) => Err(refused(error.message)),
    }
}

fn default_dir(context: &CommandContext) -> Result<PathBuf, Failure> {
    let roots = &context.policy().scan.roots;
    let explicit = roots.iter().find(|spec| spec.is_explicit).map(|spec| spec.path().to_owned());
    let writable = |spec: &&prowess::RootSpec| {
        matches!(spec.location, RootLocation::Project(_)) && spec.scope != prowess::Scope::Bundled
    };
    let project_dir = roots.iter().find(writable).map(|spec| context.host_env.project.join(spec.path()));
    explicit.or(project_dir).ok_or_else(|| {
        Failure::usage("the configuration has no skill directory in the project")
            .hint("pass a directory with --dir")
    })
}

/// Creates the skill directory atomically: it is staged next to its destination and renamed.
fn create(parent: &Path, skill: &Path, files: &[TemplateFile]) -> Result<(), Failure> {
    if skill.symlink_metadata().is_ok() {
        let message = format!("{} already exists", clean_path(skill));
        return Err(
            Failure::new(ErrorCode::Conflict, message).hint("choose another name, or delete it first")
        );
    }
    std::fs::create_dir_all(parent).map_err(cannot_create(parent))?;
    remove_stale(parent);
    let staged = parent.join(format!("{STAGING_PREFIX}{}", std::process::id()));
    let created = std::fs::create_dir(&staged)
        .and_then(|()| files.iter().try_for_each(|file| write_file(&staged, file)))
        .and_then(|()| std::fs::rename(&staged, skill));
    if created.is_err() {
        // The first error is reported; a failed cleanup is not.
        let _ = std::fs::remove_dir_all(&staged);
    }
    created.map_err(cannot_create(skill))
}

fn write_file(dir: &Path, file: &TemplateFile) -> std::io::Result<()> {
    let path = dir.join(file.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, &file.text)?;
    match file.is_executable {
        true => prowess_fs::set_permissions(&std::fs::File::open(&path)?, 0o755),
        false => Ok(()),
    }
}

fn cannot_create(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| {
        let message = format!("cannot create {}: {error}", clean_path(path));
        Failure::from(error).message(message)
    }
}

/// The prefix of staging directories, followed by the process id.
const STAGING_PREFIX: &str = ".prowess-new-";

/// Removes the staging directories of killed processes.
fn remove_stale(parent: &std::path::Path) {
    let stale = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(STAGING_PREFIX))
            .and_then(|number| number.parse().ok());
        // The process id of this process can only have been reused.
        number.is_some_and(|number| number == std::process::id() || prowess_fs::has_exited(number))
    });
    // A leftover directory does no harm.
    stale.for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}
