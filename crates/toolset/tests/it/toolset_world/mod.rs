//! A world in a line: skills with toolsets in a folder, and the engine over them.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use prowess::{Policy, Registry};
use prowess_toolset::{Cancel, Limits, Loaded, ToolCall, ToolResult, ToolsetError, Toolsets};
use serde_json::Value;

pub struct World {
    folder: tempfile::TempDir,
    pub limits: Limits,
}

impl World {
    pub fn new() -> Self {
        let limits = Limits {
            load_time: Duration::from_secs(20),
            call_time: Duration::from_secs(20),
            ..Limits::default()
        };
        Self { folder: tempfile::tempdir().unwrap(), limits }
    }

    /// A world with one skill `a` of this module, whose export is `Set`.
    pub fn of(module: &str) -> Self {
        let world = Self::new();
        world.skill("a", module);
        world
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join("skills").join(inner)
    }

    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A skill with one toolset in TypeScript.
    pub fn skill(&self, name: &str, module: &str) -> &Self {
        let head = format!(
            "---\nname: {name}\ndescription: Does {name}.\ntoolsets: [\"toolsets/index:Set\"]\n---\nB\n"
        );
        self.file(&format!("{name}/SKILL.md"), head).file(&format!("{name}/toolsets/index.ts"), module)
    }

    pub fn registry(&self) -> Registry {
        let mut policy =
            Policy::preset(prowess::Preset::Triggers).with_roots([self.folder.path().join("skills")]);
        policy.enabled = true;
        Registry::open(policy).unwrap()
    }

    pub fn toolsets(&self) -> Toolsets {
        Toolsets::with_limits(self.limits.clone())
    }

    /// The tools of a skill, loaded for the occasion.
    pub fn tools(&self, skill: &str) -> Result<Loaded, ToolsetError> {
        self.toolsets().tools(self.registry().snapshot().get(skill).unwrap())
    }

    /// The one thing that is wrong with loading skill `a`.
    pub fn failure(&self) -> ToolsetError {
        match self.tools("a") {
            Ok(loaded) => {
                assert!(loaded.tools.is_empty(), "{loaded:?}");
                loaded.failures.into_iter().next().unwrap()
            }
            Err(error) => error,
        }
    }

    /// One call in an engine of its own.
    pub fn call(&self, skill: &str, tool: &str, arguments: Value) -> Result<ToolResult, ToolsetError> {
        let registry = self.registry();
        let snapshot = registry.snapshot();
        self.toolsets().call(snapshot.get(skill).unwrap(), ToolCall::new(tool, arguments), Cancel::default())
    }
}

/// A tool `t` without parameters that does this and answers with `r`.
pub fn tool(body: &str) -> World {
    World::of(&format!(
        "import {{ Tool }} from '@agent/tools';\nexport const Set = [Tool.define('t', {{ description: 'T.',\n  \
         execute: async (args, ctx) => {{ {body} }} }})];\n"
    ))
}

/// The error of calling that tool.
pub fn error(body: &str) -> ToolsetError {
    tool(body).call("a", "t", Value::Object(Default::default())).unwrap_err()
}

/// What that tool puts out.
pub fn output(body: &str) -> String {
    tool(body).call("a", "t", Value::Object(Default::default())).unwrap().output
}
