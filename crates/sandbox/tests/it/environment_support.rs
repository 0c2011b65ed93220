//! A skill and a store of environments.

use std::path::PathBuf;
use std::process::Command;

use prowess::lock::PinnedEnvironment;
use prowess::resources::{SkillFiles, read_skill_files};
use prowess_sandbox::environments::{
    EnvironmentBuilder, EnvironmentError, EnvironmentRecord, EnvironmentRequest, EnvironmentStore,
    InterpreterPaths, ReadyEnvironment, for_script,
};
use prowess_sandbox::{Cancel, Protection, SandboxTier};
pub(crate) use prowess_testing::package_index::{LocalIndex, wheel};
use prowess_testing::script_env::{ScriptEnv, helper};

/// A skill whose environments are in a directory of the test.
pub(crate) struct EnvironmentTest {
    pub(crate) env: ScriptEnv,
    pub(crate) protection: Protection,
    pub(crate) cancel: Cancel,
    /// The first directory in which programs are searched.
    pub(crate) programs: Option<PathBuf>,
    /// What the lock file of the skill pins.
    pub(crate) pins: Vec<PinnedEnvironment>,
}

impl EnvironmentTest {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let mut env = ScriptEnv::new();
        env.policy.run.environments.directory = Some(env.path("environments"));
        for (path, text) in files {
            env.write(&format!("home/.prowess/skills/s/{path}"), text);
        }
        Self {
            env,
            protection: Protection::Required,
            cancel: Cancel::default(),
            programs: None,
            pins: Vec::new(),
        }
    }

    pub(crate) fn on(mut self, tier: SandboxTier) -> Self {
        self.protection = Protection::Only(tier);
        self
    }

    pub(crate) fn with_index(mut self, index: &LocalIndex) -> Self {
        self.env.policy.run.environments.python_index = Some(index.url.clone());
        self
    }

    pub(crate) fn files(&self) -> SkillFiles {
        let registry = self.env.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        read_skill_files(skill).unwrap()
    }

    pub(crate) fn store(&self) -> EnvironmentStore {
        EnvironmentStore::open(&self.env.policy.run.environments, &self.env.host_env()).unwrap()
    }

    pub(crate) fn with_builder<T>(&self, work: impl FnOnce(EnvironmentBuilder<'_>) -> T) -> T {
        let mut host = self.env.host_env();
        if let Some(programs) = &self.programs {
            let path = std::mem::take(&mut host.path);
            host.path =
                std::env::join_paths([programs.clone()].into_iter().chain(std::env::split_paths(&path)))
                    .unwrap();
        }
        let mut builder = EnvironmentBuilder::new(&self.env.policy, &host).unwrap().with_sandbox(
            helper(),
            self.protection,
            self.cancel.clone(),
        );
        builder.variables = std::env::vars_os().collect();
        builder.pins = self.pins.clone();
        work(builder)
    }

    /// Builds all environments of the skill.
    pub(crate) fn build(&self) -> Result<Vec<EnvironmentRecord>, EnvironmentError> {
        self.with_builder(|builder| {
            let plans = builder.plan(&self.files())?;
            plans.iter().map(|plan| builder.build(plan, &builder.resolve(plan)?, "s")).collect()
        })
    }

    /// Returns the environment of a script.
    pub(crate) fn ready(&self, script: &str) -> Result<Option<ReadyEnvironment>, EnvironmentError> {
        let interpreter = if script.ends_with(".py") {
            python()
        } else {
            InterpreterPaths { program: "/usr/bin/node".into(), readable: Vec::new() }
        };
        for_script(&EnvironmentRequest {
            skill: "s",
            files: &self.files(),
            script,
            pins: &self.pins,
            interpreter: &interpreter,
            settings: &self.env.policy.run.environments,
            host: &self.env.host_env(),
            helper: &helper(),
            protection: self.protection,
        })
    }

    /// Runs Python code with the environment of a script, outside of the sandbox.
    pub(crate) fn python(&self, script: &str, code: &str) -> (String, String) {
        let ready = self.ready(script).unwrap().unwrap();
        let output = Command::new(python().program)
            .args(["-c", code])
            .env_clear()
            .envs(ready.variables)
            .current_dir("/")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }
}

pub(crate) fn python() -> InterpreterPaths {
    InterpreterPaths { program: "/usr/bin/python3".into(), readable: Vec::new() }
}

/// Describes an error as a user sees it.
pub(crate) fn describe<T>(result: Result<T, EnvironmentError>) -> String {
    let error = result.err().unwrap();
    format!("{error}\nhint: {}", error.hint().unwrap_or_default())
}

/// Returns all files below a directory.
pub(crate) fn tree(dir: PathBuf) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.clone()];
    while let Some(current) = open.pop() {
        for entry in std::fs::read_dir(current).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path().strip_prefix(&dir).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}
