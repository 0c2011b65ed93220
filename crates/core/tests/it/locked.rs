//! A locked skill that is not what was installed is not loaded (security.md #10, #20).

use std::fs;
use std::path::PathBuf;

use prowess::lock::{self, Lock, Locked, Pending, Replacement};
use prowess::{ErrorCode, HashedTree, Policy, Progress, Registry, Surroundings, activate, resource, trust};

struct World {
    _folder: tempfile::TempDir,
    world: Surroundings,
    skill: PathBuf,
}

impl World {
    /// A trusted project with one skill, locked as it is.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let world = Surroundings { project: top.join("p"), home: Some(top.join("h")), path: "".into() };
        let skill = world.project.join(".agents/skills/pdf");
        fs::create_dir_all(skill.join("scripts")).unwrap();
        fs::create_dir_all(top.join("h")).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nDo it.\n").unwrap();
        fs::write(skill.join("scripts/x.py"), "print(1)\n").unwrap();
        trust::trust(&world.project, false, &Policy::default(), &world).unwrap();
        let this = Self { _folder: folder, world, skill };
        this.lock(&this.locked());
        this
    }

    fn locked(&self) -> Locked {
        let tree = HashedTree::of(&self.skill).unwrap();
        let folder = ".agents/skills/pdf".to_owned();
        Locked { name: "pdf".to_owned(), folder, ..Locked::default() }.with_tree(&tree)
    }

    fn lock(&self, locked: &Locked) {
        let mut lock = Lock::default();
        lock.set(&locked.folder, Some(locked.clone()));
        self.write(&lock);
    }

    fn write(&self, lock: &Lock) {
        fs::write(lock::project_file(&self.world.project), lock.to_bytes()).unwrap();
    }

    fn registry(&self) -> Registry {
        Registry::open_in(Policy::default(), self.world.clone(), &Progress::default())
    }

    /// What a model gets, or the code and the words of the refusal.
    fn activate(&self) -> Result<String, (ErrorCode, String)> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.get("pdf").unwrap();
        let activated = activate::activate(skill, None, registry.policy());
        activated
            .map(|activated| activated.body().to_owned())
            .map_err(|error| (error.code(), error.to_string()))
    }

    fn read(&self, path: &str) -> Result<String, ErrorCode> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        let read = resource::read(snapshot.get("pdf").unwrap(), path, &registry.policy().limits);
        read.map(|resource| resource.content).map_err(|error| error.code())
    }
}

#[test]
fn what_was_installed_loads() {
    let world = World::new();
    assert_eq!(world.activate(), Ok("Do it.\n".to_owned()));
    assert_eq!(world.read("scripts/x.py"), Ok("print(1)\n".to_owned()));
    let registry = world.registry();
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.get("pdf").unwrap().locked(), Some(world.locked()));
}

#[test]
fn security_20_what_was_modified_is_refused_and_the_difference_named() {
    let world = World::new();
    fs::write(world.skill.join("scripts/x.py"), "evil()").unwrap();
    fs::write(world.skill.join("more"), "").unwrap();
    let (code, message) = world.activate().unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message);
    assert_eq!(world.read("scripts/x.py"), Err(ErrorCode::Untrusted));
    assert_eq!(world.read("more"), Err(ErrorCode::Untrusted));
}

