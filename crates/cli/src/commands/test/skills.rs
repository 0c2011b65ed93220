//! Which skills are tested, and the version to compare with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::resources::{ReadResourceError, read_skill_files};
use prowess::{Registry, RootSpec, ScanProgress, Scope, Skill, SkillStatus, VisitedEntry, visit_files};
use prowess_evals::{LoadSkillError, SkillUnderTest, SkillVersion, staged_files};

use super::git_version;
use crate::args::{GlobalArgs, TestArgs};
use crate::commands::next_step::next_step;
use crate::commands::status_and_reason;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean_path;

/// The maximum size of a file of a skill, in bytes.
const FILE_MAX: u64 = 16 * 1024 * 1024;

/// A skill that is tested.
pub(super) struct TestedSkill {
    pub(super) under_test: SkillUnderTest,
    /// A registry with the skill.
    pub(super) registry: Arc<Registry>,
    /// The directory that contains the skill's directory.
    pub(super) root: PathBuf,
}

/// Returns the skills to test: the named ones, or those of the project that have evaluations.
pub(super) fn select(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &TestArgs,
) -> Result<Vec<TestedSkill>, Failure> {
    let mut tested = Vec::new();
    if args.skills.is_empty() {
        let registry = Arc::new(context.registry(global));
        let snapshot = registry.snapshot();
        let is_tested = |skill: &&Skill| {
            let scope = skill.root().scope();
            scope == Scope::Project && *skill.status() == SkillStatus::Enabled && has_evaluations(skill)
        };
        for skill in snapshot.all().iter().filter(is_tested) {
            tested.push(load(context, skill, &registry, args)?);
        }
        // Explains why a skill cannot be tested, if there is only that.
        let is_unavailable =
            |skill: &&Skill| skill.root().scope() == Scope::Project && has_evaluations(skill);
        if tested.is_empty()
            && let Some(skill) = snapshot.all().iter().find(is_unavailable)
        {
            load(context, skill, &registry, args)?;
        }
        return Ok(tested);
    }
    for named in &args.skills {
        tested.push(match is_path(named) {
            true => from_path(context, Path::new(named), args)?,
            false => {
                let registry = Arc::new(context.registry_for(global, &[named]));
                let snapshot = registry.snapshot();
                let skill = crate::commands::find_active(&snapshot, named)?;
                load(context, skill, &registry, args)?
            }
        });
    }
    Ok(tested)
}

/// Returns `true` if the skill has a directory of evaluations.
pub(super) fn has_evaluations(skill: &Skill) -> bool {
    let path = skill.skill_md_path();
    let dir = path.parent().filter(|_| !skill.root().is_embedded() && skill.remote().is_none());
    dir.is_some_and(|dir| ["evals", "evaluations"].iter().any(|name| dir.join(name).is_dir()))
}

fn is_path(text: &str) -> bool {
    text.contains(std::path::MAIN_SEPARATOR)
        || text.starts_with('.')
        || Path::new(text).join("SKILL.md").is_file()
}

fn from_path(context: &CommandContext, path: &Path, args: &TestArgs) -> Result<TestedSkill, Failure> {
    let (registry, name) = open_dir(context, path)?;
    let snapshot = registry.snapshot();
    let skill = snapshot.get(&name).filter(|skill| *skill.status() == SkillStatus::Enabled);
    let skill = skill.ok_or_else(|| not_a_skill(path))?;
    load(context, skill, &registry, args)
}

fn not_a_skill(path: &Path) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("{} is not a valid skill", clean_path(path)))
        .hint(format!("prowess check {}", prowess::shell::quote_path(path)))
}

/// Opens a registry with the skill in a directory. Returns the skill's name.
fn open_dir(context: &CommandContext, path: &Path) -> Result<(Arc<Registry>, String), Failure> {
    let missing = || Failure::missing_path(format!("{} does not exist", clean_path(path)));
    let dir = std::fs::canonicalize(path).map_err(|_| missing())?;
    // A SKILL.md stands for its directory.
    let dir = if dir.is_file() { dir.parent().map(Path::to_owned).unwrap_or(dir) } else { dir };
    let parent = dir.parent().ok_or_else(missing)?;
    let mut policy = context.policy().clone();
    policy.scan.roots = vec![RootSpec::explicit(parent.to_owned())];
    policy.scan.depth = 1;
    policy.selection = prowess::policy::SkillSelection::default();
    let registry = Registry::open_in(policy, context.host_env.clone(), &ScanProgress::default());
    let snapshot = registry.snapshot();
    let is_here = |skill: &&Skill| skill.skill_md_path().parent().is_some_and(|found| found == dir);
    let name = snapshot.all().iter().find(is_here).map(|skill| skill.name().into_owned());
    Ok((Arc::new(registry), name.ok_or_else(|| not_a_skill(path))?))
}

