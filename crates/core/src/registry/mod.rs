//! Turns a policy into snapshots: scans the roots, resolves the status of each skill, and detects changes.

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

pub use snapshot::{AbsentRoot, Snapshot, SnapshotDiff};
#[cfg(feature = "watch")]
pub use watch::{WatchError, Watcher};

use crate::discovery::{
    self, KnownDirs, RemoteScan, ResolvedRoots, RootProblem, RootScan, ScanCache, ScanProgress,
};
use crate::file_diagnostic::FileDiagnostic;
use crate::host_env::HostEnv;
use crate::lock::{IntegrityCheck, IntegrityInputs, LockIndex};
use crate::policy::{Policy, Preset, ProjectTrust};
use crate::remote::RemoteSource;
use crate::remote::approvals::{self, ApprovalStatus, Approvals};
pub use crate::skill::{DisabledReason, ModifiedReason, ShadowedBy, Skill, SkillStatus, UntrustedReason};
use crate::skill::{DiscoveredSkill, Root, Verify};
use crate::trust_store::{RepositoryCache, TrustCheck, TrustDecisions, TrustGate};
use commands::CommandLookup;
use resolve::ResolveEnv;
use verification::RegistryVerifier;

/// Discovers skills and keeps the result up to date.
///
/// Opening never fails because of the file system: an invalid skill or an unreadable directory is reported in
/// the snapshot and does not affect other skills.
#[derive(Debug)]
pub struct Registry {
    policy: Policy,
    host: HostEnv,
    sources: Vec<Arc<dyn RemoteSource>>,
    current: RwLock<Arc<Snapshot>>,
    /// The state of the last scan. Locked during a scan, so that concurrent refreshes do not scan twice.
    last_scan: Mutex<ScanState>,
}

#[derive(Debug, Default)]
struct ScanState {
    scans: Vec<RootScan>,
    remote: Vec<RemoteScan>,
    approvals: Approvals,
    roots: ResolvedRoots,
    link_targets: KnownDirs,
    trust: TrustDecisions,
    /// The commands that skills require, and whether they were found.
    commands: Vec<(String, bool)>,
    /// Whether trust in a skill is pinned, that is, bound to the hash of all its files. A scan does not read most of
    /// them, so it cannot tell whether they changed.
    pinned: bool,
    /// The directories that were checked for a `.git`, where trust ends.
    repositories: RepositoryCache,
    /// The lock files, and the files of installed skills.
    integrity: IntegrityInputs,
}

