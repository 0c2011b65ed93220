//! From a policy to snapshots: scan the roots, decide which copies count, and notice changes.

mod commands;
mod lookalike;
mod resolve;
mod snapshot;
mod verification;
#[cfg(feature = "watch")]
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use prowess_format::{Code, Diagnostic};

pub use snapshot::{AbsentRoot, Difference, Snapshot};
#[cfg(feature = "watch")]
pub use watch::{WatchError, Watcher};

use crate::located::Located;
use crate::lock::{Book, Compared, Integrity};
use crate::policy::{Policy, Preset, ProjectTrust};
use crate::scan::{self, Places, Progress, RootProblem, RootScan, Roots, SupplyScan};
pub use crate::skill::{Disabled, Modified, Shadowed, Skill, Status, Untrusted};
use crate::skill::{Found, Root, Verify};
use crate::supply::Supply;
use crate::supply::approvals::{self, Approvals, Standing};
use crate::surroundings::Surroundings;
use crate::trust_store::{Gate, Repositories, Trust};
use commands::Commands;
use resolve::Circumstances;
use verification::Verification;

/// Finds skills and keeps what it found up to date.
///
/// Opening never fails because of what is on disk: a bad skill, a missing directory or an unreadable one is said in the
/// snapshot and hides nothing else.
#[derive(Debug)]
pub struct Registry {
    policy: Policy,
    surroundings: Surroundings,
    supplies: Vec<Arc<dyn Supply>>,
    current: RwLock<Arc<Snapshot>>,
    /// What the last scan saw. Held while scanning: two refreshes at once would do the same work twice.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    scans: Vec<RootScan>,
    supplied: Vec<SupplyScan>,
    approvals: Approvals,
    roots: Roots,
    places: Places,
    trust: Trust,
    /// The commands that skills need and whether they were there.
    commands: Vec<(String, bool)>,
    /// Whether trust was a matter of all files of a skill, which are not looked at otherwise.
    pinned: bool,
    /// Where a `.git` was looked for: trust ends there.
    repositories: Repositories,
    /// The locks, and the files of the skills that they name.
    compared: Compared,
}

/// The process has no current directory.
#[derive(Debug, thiserror::Error)]
#[error("the current directory cannot be found")]
pub struct OpenError(#[from] std::io::Error);

impl Registry {
    /// Opens a registry on the current directory, `HOME` and `PATH` of the process.
    pub fn open(policy: Policy) -> Result<Self, OpenError> {
        Ok(Self::open_in(policy, Surroundings::of_process()?, &Progress::default()))
    }

    /// Opens a registry on a given world.
    pub fn open_in(policy: Policy, surroundings: Surroundings, progress: &Progress) -> Self {
        Self::open_with(policy, surroundings, Vec::new(), progress)
    }

    /// Opens a registry on a given world, with skills from servers besides. They count least.
    pub fn open_with(
        policy: Policy,
        surroundings: Surroundings,
        supplies: Vec<Arc<dyn Supply>>,
        progress: &Progress,
    ) -> Self {
        let (seen, snapshot) = Seen::default().scan(&policy, &surroundings, &supplies, progress);
        let (current, seen) = (RwLock::new(Arc::new(snapshot)), Mutex::new(seen));
        Self { policy, surroundings, supplies, current, seen }
    }

    /// The servers that it takes skills from.
    pub fn supplies(&self) -> &[Arc<dyn Supply>] {
        &self.supplies
    }

    /// Whether servers offer something else than when they were last looked at.
    #[cfg(feature = "watch")]
    fn is_offered_otherwise(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        !seen.supplied.iter().all(SupplyScan::is_unchanged)
    }

    /// What it was opened with.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The world it looks at.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// All skills as they were last seen. Costs nothing.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks again and reads what changed. The same snapshot comes back if nothing did.
    pub fn refresh(&self) -> Arc<Snapshot> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_unchanged(&self.policy, &self.surroundings) {
            return self.snapshot();
        }
        let (now, snapshot) = std::mem::take(&mut *seen).scan(
            &self.policy,
            &self.surroundings,
            &self.supplies,
            &Progress::default(),
        );
        *seen = now;
        let current = self.snapshot();
        if *current == snapshot {
            return current;
        }
        let snapshot = Arc::new(snapshot);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot);
        snapshot
    }
}

impl Seen {
    fn is_unchanged(&self, policy: &Policy, world: &Surroundings) -> bool {
        let Lookout { places, roots, trust, .. } = Lookout::new(policy, world);
        let commands = Commands::new(&world.path);
        trust.same_state(&self.trust)
            && !self.pinned
            && self.repositories.is_unchanged()
            && self.compared.is_unchanged()
            && places == self.places
            && roots == self.roots
            && self.commands.iter().all(|(name, was)| commands.has(name) == *was)
            && self.scans.iter().all(RootScan::is_unchanged)
            && (self.supplied.is_empty() || Approvals::load(world) == self.approvals)
            && self.supplied.iter().all(SupplyScan::is_unchanged)
    }