fn load(
    context: &CommandContext,
    skill: &Skill,
    registry: &Arc<Registry>,
    args: &TestArgs,
) -> Result<TestedSkill, Failure> {
    let failed = |error: LoadSkillError| {
        let message = format!("cannot test {}: {error}", skill.name());
        match error {
            LoadSkillError::Files(ReadResourceError::Unavailable(error)) => {
                let (status, reason) = status_and_reason(skill).unwrap_or_default();
                let failure =
                    Failure::new(error.code(), format!("cannot test {}: {status} {reason}", skill.name()));
                match next_step(skill, context) {
                    Some(step) => failure.hint(step),
                    None => failure,
                }
            }
            LoadSkillError::Files(error) => Failure::new(error.code(), message),
            // The message contains the command that helps.
            LoadSkillError::Invalid(_) => Failure::usage(message),
            _ => Failure::usage(message).hint("see docs/authoring.md for the form of evaluations"),
        }
    };
    let mut under_test = SkillUnderTest::load(skill).map_err(failed)?;
    let path = skill.skill_md_path();
    let dir = path.parent().unwrap_or(Path::new("."));
    if let Some(against) = &args.against {
        let files = old_files(dir, against)?;
        let old = SkillVersion::new(&under_test.name, files).map_err(failed)?;
        if old.digest == under_test.version.digest {
            return Err(Failure::usage(format!("{against} has the same files, apart from evaluations"))
                .hint("name another version"));
        }
        under_test.old_version = Some(old);
    }
    let known: Vec<&str> = under_test.suite.cases.iter().map(|case| case.id.as_str()).collect();
    if let Some(unknown) = args.cases.iter().find(|id| !known.contains(&id.as_str())) {
        let nearest = prowess_format::suggest::nearest(unknown, known.iter().copied());
        let hint = nearest.map_or_else(
            || format!("its cases: {}", known.join(", ")),
            |near| format!("did you mean {near}?"),
        );
        return Err(Failure::usage(format!("{} has no case {unknown}", under_test.name)).hint(hint));
    }
    let root = dir.parent().unwrap_or(dir).to_owned();
    Ok(TestedSkill { under_test, registry: Arc::clone(registry), root })
}

/// Returns the files of the version to compare with: of a directory, or of a commit.
fn old_files(dir: &Path, against: &str) -> Result<Vec<(String, Vec<u8>, bool)>, Failure> {
    let path = Path::new(against);
    if !path.join("SKILL.md").is_file() {
        return git_version::read_files(dir, against);
    }
    let mut files = Vec::new();
    let mut unreadable = None;
    visit_files(path, FILE_MAX, &mut |path, entry| match entry {
        VisitedEntry::File { executable, bytes } => files.push((path.to_owned(), bytes, executable)),
        VisitedEntry::Symlink(_) => {}
        VisitedEntry::Skipped(reason) => unreadable = Some(format!("{path}: {reason}")),
    });
    match unreadable {
        Some(reason) => Err(Failure::new(
            ErrorCode::PermissionDenied,
            format!("cannot read {}: {reason}", clean_path(path)),
        )),
        None => Ok(files),
    }
}

/// Returns the other skills that are available here.
pub(super) fn neighbors(context: &CommandContext) -> Result<Vec<SkillVersion>, Failure> {
    let registry =
        Registry::open_in(context.policy().clone(), context.host_env.clone(), &ScanProgress::default());
    let snapshot = registry.snapshot();
    let is_offered = |skill: &&Skill| *skill.status() == SkillStatus::Enabled && skill.remote().is_none();
    let mut versions = Vec::new();
    for skill in snapshot.all().iter().filter(is_offered) {
        let Ok(files) = read_skill_files(skill) else { continue };
        versions.extend(SkillVersion::new(&skill.name(), staged_files(&files)).ok());
    }
    Ok(versions)
}
