//! Checks skill directories, `SKILL.md` files and whole trees.
//!
//! Unlike discovery, a check reads whole files including the body, and searches everything below a path. It is
//! for authors of skills.

mod clients;
mod passed_over;
mod tree;

use std::path::{Path, PathBuf};

use prowess_format::dialects::{Client, SkillFile};
use prowess_format::{Code, Diagnostic, Manifest, ParseOutcome, Rules, parse};
use prowess_fs::{Dir, ReadError, describe_errno};

pub use passed_over::{PassedOverReason, PassedOverSkill, find_passed_over};

use crate::FileDiagnostic;
use crate::discovery::{ManifestRead, ScanProgress, read_error_diagnostic};
use crate::skill::SKILL_MD_MAX;
use tree::{LinkPolicy, SearchResult, TreeChecker};

/// A checked skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSkill {
    /// Its `SKILL.md`, or its directory if there is none.
    pub path: PathBuf,
    /// Its name, if it could be read.
    pub name: Option<String>,
    /// The diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// What the requested clients do with it. These do not affect whether it is valid.
    pub client_diagnostics: Vec<FileDiagnostic>,
    /// The toolsets listed in its frontmatter; empty if the skill is invalid.
    pub toolsets: Vec<Box<str>>,
}

impl CheckedSkill {
    /// Returns the result for a path without a valid skill.
    fn failed(path: PathBuf, diagnostic: Diagnostic) -> Self {
        let client_diagnostics = Vec::new();
        Self { path, name: None, diagnostics: vec![diagnostic], client_diagnostics, toolsets: Vec::new() }
    }

    fn new(path: PathBuf, manifest: Option<&Manifest>, diagnostics: Vec<Diagnostic>) -> Self {
        let name = manifest.map(|manifest| manifest.name().to_string());
        let toolsets = manifest.map_or_else(Vec::new, |manifest| manifest.toolsets().to_vec());
        Self { path, name, diagnostics, client_diagnostics: Vec::new(), toolsets }
    }

    /// Returns `true` if the skill loads under the rules.
    pub fn is_valid(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The reason why a path could not be checked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// It is a file that is not a `SKILL.md`.
    #[error("{} is not a SKILL.md", .0.display())]
    NotASkill(PathBuf),
}

/// Checks a skill directory, a `SKILL.md`, or every skill in a tree.
///
/// ```
/// use prowess::check::check;
/// use prowess::format::Rules;
///
/// let tree = tempfile::tempdir().unwrap();
/// std::fs::create_dir(tree.path().join("pdf")).unwrap();
/// std::fs::write(tree.path().join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nDo it.").unwrap();
/// let checked = check(tree.path(), &Rules::strict(), &Default::default()).unwrap();
/// assert!(checked[0].is_valid());
/// ```
pub fn check(path: &Path, rules: &Rules, progress: &ScanProgress) -> Result<Vec<CheckedSkill>, CheckError> {
    check_tree(path, rules, &[], progress).map(|tree| tree.checked)
}

/// The skills of a tree, and the directories that were not searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckedTree {
    /// The skills, sorted by path.
    pub checked: Vec<CheckedSkill>,
    /// Dependency directories and symlinks to directories, sorted by path.
    pub skipped_dirs: Vec<PathBuf>,
    /// Directories with a `SKILL.md` inside another skill, sorted by path. They belong to that skill: no
    /// command lists or installs them. [`find_skills`] does not look for them.
    pub nested: Vec<PathBuf>,
}

/// Checks everything that [`check`] checks, and also returns the directories that were not searched.
///
/// The search finds every skill that `install --all` and `list` would find. It includes hidden directories and
/// build output, but not [dependency directories and `.git`](is_skipped_dir).
///
/// For each of `clients`, [`CheckedSkill::client_diagnostics`] has what that client ignores, cuts or refuses.
pub fn check_tree(
    path: &Path,
    rules: &Rules,
    clients: &[Client],
    progress: &ScanProgress,
) -> Result<CheckedTree, CheckError> {
    search(path, CheckOptions { rules, clients, with_advice: true }, progress)
}

/// Finds the skills that [`check_tree`] checks and reads only their frontmatter, without recommendations.
pub fn find_skills(path: &Path, rules: &Rules, progress: &ScanProgress) -> Result<CheckedTree, CheckError> {
    search(path, CheckOptions { rules, clients: &[], with_advice: false }, progress)
}

/// How skills are checked.
#[derive(Clone, Copy)]
struct CheckOptions<'a> {
    rules: &'a Rules,
    clients: &'a [Client],
    /// Whether to read bodies and add recommendations.
    with_advice: bool,
}

