//! Loads the suppressions of the user and of a trusted project: audit findings that they accept, each with a reason.

use std::path::{Path, PathBuf};

use prowess::trust;
use prowess_package::InstallChecks;
use prowess_package::audit::{Suppressions, Verdict};

use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path};

/// The path of a suppression list, relative to the home directory or the project.
const FILE: &str = ".prowess/audit.toml";

/// The maximum size of a suppression list.
const FILE_MAX: u64 = 256 * 1024;

/// The suppression lists that apply, with their paths.
pub(in crate::commands) struct SuppressionLists(Vec<(PathBuf, Suppressions)>);

impl SuppressionLists {
    /// Reads the lists. An invalid list is a failure, so that it is not silently ignored.
    pub(in crate::commands) fn load(context: &CommandContext, output: &mut Output) -> Result<Self, Failure> {
        let host_env = &context.host_env;
        let mut lists = Vec::new();
        let home = host_env.home.as_ref().map(|home| home.join(FILE));
        if let Some(path) = home.filter(|path| path.exists()) {
            let list = read_list(&path)?;
            lists.push((path, list));
        }
        let path = host_env.project.join(FILE);
        let is_same_file = lists.iter().any(|(loaded, _)| *loaded == path);
        if !is_same_file && path.exists() {
            // A project that is not trusted must not suppress findings in its own skills. The hashes of pinned trust
            // do not cover the list.
            let record = trust::record_for(&host_env.project, host_env).filter(|record| record.trusted);
            let refusal = match record {
                Some(record) if !record.pinned => None,
                Some(_) => Some(
                    "the trust in the project is pinned, which does not cover this file; copy its entries to \
                     ~/.prowess/audit.toml, or trust all later changes of the project: prowess trust",
                ),
                None => Some("the project is not trusted; to trust it: prowess trust"),
            };
            match refusal {
                None => {
                    let list = read_list(&path)?;
                    lists.push((path, list));
                }
                Some(reason) => output.note(format!("{} is ignored because {reason}", clean_path(&path))),
            }
        }
        Ok(Self(lists))
    }

    /// Returns the checks for skills before installation.
    pub(in crate::commands) fn install_checks<'a>(
        &'a self,
        context: &'a CommandContext,
    ) -> InstallChecks<'a> {
        let suppressions = self.0.iter().map(|(_, list)| list).collect();
        InstallChecks { rules: &context.policy().manifest, suppressions }
    }

    /// Marks the suppressed findings of a skill.
    pub(super) fn apply(&self, skill: &str, verdict: &mut Verdict) {
        for (_, list) in &self.0 {
            list.apply(skill, verdict);
        }
    }

    pub(super) fn print_unused(&self, output: &mut Output) {
        for (path, list) in &self.0 {
            for suppression in list.unused() {
                let skill = suppression
                    .skill
                    .as_ref()
                    .map(|skill| format!(" in {}", clean(skill)))
                    .unwrap_or_default();
                output.note(format!(
                    "{}:{}: unused suppression of {}{skill}",
                    clean_path(path),
                    suppression.line,
                    suppression.rule
                ));
            }
        }
    }
}

/// Returns suppressions of the rules that were passed on the command line.
pub(super) fn from_options(rules: &[&str]) -> Result<Suppressions, Failure> {
    let entries =
        rules.iter().map(|rule| format!("[[suppress]]\nrule = \"{rule}\"\nreason = \"--ignore\"\n"));
    Suppressions::parse(&entries.collect::<String>()).map_err(|error| Failure::usage(error.to_string()))
}

fn read_list(path: &Path) -> Result<Suppressions, Failure> {
    let invalid = |reason: String| {
        let hint = "each entry is a [[suppress]] table with rule and reason, and optionally skill and path";
        Failure::usage(format!("{}: {reason}", clean_path(path))).hint(hint)
    };
    let bytes =
        prowess::read_bounded(path, FILE_MAX).ok_or_else(|| invalid("cannot read the file".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| invalid("not valid UTF-8".to_owned()))?;
    Suppressions::parse(&text).map_err(|error| invalid(error.to_string()))
}
