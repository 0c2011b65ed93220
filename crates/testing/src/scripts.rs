//! Worlds with one skill whose scripts run.
#![allow(missing_docs)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use prowess::policy::{Policy, ScriptPolicy};
use prowess::{HostEnv, Registry, Skill};
use prowess_sandbox::{Protection, RunError, RunOptions, SandboxHelper, SandboxTier, ScriptResult, run};

/// A home, a project and a skill `s` among the user's.
pub struct World {
    pub folder: tempfile::TempDir,
    pub policy: Policy,
}

/// One script of a world, about to run.
pub struct Script<'w> {
    world: &'w World,
    name: String,
    pub arguments: Vec<String>,
}

/// Both ways to confine a script.
pub const TIERS: [SandboxTier; 2] = [SandboxTier::Tier1, SandboxTier::Tier2];

pub fn helper() -> SandboxHelper {
    SandboxHelper::from_path(helper_path())
}

/// An ordinary user may not be able to get to where programs are built.
pub fn helper_path() -> PathBuf {
    let copy = std::env::var_os("PROWESS_TEST_HELPER").map(PathBuf::from);
    copy.unwrap_or_else(built_helper)
}

/// Tests cannot be the sandbox's helper; the program that is built beside them can.
fn built_helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let helper = tests.parent().unwrap().parent().unwrap().join("prowess-sandbox-helper");
    assert!(helper.exists(), "cargo build --all-features -p prowess-sandbox");
    helper
}

/// Runs all tests of the calling file once more as a user who is nobody special. Where the tests themselves are run by
/// one, there is nothing to add, and what root's scripts can do is not tested: that takes root.
pub fn once_more_as_an_ordinary_user(module: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // The limit on processes counts all of a user, so that no two tests at a time run as the same one.
    let user = 61_000 + std::process::id() % 4_000;
    let folder = tempfile::Builder::new().prefix("prowess-user-").tempdir_in("/tmp").unwrap();
    let copy = folder.path().join("helper");
    fs::copy(built_helper(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(user), Some(user)).unwrap();
    let told = std::process::Command::new("/proc/self/exe")
        .args([
            module.trim_start_matches("it::"),
            "--skip",
            "once_more_as_an_ordinary_user",
            "--test-threads",
            "1",
        ])
        .env("PROWESS_TEST_HELPER", &copy)
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        .uid(user)
        .gid(user)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{out}\n{err}");
    assert!(out.contains("test result: ok") && !out.contains(" 0 passed"), "{out}");
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// With a skill that declares nothing.
    pub fn new() -> Self {
        Self::with("")
    }

    /// With more frontmatter.
    pub fn with(frontmatter: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
        let mut policy = Policy::default();
        policy.run.scripts = ScriptPolicy::Allowed;
        let world = Self { folder, policy };
        // Root's scripts run as somebody else, who has to be able to try.
        fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(world.path("project")).unwrap();
        let text = format!("---\nname: s\ndescription: A skill.\n{frontmatter}---\nBody.\n");
        world.write("home/.prowess/skills/s/SKILL.md", &text);
        world
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    pub fn write(&self, inner: &str, text: &str) -> PathBuf {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn skill_folder(&self) -> PathBuf {
        self.path("home/.prowess/skills/s")
    }

    pub fn surroundings(&self) -> HostEnv {
        HostEnv {
            project: self.path("project"),
            home: Some(self.path("home")),
            path: std::env::var_os("PATH").unwrap_or_default(),
        }
    }

    pub fn registry(&self) -> Registry {
        Registry::open_in(self.policy.clone(), self.surroundings(), &Default::default())
    }

    /// Writes a script of the skill.
    pub fn script(&self, name: &str, text: &str) -> Script<'_> {
        self.write(&format!("home/.prowess/skills/s/{name}"), text);
        self.named(name)
    }

    /// A script that may or may not be there.
    pub fn named(&self, name: &str) -> Script<'_> {
        Script { world: self, name: name.to_owned(), arguments: Vec::new() }
    }
}

impl Script<'_> {
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self
    }

    pub fn run_on(&self, tier: SandboxTier) -> Result<ScriptResult, RunError> {
        self.run_with(|options| options.protection = Protection::Only(tier))
    }

    pub fn run(&self) -> Result<ScriptResult, RunError> {
        self.run_with(|_| {})
    }

    pub fn run_with(&self, change: impl FnOnce(&mut RunOptions<'_>)) -> Result<ScriptResult, RunError> {
        let registry = self.world.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        self.run_skill(skill, &registry, change)
    }

    pub fn run_skill(
        &self,
        skill: &Skill,
        registry: &Registry,
        change: impl FnOnce(&mut RunOptions<'_>),
    ) -> Result<ScriptResult, RunError> {
        let mut options = RunOptions::from_registry(registry);
        options.helper = helper();
        change(&mut options);
        run(skill, &self.name, &self.arguments, options)
    }
}

/// Whether a process of this number is there.
pub fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// How many processes have this in their command line.
pub fn running(name: &str) -> usize {
    let own = format!("/prowess-{:x}-", std::process::id());
    let commands = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        fs::read(entry.path().join("cmdline")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    commands.filter(|command| command.contains(&own) && command.contains(name)).count()
}
