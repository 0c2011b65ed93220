//! The suppressions that count: the user's, and those of a project that the user trusts.

use std::path::{Path, PathBuf};

use prowess::trust;
use prowess_package::Judge;
use prowess_package::audit::{Suppressions, Verdict};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path};

/// Below the home and below the project.
const FILE: &str = ".prowess/audit.toml";

/// The largest file of them.
const FILE_MAX: u64 = 256 * 1024;

/// The files that count.
pub(in crate::commands) struct Lists(Vec<(PathBuf, Suppressions)>);

impl Lists {
    /// Reads them. One that is wrong is a failure: whoever wrote it would think that it counts.
    pub(in crate::commands) fn load(context: &Context, output: &mut Output) -> Result<Self, Failure> {
        let world = &context.surroundings;
        let mut lists = Vec::new();
        let home = world.home.as_ref().map(|home| home.join(FILE));
        if let Some(path) = home.filter(|path| path.exists()) {
            let list = read(&path)?;
            lists.push((path, list));
        }
        let path = world.project.join(FILE);
        let own = lists.iter().any(|(known, _)| *known == path);
        if !own && path.exists() {
            // A project that nobody trusts could vouch for its own skills.
            if trust::record_for(&world.project, world).is_some_and(|record| record.trusted) {
                let list = read(&path)?;
                lists.push((path, list));
            } else {
                output.remark(format!(
                    "{} does not count: the project is not trusted; prowess trust changes that",
                    clean_path(&path)
                ));
            }
        }
        Ok(Self(lists))
    }

    /// What a skill is held against before it is installed.
    pub(in crate::commands) fn judge<'a>(&'a self, context: &'a Context) -> Judge<'a> {
        let suppressions = self.0.iter().map(|(_, list)| list).collect();
        Judge { manifest: &context.policy().manifest, suppressions }
    }

    /// Marks what somebody gave a reason for.
    pub(super) fn apply(&self, skill: &str, verdict: &mut Verdict) {
        for (_, list) in &self.0 {
            list.apply(skill, verdict);
        }
    }

    /// Tells which of them nothing needs any more.
    pub(super) fn tell_unused(&self, output: &mut Output) {
        for (path, list) in &self.0 {
            for one in list.unused() {
                let skill =
                    one.skill.as_ref().map(|skill| format!(" in {}", clean(skill))).unwrap_or_default();
                output.remark(format!(
                    "{}:{}: nothing needs the suppression of {}{skill} any more",
                    clean_path(path),
                    one.line,
                    one.rule
                ));
            }
        }
    }
}

fn read(path: &Path) -> Result<Suppressions, Failure> {
    let wrong = |why: String| {
        let hint =
            "every entry is [[suppress]] with rule and reason, and skill and path where it is for one only";
        Failure::call(format!("{}: {why}", clean_path(path))).hint(hint)
    };
    let bytes = prowess::read_bounded(path, FILE_MAX).ok_or_else(|| wrong("it cannot be read".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Suppressions::parse(&text).map_err(|error| wrong(error.to_string()))
}
