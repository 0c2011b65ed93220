//! A world in a line: a project, a home, and skills in them.

#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress, Skill, Snapshot, trust};

pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl World {
    pub fn new(preset: Preset) -> Self {
        Self::on(tempfile::tempdir().unwrap(), preset)
    }

    /// A world that lies in memory where that is possible: many files take long on a disk.
    pub fn large(preset: Preset) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new("/tmp") });
        Self::on(folder.unwrap(), preset)
    }

    fn on(folder: tempfile::TempDir, preset: Preset) -> Self {
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        Self { folder, policy }
    }

    /// A path in this world: `~/…` in the home, `/…` from its top, everything else in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match (inner.strip_prefix("~/"), inner.strip_prefix('/')) {
            (Some(inner), _) => self.folder.path().join("home").join(inner),
            (None, Some(inner)) => self.folder.path().join(inner),
            (None, None) => self.folder.path().join("project").join(inner),
        }
    }

    /// Writes a file, folders included.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A good skill in this folder, named after it.
    pub fn skill(&self, folder: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{folder}/SKILL.md"), skill_md(name, &format!("Does {name} from {folder}.")))
    }

    pub fn folder(&self, inner: &str) -> &Self {
        fs::create_dir_all(self.path(inner)).unwrap();
        self
    }

    /// A link, folders included. The target is a path in this world; one that begins with `.` is written as it is.
    pub fn link(&self, inner: &str, target: &str) -> &Self {
        let target = if target.starts_with('.') { target.into() } else { self.path(target) };
        self.link_out(inner, target)
    }

    /// A link out of this world.
    pub fn link_out(&self, inner: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    /// The user trusts a folder and everything below it.
    pub fn trust(&self, folder: &str) -> &Self {
        trust::trust(&self.path(folder), false, &self.policy, &self.surroundings()).unwrap();
        self
    }

    /// The same, as it is now.
    pub fn trust_pinned(&self, folder: &str) -> &Self {
        trust::trust(&self.path(folder), true, &self.policy, &self.surroundings()).unwrap();
        self
    }

    pub fn untrust(&self, folder: &str) -> &Self {
        trust::untrust(&self.path(folder), &self.surroundings()).unwrap();
        self
    }

    /// Waits until the file system's times are believed. They cannot be set back: the time of the last change of a
    /// file's own record cannot be set at all.
    pub fn settle(&self) -> &Self {
        std::thread::sleep(Duration::from_millis(3100));
        self
    }

    pub fn surroundings(&self) -> HostEnv {
        HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.folder.path().join("bin").into(),
        }
    }

    pub fn registry(&self) -> Registry {
        Registry::open_in(self.policy.clone(), self.surroundings(), &ScanProgress::default())
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.registry().snapshot()
    }

    /// Every skill but the bundled ones: where it is, what became of it, and why.
    pub fn told(&self) -> Vec<String> {
        self.told_of(&self.snapshot())
    }

    pub fn told_of(&self, snapshot: &Snapshot) -> Vec<String> {
        snapshot
            .all()
            .iter()
            .filter(|skill| !skill.root().is_embedded())
            .map(|skill| self.tell(skill))
            .collect()
    }

    pub fn tell(&self, skill: &Skill) -> String {
        let place = self.short(&skill.root().path().join(skill.relative_dir()).to_string_lossy());
        let reason = skill.reason().map_or_else(String::new, |reason| format!(": {}", self.short(&reason)));
        format!("{} in {place} is {}{reason}", skill.name(), skill.status().as_str())
    }

    /// A text with the paths of this world from its top.
    pub fn short(&self, text: &str) -> String {
        text.replace(&*self.folder.path().to_string_lossy(), "")
    }

    /// All that was said, a line each: code, place, message.
    pub fn said(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let lines = snapshot.diagnostics().map(|located| {
            let diagnostic = &located.diagnostic;
            let text =
                format!("{} {}: {}", diagnostic.code.as_str(), located.path.display(), diagnostic.message);
            self.short(&text)
        });
        lines.collect()
    }

    /// All codes that were said, but for those about bundled skills.
    pub fn codes(&self) -> Vec<&'static str> {
        self.snapshot().diagnostics().map(|located| located.diagnostic.code.as_str()).collect()
    }

    pub fn command(&self, name: &str) -> &Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n")
}

pub fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .enabled()
        .filter(|skill| !skill.root().is_embedded())
        .map(|skill| skill.name().into_owned())
        .collect()
}

/// Does `work` again and again for some seconds while another thread does `disturb` again and again.
pub fn disturbed(disturb: impl Fn(usize) + Send, work: impl Fn()) {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            for round in 0.. {
                disturb(round);
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _stop = Stop(done);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            work();
        }
    });
}
