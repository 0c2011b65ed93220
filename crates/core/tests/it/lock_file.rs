//! An installed skill that differs from its lock file is not loaded (security.md #10, #20).

use std::fs;
use std::path::PathBuf;

use prowess::lock::{self, LockEntry, LockFile, PendingChange, Replacement};
use prowess::{ErrorCode, HashedTree, HostEnv, Policy, Registry, ScanProgress, activation, resources, trust};

struct RegistryEnv {
    _temp_dir: tempfile::TempDir,
    env: HostEnv,
    skill: PathBuf,
}

impl RegistryEnv {
    /// A trusted project with one skill, locked in its current state.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let env = HostEnv { project: top.join("p"), home: Some(top.join("h")), path: "".into() };
        let skill = env.project.join(".agents/skills/pdf");
        fs::create_dir_all(skill.join("scripts")).unwrap();
        fs::create_dir_all(top.join("h")).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nDo it.\n").unwrap();
        fs::write(skill.join("scripts/x.py"), "print(1)\n").unwrap();
        trust::trust(&env.project, false, &Policy::default(), &env).unwrap();
        let this = Self { _temp_dir: dir, env, skill };
        this.lock(&this.locked());
        this
    }

    fn locked(&self) -> LockEntry {
        let tree = HashedTree::from_dir(&self.skill).unwrap();
        let dir = ".agents/skills/pdf".to_owned();
        LockEntry { name: "pdf".to_owned(), folder: dir, ..LockEntry::default() }.with_tree(&tree)
    }

    fn lock(&self, locked: &LockEntry) {
        let mut lock = LockFile::default();
        lock.set(&locked.folder, Some(locked.clone()));
        self.write(&lock);
    }

    fn write(&self, lock: &LockFile) {
        fs::write(lock::project_lock_path(&self.env.project), lock.to_bytes()).unwrap();
    }

    fn registry(&self) -> Registry {
        Registry::open_in(Policy::default(), self.env.clone(), &ScanProgress::default())
    }

    /// Returns the text for the model, or the code and message of the error.
    fn activate(&self) -> Result<String, (ErrorCode, String)> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.get("pdf").unwrap();
        let activated = activation::activate(skill, None, registry.policy());
        activated
            .map(|activated| activated.body().to_owned())
            .map_err(|error| (error.code(), error.to_string()))
    }

    fn read(&self, path: &str) -> Result<String, ErrorCode> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        let read = resources::read_text(snapshot.get("pdf").unwrap(), path, &registry.policy().limits);
        read.map(|resource| resource.content).map_err(|error| error.code())
    }
}

#[test]
fn an_unchanged_skill_loads() {
    let env = RegistryEnv::new();
    assert_eq!(env.activate(), Ok("Do it.\n".to_owned()));
    assert_eq!(env.read("scripts/x.py"), Ok("print(1)\n".to_owned()));
    let registry = env.registry();
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.get("pdf").unwrap().lock_entry(), Some(env.locked()));
}

#[test]
fn security_20_a_modified_skill_is_rejected_with_the_difference() {
    let env = RegistryEnv::new();
    fs::write(env.skill.join("scripts/x.py"), "evil()").unwrap();
    fs::write(env.skill.join("more"), "").unwrap();
    let (code, message) = env.activate().unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message);
    assert_eq!(env.read("scripts/x.py"), Err(ErrorCode::Untrusted));
    assert_eq!(env.read("more"), Err(ErrorCode::Untrusted));
}

