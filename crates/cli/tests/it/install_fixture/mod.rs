//! An install target with known contents, so that its state can be checked after any operation.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::TestEnv;

pub const SKILLS: [&str; 3] = ["alpha", "beta", "gamma"];

/// A configuration with comments and a plugin that was not installed by Prowess.
pub const CONFIG: &str = "\
# My settings. Keep off!
skills:
  pluginsDir: \"~/plugins\"  # out of the way
  # Those I like.
  plugins:
    # This one is made by hand.
    - url: https://example.com/ada/hand.git
      name: hand
  disabledBundled: []  # none
";

/// The install target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An untrusted project.
    Project,
    /// The user.
    User,
    /// Plugins in the configuration of preset `harness`.
    Harness,
}

/// The version of a skill, or 0 if it is missing.
pub type Version = u8;

/// The versions of all skills.
pub type State = [Version; 3];

pub struct InstallFixture {
    pub env: TestEnv,
    pub kind: Kind,
}

impl InstallFixture {
    pub fn new(kind: Kind) -> Self {
        let env = if kind == Kind::Harness { TestEnv::new() } else { TestEnv::bare() };
        if kind == Kind::Harness {
            env.file("~/.agent/config.yaml", CONFIG);
        }
        let fixture = Self { env, kind };
        for version in [1, 2] {
            for name in SKILLS {
                for (path, (bytes, executable)) in content(name, version) {
                    let file = format!("../v{version}/{name}/{path}");
                    fixture.env.file(&file, bytes);
                    let mode = if executable { 0o755 } else { 0o644 };
                    fs::set_permissions(fixture.env.path(&file), fs::Permissions::from_mode(mode)).unwrap();
                }
            }
        }
        fixture
    }

    /// Sets the version of the source.
    pub fn offer(&self, version: Version) {
        let source = self.env.path("../source");
        let other = self.env.path(&format!("../v{}", 3 - version));
        let wanted = self.env.path(&format!("../v{version}"));
        if wanted.exists() {
            if source.exists() {
                fs::rename(&source, other).unwrap();
            }
            fs::rename(wanted, source).unwrap();
        }
    }