fn search(
    path: &Path,
    options: CheckOptions<'_>,
    progress: &ScanProgress,
) -> Result<CheckedTree, CheckError> {
    let path = &std::path::absolute(path).map_err(|_| CheckError::Missing(path.to_owned()))?;
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => CheckError::Missing(path.clone()),
        kind => CheckError::Unreadable { path: path.clone(), reason: kind.to_string() },
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_dir() {
        let name = path.file_name().unwrap_or_default();
        if !name.eq_ignore_ascii_case("SKILL.md") {
            return Err(CheckError::NotASkill(path.clone()));
        }
        let root = open_dir(path.parent().unwrap_or(Path::new("/")))?;
        let checker = TreeChecker { options, root, links: LinkPolicy::Followed };
        let checked = vec![checker.skill(Path::new("."), name)];
        return Ok(CheckedTree { checked, ..CheckedTree::default() });
    }
    let links = LinkPolicy::Within(std::fs::canonicalize(path).map_err(unreadable)?);
    let checker = TreeChecker { options, root: open_dir(path)?, links };
    let SearchResult { mut checked, failed, mut skipped, mut nested } = checker.search(progress);
    let failed = failed.into_iter();
    checked.extend(
        failed.map(|(inner, diagnostic)| CheckedSkill::failed(normalize(&path.join(inner)), diagnostic)),
    );
    if checked.is_empty() {
        // A directory that was passed explicitly should contain a skill.
        let diagnostic = Diagnostic::error(Code::MissingFile, "there is no SKILL.md in this directory");
        let diagnostic = diagnostic.help("create one: prowess new NAME --description TEXT");
        checked.push(CheckedSkill::failed(path.clone(), diagnostic));
    }
    for paths in [&mut skipped, &mut nested] {
        paths.iter_mut().for_each(|inner| *inner = normalize(&path.join(&*inner)));
        paths.sort();
    }
    Ok(CheckedTree { checked, skipped_dirs: skipped, nested })
}

/// Returns `true` for the names of directories that no command searches for skills: `.git`, and copies of
/// published packages.
pub fn is_skipped_dir(name: &[u8]) -> bool {
    matches!(name, b".git" | b"node_modules" | b"__MACOSX")
}

/// Checks the bytes of a `SKILL.md` without a directory, such as standard input. `path` is only used for
/// display.
///
/// ```
/// use prowess::check::check_source;
/// use prowess::format::Rules;
///
/// let checked = check_source("<stdin>".as_ref(), b"---\nname: pdf\n---\nDo it.", &Rules::strict(), &[]);
/// assert!(!checked.is_valid());
/// ```
pub fn check_source(path: &Path, source: &[u8], rules: &Rules, clients: &[Client]) -> CheckedSkill {
    let options = CheckOptions { rules, clients, with_advice: true };
    // Assume that all files exist, since there is no directory.
    check_text_without_dir(path, source, None, |_| true, options)
}

/// Checks the text of a `SKILL.md` that is open in an editor, as [`check`] would check it once it is saved at `path`. Its
/// directory need not exist yet.
///
/// ```
/// use prowess::check::check_edited;
/// use prowess::format::Rules;
///
/// let dir = tempfile::tempdir().unwrap();
/// let source = b"---\nname: pdf\ndescription: Use for PDF.\n---\nRun scripts/x.py.";
/// let checked = check_edited(&dir.path().join("pdf/SKILL.md"), source, &Rules::standard(), &[]);
/// assert_eq!(checked.diagnostics[0].code.as_str(), "SK063");
/// ```
pub fn check_edited(path: &Path, source: &[u8], rules: &Rules, clients: &[Client]) -> CheckedSkill {
    if source.len() as u64 > SKILL_MD_MAX {
        let diagnostic = read_error_diagnostic(ReadError::TooLarge(source.len() as u64));
        return CheckedSkill::failed(path.to_owned(), diagnostic);
    }
    let options = CheckOptions { rules, clients, with_advice: true };
    let (dir, name) = (path.parent().unwrap_or(Path::new("/")), path.file_name().unwrap_or_default());
    match Dir::open(dir) {
        Ok(root) => TreeChecker { options, root, links: LinkPolicy::Followed }.check_text(name, source),
        Err(_) => {
            let dir_name = dir.file_name().and_then(|name| name.to_str());
            check_text_without_dir(path, source, dir_name, |_| false, options)
        }
    }
}

/// Checks a text of which only the name of the directory may be known.
fn check_text_without_dir(
    path: &Path,
    source: &[u8],
    dir_name: Option<&str>,
    exists: impl Fn(&Path) -> bool,
    options: CheckOptions<'_>,
) -> CheckedSkill {
    let mut parsed = parse(source, dir_name, options.rules);
    add_advice(&mut parsed, source, exists);
    let read = ManifestRead::from(parsed);
    let file = SkillFile { source, file_name: None, dir_name, depth: None, hidden_by_openai_yaml: false };
    let client_diagnostics = clients::check_clients(options.clients, path, &file);
    CheckedSkill {
        client_diagnostics,
        ..CheckedSkill::new(path.to_owned(), read.manifest.as_ref(), read.diagnostics)
    }
}

/// Adds recommendations and problems with references, which go beyond the rules.
fn add_advice(parsed: &mut ParseOutcome, source: &[u8], exists: impl Fn(&Path) -> bool) {
    let body = parsed.document.as_ref().map_or(source.len(), |document| document.body as usize);
    if let Some(document) = &parsed.document {
        parsed.diagnostics.extend(crate::advice::advise(document, source));
    }
    parsed.diagnostics.extend(crate::references::check_references(source, body, exists));
    parsed.diagnostics.extend(crate::inline_references::check_inline_references(source, body));
}

fn open_dir(path: &Path) -> Result<Dir, CheckError> {
    Dir::open(path)
        .map_err(|error| CheckError::Unreadable { path: path.to_owned(), reason: describe_errno(error) })
}

/// Removes the `.` that a relative walk leaves in a path.
fn normalize(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, std::path::Component::CurDir)).collect()
}
