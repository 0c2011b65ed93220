//! Resolves the configured roots to existing directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::KnownDirs;
use crate::host_env::HostEnv;
use crate::policy::{AncestorSearch, Policy, RootLocation, RootSpec, Scope};
use crate::skill::{CommandDialect, Root};
use prowess_format::KnownKeys;
use prowess_fs::Errno;

/// The directories of skills of Claude Code and Codex, and those of their custom commands.
const CLAUDE_SKILLS: &str = ".claude/skills";
const CLAUDE_COMMANDS: &str = ".claude/commands";
const CODEX_SKILLS: &str = ".agents/skills";
const CODEX_PROMPTS: &str = ".codex/prompts";

/// The reason why a configured root is not scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootProblem {
    /// It does not exist, which is common.
    Missing,
    /// It cannot be opened.
    Unreadable(String),
    /// It is not a directory.
    NotADirectory,
    /// It is a project's symlink to outside the project.
    Outside(PathBuf),
    /// Its path begins with `~`, but there is no home directory.
    NoHome,
}

/// The existing roots in order of precedence, and those that are not scanned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ResolvedRoots {
    pub(crate) present: Vec<Arc<Root>>,
    pub(crate) absent: Vec<(PathBuf, RootProblem, bool)>,
}

/// Resolves the configured roots. `known_dirs` are the directories, besides the roots, that symlinks may point to.
pub(crate) fn resolve_roots(policy: &Policy, host: &HostEnv, known_dirs: &KnownDirs) -> ResolvedRoots {
    let mut roots = ResolvedRoots::default();
    let candidates = candidates(policy, host);
    let boundary = host.git_root().unwrap_or(&host.project);
    let boundary = std::fs::canonicalize(boundary).unwrap_or_else(|_| boundary.to_owned());
    let (user_dirs, direct) = existing_dirs(&candidates);
    for RootCandidate { path, spec, base, commands } in candidates {
        if spec.location == RootLocation::Embedded {
            roots.present.push(Arc::new(Root::embedded()));
            continue;
        }
        let Some(path) = path else {
            roots.absent.push((spec.to_string().into(), RootProblem::NoHome, spec.is_explicit));
            continue;
        };
        match canonicalize_root(&path) {
            // Few people have custom commands.
            Err(RootProblem::Missing) if commands.is_some() => {}
            Err(problem) => roots.absent.push((path, problem, spec.is_explicit)),
            // In the home directory, the project's `.agents/skills` and the user's are the same; it counts as
            // the user's.
            Ok(canonical) if base.is_some() && user_dirs.contains(&canonical) => {}
            // A symlink to another root must not replace that root, whose trust is decided at its own location.
            Ok(canonical)
                if base.as_ref().is_some_and(|base| !is_direct(base, &spec, &canonical))
                    && direct.contains(&canonical) => {}
            Ok(canonical) if roots.present.iter().any(|root| *root.canonical() == canonical) => {}
            Ok(canonical) => {
                let inside = canonical.starts_with(&boundary) || known_dirs.contain(&canonical);
                if base.is_some() && !spec.is_explicit && !inside {
                    roots.absent.push((path, RootProblem::Outside(canonical), false));
                    continue;
                }
                let base = base.filter(|_| !spec.is_explicit && spec.scope == Scope::Project);
                let root = Root::dir(path, canonical, spec.scope, base);
                roots.present.push(Arc::new(match commands {
                    Some(dialect) => root.with_commands(dialect),
                    None => root,
                }));
            }
        }
    }
    roots
}

/// Returns the canonical paths of the user's directories, and of the project directories that are not behind a
/// symlink.
fn existing_dirs(candidates: &[RootCandidate]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut user_dirs, mut direct) = (Vec::new(), Vec::new());
    for RootCandidate { path, spec, base, .. } in candidates {
        let Some(canonical) = path.as_ref().and_then(|path| std::fs::canonicalize(path).ok()) else {
            continue;
        };
        match base {
            None => user_dirs.push(canonical),
            Some(base) if is_direct(base, spec, &canonical) => direct.push(canonical),
            Some(_) => {}
        }
    }
    (user_dirs, direct)
}

/// Returns `true` if a project's root is not behind a symlink.
fn is_direct(base: &Path, spec: &RootSpec, canonical: &Path) -> bool {
    std::fs::canonicalize(base).is_ok_and(|base| base.join(spec.path()) == canonical)
}

