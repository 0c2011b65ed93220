//! From the policy's roots to directories that exist.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Places;
use crate::policy::{Ancestors, Policy, RootPlace, RootSpec, Scope};
use crate::skill::Root;
use crate::surroundings::Surroundings;
use prowess_fs::Errno;

/// Why a root of the policy is not scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootProblem {
    /// It does not exist. Quite normal.
    Missing,
    /// It cannot be opened.
    Unreadable(String),
    /// It is not a directory.
    NotAFolder,
    /// A project's link that leads out of the project.
    Outside(PathBuf),
    /// There is no home for its `~`.
    NoHome,
}

/// The roots that are there, the one that wins first, and those that are not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Roots {
    pub(crate) present: Vec<Arc<Root>>,
    pub(crate) absent: Vec<(PathBuf, RootProblem, bool)>,
}

/// Looks for the policy's roots. `known` are the places besides the roots that links may lead to.
pub(crate) fn resolve(policy: &Policy, world: &Surroundings, known: &Places) -> Roots {
    let mut roots = Roots::default();
    let candidates = candidates(policy, world);
    let fence = world.git_root().unwrap_or(&world.project);
    let fence = std::fs::canonicalize(fence).unwrap_or_else(|_| fence.to_owned());
    let (homes, direct) = claims(&candidates);
    for Candidate { path, spec, base } in candidates {
        if spec.place == RootPlace::Embedded {
            roots.present.push(Arc::new(Root::embedded()));
            continue;
        }
        let Some(path) = path else {
            roots.absent.push((spec.to_string().into(), RootProblem::NoHome, spec.given));
            continue;
        };
        match open(&path) {
            Err(problem) => roots.absent.push((path, problem, spec.given)),
            // In the home itself, the project's `.agents/skills` and the user's are one; the user's own counts.
            Ok(canonical) if base.is_some() && homes.contains(&canonical) => {}
            // A link to another root must not take that one's place: whether it is trusted is judged where it is.
            Ok(canonical)
                if base.as_ref().is_some_and(|base| !is_direct(base, &spec, &canonical))
                    && direct.contains(&canonical) => {}
            Ok(canonical) if roots.present.iter().any(|root| *root.canonical() == canonical) => {}
            Ok(canonical) => {
                let inside = canonical.starts_with(&fence) || known.hold(&canonical);
                if base.is_some() && !spec.given && !inside {
                    roots.absent.push((path, RootProblem::Outside(canonical), false));
                    continue;
                }
                let base = base.filter(|_| !spec.given && spec.scope == Scope::Project);
                roots.present.push(Arc::new(Root::folder(path, canonical, spec.scope, base)));
            }
        }
    }
    roots
}

/// The directories that are the user's own, and those of projects that no link leads to, without links.
fn claims(candidates: &[Candidate]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut homes, mut direct) = (Vec::new(), Vec::new());
    for Candidate { path, spec, base } in candidates {
        let Some(canonical) = path.as_ref().and_then(|path| std::fs::canonicalize(path).ok()) else {
            continue;
        };
        match base {
            None => homes.push(canonical),
            Some(base) if is_direct(base, spec, &canonical) => direct.push(canonical),
            Some(_) => {}
        }
    }
    (homes, direct)
}

/// Whether a project's directory lies where it is written, and not behind a link.
fn is_direct(base: &Path, spec: &RootSpec, canonical: &Path) -> bool {
    std::fs::canonicalize(base).is_ok_and(|base| base.join(spec.path()) == canonical)
}

fn open(path: &Path) -> Result<PathBuf, RootProblem> {
    let problem = |error: std::io::Error| match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if path.is_symlink() => {
            RootProblem::Unreadable("the link leads nowhere".to_owned())
        }
        Some(Errno::NOENT | Errno::NOTDIR) => RootProblem::Missing,
        Some(Errno::LOOP) => RootProblem::Unreadable("the link leads back to itself".to_owned()),
        _ => RootProblem::Unreadable(error.kind().to_string()),
    };
    let canonical = std::fs::canonicalize(path).map_err(problem)?;
    if !std::fs::metadata(&canonical).map_err(problem)?.is_dir() {
        return Err(RootProblem::NotAFolder);
    }
    Ok(canonical)
}

struct Candidate {
    /// `None` where there is no home.
    path: Option<PathBuf>,
    spec: RootSpec,
    /// The project folder it lies in.
    base: Option<PathBuf>,
}

/// Each root as a path, in order. Consecutive project roots are looked for folder by folder, nearest first.
fn candidates(policy: &Policy, world: &Surroundings) -> Vec<Candidate> {
    let folders: Vec<&Path> = match (policy.scan.ancestors, world.git_root()) {
        (Ancestors::GitRoot, Some(top)) => {
            world.project.ancestors().take_while(|folder| folder.starts_with(top)).collect()
        }
        (Ancestors::GitRoot | Ancestors::None, _) => vec![&world.project],
    };
    let mut candidates = Vec::new();
    let mut specs = policy.scan.roots.as_slice();
    while let Some((spec, rest)) = specs.split_first() {
        let in_project = |spec: &RootSpec| matches!(spec.place, RootPlace::Project(_));
        if in_project(spec) {
            let (run, rest) = specs.split_at(specs.iter().take_while(|spec| in_project(spec)).count());
            for folder in &folders {
                candidates.extend(run.iter().map(|spec| Candidate {
                    path: Some(folder.join(spec.path())),
                    spec: spec.clone(),
                    base: Some(folder.to_path_buf()),
                }));
            }
            specs = rest;
            continue;
        }
        let path = match &spec.place {
            RootPlace::Embedded => Some(PathBuf::new()),
            RootPlace::Home(path) => world.home.as_ref().map(|home| home.join(path)),
            RootPlace::Absolute(path) | RootPlace::Project(path) => Some(world.project.join(path)),
        };
        candidates.push(Candidate { path, spec: spec.clone(), base: None });
        specs = rest;
    }
    candidates
}
