//! A world in a line: a project, a home, skills in them, and the tools over them.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{Policy, Preset, Progress, Registry, Surroundings};
use prowess_tools::{Envelope, Session, Toolbox};
use serde_json::{Value, json};

pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl World {
    /// A project and a home without any skill, the bundled ones left out, with skills switched on.
    pub fn new(preset: Preset) -> Self {
        Self::with_bundled(preset).without_bundled()
    }

    pub fn with_bundled(preset: Preset) -> Self {
        Self::on(tempfile::tempdir().unwrap(), preset)
    }

    /// For very many files, which take long on a disk: in memory, where there is a gigabyte of room for it.
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
        let mut policy = Policy::preset(preset);
        policy.enabled = true;
        Self { folder, policy }
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
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        self.file(
            &format!("{folder}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n"),
        )
    }

    pub fn toolbox(&self) -> Toolbox {
        self.toolbox_on(self.folder.path().join("bin").into())
    }

    /// The same with the programs of this machine.
    pub fn toolbox_on(&self, path: std::ffi::OsString) -> Toolbox {
        let surroundings = Surroundings {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path,
        };
        Toolbox::new(Arc::new(Registry::open_in(self.policy.clone(), surroundings, &Progress::default())))
    }

    /// One call in a conversation of its own.
    pub fn call(&self, tool: &str, params: Value) -> Envelope {
        checked(self.toolbox().call(&mut Session::default(), tool, params))
    }

    /// Whether a text names a place on this machine.
    pub fn is_named_in(&self, text: &str) -> bool {
        text.contains(self.folder.path().to_str().unwrap())
    }
}

/// The directory of the preset that is scanned first, where no trust is needed.
pub fn root(preset: Preset) -> &'static str {
    match preset {
        Preset::Standard => "~/.agents/skills",
        Preset::App => ".agents/skills",
        Preset::SkillTool => "skills",
        Preset::Harness | Preset::Triggers => ".agent/skills",
        Preset::Chat => ".skills",
    }
}

/// A world with one skill `a` of this body, and the toolbox over it.
pub fn one(preset: Preset, body: &str) -> (World, Toolbox) {
    let world = World::new(preset);
    world.skill(&format!("{}/a", root(preset)), body);
    let toolbox = world.toolbox();
    (world, toolbox)
}

/// The envelope, once it was seen to have exactly the contract's form.
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

/// Code and message of a failure.
pub fn error(envelope: &Envelope) -> (&'static str, &str) {
    let error = envelope.error.as_ref().unwrap();
    (error.code.as_str(), &error.message)
}
