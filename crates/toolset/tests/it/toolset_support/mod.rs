//! A test directory of skills with toolsets.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use prowess::{Policy, Registry};
use prowess_toolset::{Cancel, LoadedTools, ToolCall, ToolResult, ToolsetError, ToolsetLimits, Toolsets};
use serde_json::Value;

pub struct TestSkills {
    dir: tempfile::TempDir,
    pub limits: ToolsetLimits,
}

impl TestSkills {
    pub fn new() -> Self {
        let limits = ToolsetLimits {
            load_time: Duration::from_secs(20),
            call_time: Duration::from_secs(20),
            ..ToolsetLimits::default()
        };
        Self { dir: tempfile::tempdir().unwrap(), limits }
    }

    /// Creates a directory with one skill `a` whose module exports `Set`.
    pub fn with_module(module: &str) -> Self {
        let skills = Self::new();
        skills.skill("a", module);
        skills
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().join("skills").join(inner)
    }

    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Adds a skill with one TypeScript toolset.
    pub fn skill(&self, name: &str, module: &str) -> &Self {
        let head = format!(
            "---\nname: {name}\ndescription: Does {name}.\ntoolsets: [\"toolsets/index:Set\"]\n---\nB\n"
        );
        self.file(&format!("{name}/SKILL.md"), head).file(&format!("{name}/toolsets/index.ts"), module)
    }

    pub fn registry(&self) -> Registry {
        let mut policy =
            Policy::from_preset(prowess::Preset::Triggers).with_roots([self.dir.path().join("skills")]);
        policy.enabled = true;
        Registry::open(policy).unwrap()
    }

    pub fn toolsets(&self) -> Toolsets {
        Toolsets::with_limits(self.limits.clone())
    }

    /// Returns the tools of a skill, loaded in a new engine.
    pub fn tools(&self, skill: &str) -> Result<LoadedTools, ToolsetError> {
        self.toolsets().tools(self.registry().snapshot().get(skill).unwrap())
    }

    /// Returns the error of loading skill `a`.
    pub fn failure(&self) -> ToolsetError {
        match self.tools("a") {
            Ok(loaded) => {
                assert!(loaded.tools.is_empty(), "{loaded:?}");
                loaded.failures.into_iter().next().unwrap()
            }
            Err(error) => error,
        }
    }

    /// Calls a tool in a new engine.
    pub fn call(&self, skill: &str, tool: &str, arguments: Value) -> Result<ToolResult, ToolsetError> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        self.toolsets().call(snapshot.get(skill).unwrap(), ToolCall::new(tool, arguments), Cancel::default())
    }
}

/// Creates a tool `t` without parameters and with this body.
pub fn tool(body: &str) -> TestSkills {
    TestSkills::with_module(&format!(
        "import {{ Tool }} from '@agent/tools';\nexport const Set = [Tool.define('t', {{ description: 'T.',\n  \
         execute: async (args, ctx) => {{ {body} }} }})];\n"
    ))
}

/// Returns the error of calling a tool with this body.
pub fn error(body: &str) -> ToolsetError {
    tool(body).call("a", "t", Value::Object(Default::default())).unwrap_err()
}

/// Returns the output of a tool with this body.
pub fn output(body: &str) -> String {
    tool(body).call("a", "t", Value::Object(Default::default())).unwrap().output
}