fn canonicalize_root(path: &Path) -> Result<PathBuf, RootProblem> {
    let problem = |error: std::io::Error| match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if path.is_symlink() => RootProblem::Unreadable("broken symlink".to_owned()),
        Some(Errno::NOENT | Errno::NOTDIR) => RootProblem::Missing,
        Some(Errno::LOOP) => RootProblem::Unreadable("symlink loop".to_owned()),
        _ => RootProblem::Unreadable(error.kind().to_string()),
    };
    let canonical = std::fs::canonicalize(path).map_err(problem)?;
    if !std::fs::metadata(&canonical).map_err(problem)?.is_dir() {
        return Err(RootProblem::NotADirectory);
    }
    Ok(canonical)
}

struct RootCandidate {
    /// `None` if there is no home directory.
    path: Option<PathBuf>,
    spec: RootSpec,
    /// The project directory that contains it.
    base: Option<PathBuf>,
    /// The client whose custom commands it holds.
    commands: Option<CommandDialect>,
}

/// Returns the path of each root, in order. For consecutive project roots, all of them are tried in one
/// directory before its parent, nearest first.
fn candidates(policy: &Policy, host: &HostEnv) -> Vec<RootCandidate> {
    let dirs: Vec<&Path> = match (policy.scan.ancestors, host.git_root()) {
        (AncestorSearch::GitRoot, Some(top)) => {
            host.project.ancestors().take_while(|dir| dir.starts_with(top)).collect()
        }
        (AncestorSearch::GitRoot | AncestorSearch::None, _) => vec![&host.project],
    };
    let mut candidates = Vec::new();
    let mut specs = policy.scan.roots.as_slice();
    while let Some((spec, rest)) = specs.split_first() {
        let in_project = |spec: &RootSpec| matches!(spec.location, RootLocation::Project(_));
        if in_project(spec) {
            let (run, rest) = specs.split_at(specs.iter().take_while(|spec| in_project(spec)).count());
            for dir in &dirs {
                candidates.extend(run.iter().map(|spec| RootCandidate {
                    path: Some(dir.join(spec.path())),
                    spec: spec.clone(),
                    base: Some(dir.to_path_buf()),
                    commands: None,
                }));
            }
            specs = rest;
            continue;
        }
        let path = match &spec.location {
            RootLocation::Embedded => Some(PathBuf::new()),
            RootLocation::Home(path) => host.home.as_ref().map(|home| home.join(path)),
            RootLocation::Absolute(path) | RootLocation::Project(path) => Some(host.project.join(path)),
        };
        candidates.push(RootCandidate { path, spec: spec.clone(), base: None, commands: None });
        specs = rest;
    }
    if policy.manifest.known_keys == KnownKeys::All {
        candidates.extend(command_candidates(policy, host, &dirs));
    }
    candidates
}

/// Returns the directories of custom commands beside the configured directories of skills, after all of these: a skill of the
/// same name takes precedence.
fn command_candidates(policy: &Policy, host: &HostEnv, dirs: &[&Path]) -> Vec<RootCandidate> {
    let candidate = |location: RootLocation, path: PathBuf, base: Option<&Path>, dialect| {
        let scope = if base.is_some() { Scope::Project } else { Scope::User };
        let spec = RootSpec { scope, location, is_explicit: false };
        RootCandidate { path: Some(path), spec, base: base.map(Path::to_owned), commands: Some(dialect) }
    };
    let mut candidates = Vec::new();
    for spec in policy.scan.roots.iter().filter(|spec| !spec.is_explicit) {
        match (&spec.location, &host.home) {
            (RootLocation::Project(path), _) if path == Path::new(CLAUDE_SKILLS) => {
                let location = || RootLocation::Project(CLAUDE_COMMANDS.into());
                let in_dir = |dir: &&Path| {
                    candidate(location(), dir.join(CLAUDE_COMMANDS), Some(dir), CommandDialect::ClaudeCode)
                };
                candidates.extend(dirs.iter().map(in_dir));
            }
            (RootLocation::Home(path), Some(home)) if path == Path::new(CLAUDE_SKILLS) => {
                let location = RootLocation::Home(CLAUDE_COMMANDS.into());
                let path = home.join(CLAUDE_COMMANDS);
                candidates.push(candidate(location, path, None, CommandDialect::ClaudeCode));
            }
            (RootLocation::Home(path), Some(home)) if path == Path::new(CODEX_SKILLS) => {
                let location = RootLocation::Home(CODEX_PROMPTS.into());
                candidates.push(candidate(location, home.join(CODEX_PROMPTS), None, CommandDialect::Codex));
            }
            _ => {}
        }
    }
    candidates
}