/// The current directory of the process cannot be determined.
#[derive(Debug, thiserror::Error)]
#[error("cannot determine the current directory")]
pub struct OpenRegistryError(#[from] std::io::Error);

impl Registry {
    /// Opens a registry with the current directory, `HOME` and `PATH` of the process.
    pub fn open(policy: Policy) -> Result<Self, OpenRegistryError> {
        Ok(Self::open_in(policy, HostEnv::from_process()?, &ScanProgress::default()))
    }

    /// Opens a registry in the given environment.
    pub fn open_in(policy: Policy, host: HostEnv, progress: &ScanProgress) -> Self {
        Self::open_with_sources(policy, host, Vec::new(), progress)
    }

    /// Opens a registry like [`Registry::open_in`], with a file that keeps the frontmatter of skills between processes. Files
    /// whose metadata is unchanged are not read. The file needs the same protection as the user's state.
    pub fn open_with_cache(policy: Policy, host: HostEnv, cache: &Path) -> Self {
        let (stored, progress) = (ScanCache::read(cache), ScanProgress::default());
        let (state, snapshot) = ScanState::default().scan(&policy, &host, &[], &progress, &stored);
        stored.update(cache, &state.scans, &policy.manifest);
        let (current, last_scan) = (RwLock::new(Arc::new(snapshot)), Mutex::new(state));
        Self { policy, host, sources: Vec::new(), current, last_scan }
    }

    /// Opens a registry with remote sources, whose skills have the lowest precedence.
    pub fn open_with_sources(
        policy: Policy,
        host: HostEnv,
        sources: Vec<Arc<dyn RemoteSource>>,
        progress: &ScanProgress,
    ) -> Self {
        let (state, snapshot) =
            ScanState::default().scan(&policy, &host, &sources, progress, &ScanCache::default());
        let (current, last_scan) = (RwLock::new(Arc::new(snapshot)), Mutex::new(state));
        Self { policy, host, sources, current, last_scan }
    }

    /// Returns the remote sources.
    pub fn remote_sources(&self) -> &[Arc<dyn RemoteSource>] {
        &self.sources
    }

    /// Returns `true` if a remote source lists other skills than at the last scan.
    #[cfg(feature = "watch")]
    fn have_sources_changed(&self) -> bool {
        let state = self.last_scan.lock().unwrap_or_else(PoisonError::into_inner);
        !state.remote.iter().all(RemoteScan::is_unchanged)
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the environment.
    pub fn host(&self) -> &HostEnv {
        &self.host
    }

    /// Returns the result of the last scan, without looking at the file system.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Scans again if anything changed. Returns the same snapshot if the result is the same.
    pub fn refresh(&self) -> Arc<Snapshot> {
        let mut state = self.last_scan.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_unchanged(&self.policy, &self.host) {
            return self.snapshot();
        }
        let (new_state, snapshot) = std::mem::take(&mut *state).scan(
            &self.policy,
            &self.host,
            &self.sources,
            &ScanProgress::default(),
            &ScanCache::default(),
        );
        *state = new_state;
        let current = self.snapshot();
        if *current == snapshot {
            return current;
        }
        let snapshot = Arc::new(snapshot);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot);
        snapshot
    }
}

impl ScanState {
    fn is_unchanged(&self, policy: &Policy, host: &HostEnv) -> bool {
        let ScanInputs { link_targets, roots, trust, .. } = ScanInputs::new(policy, host);
        let commands = CommandLookup::new(&host.path);
        trust.has_same_state(&self.trust)
            && !self.pinned
            && self.repositories.is_unchanged()
            && self.integrity.is_unchanged()
            && link_targets == self.link_targets
            && roots == self.roots
            && self.commands.iter().all(|(name, was_found)| commands.has(name) == *was_found)
            && self.scans.iter().all(RootScan::is_unchanged)
            && (self.remote.is_empty() || Approvals::load(host) == self.approvals)
            && self.remote.iter().all(RemoteScan::is_unchanged)
    }

    fn scan(
        self,
        policy: &Policy,
        host: &HostEnv,
        sources: &[Arc<dyn RemoteSource>],
        progress: &ScanProgress,
        cache: &ScanCache,
    ) -> (Self, Snapshot) {
        let ScanInputs { link_targets, configured_targets, roots, trust } = ScanInputs::new(policy, host);
        let open_targets = link_targets.link_targets();
        let settings = discovery::ScanContext {
            scan: &policy.scan,
            rules: &policy.manifest,
            link_targets: &open_targets,
            progress,
            cache,
        };
        let present: &[Arc<Root>] = if policy.enabled { &roots.present } else { &[] };
        let scans: Vec<RootScan> = present
            .iter()
            .map(|root| {
                discovery::scan_root(root, &settings, self.scans.iter().find(|scan| scan.root == *root))
            })
            .collect();
        let commands = CommandLookup::new(&host.path);
        let gate = (policy.trust == ProjectTrust::Required)
            .then(|| TrustGate::new(&trust, present, &configured_targets));
        let locks = LockIndex::new(host);
        let integrity = IntegrityCheck::new(&locks, present, host);
        let trust_check = TrustCheck::new(policy.trust, host, present, &configured_targets);
        let verifier: Arc<dyn Verify> = Arc::new(RegistryVerifier::new(host, trust_check, locks, sources));
        let env = ScanEnv { gate: gate.as_ref(), commands: &commands, verifier, integrity: &integrity };
        let (remote, approvals) =
            scan_sources(if policy.enabled { sources } else { &[] }, &policy.manifest, host);
        let discovered: Vec<&[Arc<DiscoveredSkill>]> = scans
            .iter()
            .map(|scan| scan.skills.as_slice())
            .chain(remote.iter().map(|scan| scan.skills.as_slice()))
            .collect();
        let (skills, resolution) = resolve::resolve(&discovered, policy, &env);
        let mut diagnostics = root_diagnostics(policy, &roots, &trust);
        diagnostics.extend(scans.iter().flat_map(|scan| scan.diagnostics.iter().cloned()));
        diagnostics.extend(approvals.problem().cloned());
        diagnostics.extend(remote.iter().flat_map(|scan| scan.diagnostics.iter().cloned()));
        diagnostics.extend(resolution);
        let absent = roots
            .absent
            .iter()
            .map(|(path, problem, _)| AbsentRoot { path: path.clone(), problem: problem.clone() })
            .collect();
        let present: Vec<_> =
            present.iter().chain(remote.iter().map(|scan| &scan.root)).map(Arc::clone).collect();
        let mut snapshot = Snapshot::new(skills, present, absent, diagnostics);
        snapshot.skipped_dirs = scans.iter().flat_map(|scan| scan.skipped_dirs.iter().cloned()).collect();
        let (pinned, repositories) = gate.map(TrustGate::finish).unwrap_or_default();
        let commands = commands.into_results();
        let integrity = integrity.finish();
        let state = Self {
            scans,
            remote,
            approvals,
            roots,
            link_targets,
            trust,
            commands,
            pinned,
            repositories,
            integrity,
        };
        (state, snapshot)
    }
}

/// Scans the remote sources. Revokes approvals of skills whose files changed, and stores that: a skill that
/// changes back must be approved again.
fn scan_sources(
    sources: &[Arc<dyn RemoteSource>],
    rules: &prowess_format::Rules,
    host: &HostEnv,
) -> (Vec<RemoteScan>, Approvals) {
    if sources.is_empty() {
        return Default::default();
    }
    // Update the listings before loading the approvals: the user may approve something in the meantime.
    sources.iter().for_each(|source| drop(source.listing()));
    let approvals = Approvals::load(host);
    let scans: Vec<_> =
        sources.iter().map(|source| discovery::scan_remote(source, rules, &approvals)).collect();
    let skills = scans.iter().flat_map(|scan| &scan.skills);
    let changed = skills.filter_map(|skill| {
        let remote = skill.remote()?;
        let approval = approvals.get(remote.label(), &remote.entry().uri)?;
        let is_outdated = remote.approval() == ApprovalStatus::Changed && !approval.revoked;
        is_outdated.then(|| (approval.server.clone(), approval.uri.clone()))
    });
    let changed: Vec<_> = changed.collect();
    if changed.is_empty() {
        return (scans, approvals);
    }
    // If this cannot be stored, the approval is still invalid while the other files are listed.
    let _ = approvals::revoke(&changed, host);
    (scans, Approvals::load(host))
}

/// The inputs of a scan, determined before any skill is read.
struct ScanInputs {
    /// The directories that symlinks may point to.
    link_targets: KnownDirs,
    /// Those of them that the configuration lists.
    configured_targets: Vec<PathBuf>,
    /// The roots.
    roots: ResolvedRoots,
    /// The user's trust decisions.
    trust: TrustDecisions,
}

impl ScanInputs {
    fn new(policy: &Policy, host: &HostEnv) -> Self {
        let trust = TrustDecisions::load(host);
        let expand_home = |path: &PathBuf| match (path.strip_prefix("~"), &host.home) {
            (Ok(inner), Some(home)) => home.join(inner),
            _ => host.project.join(path),
        };
        let canonical = |path: PathBuf| std::fs::canonicalize(path).ok();
        let configured_targets: Vec<PathBuf> =
            policy.scan.links.iter().map(expand_home).filter_map(canonical).collect();
        let extra_targets: Vec<PathBuf> =
            configured_targets.iter().cloned().chain(trust.trusted_dirs().filter_map(canonical)).collect();
        let roots = discovery::resolve_roots(policy, host, &KnownDirs::new(extra_targets.clone()));
        let present = roots.present.iter().filter(|root| !root.is_embedded());
        let link_targets =
            KnownDirs::new(extra_targets.into_iter().chain(present.map(|root| root.canonical().to_owned())));
        Self { link_targets, configured_targets, roots, trust }
    }
}

fn root_diagnostics(policy: &Policy, roots: &ResolvedRoots, trust: &TrustDecisions) -> Vec<FileDiagnostic> {
    let mut diagnostics: Vec<FileDiagnostic> = trust.problem().cloned().into_iter().collect();
    if !policy.enabled {
        return diagnostics;
    }
    for (path, problem, is_explicit) in &roots.absent {
        let (code, message) = match problem {
            // Most roots of a preset do not exist on most machines; a missing root matters only if it was
            // requested.
            RootProblem::Missing if *is_explicit || policy.preset == Preset::Chat => {
                (Code::RootMissing, "the directory does not exist".to_owned())
            }
            RootProblem::Missing | RootProblem::NoHome => continue,
            RootProblem::Unreadable(reason) => {
                (Code::DirectoryUnreadable, format!("cannot read the directory: {reason}"))
            }
            RootProblem::NotADirectory => (Code::DirectoryUnreadable, "not a directory".to_owned()),
            RootProblem::Outside(target) => (
                Code::LinkOutside,
                format!("the directory is a symlink to outside the project: {}", target.display()),
            ),
        };
        let diagnostic = Diagnostic::warning(code, message);
        let help = match problem {
            RootProblem::Outside(target) => {
                format!("if you trust that directory: prowess trust {}", crate::shell::quote_path(target))
            }
            RootProblem::Missing if *is_explicit => "pass a directory that exists".to_owned(),
            RootProblem::Missing | RootProblem::NoHome => {
                "create it, or remove it from the configured directories".to_owned()
            }
            RootProblem::Unreadable(_) => "make it readable: chmod u+rx DIRECTORY".to_owned(),
            RootProblem::NotADirectory => "pass the directory that contains the skill directories".to_owned(),
        };
        diagnostics.push(FileDiagnostic::new(path, diagnostic.help(help)));
    }
    diagnostics
}

struct ScanEnv<'a> {
    /// `None` if trust is not required.
    gate: Option<&'a TrustGate<'a>>,
    commands: &'a CommandLookup<'a>,
    verifier: Arc<dyn Verify>,
    integrity: &'a IntegrityCheck<'a>,
}

