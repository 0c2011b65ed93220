//! Fixtures: a temporary home directory and project with skills, and servers for raw messages.

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

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress};
use prowess_mcp::{McpServer, McpServerOptions};
use prowess_sandbox::SandboxHelper;
use prowess_tools::{ScriptRunner, Toolbox};
use serde_json::{Value, json};

/// The timeout of all waits. It only bounds tests that would hang.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The revisions of the protocol with a handshake.
pub const OLDER_VERSIONS: [&str; 2] = ["2025-06-18", "2025-11-25"];

/// The revision without a handshake.
pub const NEWEST_VERSION: &str = "2026-07-28";

/// The directory of user skills in the standard preset, which need no trust.
pub const SKILLS_DIR: &str = "~/.agents/skills";

pub struct TestHome {
    dir: tempfile::TempDir,
    pub policy: Policy,
}

impl TestHome {
    /// Creates an empty home directory and project, without bundled skills, with skills enabled.
    pub fn new(preset: Preset) -> Self {
        let dir = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
        // Scripts that root starts run as another user.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        policy.scan.roots.retain(|root| root.to_string() != "bundled");
        Self { dir, policy }
    }

    /// Creates a home directory with these skills in the standard preset.
    pub fn with_skills(skills: &[&str]) -> Self {
        let home = Self::new(Preset::Standard);
        for name in skills {
            home.write_skill(&format!("{SKILLS_DIR}/{name}"), &format!("Body of {name}."));
        }
        home
    }

    /// Returns a path in the home directory for `~/…`, else in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.dir.path().join("home").join(inner),
            None => self.dir.path().join("project").join(inner),
        }
    }

    /// Writes a file and its parent directories.
    pub fn write_file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Writes a valid skill with the name of its directory.
    pub fn write_skill(&self, dir: &str, body: &str) -> &Self {
        self.write_skill_with(dir, "", body)
    }

    /// Writes a valid skill with additional frontmatter.
    pub fn write_skill_with(&self, dir: &str, frontmatter: &str, body: &str) -> &Self {
        let name = Path::new(dir).file_name().unwrap().to_str().unwrap();
        let head = format!("---\nname: {name}\ndescription: Does {name}.\n{frontmatter}---\n\n");
        self.write_file(&format!("{dir}/SKILL.md"), format!("{head}{body}\n"))
    }

    /// Writes a user skill with one tool, which returns its argument.
    pub fn write_toolset(&self, skill: &str, tool: &str) -> &Self {
        let module = format!(
            "import {{ Tool }} from '@agent/tools';\nimport {{ z }} from 'zod';\n\
             export const Set = [Tool.define('{tool}', {{ description: 'Does {tool}.', \
             parameters: z.object({{ a: z.string() }}), \
             execute: async (args) => ({{ title: 'T', metadata: {{ n: 1 }}, output: `{tool} ${{args.a}}` }}) }})];\n"
        );
        self.write_skill_with(
            &format!("{SKILLS_DIR}/{skill}"),
            "toolsets: [\"toolsets/index:Set\"]\n",
            "Use it.",
        );
        self.write_file(&format!("{SKILLS_DIR}/{skill}/toolsets/index.ts"), module)
    }

    pub fn registry(&self) -> Arc<Registry> {
        let host_env = HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: std::env::var_os("PATH").unwrap_or_default(),
        };
        Arc::new(Registry::open_in(self.policy.clone(), host_env, &ScanProgress::default()))
    }

    pub fn toolbox(&self) -> Toolbox {
        Toolbox::new(self.registry())
    }

    pub fn server(&self) -> McpServer {
        McpServer::new(self.toolbox(), McpServerOptions::default())
    }

    /// Creates a server that may run scripts.
    pub fn server_with_scripts(&self) -> McpServer {
        self.server_with_options(McpServerOptions::default())
    }

    /// Creates a server that may run scripts, with options.
    pub fn server_with_options(&self, options: McpServerOptions) -> McpServer {
        let runner =
            ScriptRunner { helper: SandboxHelper::from_path(helper_path()), ..ScriptRunner::default() };
        McpServer::new(self.toolbox().with_runner(runner), options)
    }

    /// Replaces the temporary directory in a text.
    pub fn redact_path(&self, text: &str) -> String {
        let canonical = self.dir.path().canonicalize().unwrap();
        text.replace(canonical.to_str().unwrap(), "[TEMP]")
            .replace(self.dir.path().to_str().unwrap(), "[TEMP]")
    }
}

/// Returns the path of the example, which can be the sandbox's helper; the test binary cannot.
fn helper_path() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().parent().unwrap().join("examples/stdio");
    assert!(example.exists(), "cargo build --all-features -p prowess-mcp --example stdio");
    example
}

/// Returns the first directory of a preset, which needs no trust.
pub fn skills_dir(preset: Preset) -> &'static str {
    match preset {
        Preset::Standard => SKILLS_DIR,
        Preset::App => ".agents/skills",
        Preset::SkillTool => "skills",
        Preset::Harness | Preset::Triggers => ".agent/skills",
        Preset::Chat => ".skills",
    }
}

/// Returns the parameters of `initialize`.
pub fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

/// Adds the capabilities of a client to the parameters of a request without a handshake.
pub fn with_capabilities(mut params: Value, capabilities: &Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    params
}

/// Returns the metadata of requests without a handshake.
pub fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Adds the metadata to parameters.
pub fn with_meta(mut params: Value, version: &str) -> Value {
    let mut all = meta(version);
    if let (Some(all), Some(own)) = (all.as_object_mut(), params["_meta"].as_object()) {
        all.extend(own.clone());
    }
    params["_meta"] = all;
    params
}

/// Returns the code and message of an error response.
pub fn error_of(response: &Value) -> (i64, &str) {
    let error = &response["error"];
    assert!(error.is_object(), "{response}");
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap())
}

pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// Waits until a condition holds.
pub async fn wait_until(description: &str, mut condition: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !condition() {
        assert!(started.elapsed() < TEST_TIMEOUT, "{description}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
