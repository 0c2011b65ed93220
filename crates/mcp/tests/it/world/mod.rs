//! A world in a line: a project, a home, skills in them, and servers over them that are spoken to message by message.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod http;
pub mod reply;
pub mod schema;
pub mod stdio;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prowess::{Policy, Preset, Progress, Registry, Surroundings};
use prowess_mcp::{Options, Server};
use prowess_sandbox::Helper;
use prowess_tools::{Runner, Toolbox};
use serde_json::{Value, json};

/// How long anything is waited for. It bounds tests that would hang; nothing is measured.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The revisions of the protocol that begin with a handshake.
pub const OLDER: [&str; 2] = ["2025-06-18", "2025-11-25"];

/// The revision that has none.
pub const NEWEST: &str = "2026-07-28";

/// Where user skills are in the standard preset; they need no trust.
pub const ROOT: &str = "~/.agents/skills";

pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl World {
    /// A project and a home without any skill, the bundled ones left out, with skills switched on.
    pub fn new(preset: Preset) -> Self {
        let folder = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
        // Scripts that root runs are run as somebody else.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::preset(preset);
        policy.enabled = true;
        policy.scan.roots.retain(|root| root.to_string() != "bundled");
        Self { folder, policy }
    }

    /// The standard preset, with these skills, each with a body of its own.
    pub fn with(skills: &[&str]) -> Self {
        let world = Self::new(Preset::Standard);
        for name in skills {
            world.skill(&format!("{ROOT}/{name}"), &format!("Body of {name}."));
        }
        world
    }

    /// `~/` is the home, everything else is in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.folder.path().join("home").join(inner),
            None => self.folder.path().join("project").join(inner),
        }
    }

    /// Writes a file, folders included.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A good skill in this folder, named after it, with this body.
    pub fn skill(&self, folder: &str, body: &str) -> &Self {
        self.skill_with(folder, "", body)
    }

    /// The same with more frontmatter.
    pub fn skill_with(&self, folder: &str, frontmatter: &str, body: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        let head = format!("---\nname: {name}\ndescription: Does {name}.\n{frontmatter}---\n\n");
        self.file(&format!("{folder}/SKILL.md"), format!("{head}{body}\n"))
    }

    /// A skill of the user that brings one tool, which says what it was given.
    pub fn toolset(&self, skill: &str, tool: &str) -> &Self {
        let module = format!(
            "import {{ Tool }} from '@agent/tools';\nimport {{ z }} from 'zod';\n\
             export const Set = [Tool.define('{tool}', {{ description: 'Does {tool}.', \
             parameters: z.object({{ a: z.string() }}), \
             execute: async (args) => ({{ title: 'T', metadata: {{ n: 1 }}, output: `{tool} ${{args.a}}` }}) }})];\n"
        );
        self.skill_with(&format!("{ROOT}/{skill}"), "toolsets: [\"toolsets/index:Set\"]\n", "Use it.");
        self.file(&format!("{ROOT}/{skill}/toolsets/index.ts"), module)
    }

    pub fn registry(&self) -> Arc<Registry> {
        let surroundings = Surroundings {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: std::env::var_os("PATH").unwrap_or_default(),
        };
        Arc::new(Registry::open_in(self.policy.clone(), surroundings, &Progress::default()))
    }

    pub fn toolbox(&self) -> Toolbox {
        Toolbox::new(self.registry())
    }

    pub fn server(&self) -> Server {
        Server::new(self.toolbox(), Options::default())
    }

    /// A server that may run scripts.
    pub fn running(&self) -> Server {
        let runner = Runner { helper: Helper::at(helper()), ..Runner::default() };
        Server::new(self.toolbox().with_runner(runner), Options::default())
    }

    /// The text without where on this machine the world is.
    pub fn without_place(&self, text: &str) -> String {
        let canonical = self.folder.path().canonicalize().unwrap();
        text.replace(canonical.to_str().unwrap(), "[WORLD]")
            .replace(self.folder.path().to_str().unwrap(), "[WORLD]")
    }
}

/// The example of this crate is a program that can be the sandbox's helper, which tests cannot.
fn helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().parent().unwrap().join("examples/stdio");
    assert!(example.exists(), "cargo build --all-features -p prowess-mcp --example stdio");
    example
}

/// The directory of the preset that is scanned first, where no trust is needed.
pub fn root(preset: Preset) -> &'static str {
    match preset {
        Preset::Standard => ROOT,
        Preset::App => ".agents/skills",
        Preset::SkillTool => "skills",
        Preset::Harness | Preset::Triggers => ".agent/skills",
        Preset::Chat => ".skills",
    }
}

/// What a client says when it begins with a handshake.
pub fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

/// What goes with each request of a client that has none.
pub fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Parameters with that, beside what they have already.
pub fn with_meta(mut params: Value, version: &str) -> Value {
    let mut all = meta(version);
    if let (Some(all), Some(own)) = (all.as_object_mut(), params["_meta"].as_object()) {
        all.extend(own.clone());
    }
    params["_meta"] = all;
    params
}

/// Code and message of an answer that is an error.
pub fn error(answer: &Value) -> (i64, &str) {
    let error = &answer["error"];
    assert!(error.is_object(), "{answer}");
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap())
}

pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