#[test]
fn a_directory_replaced_by_a_symlink_stays_locked() {
    let env = RegistryEnv::new();
    let moved = env.env.project.join(".agents/moved");
    fs::rename(&env.skill, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &env.skill).unwrap();
    assert_eq!(env.activate(), Ok("Do it.\n".to_owned()));
    fs::write(moved.join("SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nDo evil.\n").unwrap();
    fs::write(moved.join("scripts/x.py"), "evil()").unwrap();
    assert_eq!(env.registry().snapshot().get("pdf").unwrap().status().as_str(), "modified");
    assert_eq!(env.activate().unwrap_err().0, ErrorCode::Untrusted);
    assert_eq!(env.read("scripts/x.py"), Err(ErrorCode::Untrusted));
}

#[test]
fn only_accepted_changes_load() {
    let env = RegistryEnv::new();
    fs::write(env.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    lock::accept_tree(&env.env, &env.skill, &prowess::tree_hash(&env.skill).unwrap()).unwrap();
    assert_eq!(env.activate(), Ok("Do it.\n".to_owned()));
    assert_eq!(env.read("scripts/x.py"), Ok("print(2)\n".to_owned()));
    fs::write(env.skill.join("scripts/x.py"), "print(3)\n").unwrap();
    assert_eq!(env.read("scripts/x.py"), Err(ErrorCode::Untrusted));
    lock::forget_accepted(&env.env, [env.skill.as_path()]).unwrap();
    assert!(env.activate().is_err());
}

#[test]
fn both_states_load_while_a_change_is_pending() {
    let env = RegistryEnv::new();
    let before = env.locked();
    fs::write(env.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    let after = env.locked();
    let mut lock = LockFile::default();
    lock.set(&before.folder, Some(before.clone()));
    let change = Replacement { folder: before.folder.clone(), after: Some(after) };
    lock.pending = Some(PendingChange {
        stage: "/nowhere".into(),
        owner: String::new(),
        changes: vec![change],
        links: vec![],
    });
    env.write(&lock);
    assert!(env.activate().is_ok());
    fs::write(env.skill.join("scripts/x.py"), "print(1)\n").unwrap();
    assert!(env.activate().is_ok());
    fs::write(env.skill.join("scripts/x.py"), "print(3)\n").unwrap();
    assert!(env.activate().is_err());
}

#[test]
fn an_unreadable_lock_file_accepts_nothing() {
    let env = RegistryEnv::new();
    fs::write(lock::project_lock_path(&env.env.project), "{\n<<<<<<< ours\n").unwrap();
    let (code, message) = env.activate().unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message);
}

#[test]
fn no_skill_is_offered_while_the_lock_file_is_unreadable() {
    let env = RegistryEnv::new();
    let (project, user) =
        (lock::project_lock_path(&env.env.project), lock::user_lock_path(&env.env).unwrap());
    let registry = env.registry();
    let diagnostics = || {
        let snapshot = registry.refresh();
        let skill = snapshot.get("pdf").unwrap();
        let top = env.env.project.parent().unwrap().to_str().unwrap();
        let reason = skill.reason().unwrap_or_default().replace(top, "[TOP]");
        format!("{} {}: {reason}", skill.status().as_str(), skill.is_enabled())
    };
    let good = fs::read(&project).unwrap();
    fs::write(&project, "{\n<<<<<<< ours\n").unwrap();
    let of_project = diagnostics();
    fs::write(&project, &good).unwrap();
    assert_eq!(diagnostics(), "enabled true: ");
    // The project's lock file names the skill, so the user's does not matter.
    fs::write(&user, "{").unwrap();
    assert_eq!(diagnostics(), "enabled true: ");
    env.write(&LockFile::default());
    let of_user = diagnostics();
    insta::assert_snapshot!(format!("{of_project}\n{of_user}"));
    fs::remove_file(&user).unwrap();
    assert_eq!(diagnostics(), "enabled true: ");
}

#[test]
fn an_open_registry_detects_changes_of_the_lock_file() {
    let env = RegistryEnv::new();
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    assert!(activation::activate(skill, None, registry.policy()).is_ok());
    fs::remove_file(lock::project_lock_path(&env.env.project)).unwrap();
    fs::write(env.skill.join("scripts/x.py"), "mine").unwrap();
    assert!(activation::activate(skill, None, registry.policy()).is_ok());
    env.lock(&LockEntry { tree: "sha256-tree-v1:0".to_owned(), ..env.locked() });
    assert!(activation::activate(skill, None, registry.policy()).is_err());
}

#[test]
fn a_modified_skill_is_not_offered_and_reports_the_reason() {
    let env = RegistryEnv::new();
    let status = |registry: &Registry| {
        let snapshot = registry.refresh();
        let skill = snapshot.get("pdf").unwrap();
        (skill.status().as_str(), skill.is_enabled(), skill.reason())
    };
    let registry = env.registry();
    assert_eq!(status(&registry), ("enabled", true, None));
    // A file that discovery does not read.
    fs::write(env.skill.join("scripts/x.py"), "evil()").unwrap();
    let (word, offered, reason) = status(&registry);
    assert_eq!((word, offered), ("modified", false));
    insta::assert_snapshot!(reason.unwrap());
    assert_eq!(status(&env.registry()).0, "modified");
    // Accepting the changes takes effect although the skill's own file is unchanged.
    lock::accept_tree(&env.env, &env.skill, &prowess::tree_hash(&env.skill).unwrap()).unwrap();
    assert_eq!(status(&registry), ("enabled", true, None));
    fs::remove_file(env.skill.join("scripts/x.py")).unwrap();
    assert_eq!(status(&registry).0, "modified");
    // So does removing the entry from the lock file.
    env.write(&LockFile::default());
    assert_eq!(status(&registry).0, "enabled");
}

/// Sets the timestamps of all files of the skill far enough into the past to count as settled.
fn settle(env: &RegistryEnv) {
    for file in ["SKILL.md", "scripts/x.py"] {
        let file = fs::File::options().write(true).open(env.skill.join(file)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
            .unwrap();
    }
    // The ctime cannot be set.
    std::thread::sleep(std::time::Duration::from_secs(4));
}

#[test]
fn hashes_are_cached_until_a_file_changes() {
    let env = RegistryEnv::new();
    settle(&env);
    let remembered = env.env.home.as_ref().unwrap().join(".prowess/state/hashes.json");
    let status = || env.registry().snapshot().get("pdf").unwrap().status().as_str();
    assert_eq!(status(), "enabled");
    let known = fs::read_to_string(&remembered).unwrap();
    assert!(known.contains(&env.locked().tree), "{known}");
    assert_eq!(status(), "enabled");
    fs::write(env.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    assert_eq!(status(), "modified");
    // A damaged cache costs only time.
    fs::write(&remembered, "{").unwrap();
    assert_eq!(status(), "modified");
    fs::write(env.skill.join("scripts/x.py"), "print(1)\n").unwrap();
    assert_eq!(status(), "enabled");
}