    fn scan(
        self,
        policy: &Policy,
        world: &Surroundings,
        supplies: &[Arc<dyn Supply>],
        progress: &Progress,
    ) -> (Self, Snapshot) {
        let Lookout { places, links, roots, trust } = Lookout::new(policy, world);
        let doors = places.doors();
        let settings =
            scan::Settings { scan: &policy.scan, rules: &policy.manifest, doors: &doors, progress };
        let present: &[Arc<Root>] = if policy.enabled { &roots.present } else { &[] };
        let scans: Vec<RootScan> = present
            .iter()
            .map(|root| scan::walk(root, &settings, self.scans.iter().find(|scan| scan.root == *root)))
            .collect();
        let commands = Commands::new(&world.path);
        let gate = (policy.trust == ProjectTrust::Required).then(|| Gate::new(&trust, present, &links));
        let book = Book::new(world);
        let integrity = Integrity::new(&book, present, world);
        let verify: Arc<dyn Verify> = Arc::new(Verification::new(book, supplies));
        let circumstances = World { gate: gate.as_ref(), commands: &commands, verify, integrity: &integrity };
        let (supplied, approvals) =
            take(if policy.enabled { supplies } else { &[] }, &policy.manifest, world);
        let found: Vec<&[Arc<Found>]> = scans
            .iter()
            .map(|scan| scan.found.as_slice())
            .chain(supplied.iter().map(|scan| scan.found.as_slice()))
            .collect();
        let (skills, said) = resolve::resolve(&found, policy, &circumstances);
        let mut diagnostics = root_diagnostics(policy, &roots, &trust);
        diagnostics.extend(scans.iter().flat_map(|scan| scan.diagnostics.iter().cloned()));
        diagnostics.extend(approvals.problem().cloned());
        diagnostics.extend(supplied.iter().flat_map(|scan| scan.diagnostics.iter().cloned()));
        diagnostics.extend(said);
        let absent = roots
            .absent
            .iter()
            .map(|(path, problem, _)| AbsentRoot { path: path.clone(), problem: problem.clone() })
            .collect();
        let present: Vec<_> =
            present.iter().chain(supplied.iter().map(|scan| &scan.root)).map(Arc::clone).collect();
        let mut snapshot = Snapshot::new(skills, policy.scan.identity, present, absent, diagnostics);
        snapshot.passed_over = scans.iter().flat_map(|scan| scan.passed_over.iter().cloned()).collect();
        let (pinned, repositories) = gate.map(Gate::finish).unwrap_or_default();
        let commands = commands.into_known();
        let compared = integrity.finish();
        let seen = Self {
            scans,
            supplied,
            approvals,
            roots,
            places,
            trust,
            commands,
            pinned,
            repositories,
            compared,
        };
        (seen, snapshot)
    }
}

/// What servers offer. Where that is not what the user approved, the approval is over, and that is written down: what
/// changes back was still changed.
fn take(
    supplies: &[Arc<dyn Supply>],
    rules: &prowess_format::Rules,
    world: &Surroundings,
) -> (Vec<SupplyScan>, Approvals) {
    if supplies.is_empty() {
        return Default::default();
    }
    // What is offered is asked for first: meanwhile the user may approve something.
    supplies.iter().for_each(|supply| drop(supply.offering()));
    let approvals = Approvals::load(world);
    let scans: Vec<_> = supplies.iter().map(|supply| scan::supplied(supply, rules, &approvals)).collect();
    let found = scans.iter().flat_map(|scan| &scan.found);
    let changed = found.filter_map(|found| {
        let supplied = found.supplied()?;
        let known = approvals.of(supplied.label(), &supplied.offered().uri)?;
        let over = supplied.standing() == Standing::Changed && !known.revoked;
        over.then(|| (known.server.clone(), known.uri.clone()))
    });
    let changed: Vec<_> = changed.collect();
    if changed.is_empty() {
        return (scans, approvals);
    }
    // Where it cannot be written down, it is over for as long as the other files are offered.
    let _ = approvals::revoke(&changed, world);
    (scans, Approvals::load(world))
}

/// What is looked at before any skill is.
struct Lookout {
    /// Where links may lead.
    places: Places,
    /// Those of them that the configuration names.
    links: Vec<PathBuf>,
    /// The roots that are there.
    roots: Roots,
    /// Whom the user trusts.
    trust: Trust,
}

