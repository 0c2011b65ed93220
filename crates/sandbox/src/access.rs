//! What a script may access, in words for a question to the user.

use std::path::PathBuf;

use prowess::format::hidden::escape_for_display;
use prowess::policy::ScriptDirectory;
use prowess::resources::SkillFiles;
use prowess::{Skill, short_path};

use super::environments::{EnvironmentError, ResolvedPackage};
use super::error::RunError;
use super::gate;
use super::options::{NetworkAccess, Protection, RunOptions};
use super::prepare::environment_for_files;
use super::programs::find_named_programs;
use super::sandbox::unused_user;
use super::workspace::{InputFile, Workspace};

prowess::format::named_enum! {
    /// The answer to the question whether a script may run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ConsentAnswer {
        /// This one script may run now.
        Once = "once",
        /// Scripts of the skill may run as long as its files do not change.
        Always = "always",
        /// Scripts of the skill never run.
        Never = "never",
        /// This one script does not run now.
        NotNow = "not now",
    }
}

/// What a script may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSummary {
    /// The skill.
    pub skill: String,
    /// The directory of the skill.
    pub location: String,
    /// The script.
    pub script: String,
    /// What it may read, write and reach, each with a title. All texts are safe to print.
    pub rows: Vec<(&'static str, String)>,
    /// The tree hash of the skill's files, to which an answer applies.
    pub tree: String,
}

impl AccessSummary {
    /// Describes what a script may access if it runs with these options and these files of the skill, to which an answer
    /// applies.
    pub fn new(skill: &Skill, files: &SkillFiles, script: &str, options: &RunOptions<'_>) -> Self {
        let show = |path: &std::path::Path| {
            escape_for_display(&short_path(path, options.env).to_string_lossy()).into_owned()
        };
        let mut rows = Vec::new();
        if options.protection == Protection::Unsafe {
            rows.push(("sandbox", "none: the script may do everything that you may".to_owned()));
        }
        let (read, write) = match (&options.workspace, options.policy.run.directory) {
            (Some(Workspace::Directory(dir)), _) => (vec![show(dir)], show(dir)),
            (Some(Workspace::DirectoryWithInputs(dir, inputs)), _) => {
                ([vec![show(dir)], input_names(inputs)].concat(), show(dir))
            }
            (Some(Workspace::Temporary(inputs)), _) => {
                (input_names(inputs), "a temporary workspace".to_owned())
            }
            (None, ScriptDirectory::Skill) => (Vec::new(), "temporary files".to_owned()),
            (None, ScriptDirectory::Workspace) => (Vec::new(), "a temporary workspace".to_owned()),
        };
        let granted = options.read.iter().map(|path| show(path));
        let read = ["the skill".to_owned(), "system files".to_owned()].into_iter().chain(read).chain(granted);
        rows.push(("reads", shorten(read.collect())));
        rows.push(("writes", write));
        let tree = || Some(files.tree.clone());
        let network = options
            .network
            .unwrap_or_else(|| gate::network_access_at(skill, options.policy, options.env, &tree));
        let network = match network {
            NetworkAccess::Off => "no access",
            NetworkAccess::On => "full access, including this machine and the local network",
            NetworkAccess::ProxyPort(_) => "package indexes only",
            NetworkAccess::Gateway(_) => "the model only",
        };
        rows.push(("network", network.to_owned()));
        let variables = gate::requested_variables(skill, options.policy, options.env, &options.environment);
        let granted: Vec<_> =
            variables.into_iter().filter(|variable| variable.granted).map(|it| it.name).collect();
        if !granted.is_empty() {
            rows.push(("variables", shorten(granted)));
        }
        rows.extend(programs_row(skill, options));
        rows.extend(packages_row(skill, files, script, options));
        Self {
            skill: escape_for_display(&skill.name()).into_owned(),
            location: show(&skill.dir()),
            script: escape_for_display(script).into_owned(),
            rows,
            tree: files.tree.clone(),
        }
    }

    /// Replaces the description of what the script may write.
    #[must_use]
    pub fn with_writes(mut self, text: &str) -> Self {
        for (_, writes) in self.rows.iter_mut().filter(|(title, _)| *title == "writes") {
            text.clone_into(writes);
        }
        self
    }
}

/// Returns the programs that the skill names and that are outside of the system directories.
fn programs_row(skill: &Skill, options: &RunOptions<'_>) -> Option<(&'static str, String)> {
    // If no user can run scripts, the run fails with that error.
    let user = unused_user().ok()?;
    let shown = find_named_programs(skill, options.env, user).shown;
    let show = |(name, path): (String, PathBuf)| {
        let path = short_path(&path, options.env);
        escape_for_display(&format!("{name} ({})", path.display())).into_owned()
    };
    (!shown.is_empty()).then(|| ("programs", shorten(shown.into_iter().map(show).collect())))
}

fn input_names(inputs: &[InputFile]) -> Vec<String> {
    inputs.iter().map(|input| escape_for_display(input.path()).into_owned()).collect()
}

/// Returns the packages that a script uses.
fn packages_row(
    skill: &Skill,
    files: &SkillFiles,
    script: &str,
    options: &RunOptions<'_>,
) -> Option<(&'static str, String)> {
    let escape = |text: &str| escape_for_display(text).into_owned();
    let text = match environment_for_files(skill, files, script, options) {
        Ok(None) => return None,
        Ok(Some(ready)) => {
            let name = |package: &ResolvedPackage| format!("{} {}", package.name, package.version);
            shorten(ready.packages.iter().map(|package| escape(&name(package))).collect())
        }
        Err(RunError::Environment(EnvironmentError::NotBuilt { packages, .. })) => {
            format!("{}: not installed", shorten(packages.iter().map(|name| escape(name)).collect()))
        }
        Err(RunError::Environment(error)) => format!("not available: {error}"),
        // The run fails with this error.
        Err(_) => return None,
    };
    Some(("packages", text))
}

/// The maximum number of names in a row.
const NAMES_MAX: usize = 8;

fn shorten(mut names: Vec<String>) -> String {
    let omitted = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    match omitted {
        0 => names.join(", "),
        _ => format!("{} and {omitted} more", names.join(", ")),
    }
}
