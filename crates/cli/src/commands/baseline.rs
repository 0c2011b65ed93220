//! Baselines: files with the problems that are known, so that only new ones are reported.
//!
//! A problem is identified by its file, its code and a digest of its message, not by its line. It stays known if the file is
//! edited elsewhere. The number of equal problems in a file counts, too.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use prowess_fs::{AtomicFile, SyncPolicy};
use serde::{Deserialize, Serialize};

use crate::args::BaselineArgs;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path, first_few, pluralize};

/// The maximum size of a baseline, in bytes.
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// The number of hexadecimal digits of a digest.
const DIGEST_LENGTH: usize = 16;

/// What a baseline file contains.
#[derive(Debug, Serialize, Deserialize)]
struct BaselineFile {
    schema: u32,
    command: String,
    problems: Vec<KnownProblem>,
}

/// Equal problems in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct KnownProblem {
    /// The file, relative to the directory of the baseline, with `/`.
    path: String,
    code: String,
    digest: String,
    count: usize,
    /// For readers of the file; it is not compared.
    message: String,
}

/// The identity of a problem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ProblemKey {
    path: String,
    code: String,
    digest: String,
}

/// A problem that is compared with a baseline.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundProblem<'a> {
    pub(super) path: &'a Path,
    pub(super) code: &'a str,
    pub(super) message: &'a str,
    /// The text in the file that it is about, if the message does not identify it.
    pub(super) content: &'a str,
}

/// The known problems, and those that were found.
pub(super) struct Baseline {
    path: PathBuf,
    command: &'static str,
    /// The directory of the file. The paths in it are relative to this.
    base: PathBuf,
    /// The known problems that were not found yet.
    missing: BTreeMap<ProblemKey, KnownProblem>,
    /// All problems that were found.
    found: BTreeMap<ProblemKey, KnownProblem>,
    /// The number of problems that are known.
    pub(super) known: usize,
    is_written: bool,
}

impl Baseline {
    /// Reads the baseline of the options, if there is one. It need not exist if it will be written.
    pub(super) fn load(args: &BaselineArgs, command: &'static str) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.baseline else { return Ok(None) };
        let path = std::path::absolute(path)
            .map_err(|_| Failure::usage("the path of --baseline is empty").hint("pass a file"))?;
        let problems = match read_file(&path, command, args.write_baseline)? {
            Some(file) => file.problems,
            None => Vec::new(),
        };
        let missing = problems.into_iter().map(|problem| (problem.key(), problem)).collect();
        let base = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let is_written = args.write_baseline;
        Ok(Some(Self { path, command, base, missing, found: BTreeMap::new(), known: 0, is_written }))
    }

    /// Returns `true` if the file is written instead of compared.
    pub(super) fn is_written(&self) -> bool {
        self.is_written
    }

    /// Records a problem. Returns `true` if it is known.
    pub(super) fn record(&mut self, problem: FoundProblem<'_>) -> bool {
        let key = ProblemKey {
            path: self.relative_path(problem.path),
            code: problem.code.to_owned(),
            digest: digest(problem.message, problem.content),
        };
        let found = self.found.entry(key.clone()).or_insert_with(|| KnownProblem {
            path: key.path.clone(),
            code: key.code.clone(),
            digest: key.digest.clone(),
            count: 0,
            message: clean(stable_message(problem.message)).into_owned(),
        });
        found.count += 1;
        let Some(known) = self.missing.get_mut(&key) else { return false };
        known.count = known.count.saturating_sub(1);
        if known.count == 0 {
            self.missing.remove(&key);
        }
        self.known += 1;
        true
    }

    /// Returns the known problems that no longer occur, in files that were read or do not exist any more.
    pub(super) fn stale(&self, read: &[PathBuf]) -> Vec<&KnownProblem> {
        self.missing.values().filter(|problem| self.is_examined(problem, read)).collect()
    }

    /// Returns `true` for a file in one of the directories that were read, and for one that does not exist.
    fn is_examined(&self, problem: &KnownProblem, read: &[PathBuf]) -> bool {
        let path: PathBuf = normalize(&self.base.join(&problem.path));
        read.iter().any(|dir| path.starts_with(dir)) || !path.exists()
    }

    /// Prints the known problems that no longer occur.
    pub(super) fn print_stale(&self, stale: &[&KnownProblem], output: &mut Output) {
        if stale.is_empty() {
            return;
        }
        let shown = stale.iter().map(|problem| format!("{} in {}", problem.code, clean(&problem.path)));
        output.note(format!(
            "in the baseline, but no longer found: {}; to remove them, add --write-baseline",
            first_few(shown, 5, ", and")
        ));
    }