impl Lookout {
    fn new(policy: &Policy, world: &Surroundings) -> Self {
        let trust = Trust::load(world);
        let home = |path: &PathBuf| match (path.strip_prefix("~"), &world.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => world.project.join(path),
        };
        let canonical = |path: PathBuf| std::fs::canonicalize(path).ok();
        let links: Vec<PathBuf> = policy.scan.links.iter().map(home).filter_map(canonical).collect();
        let elsewhere: Vec<PathBuf> =
            links.iter().cloned().chain(trust.folders().filter_map(canonical)).collect();
        let roots = scan::resolve(policy, world, &Places::new(elsewhere.clone()));
        let present = roots.present.iter().filter(|root| !root.is_embedded());
        let places =
            Places::new(elsewhere.into_iter().chain(present.map(|root| root.canonical().to_owned())));
        Self { places, links, roots, trust }
    }
}

fn root_diagnostics(policy: &Policy, roots: &Roots, trust: &Trust) -> Vec<Located> {
    let mut said: Vec<Located> = trust.problem().cloned().into_iter().collect();
    if !policy.enabled {
        return said;
    }
    for (path, problem, given) in &roots.absent {
        let (code, message) = match problem {
            // Most of the roots of a preset do not exist on most machines; only where somebody named it, it matters.
            RootProblem::Missing if *given || policy.preset == Preset::Chat => {
                (Code::RootMissing, "the directory does not exist".to_owned())
            }
            RootProblem::Missing | RootProblem::NoHome => continue,
            RootProblem::Unreadable(why) => {
                (Code::DirectoryUnreadable, format!("the directory cannot be read: {why}"))
            }
            RootProblem::NotAFolder => (Code::DirectoryUnreadable, "this is not a directory".to_owned()),
            RootProblem::Outside(target) => (
                Code::LinkOutside,
                format!("the directory is a link that leads out of the project, to {}", target.display()),
            ),
        };
        let diagnostic = Diagnostic::warning(code, message);
        let help = match problem {
            RootProblem::Outside(target) => {
                format!("if you know that folder: prowess trust {}", crate::shell::quote_path(target))
            }
            RootProblem::Missing if *given => "name a directory that is there".to_owned(),
            RootProblem::Missing | RootProblem::NoHome => {
                "make it, or take it out of the directories".to_owned()
            }
            RootProblem::Unreadable(_) => "make it readable for you: chmod u+rx DIRECTORY".to_owned(),
            RootProblem::NotAFolder => "name the directory that holds the skills' folders".to_owned(),
        };
        said.push(Located::new(path, diagnostic.help(help)));
    }
    said
}

struct World<'a> {
    /// `None` where trust is not needed.
    gate: Option<&'a Gate<'a>>,
    commands: &'a Commands<'a>,
    verify: Arc<dyn Verify>,
    integrity: &'a Integrity<'a>,
}

impl Circumstances for World<'_> {
    fn untrusted(&self, found: &Found) -> Option<Untrusted> {
        if let Some(supplied) = found.supplied() {
            let name = || supplied.offered().name.clone();
            return match supplied.standing() {
                Standing::Approved(_) => None,
                Standing::New => Some(Untrusted::Unapproved(name())),
                Standing::Changed => Some(Untrusted::Replaced(name())),
            };
        }
        self.gate?.refuses(found)
    }

    fn modified(&self, found: &Found) -> Option<Modified> {
        self.integrity.difference(found)
    }

    fn has_command(&self, name: &str) -> bool {
        self.commands.has(name)
    }

    fn verify(&self) -> Arc<dyn Verify> {
        Arc::clone(&self.verify)
    }
}

