//! Servers of skills that do what a file says, and a home to be their host in.
//!
//! A server that is started is this very test program, started again: [`serve_if_asked`] is where it becomes one.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod official;
pub mod raw;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::supply::approvals::{Grants, approve};
use prowess::supply::{Offered, Supply};
use prowess::{Policy, Progress, Registry, Surroundings};
use prowess_config::{McpSource, Reach};
use prowess_mcp::host::Sources;
use serde_json::{Value, json};

/// Names the file that a server follows. Where it is set, this program is a server.
const SCRIPT: &str = "PROWESS_TEST_SCRIPT";

/// What a server does: read anew for each request, so that a test can change its mind.
#[derive(Debug, Clone)]
pub struct Script(PathBuf);

impl Script {
    pub fn read(&self) -> Value {
        serde_json::from_slice(&std::fs::read(&self.0).unwrap()).unwrap()
    }

    pub fn write(&self, script: &Value) {
        // In one step: the server may read it at any time.
        let new = self.0.with_extension("new");
        std::fs::write(&new, script.to_string()).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }

    /// What goes wrong, if this is it.
    pub fn fault(&self, fault: &str) -> bool {
        self.read()["fault"] == fault
    }

    pub fn log(&self, line: &str) {
        let mut log =
            std::fs::File::options().create(true).append(true).open(self.0.with_extension("log")).unwrap();
        writeln!(log, "{line}").unwrap();
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.0.with_extension("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The entry of a skill of the script.
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

    /// All entries that are listed, or all there are.
    pub fn entries(&self, all: bool) -> Vec<Value> {
        let script = self.read();
        let skills = script["skills"].as_array().cloned().unwrap_or_default();
        skills.iter().filter(|skill| all || skill["unlisted"].is_null()).map(Self::entry).collect()
    }

    /// The text of a file: what the script hands out for it, or what the skill has.
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

/// A good skill at this path.
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

/// Becomes a server where that is what this program was started for.
pub fn serve_if_asked() {
    if let Some(script) = std::env::var_os(SCRIPT) {
        let script = Script(script.into());
        // What the test harness has written does not end in a line break, and is no message.
        std::io::stdout().write_all(b"\n").unwrap();
        match script.read()["raw"].is_null() {
            true => official::serve_stdio(&script),
            false => raw::serve_stdio(&script),
        }
        std::process::exit(0);
    }
}

/// A home, a project, and servers.
pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::default();
        policy.scan.roots.retain(|root| root.to_string() != "bundled");
        Self { folder, policy }
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    pub fn surroundings(&self) -> Surroundings {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Surroundings { project: self.path("project"), home: Some(self.path("home")), path }
    }

    /// The script of a server, with these skills.
    pub fn script(&self, label: &str, skills: &[Value]) -> Script {
        let script = Script(self.path(&format!("{label}.json")));
        script.write(&json!({"skills": skills, "ttl": 0}));
        script
    }

    /// A server that is started.
    pub fn command(label: &str) -> McpSource {
        let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        let args = ["host::serves", "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).to_vec();
        let reach = Reach::Command { program, args, env: vec![SCRIPT.to_owned()] };
        McpSource { label: label.to_owned(), reach, timeout_ms: 20_000, enabled: true }
    }

    pub fn sources_of(&self, sources: &[McpSource], script: &Script) -> Sources {
        let environment = [(OsString::from(SCRIPT), script.0.clone().into_os_string())];
        let environment =
            environment.into_iter().chain(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        Sources::new(sources, &self.surroundings(), environment)
    }

    /// The server `docs` that follows this script, over its standard streams.
    pub fn sources(&self, script: &Script) -> Sources {
        self.sources_of(&[Self::command("docs")], script)
    }

    /// The same with little patience.
    pub fn impatient(&self, script: &Script) -> Sources {
        let source = McpSource { timeout_ms: 400, ..Self::command("docs") };
        self.sources_of(&[source], script)
    }

    pub fn registry(&self, sources: &Sources) -> Registry {
        Registry::open_with(
            self.policy.clone(),
            self.surroundings(),
            sources.supplies(),
            &Progress::default(),
        )
    }

    /// The user approves a skill as it is offered now.
    pub fn approve(&self, sources: &Sources, name: &str, grants: Grants) -> Arc<Offered> {
        let label = name.split('/').next().unwrap();
        let source = sources.get(label).unwrap();
        let offered = source.offering().skills.iter().find(|known| known.name == name).unwrap().clone();
        approve(label, &offered, grants, &self.surroundings()).unwrap();
        offered
    }

    /// Every skill and diagnostic of servers.
    pub fn told(&self, registry: &Registry) -> String {
        let snapshot = registry.refresh();
        let skills = snapshot.all().iter().filter(|skill| skill.supplied().is_some()).map(|skill| {
            let reason = skill.reason().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} is {}{reason}\n", skill.name(), skill.status().as_str())
        });
        let said = snapshot.general_diagnostics().map(|said| format!("{}\n", said.diagnostic));
        skills.chain(said).collect()
    }

    pub fn state(&self) -> PathBuf {
        self.path("home/.prowess/state/mcp")
    }
}

pub fn read(registry: &Registry, name: &str, path: &str) -> Result<String, String> {
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).ok_or("there is no such skill")?;
    let read = prowess::resource::read(skill, path, &registry.policy().limits);
    read.map(|read| read.content).map_err(|error| error.to_string())
}

pub fn activate(registry: &Registry, name: &str) -> Result<String, String> {
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).ok_or("there is no such skill")?;
    let activated = prowess::activate::activate(skill, None, registry.policy());
    activated.map(|activated| activated.content()).map_err(|error| error.to_string())
}

/// All files below a folder, with their paths.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}