impl ResolveEnv for ScanEnv<'_> {
    fn untrusted_reason(&self, skill: &DiscoveredSkill) -> Option<UntrustedReason> {
        if let Some(remote) = skill.remote() {
            let name = || remote.entry().name.clone();
            return match remote.approval() {
                ApprovalStatus::Approved(_) => None,
                ApprovalStatus::New => Some(UntrustedReason::Unapproved(name())),
                ApprovalStatus::Changed => Some(UntrustedReason::Replaced(name())),
            };
        }
        let gate = self.gate?;
        gate.untrusted_reason(skill, &|dir| gate.hash(dir))
    }

    fn modified_reason(&self, skill: &DiscoveredSkill) -> Option<ModifiedReason> {
        self.integrity.difference(skill)
    }

    fn has_command(&self, name: &str) -> bool {
        self.commands.has(name)
    }

    fn verifier(&self) -> Arc<dyn Verify> {
        Arc::clone(&self.verifier)
    }
}

/// Returns a path for display: relative to the project, or with `~` for the home directory, if possible.
pub fn short_path(path: &Path, host: &HostEnv) -> PathBuf {
    if let Ok(inner) = path.strip_prefix(&host.project) {
        return if inner.as_os_str().is_empty() { ".".into() } else { inner.to_owned() };
    }
    match host.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inner) => Path::new("~").join(inner),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A snapshot does not show whether a scan was made: a scan with the same result returns the same snapshot.
    #[test]
    fn unchanged_symlinks_cause_no_scan() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let host = HostEnv { project: top.join("p"), home: Some(top.join("h")), path: "".into() };
        let skill = |inner: &str| {
            let name = inner.rsplit('/').next().unwrap();
            fs::create_dir_all(top.join(inner)).unwrap();
            let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n");
            fs::write(top.join(inner).join("SKILL.md"), text).unwrap();
        };
        ["store/x", "store/group/y", "store/z", "far/w"].into_iter().for_each(skill);
        let root = top.join("h/.agents/skills");
        fs::create_dir_all(root.join("z")).unwrap();
        fs::create_dir_all(&host.project).unwrap();
        symlink(top.join("store/x"), root.join("x")).unwrap();
        symlink(top.join("store/group"), root.join("group")).unwrap();
        symlink(top.join("store/z/SKILL.md"), root.join("z/SKILL.md")).unwrap();
        symlink(top.join("far/w"), root.join("w")).unwrap();
        // Symlinks that do not point to a skill.
        fs::write(top.join("far/notes.txt"), "Notes.").unwrap();
        fs::write(top.join("store/notes.txt"), "Notes.").unwrap();
        symlink(top.join("far/notes.txt"), root.join("notes")).unwrap();
        symlink(top.join("store/notes.txt"), root.join("known-notes")).unwrap();
        symlink(top.join("far/later"), root.join("later")).unwrap();
        symlink(".", root.join("back")).unwrap();
        fs::create_dir_all(root.join("q")).unwrap();
        symlink(top.join("store/q.md"), root.join("q/SKILL.md")).unwrap();
        crate::trust::trust(&top.join("store"), false, &Policy::default(), &host).unwrap();
        // Wait until the timestamps count as settled.
        std::thread::sleep(std::time::Duration::from_millis(3100));
        let registry = Registry::open_in(Policy::default(), host, &ScanProgress::default());
        let is_unchanged =
            || registry.last_scan.lock().unwrap().is_unchanged(&registry.policy, &registry.host);
        let snapshot = registry.snapshot();
        assert!(["x", "y", "z"].iter().all(|name| snapshot.get(name).is_some_and(Skill::is_enabled)));
        assert!(is_unchanged());
        let (here, there) = (top.join("store/x"), top.join("store/moved"));
        fs::rename(&here, &there).unwrap();
        assert!(!is_unchanged(), "the symlink is broken");
        symlink(&there, &here).unwrap();
        assert!(!is_unchanged(), "the same file in another directory");
        fs::remove_file(&here).unwrap();
        fs::rename(&there, &here).unwrap();
        assert!(is_unchanged());
        skill("far/w");
        assert!(is_unchanged(), "targets outside the known directories are not read");
        fs::rename(top.join("far/w"), top.join("far/v")).unwrap();
        assert!(!is_unchanged());
        fs::rename(top.join("far/v"), top.join("far/w")).unwrap();
        let check_appearance = |inner: &str, message: &str| {
            skill(inner);
            assert!(!is_unchanged(), "{message}");
            fs::remove_dir_all(top.join(inner)).unwrap();
        };
        check_appearance("far/later", "a broken symlink now points to a skill");
        assert!(is_unchanged());
        fs::remove_file(top.join("far/notes.txt")).unwrap();
        assert!(!is_unchanged(), "a symlink to a file is broken");
        check_appearance("far/notes.txt", "a symlink to a file now points to a skill");
        fs::write(top.join("far/notes.txt"), "Notes.").unwrap();
        assert!(is_unchanged());
        fs::write(top.join("store/q.md"), "Text.").unwrap();
        assert!(!is_unchanged(), "a broken SKILL.md symlink now points to a file");
        fs::remove_file(top.join("store/q.md")).unwrap();
        let file = top.join("store/z/SKILL.md");
        let times = fs::metadata(&file).unwrap().modified().unwrap();
        fs::File::options().append(true).open(&file).unwrap().set_modified(times).unwrap();
        assert!(!is_unchanged(), "the file was touched");
        assert!(["x", "y", "z"].iter().all(|name| registry.refresh().get(name).is_some()));
        skill("store/group/new");
        assert!(registry.refresh().get("new").is_some());
    }

    /// Trust ends at a nested repository, even if it is created while the process runs.
    #[test]
    fn a_new_git_directory_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let project = top.join("p/inner");
        let host = HostEnv { project: project.clone(), home: Some(top.join("h")), path: "".into() };
        let skill = project.join(".agents/skills/x");
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: x\ndescription: Does x.\n---\nDo it.\n").unwrap();
        crate::trust::trust(&top.join("p"), false, &Policy::default(), &host).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3100));
        let registry = Registry::open_in(Policy::default(), host, &ScanProgress::default());
        let is_enabled = || registry.refresh().get("x").is_some_and(Skill::is_enabled);
        assert!(is_enabled());
        assert!(registry.last_scan.lock().unwrap().is_unchanged(&registry.policy, &registry.host));
        for nested in [&skill, &project] {
            fs::create_dir(nested.join(".git")).unwrap();
            assert!(!is_enabled(), "{}", nested.display());
            fs::remove_dir(nested.join(".git")).unwrap();
            assert!(is_enabled(), "{}", nested.display());
        }
    }
}