/// A path as people write it: below the project or the home where it lies there.
pub fn short_path(path: &Path, world: &Surroundings) -> PathBuf {
    if let Ok(inner) = path.strip_prefix(&world.project) {
        return if inner.as_os_str().is_empty() { ".".into() } else { inner.to_owned() };
    }
    match world.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inner) => Path::new("~").join(inner),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Whether a scan is made cannot be seen in a snapshot: a scan that finds the same returns the same.
    #[test]
    fn links_that_did_not_change_cause_no_scan() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let world = Surroundings { project: top.join("p"), home: Some(top.join("h")), path: "".into() };
        let skill = |inner: &str| {
            let name = inner.rsplit('/').next().unwrap();
            fs::create_dir_all(top.join(inner)).unwrap();
            let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n");
            fs::write(top.join(inner).join("SKILL.md"), text).unwrap();
        };
        ["store/x", "store/group/y", "store/z", "far/w"].into_iter().for_each(skill);
        let root = top.join("h/.agents/skills");
        fs::create_dir_all(root.join("z")).unwrap();
        fs::create_dir_all(&world.project).unwrap();
        symlink(top.join("store/x"), root.join("x")).unwrap();
        symlink(top.join("store/group"), root.join("group")).unwrap();
        symlink(top.join("store/z/SKILL.md"), root.join("z/SKILL.md")).unwrap();
        symlink(top.join("far/w"), root.join("w")).unwrap();
        // Links that lead to no skill.
        fs::write(top.join("far/notes.txt"), "Notes.").unwrap();
        fs::write(top.join("store/notes.txt"), "Notes.").unwrap();
        symlink(top.join("far/notes.txt"), root.join("notes")).unwrap();
        symlink(top.join("store/notes.txt"), root.join("known-notes")).unwrap();
        symlink(top.join("far/later"), root.join("later")).unwrap();
        symlink(".", root.join("back")).unwrap();
        fs::create_dir_all(root.join("q")).unwrap();
        symlink(top.join("store/q.md"), root.join("q/SKILL.md")).unwrap();
        crate::trust::trust(&top.join("store"), false, &Policy::default(), &world).unwrap();
        // Until the times of the file system are believed.
        std::thread::sleep(std::time::Duration::from_millis(3100));
        let registry = Registry::open_in(Policy::default(), world, &Progress::default());
        let is_unchanged =
            || registry.seen.lock().unwrap().is_unchanged(&registry.policy, &registry.surroundings);
        let snapshot = registry.snapshot();
        assert!(["x", "y", "z"].iter().all(|name| snapshot.get(name).is_some_and(Skill::is_enabled)));
        assert!(is_unchanged());
        let (here, there) = (top.join("store/x"), top.join("store/moved"));
        fs::rename(&here, &there).unwrap();
        assert!(!is_unchanged(), "the link leads nowhere");
        symlink(&there, &here).unwrap();
        assert!(!is_unchanged(), "the same file in another folder");
        fs::remove_file(&here).unwrap();
        fs::rename(&there, &here).unwrap();
        assert!(is_unchanged());
        skill("far/w");
        assert!(is_unchanged(), "what is outside is not read");
        fs::rename(top.join("far/w"), top.join("far/v")).unwrap();
        assert!(!is_unchanged());
        fs::rename(top.join("far/v"), top.join("far/w")).unwrap();
        let appears = |inner: &str, what: &str| {
            skill(inner);
            assert!(!is_unchanged(), "{what}");
            fs::remove_dir_all(top.join(inner)).unwrap();
        };
        appears("far/later", "a broken link leads to a skill");
        assert!(is_unchanged());
        fs::remove_file(top.join("far/notes.txt")).unwrap();
        assert!(!is_unchanged(), "a link to a file leads nowhere");
        appears("far/notes.txt", "a link to a file leads to a skill");
        fs::write(top.join("far/notes.txt"), "Notes.").unwrap();
        assert!(is_unchanged());
        fs::write(top.join("store/q.md"), "Text.").unwrap();
        assert!(!is_unchanged(), "a SKILL.md that led nowhere leads to a file");
        fs::remove_file(top.join("store/q.md")).unwrap();
        let file = top.join("store/z/SKILL.md");
        let times = fs::metadata(&file).unwrap().modified().unwrap();
        fs::File::options().append(true).open(&file).unwrap().set_modified(times).unwrap();
        assert!(!is_unchanged(), "the file was touched");
        assert!(["x", "y", "z"].iter().all(|name| registry.refresh().get(name).is_some()));
        skill("store/group/new");
        assert!(registry.refresh().get("new").is_some());
    }

    /// Trust ends at a nested repository, also at one that is created while a process runs.
    #[test]
    fn a_git_folder_that_appears_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let project = top.join("p/inner");
        let world = Surroundings { project: project.clone(), home: Some(top.join("h")), path: "".into() };
        let skill = project.join(".agents/skills/x");
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: x\ndescription: Does x.\n---\nDo it.\n").unwrap();
        crate::trust::trust(&top.join("p"), false, &Policy::default(), &world).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3100));
        let registry = Registry::open_in(Policy::default(), world, &Progress::default());
        let is_enabled = || registry.refresh().get("x").is_some_and(Skill::is_enabled);
        assert!(is_enabled());
        assert!(registry.seen.lock().unwrap().is_unchanged(&registry.policy, &registry.surroundings));
        for nested in [&skill, &project] {
            fs::create_dir(nested.join(".git")).unwrap();
            assert!(!is_enabled(), "{}", nested.display());
            fs::remove_dir(nested.join(".git")).unwrap();
            assert!(is_enabled(), "{}", nested.display());
        }
    }
}
