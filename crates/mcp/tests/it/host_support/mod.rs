//! Scripted MCP servers, and a temporary host for them.
//!
//! A server process is this test binary, started again; see [`serve_if_asked`].

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod official;
pub mod raw;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::remote::approvals::{ApprovalGrants, approve};
use prowess::remote::{RemoteEntry, RemoteSource};
use prowess::{HostEnv, Policy, Registry, ScanProgress};
use prowess_config::{McpSource, McpTransport};
use prowess_mcp::host::McpRemoteSources;
use serde_json::{Value, json};

/// An approval without grants.
pub const NO_GRANTS: ApprovalGrants = ApprovalGrants { allow_tools: false, allow_run: false };

/// The variable with the path of the script. If it is set, this program is a server.
const SCRIPT_VARIABLE: &str = "PROWESS_TEST_SCRIPT";

/// The script of a server. It is read anew for each request, so that a test can change it.
#[derive(Debug, Clone)]
pub struct ServerScript(PathBuf);

impl ServerScript {
    pub fn read(&self) -> Value {
        serde_json::from_slice(&std::fs::read(&self.0).unwrap()).unwrap()
    }

    pub fn write(&self, script: &Value) {
        // Atomically, because the server may read it at any time.
        let new = self.0.with_extension("new");
        std::fs::write(&new, script.to_string()).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }

    /// Returns `true` if the script has this fault.
    pub fn has_fault(&self, fault: &str) -> bool {
        self.read()["fault"] == fault
    }

    pub fn log(&self, line: &str) {
        let mut log =
            std::fs::File::options().create(true).append(true).open(self.0.with_extension("log")).unwrap();
        writeln!(log, "{line}").unwrap();
    }