#[test]
fn what_the_user_accepted_loads_and_nothing_else() {
    let world = World::new();
    fs::write(world.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    lock::accept(&world.world, &world.skill, &prowess::tree_hash(&world.skill).unwrap()).unwrap();
    assert_eq!(world.activate(), Ok("Do it.\n".to_owned()));
    assert_eq!(world.read("scripts/x.py"), Ok("print(2)\n".to_owned()));
    fs::write(world.skill.join("scripts/x.py"), "print(3)\n").unwrap();
    assert_eq!(world.read("scripts/x.py"), Err(ErrorCode::Untrusted));
    lock::forget(&world.world, [world.skill.as_path()]).unwrap();
    assert!(world.activate().is_err());
}

#[test]
fn while_a_change_is_pending_either_state_loads() {
    let world = World::new();
    let before = world.locked();
    fs::write(world.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    let after = world.locked();
    let mut lock = Lock::default();
    lock.set(&before.folder, Some(before.clone()));
    let change = Replacement { folder: before.folder.clone(), after: Some(after) };
    lock.pending = Some(Pending { stage: "/nowhere".into(), owner: String::new(), changes: vec![change] });
    world.write(&lock);
    assert!(world.activate().is_ok());
    fs::write(world.skill.join("scripts/x.py"), "print(1)\n").unwrap();
    assert!(world.activate().is_ok());
    fs::write(world.skill.join("scripts/x.py"), "print(3)\n").unwrap();
    assert!(world.activate().is_err());
}

#[test]
fn a_lock_that_cannot_be_read_vouches_for_nothing() {
    let world = World::new();
    fs::write(lock::project_file(&world.world.project), "{\n<<<<<<< ours\n").unwrap();
    let (code, message) = world.activate().unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message);
}

#[test]
fn no_skill_is_offered_while_the_lock_cannot_be_read() {
    let world = World::new();
    let (project, user) = (lock::project_file(&world.world.project), lock::user_file(&world.world).unwrap());
    let registry = world.registry();
    let said = || {
        let snapshot = registry.refresh();
        let skill = snapshot.get("pdf").unwrap();
        let top = world.world.project.parent().unwrap().to_str().unwrap();
        let reason = skill.reason().unwrap_or_default().replace(top, "[TOP]");
        format!("{} {}: {reason}", skill.status().as_str(), skill.is_enabled())
    };
    let good = fs::read(&project).unwrap();
    fs::write(&project, "{\n<<<<<<< ours\n").unwrap();
    let of_project = said();
    fs::write(&project, &good).unwrap();
    assert_eq!(said(), "enabled true: ");
    // The project's lock names the skill; the user's is not asked.
    fs::write(&user, "{").unwrap();
    assert_eq!(said(), "enabled true: ");
    world.write(&Lock::default());
    let of_user = said();
    insta::assert_snapshot!(format!("{of_project}\n{of_user}"));
    fs::remove_file(&user).unwrap();
    assert_eq!(said(), "enabled true: ");
}

#[test]
fn a_lock_that_changes_is_noticed_by_a_registry_that_stays() {
    let world = World::new();
    let registry = world.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    assert!(activate::activate(skill, None, registry.policy()).is_ok());
    fs::remove_file(lock::project_file(&world.world.project)).unwrap();
    fs::write(world.skill.join("scripts/x.py"), "mine").unwrap();
    assert!(activate::activate(skill, None, registry.policy()).is_ok());
    world.lock(&Locked { tree: "sha256-tree-v1:0".to_owned(), ..world.locked() });
    assert!(activate::activate(skill, None, registry.policy()).is_err());
}

#[test]
fn what_was_modified_is_not_offered_and_says_so() {
    let world = World::new();
    let status = |registry: &Registry| {
        let snapshot = registry.refresh();
        let skill = snapshot.get("pdf").unwrap();
        (skill.status().as_str(), skill.is_enabled(), skill.reason())
    };
    let registry = world.registry();
    assert_eq!(status(&registry), ("enabled", true, None));
    // A file that the scan itself does not look at.
    fs::write(world.skill.join("scripts/x.py"), "evil()").unwrap();
    let (word, offered, reason) = status(&registry);
    assert_eq!((word, offered), ("modified", false));
    insta::assert_snapshot!(reason.unwrap());
    assert_eq!(status(&world.registry()).0, "modified");
    // Accepting it is seen without another scan of the skill's own file.
    lock::accept(&world.world, &world.skill, &prowess::tree_hash(&world.skill).unwrap()).unwrap();
    assert_eq!(status(&registry), ("enabled", true, None));
    fs::remove_file(world.skill.join("scripts/x.py")).unwrap();
    assert_eq!(status(&registry).0, "modified");
    // So is a lock that no longer names it.
    world.write(&Lock::default());
    assert_eq!(status(&registry).0, "enabled");
}

/// Gives every file of the skill a time at which it is no longer too new to be believed.
fn settle(world: &World) {
    for file in ["SKILL.md", "scripts/x.py"] {
        let file = fs::File::options().write(true).open(world.skill.join(file)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
            .unwrap();
    }
    // The time of the last change cannot be set.
    std::thread::sleep(std::time::Duration::from_secs(4));
}

#[test]
fn what_was_hashed_once_is_remembered_until_it_changes() {
    let world = World::new();
    settle(&world);
    let remembered = world.world.home.as_ref().unwrap().join(".prowess/state/hashes.json");
    let status = || world.registry().snapshot().get("pdf").unwrap().status().as_str();
    assert_eq!(status(), "enabled");
    let known = fs::read_to_string(&remembered).unwrap();
    assert!(known.contains(&world.locked().tree), "{known}");
    assert_eq!(status(), "enabled");
    fs::write(world.skill.join("scripts/x.py"), "print(2)\n").unwrap();
    assert_eq!(status(), "modified");
    // A damaged memory costs time, and nothing else.
    fs::write(&remembered, "{").unwrap();
    assert_eq!(status(), "modified");
    fs::write(world.skill.join("scripts/x.py"), "print(1)\n").unwrap();
    assert_eq!(status(), "enabled");
}
