//! A temporary project and home directory with skills, for tests of the registry.

#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress, Skill, Snapshot, trust};

/// A temporary project and home directory, removed on drop.
pub struct RegistryEnv {
    dir: tempfile::TempDir,
    pub policy: Policy,
}

impl RegistryEnv {
    pub fn new(preset: Preset) -> Self {
        Self::in_dir(tempfile::tempdir().unwrap(), preset)
    }

    /// Creates an environment in `/dev/shm` if possible, because very many files are slow on a disk.
    pub fn large(preset: Preset) -> Self {
        let memory = Path::new("/dev/shm");
        let dir = tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new("/tmp") });
        Self::in_dir(dir.unwrap(), preset)
    }

    fn in_dir(dir: tempfile::TempDir, preset: Preset) -> Self {
        for name in ["project", "home", "bin"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        Self { dir, policy }
    }

    /// Returns a path: `~/…` in the home directory, `/…` in the temporary directory, anything else in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match (inner.strip_prefix("~/"), inner.strip_prefix('/')) {
            (Some(inner), _) => self.dir.path().join("home").join(inner),
            (None, Some(inner)) => self.dir.path().join(inner),
            (None, None) => self.dir.path().join("project").join(inner),
        }
    }

    /// Writes a file and creates its parent directories.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Creates a valid skill in this directory, with the same name.
    pub fn skill(&self, dir: &str) -> &Self {
        let name = Path::new(dir).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{dir}/SKILL.md"), skill_md(name, &format!("Does {name} from {dir}.")))
    }

    pub fn create_dir(&self, inner: &str) -> &Self {
        fs::create_dir_all(self.path(inner)).unwrap();
        self
    }

    /// Creates a symlink and its parent directories. The target is resolved by [`path`](Self::path), unless it begins with `.`.
    pub fn symlink(&self, inner: &str, target: &str) -> &Self {
        let target = if target.starts_with('.') { target.into() } else { self.path(target) };
        self.symlink_to(inner, target)
    }

    /// Creates a symlink with exactly this target, and its parent directories.
    pub fn symlink_to(&self, inner: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    /// Trusts a directory and everything below it.
    pub fn trust(&self, dir: &str) -> &Self {
        trust::trust(&self.path(dir), false, &self.policy, &self.host_env()).unwrap();
        self
    }

    /// Trusts the current contents of a directory.
    pub fn trust_pinned(&self, dir: &str) -> &Self {
        trust::trust(&self.path(dir), true, &self.policy, &self.host_env()).unwrap();
        self
    }

    pub fn untrust(&self, dir: &str) -> &Self {
        trust::untrust(&self.path(dir), &self.host_env()).unwrap();
        self
    }

    /// Waits until file timestamps are old enough to be trusted. A test cannot set them back instead, because the `ctime` of
    /// a file cannot be set.
    pub fn wait_for_timestamps(&self) -> &Self {
        std::thread::sleep(Duration::from_millis(3100));
        self
    }

    pub fn host_env(&self) -> HostEnv {
        HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.dir.path().join("bin").into(),
        }
    }

    pub fn registry(&self) -> Registry {
        Registry::open_in(self.policy.clone(), self.host_env(), &ScanProgress::default())
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.registry().snapshot()
    }

    /// Returns a [`skill_line`](Self::skill_line) for every skill that is not bundled.
    pub fn skill_lines(&self) -> Vec<String> {
        self.skill_lines_in(&self.snapshot())
    }

    /// Returns the [`skill_lines`](Self::skill_lines) of a snapshot.
    pub fn skill_lines_in(&self, snapshot: &Snapshot) -> Vec<String> {
        snapshot
            .all()
            .iter()
            .filter(|skill| !skill.root().is_embedded())
            .map(|skill| self.skill_line(skill))
            .collect()
    }

    /// Returns the name, directory, status and reason of a skill.
    pub fn skill_line(&self, skill: &Skill) -> String {
        let dir = self.strip_base(&skill.root().path().join(skill.relative_dir()).to_string_lossy());
        let reason =
            skill.reason().map_or_else(String::new, |reason| format!(": {}", self.strip_base(&reason)));
        format!("{} in {dir} is {}{reason}", skill.name(), skill.status().as_str())
    }

    /// Removes the path of the temporary directory from a text.
    pub fn strip_base(&self, text: &str) -> String {
        text.replace(&*self.dir.path().to_string_lossy(), "")
    }

    /// Returns the code, path and message of every diagnostic.
    pub fn diagnostic_lines(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let lines = snapshot.diagnostics().map(|located| {
            let diagnostic = &located.diagnostic;
            let text =
                format!("{} {}: {}", diagnostic.code.as_str(), located.path.display(), diagnostic.message);
            self.strip_base(&text)
        });
        lines.collect()
    }

    /// Returns the code of every diagnostic.
    pub fn codes(&self) -> Vec<&'static str> {
        self.snapshot().diagnostics().map(|located| located.diagnostic.code.as_str()).collect()
    }

    /// Creates a command on `PATH`.
    pub fn add_command(&self, name: &str) -> &Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.dir.path().join("bin").join(name);
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

/// Repeats `check` for three seconds while another thread repeats `change`.
pub fn repeat_while(change: impl Fn(usize) + Send, check: impl Fn()) {
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
                change(round);
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _stop = Stop(done);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            check();
        }
    });
}