    /// Returns the logged requests.
    pub fn requests(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.0.with_extension("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Returns the entry of a skill in the script.
    pub fn entry(skill: &Value) -> Value {
        if !skill["entry"].is_null() {
            return skill["entry"].clone();
        }
        let path = skill["path"].as_str().unwrap();
        let files = skill["files"].as_object().unwrap();
        let frontmatter = match &skill["frontmatter"] {
            Value::Null => json!({
                "name": path.rsplit('/').next().unwrap(),
                "description": format!("Does {path} remotely."),
            }),
            given => given.clone(),
        };
        let file = |(inner, content): (&String, &Value)| {
            let bytes = content.as_str().unwrap().as_bytes();
            json!({"uri": format!("skill://{path}/{inner}"), "digest": prowess::digest(bytes), "size": bytes.len()})
        };
        let resources: Vec<_> = files.iter().map(file).collect();
        json!({"uri": format!("skill://{path}/SKILL.md"), "frontmatter": frontmatter, "resources": resources})
    }

    /// Returns the listed entries, or all.
    pub fn entries(&self, all: bool) -> Vec<Value> {
        let script = self.read();
        let skills = script["skills"].as_array().cloned().unwrap_or_default();
        skills.iter().filter(|skill| all || skill["unlisted"].is_null()).map(Self::entry).collect()
    }

    /// Returns the text of a file: the override of the script, or the file of the skill.
    pub fn content(&self, uri: &str) -> Option<String> {
        let script = self.read();
        if let Some(text) = script["serve"][uri].as_str() {
            return Some(text.to_owned());
        }
        let skills = script["skills"].as_array()?;
        skills.iter().find_map(|skill| {
            let inner = uri.strip_prefix(&format!("skill://{}/", skill["path"].as_str()?))?;
            skill["files"][inner].as_str().map(str::to_owned)
        })
    }
}

/// Returns a valid skill at this path.
pub fn skill(path: &str) -> Value {
    let name = path.rsplit('/').next().unwrap();
    json!({
        "path": path,
        "files": {
            "SKILL.md": format!("---\nname: {name}\ndescription: Does {path} remotely.\n---\n\nFollow references/a.md.\n"),
            "references/a.md": "A\n",
            "scripts/run.sh": "#!/bin/sh\necho ran\n",
        },
    })
}

/// Runs a server if this process was started as one.
pub fn serve_if_child() {
    if let Some(script) = std::env::var_os(SCRIPT_VARIABLE) {
        let script = ServerScript(script.into());
        // The output of the test harness has no line break at its end and is not a message.
        std::io::stdout().write_all(b"\n").unwrap();
        match script.read()["raw"].is_null() {
            true => official::serve_stdio(&script),
            false => raw::serve_stdio(&script),
        }
        std::process::exit(0);
    }
}

/// A temporary home directory and project.
pub struct TestHost {
    dir: tempfile::TempDir,
    pub policy: Policy,
}

impl TestHost {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut policy = Policy::default();
        policy.scan.roots.retain(|root| root.to_string() != "bundled");
        Self { dir, policy }
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().join(inner)
    }

    pub fn host_env(&self) -> HostEnv {
        let path = std::env::var_os("PATH").unwrap_or_default();
        HostEnv { project: self.path("project"), home: Some(self.path("home")), path }
    }

    /// Creates the script of a server with these skills.
    pub fn script(&self, label: &str, skills: &[Value]) -> ServerScript {
        let script = ServerScript(self.path(&format!("{label}.json")));
        script.write(&json!({"skills": skills, "ttl": 0}));
        script
    }

    /// Returns the configuration of a server process.
    pub fn command(label: &str) -> McpSource {
        let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        let args = ["host::serve_as_child", "--exact", "--nocapture", "--test-threads=1"]
            .map(str::to_owned)
            .to_vec();
        let transport = McpTransport::Command { program, args, env: vec![SCRIPT_VARIABLE.to_owned()] };
        McpSource { label: label.to_owned(), transport, timeout_ms: 20_000, enabled: true }
    }

    pub fn sources_of(&self, sources: &[McpSource], script: &ServerScript) -> McpRemoteSources {
        let environment = [(OsString::from(SCRIPT_VARIABLE), script.0.clone().into_os_string())];
        let environment =
            environment.into_iter().chain(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        McpRemoteSources::new(sources, &self.host_env(), environment)
    }

    /// Creates the server `docs` with this script, over stdio.
    pub fn sources(&self, script: &ServerScript) -> McpRemoteSources {
        self.sources_of(&[Self::command("docs")], script)
    }

    /// Creates the server `docs` with a short timeout; see [`sources`](Self::sources).
    pub fn sources_with_short_timeout(&self, script: &ServerScript) -> McpRemoteSources {
        let source = McpSource { timeout_ms: 400, ..Self::command("docs") };
        self.sources_of(&[source], script)
    }

    pub fn registry(&self, sources: &McpRemoteSources) -> Registry {
        Registry::open_with_sources(
            self.policy.clone(),
            self.host_env(),
            sources.remote_sources(),
            &ScanProgress::default(),
        )
    }

    /// Approves the current version of a skill.
    pub fn approve(
        &self,
        sources: &McpRemoteSources,
        name: &str,
        grants: ApprovalGrants,
    ) -> Arc<RemoteEntry> {
        let label = name.split('/').next().unwrap();
        let source = sources.get(label).unwrap();
        let entry = source.listing().skills.iter().find(|known| known.name == name).unwrap().clone();
        approve(label, &entry, grants, &self.host_env()).unwrap();
        entry
    }

    /// Returns all remote skills and general diagnostics as text.
    pub fn report(&self, registry: &Registry) -> String {
        let snapshot = registry.refresh();
        let skills = snapshot.all().iter().filter(|skill| skill.remote().is_some()).map(|skill| {
            let reason = skill.reason().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} is {}{reason}\n", skill.name(), skill.status().as_str())
        });
        let diagnostics =
            snapshot.general_diagnostics().map(|diagnostic| format!("{}\n", diagnostic.diagnostic));
        skills.chain(diagnostics).collect()
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.path("home/.prowess/state/mcp")
    }
}

pub fn read_file(registry: &Registry, name: &str, path: &str) -> Result<String, String> {
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).ok_or("no such skill")?;
    let read = prowess::resources::read_text(skill, path, &registry.policy().limits);
    read.map(|read| read.content).map_err(|error| error.to_string())
}

pub fn activate_skill(registry: &Registry, name: &str) -> Result<String, String> {
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).ok_or("no such skill")?;
    let activated = prowess::activation::activate(skill, None, registry.policy());
    activated.map(|activated| activated.content()).map_err(|error| error.to_string())
}

/// Returns the paths of all files below a directory.
pub fn list_files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(list_files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

/// Creates a host with one approved skill.
pub fn approved(script: &Value) -> (TestHost, ServerScript, McpRemoteSources, Registry) {
    let host = TestHost::new();
    let file = host.script("docs", &[]);
    file.write(script);
    let sources = host.sources(&file);
    let registry = host.registry(&sources);
    host.approve(&sources, "docs/pdf", NO_GRANTS);
    registry.refresh();
    (host, file, sources, registry)
}
