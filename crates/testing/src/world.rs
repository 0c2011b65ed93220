//! A world in a line: a project, a home, skills in them, and what a chat is configured to be.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress};
use prowess_config::{ChatProvider, ChatSettings};
use prowess_tools::Toolbox;

/// A project and a home in a folder that goes with it.
pub struct World {
    folder: tempfile::TempDir,
    /// What decides which skills there are.
    pub policy: Policy,
    /// Which model a chat talks to.
    pub chat: ChatSettings,
}

impl World {
    /// A project and a home without any skill, the bundled ones left out, with skills switched on.
    pub fn new(preset: Preset) -> Self {
        let mut world = Self::with_bundled(preset);
        world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
        world
    }

    /// The same with the bundled skills.
    pub fn with_bundled(preset: Preset) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        Self { folder, policy, chat: ChatSettings::default() }
    }

    /// Talks to a server, with the key that is in the variable `KEY`.
    pub fn talking(mut self, provider: ChatProvider, base: &str) -> Self {
        self.chat.provider = provider;
        self.chat.model = Some("model-1".to_owned());
        self.chat.base_url = Some(format!("{base}/v1"));
        self.chat.key_env = Some("KEY".to_owned());
        self
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

    /// A good skill of this name with this body, in the directory that the preset scans first.
    pub fn skill(&self, name: &str, body: &str) -> &Self {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n");
        self.file(&format!("{}/{name}/SKILL.md", self.root()), text)
    }

    /// The directory that the preset scans first.
    pub fn root(&self) -> &'static str {
        match self.policy.preset {
            Preset::Standard => "~/.agents/skills",
            Preset::App => ".agents/skills",
            Preset::SkillTool => "skills",
            Preset::Harness | Preset::Triggers => ".agent/skills",
            Preset::Chat => ".skills",
        }
    }

    /// The conformance fixture.
    pub fn fixture(&self) -> &Self {
        let name = "skills-system-validation";
        let bundled = prowess::bundled::BUNDLED.iter().find(|skill| skill.id == name).unwrap();
        for (path, bytes) in bundled.files {
            self.file(&format!("{}/{name}/{path}", self.root()), bytes);
        }
        self
    }

    /// Where everything is.
    pub fn surroundings(&self) -> HostEnv {
        HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.folder.path().join("bin").into(),
        }
    }

    /// The tools that a model can call here.
    pub fn toolbox(&self) -> Arc<Toolbox> {
        let registry = Registry::open_in(self.policy.clone(), self.surroundings(), &ScanProgress::default());
        Arc::new(Toolbox::new(Arc::new(registry)))
    }

    /// A text without where it was written.
    pub fn filtered(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "[DIR]")
    }
}