    /// Adds the scope options of the install target to arguments.
    pub fn call<'c>(&self, args: &[&'c str]) -> Vec<&'c str> {
        let scope_args: &[&str] = match self.kind {
            Kind::Project => &["--project"],
            Kind::User => &["--user"],
            Kind::Harness => &["--user", "--preset", "harness"],
        };
        [args, scope_args].concat()
    }

    pub fn root(&self) -> PathBuf {
        self.env.path(match self.kind {
            Kind::Project => ".agents/skills",
            Kind::User => "~/.agents/skills",
            Kind::Harness => "~/plugins",
        })
    }

    pub fn lock(&self) -> PathBuf {
        match self.kind {
            Kind::Project => self.env.path("skills.lock"),
            Kind::User | Kind::Harness => self.env.path("~/.prowess/state/installed.json"),
        }
    }

    /// Returns the versions of all skills, or an error if one is incomplete.
    pub fn state(&self) -> Result<State, String> {
        let mut state = [0; 3];
        for (version, name) in state.iter_mut().zip(SKILLS) {
            *version = match read_files(&self.root().join(name)) {
                None => 0,
                Some(files) if files == content(name, 1) => 1,
                Some(files) if files == content(name, 2) => 2,
                Some(files) => return Err(format!("{name} is torn: {:?}", files.keys())),
            };
        }
        Ok(state)
    }

    /// Returns the names in the lock file, or none if it is missing.
    pub fn locked(&self) -> Result<Vec<String>, String> {
        let Ok(text) = fs::read_to_string(self.lock()) else { return Ok(Vec::new()) };
        let lock: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| format!("lock: {error}"))?;
        let skills = lock["skills"].as_array().ok_or("the lock has no skills")?;
        Ok(skills.iter().map(|skill| skill["name"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// Checks the state after a run: `verify` succeeds, the lock file
    /// and the configuration match the disk, and no temporary files are left.
    pub fn verify_and_check(&self) -> Result<State, String> {
        let result = self.env.run(&self.call(&["verify"]));
        if result.code != 0 {
            return Err(format!("verify: {}", result.transcript()));
        }
        self.check()
    }

    /// Checks the state like [`InstallFixture::verify_and_check`], without running `verify`.
    pub fn check(&self) -> Result<State, String> {
        let state = self.state()?;
        let present: Vec<String> = SKILLS
            .iter()
            .zip(state)
            .filter(|(_, version)| *version > 0)
            .map(|(name, _)| (*name).into())
            .collect();
        let locked = self.locked()?;
        if locked != present {
            return Err(format!("the lock has {locked:?}, the disk {present:?}"));
        }
        if self.kind == Kind::Harness {
            self.check_plugins(&present)?;
        }
        match self.leftovers() {
            remaining if remaining.is_empty() => Ok(state),
            remaining => Err(format!("left over: {remaining:?}")),
        }
    }

    /// Lets Claude Code be in use, for which skills are linked. Preset `harness` links none.
    pub fn use_claude_code(&self) {
        fs::create_dir_all(self.agent_dir().parent().unwrap()).unwrap();
    }

    fn agent_dir(&self) -> PathBuf {
        self.env.path(match self.kind {
            Kind::Project => ".claude/skills",
            Kind::User | Kind::Harness => "~/.claude/skills",
        })
    }

    /// Checks that exactly the installed skills are linked for Claude Code.
    pub fn check_links(&self) -> Result<(), String> {
        let entries = fs::read_dir(self.agent_dir()).into_iter().flatten().filter_map(Result::ok);
        let mut linked: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        linked.sort();
        let dangling = linked.iter().find(|name| !self.agent_dir().join(name).join("SKILL.md").is_file());
        let expected = if self.kind == Kind::Harness { Vec::new() } else { self.locked()? };
        match (linked == expected, dangling) {
            (true, None) => Ok(()),
            (_, dangling) => Err(format!("linked {linked:?}, installed {expected:?}, dangling {dangling:?}")),
        }
    }

    /// Checks that the configuration is valid and complete, and returns the plugins.
    pub fn check_config(&self) -> Result<Vec<String>, String> {
        let text =
            fs::read_to_string(self.env.path("~/.agent/config.yaml")).map_err(|error| error.to_string())?;
        for comment in CONFIG.lines().filter_map(|line| line.find('#').map(|at| &line[at..])) {
            if !text.contains(comment) {
                return Err(format!("{comment:?} is gone from the configuration: {text}"));
            }
        }
        let plugins =
            prowess_config::edit::harness::plugins(&text).map_err(|error| format!("{error}: {text}"))?;
        let mut names: Vec<String> =
            plugins.iter().map(|(plugin, _)| plugin.effective_name().to_owned()).collect();
        names.retain(|name| name != "hand");
        names.sort();
        Ok(names)
    }

    fn check_plugins(&self, present: &[String]) -> Result<(), String> {
        match self.check_config()? {
            names if names == present => Ok(()),
            names => Err(format!("the configuration has {names:?}, the disk {present:?}")),
        }
    }

    /// Returns leftover staging directories, lock guards and temporary files.
    pub fn leftovers(&self) -> Vec<String> {
        let is_left = |name: &str| {
            name.starts_with(".prowess-")
                || [".busy", ".new", ".prowess-new"].iter().any(|end| name.ends_with(end))
        };
        let mut found: Vec<String> = Vec::new();
        for dir in [self.env.path(""), self.env.path("~/")] {
            walk(&dir, &mut |path| {
                if is_left(&path.file_name().unwrap_or_default().to_string_lossy()) {
                    found.push(self.env.redact(&path.to_string_lossy()));
                }
            });
        }
        found
    }
}

type Content = BTreeMap<String, (Vec<u8>, bool)>;

/// Returns the files of a version of a skill. The versions differ in every combination.
fn content(name: &str, version: Version) -> Content {
    let manifest =
        format!("---\nname: {name}\ndescription: Does {name}, version {version}.\n---\n\nDo {version}.\n");
    let same = "The same in both.\n".to_owned();
    let mut files = vec![("SKILL.md", manifest, false), ("references/same.md", same, false)];
    match version {
        1 => files.push(("references/old.md", "Only in the first.\n".to_owned(), false)),
        _ => files.push(("scripts/run.sh", format!("#!/bin/sh\necho {name}\n"), true)),
    }
    files.into_iter().map(|(path, text, run)| (path.to_owned(), (text.into_bytes(), run))).collect()
}

/// Reads the files of a directory, or returns `None` if it is missing.
fn read_files(dir: &Path) -> Option<Content> {
    fs::symlink_metadata(dir).ok()?;
    let mut files = Content::new();
    walk(dir, &mut |path| {
        let is_run = fs::symlink_metadata(path).is_ok_and(|there| there.permissions().mode() & 0o100 != 0);
        if let Ok(bytes) = fs::read(path) {
            let inner = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
            files.insert(inner, (bytes, is_run));
        }
    });
    Some(files)
}

/// Visits all files below a directory, without following symlinks.
fn walk(dir: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
        visit(&entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), visit);
        }
    }
}

/// A deterministic random number generator.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
