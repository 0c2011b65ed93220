//! A test project with a home directory, skills, and a toolbox.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress};
use prowess_tools::{Envelope, Session, Toolbox};
use serde_json::{Value, json};

pub struct TestProject {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl TestProject {
    /// Creates a project and a home directory without skills. Bundled skills are excluded, and skills are
    /// enabled.
    pub fn new(preset: Preset) -> Self {
        Self::with_bundled(preset).without_bundled()
    }

    pub fn with_bundled(preset: Preset) -> Self {
        Self::on(tempfile::tempdir().unwrap(), preset)
    }

    /// Creates a project for very many files, in memory if there is a gigabyte of free space.
    pub fn large(preset: Preset) -> Self {
        let memory = Path::new("/dev/shm");
        let room = rustix::fs::statvfs(memory).map_or(0, |system| system.f_bavail * system.f_frsize);
        let folder = if room > 1 << 30 { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self::on(folder.unwrap(), preset).without_bundled()
    }

    fn without_bundled(mut self) -> Self {
        self.policy.scan.roots.retain(|root| root.to_string() != "bundled");
        self
    }

    fn on(folder: tempfile::TempDir, preset: Preset) -> Self {
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        Self { folder, policy }
    }

    /// Returns a path in the home directory (`~/`) or in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.folder.path().join("home").join(inner),
            None => self.folder.path().join("project").join(inner),
        }
    }

    /// Writes a file and creates its directories.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Creates a valid skill with this body, named after its directory.
    pub fn skill(&self, folder: &str, body: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        self.file(
            &format!("{folder}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n"),
        )
    }

    pub fn toolbox(&self) -> Toolbox {
        self.toolbox_on(self.folder.path().join("bin").into())
    }

    /// Returns a toolbox with this `PATH`.
    pub fn toolbox_on(&self, path: std::ffi::OsString) -> Toolbox {
        let host_env = HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path,
        };
        Toolbox::new(Arc::new(Registry::open_in(self.policy.clone(), host_env, &ScanProgress::default())))
    }

    /// Executes one call in a new conversation.
    pub fn call(&self, tool: &str, params: Value) -> Envelope {
        checked(self.toolbox().call(&mut Session::default(), tool, params))
    }

    /// Returns `true` if a text contains a local path.
    pub fn is_named_in(&self, text: &str) -> bool {
        text.contains(self.folder.path().to_str().unwrap())
    }
}

/// Returns the preset's first root that needs no trust.
pub fn root(preset: Preset) -> &'static str {
    match preset {
        Preset::Standard => "~/.agents/skills",
        Preset::App => ".agents/skills",
        Preset::SkillTool => "skills",
        Preset::Harness | Preset::Triggers => ".agent/skills",
        Preset::Chat => ".skills",
    }
}

/// Creates a project with one skill `a` with this body, and its toolbox.
pub fn one(preset: Preset, body: &str) -> (TestProject, Toolbox) {
    let project = TestProject::new(preset);
    project.skill(&format!("{}/a", root(preset)), body);
    let toolbox = project.toolbox();
    (project, toolbox)
}

/// Checks that an envelope has exactly the documented fields.
pub fn checked(envelope: Envelope) -> Envelope {
    let value = serde_json::to_value(&envelope).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    match value["status"].as_str().unwrap() {
        "error" => {
            assert_eq!(keys, ["context", "data", "error", "stats", "status", "text"]);
            let fields: Vec<_> = value["error"].as_object().unwrap().keys().collect();
            assert_eq!(fields, ["code", "message"]);
            assert_eq!(value["data"], json!({}));
            let code = value["error"]["code"].as_str().unwrap();
            assert!(prowess::ErrorCode::ALL.iter().any(|known| known.as_str() == code));
            assert_eq!(value["error"]["message"], value["text"]);
            assert!(!envelope.text.contains('\n') && !envelope.text.is_empty());
        }
        "partial" => {
            assert_eq!(keys, ["context", "data", "stats", "status", "text"]);
            assert!(value["data"]["truncated"] == true || value["data"]["failed_items"].is_array());
        }
        status => {
            assert_eq!((status, keys), ("success", vec!["context", "data", "stats", "status", "text"]));
        }
    }
    assert!(value["data"].is_object());
    assert!(value["stats"]["time_ms"].is_u64());
    assert!(value["context"]["cwd"].is_string());
    envelope
}

/// Returns the code and message of a failed call.
pub fn error(envelope: &Envelope) -> (&'static str, &str) {
    let error = envelope.error.as_ref().unwrap();
    (error.code.as_str(), &error.message)
}
