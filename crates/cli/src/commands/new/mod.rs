//! `prowess new`: creates a skill.

use std::path::{Path, PathBuf};

use prowess::policy::{ProjectTrust, RootLocation};
use prowess::shell::quote;
use prowess::{short_path, trust};
use prowess_format::{NameRule, Rules, SkillName, hidden, parse};
use serde_json::json;

use super::{CommandResult, SUCCESS};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(
    context: &CommandContext,
    name: &str,
    description: &str,
    dir: Option<PathBuf>,
    output: &mut Output,
) -> CommandResult {
    let name = parse_name(name)?;
    let text = skill_md(&name, description)?;
    let parent = match dir {
        Some(dir) => std::path::absolute(dir)?,
        None => default_dir(context)?,
    };
    let skill = parent.join(name.as_str());
    create(&parent, &skill, &text)?;
    let file = skill.join("SKILL.md");
    if output.json() {
        output.write_json(&json!({"schema": 1, "name": name.as_str(), "location": file}))?;
        return Ok(SUCCESS);
    }
    let display = clean_path(&short_path(&file, &context.host_env));
    output.line(format!("created {display}"))?;
    let trust = if needs_trust(context, &skill) {
        "; to make the project's skills available to models: prowess trust"
    } else {
        ""
    };
    output.note(format!(
        "next: write the instructions, then check them: prowess check {}{trust}",
        quote(&display)
    ));
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

/// Returns the contents of the `SKILL.md`, which must be strictly valid.
fn skill_md(name: &SkillName, description: &str) -> Result<String, Failure> {
    let quoted = description.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r', '\t'], " ");
    let text = format!(
        "---\nname: {name}\ndescription: \"{quoted}\"\n---\n\n# {name}\n\nDescribe here, step by step, what the model should do.\n"
    );
    let refused = |message: String| {
        let hint =
            "describe what the skill does and when to use it: --description \"Fills PDF forms. Use when …\"";
        Failure::usage(message).hint(hint)
    };
    // YAML does not allow these characters, and the error would point at the frontmatter.
    if let Some((_, c)) = hidden::find_hidden(description) {
        return Err(refused(format!("the description contains the hidden character {}", c.escape_unicode())));
    }
    let parsed = parse(text.as_bytes(), Some(name.as_str()), &Rules::strict());
    match parsed.diagnostics.into_iter().find(prowess_format::Diagnostic::is_error) {
        None => Ok(text),
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
fn create(parent: &Path, skill: &Path, text: &str) -> Result<(), Failure> {
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
        .and_then(|()| std::fs::write(staged.join("SKILL.md"), text))
        .and_then(|()| std::fs::rename(&staged, skill));
    if created.is_err() {
        // The first error is reported; a failed cleanup is not.
        let _ = std::fs::remove_dir_all(&staged);
    }
    created.map_err(cannot_create(skill))
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
