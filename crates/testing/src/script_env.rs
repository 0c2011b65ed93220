//! A test environment with one skill whose scripts are run.
#![allow(missing_docs)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use prowess::policy::{Policy, ScriptDirectory, ScriptPolicy};
use prowess::{HostEnv, Registry, Skill};
use prowess_sandbox::{Protection, RunError, RunOptions, SandboxHelper, SandboxTier, ScriptResult, run};

/// A home directory with the user skill `s`, and a project.
pub struct ScriptEnv {
    pub dir: tempfile::TempDir,
    pub policy: Policy,
}

/// A script of the skill.
pub struct Script<'e> {
    env: &'e ScriptEnv,
    name: String,
    pub arguments: Vec<String>,
}

/// The sandbox tiers to test: the levels of protection that a machine may be able to enforce.
pub const TIERS: [SandboxTier; 2] = [SandboxTier::Tier1, SandboxTier::Tier2];

pub fn helper() -> SandboxHelper {
    SandboxHelper::from_path(helper_path())
}

/// Returns the path of the sandbox helper. `PROWESS_TEST_HELPER` overrides it, because an unprivileged user may not be able to
/// read the build directory.
pub fn helper_path() -> PathBuf {
    let copy = std::env::var_os("PROWESS_TEST_HELPER").map(PathBuf::from);
    copy.unwrap_or_else(built_helper)
}

/// Returns the path of the built helper. A test binary cannot be the helper itself.
fn built_helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let helper = tests.parent().unwrap().parent().unwrap().join("prowess-sandbox-helper");
    assert!(helper.exists(), "cargo build --all-features -p prowess-sandbox");
    helper
}

/// Runs all tests of the calling module again as an unprivileged user. Does nothing if the tests do not run as root; then the
/// behaviour of scripts that root starts is not tested.
pub fn rerun_as_unprivileged_user(module: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // The process limit applies per user, so concurrent tests need different users.
    let user = 61_000 + std::process::id() % 4_000;
    let dir = tempfile::Builder::new().prefix("prowess-user-").tempdir_in("/tmp").unwrap();
    let copy = dir.path().join("helper");
    fs::copy(built_helper(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(dir.path(), Some(user), Some(user)).unwrap();
    let output = std::process::Command::new("/proc/self/exe")
        .args([
            module.trim_start_matches("it::"),
            "--skip",
            "rerun_as_unprivileged_user",
            "--test-threads",
            "1",
        ])
        .env("PROWESS_TEST_HELPER", &copy)
        .env("TMPDIR", dir.path())
        .env("HOME", dir.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        .uid(user)
        .gid(user)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("test result: ok") && !out.contains(" 0 passed"), "{out}");
}

impl Default for ScriptEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptEnv {
    /// Creates a skill with minimal frontmatter.
    pub fn new() -> Self {
        Self::with("")
    }

    /// Creates a skill with additional frontmatter.
    pub fn with(frontmatter: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
        let mut policy = Policy::default();
        policy.run.scripts = ScriptPolicy::Allowed;
        let env = Self { dir, policy };
        // Scripts that root starts run as another user, who must be able to read the directory.
        fs::set_permissions(env.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(env.path("project")).unwrap();
        let text = format!("---\nname: s\ndescription: A skill.\n{frontmatter}---\nBody.\n");
        env.write("home/.prowess/skills/s/SKILL.md", &text);
        env
    }

    /// Runs scripts in the directory of the skill, without a workspace.
    pub fn in_skill_dir(mut self) -> Self {
        self.policy.run.directory = ScriptDirectory::Skill;
        self
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(inner)
    }

    pub fn write(&self, inner: &str, text: &str) -> PathBuf {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn skill_dir(&self) -> PathBuf {
        self.path("home/.prowess/skills/s")
    }

    pub fn host_env(&self) -> HostEnv {
        HostEnv {
            project: self.path("project"),
            home: Some(self.path("home")),
            path: std::env::var_os("PATH").unwrap_or_default(),
        }
    }

    pub fn registry(&self) -> Registry {
        Registry::open_in(self.policy.clone(), self.host_env(), &Default::default())
    }

    /// Writes a script of the skill.
    pub fn script(&self, name: &str, text: &str) -> Script<'_> {
        self.write(&format!("home/.prowess/skills/s/{name}"), text);
        self.script_named(name)
    }

    /// Returns a script by its name, which may not exist.
    pub fn script_named(&self, name: &str) -> Script<'_> {
        Script { env: self, name: name.to_owned(), arguments: Vec::new() }
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
        let registry = self.env.registry();
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

/// Returns `true` if a process with this id exists.
pub fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// Counts the processes of this test with this text in their command line.
pub fn count_own_processes(name: &str) -> usize {
    let own = format!("/prowess-{:x}-", std::process::id());
    let commands = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        fs::read(entry.path().join("cmdline")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    commands.filter(|command| command.contains(&own) && command.contains(name)).count()
}