    /// Writes what was found. Problems in files that were not read stay known.
    pub(super) fn write(mut self, read: &[PathBuf], output: &mut Output) -> Result<(), Failure> {
        let kept: Vec<_> =
            self.missing.values().filter(|problem| !self.is_examined(problem, read)).cloned().collect();
        for problem in kept {
            self.found.entry(problem.key()).or_insert(problem);
        }
        let problems: Vec<_> = self.found.into_values().collect();
        let count = problems.iter().map(|problem| problem.count).sum();
        let file = BaselineFile { schema: 1, command: self.command.to_owned(), problems };
        let mut bytes = serde_json::to_vec_pretty(&file)?;
        bytes.push(b'\n');
        AtomicFile::with_existing_metadata(&self.path, &bytes)
            .and_then(|staged| staged.commit(SyncPolicy::Sync))
            .map_err(|error| {
                let message = format!("cannot write {}: {error}", clean_path(&self.path));
                Failure::from(error).message(message)
            })?;
        output.note(format!("wrote {} with {}", clean_path(&self.path), pluralize(count, "known problem")));
        Ok(())
    }

    /// Returns the value of `baseline` in JSON.
    pub(super) fn to_json(&self, stale: &[&KnownProblem]) -> serde_json::Value {
        serde_json::json!({"path": self.path, "known": self.known, "stale": stale})
    }

    fn relative_path(&self, path: &Path) -> String {
        // Standard input has no path.
        let path = if path.is_absolute() { relative_to(path, &self.base) } else { path.to_owned() };
        path.to_string_lossy().into_owned()
    }
}

impl KnownProblem {
    fn key(&self) -> ProblemKey {
        let (path, code, digest) = (self.path.clone(), self.code.clone(), self.digest.clone());
        ProblemKey { path, code, digest }
    }
}

fn read_file(path: &Path, command: &'static str, is_written: bool) -> Result<Option<BaselineFile>, Failure> {
    let shown = clean_path(path);
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && is_written => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::missing_path(format!("the baseline {shown} does not exist"))
                .hint("to create it, add --write-baseline"));
        }
        Ok(_) | Err(_) => {}
    }
    let invalid = |reason: String| {
        Failure::usage(format!("cannot read the baseline {shown}: {reason}"))
            .hint("to create it again, delete it and add --write-baseline")
    };
    let bytes =
        prowess::read_bounded(path, FILE_MAX).ok_or_else(|| invalid("it is not a file".to_owned()))?;
    let file: BaselineFile = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    if file.command != command {
        let hint = format!("pass another file, such as {command}-baseline.json");
        return Err(
            Failure::usage(format!("{shown} is a baseline of `prowess {}`", clean(&file.command))).hint(hint)
        );
    }
    match file.schema {
        1 => Ok(Some(file)),
        schema => Err(invalid(format!("it has schema {schema}; this version reads schema 1"))),
    }
}

/// Returns the message without the number of omitted problems, which depends on other parts of the file.
fn stable_message(message: &str) -> &str {
    match message.rfind(" (and ") {
        Some(at) if message.ends_with(" more problems)") => message.get(..at).unwrap_or(message),
        _ => message,
    }
}

fn digest(message: &str, content: &str) -> String {
    let text = format!("{}\0{}", stable_message(message), content.trim());
    let digest = prowess::digest(text.as_bytes());
    let digest = digest.strip_prefix("sha256:").unwrap_or(&digest);
    digest.chars().take(DIGEST_LENGTH).collect()
}

/// Returns a path relative to a directory, with `..` if it is not below it.
fn relative_to(path: &Path, base: &Path) -> PathBuf {
    let (path, base) = (normalize(path), normalize(base));
    let mut path_parts = path.components().peekable();
    let mut base_parts = base.components().peekable();
    while let (Some(part), Some(base_part)) = (path_parts.peek(), base_parts.peek())
        && part == base_part
    {
        path_parts.next();
        base_parts.next();
    }
    base_parts.map(|_| Component::ParentDir).chain(path_parts).collect()
}

/// Removes `.` and `..` from a path without reading links.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            component @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => {
                normalized.push(component);
            }
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_baseline() {
        for (path, base, expected) in [
            ("/w/a/SKILL.md", "/w", "a/SKILL.md"),
            ("/w/./a/../b/SKILL.md", "/w", "b/SKILL.md"),
            ("/w/a/SKILL.md", "/w/ci", "../a/SKILL.md"),
            ("/x/SKILL.md", "/w/ci", "../../x/SKILL.md"),
        ] {
            assert_eq!(relative_to(Path::new(path), Path::new(base)), Path::new(expected));
        }
    }

    #[test]
    fn digests_do_not_depend_on_the_number_of_problems() {
        assert_eq!(digest("unknown key a (and 3 more problems)", ""), digest("unknown key a", " "));
        assert_ne!(digest("unknown key a", ""), digest("unknown key b", ""));
        assert_eq!(digest("a", "b").len(), DIGEST_LENGTH);
    }
}
