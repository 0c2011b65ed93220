//! A temporary project and home directory with skills and chat settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress};
use prowess_config::{ChatProvider, ChatSettings};
use prowess_tools::Toolbox;

/// A temporary project and home directory, removed on drop.
pub struct TestEnv {
    dir: tempfile::TempDir,
    /// The policy of the registry.
    pub policy: Policy,
    /// The model and the limits of chats.
    pub chat: ChatSettings,
}

impl TestEnv {
    /// Creates an environment without skills. Bundled skills are excluded, and skills are enabled.
    pub fn new(preset: Preset) -> Self {
        Self::with_bundled(preset).without_bundled()
    }

    fn without_bundled(mut self) -> Self {
        self.policy.scan.roots.retain(|root| root.to_string() != "bundled");
        self
    }

    /// Creates an environment with only the bundled skills.
    pub fn with_bundled(preset: Preset) -> Self {
        Self::in_dir(tempfile::tempdir().unwrap(), preset)
    }

    /// Creates an environment for very many files, in memory if there is a gigabyte of free space.
    pub fn large(preset: Preset) -> Self {
        let memory = Path::new("/dev/shm");
        let room = rustix::fs::statvfs(memory).map_or(0, |system| system.f_bavail * system.f_frsize);
        let dir = if room > 1 << 30 { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self::in_dir(dir.unwrap(), preset).without_bundled()
    }

    fn in_dir(dir: tempfile::TempDir, preset: Preset) -> Self {
        for name in ["project", "home", "bin"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut policy = Policy::from_preset(preset);
        policy.enabled = true;
        Self { dir, policy, chat: ChatSettings::default() }
    }

    /// Configures a model server, with the API key in the variable `KEY`.
    pub fn with_provider(mut self, provider: ChatProvider, base: &str) -> Self {
        self.chat.provider = provider;
        self.chat.model = Some("model-1".to_owned());
        self.chat.base_url = Some(format!("{base}/v1"));
        self.chat.key_env = Some("KEY".to_owned());
        self
    }

    /// Returns a path in the home directory if it starts with `~/`, otherwise in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.dir.path().join("home").join(inner),
            None => self.dir.path().join("project").join(inner),
        }
    }

    /// Writes a file and creates its parent directories.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Creates a valid skill with this name and body in the [`root`](Self::root).
    pub fn skill(&self, name: &str, body: &str) -> &Self {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n");
        self.file(&format!("{}/{name}/SKILL.md", self.root()), text)
    }

    /// Returns the first directory that the preset scans.
    pub fn root(&self) -> &'static str {
        match self.policy.preset {
            Preset::Standard => "~/.agents/skills",
            Preset::App => ".agents/skills",
            Preset::SkillTool => "skills",
            Preset::Harness | Preset::Triggers => ".agent/skills",
            Preset::Chat => ".skills",
        }
    }

    /// Creates a copy of the conformance fixture in the [`root`](Self::root). Models are offered the copy, unlike the
    /// bundled example.
    pub fn fixture(&self) -> &Self {
        let name = "skills-system-validation";
        let bundled = prowess::bundled::BundledSkill::find(name).unwrap();
        for (path, bytes) in bundled.files {
            self.file(&format!("{}/{name}/{path}", self.root()), bytes);
        }
        self
    }

    /// Returns the directories and the `PATH` of this environment.
    pub fn host_env(&self) -> HostEnv {
        HostEnv {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.dir.path().join("bin").into(),
        }
    }

    /// Returns the tools that a model can call.
    pub fn toolbox(&self) -> Arc<Toolbox> {
        Arc::new(self.toolbox_in(self.host_env()))
    }

    /// Returns the tools that a model can call, with the commands of this machine.
    pub fn toolbox_with_commands(&self) -> Toolbox {
        self.toolbox_in(HostEnv { path: std::env::var_os("PATH").unwrap_or_default(), ..self.host_env() })
    }

    fn toolbox_in(&self, host_env: HostEnv) -> Toolbox {
        Toolbox::new(Arc::new(Registry::open_in(self.policy.clone(), host_env, &ScanProgress::default())))
    }

    /// Replaces the path of the temporary directory with `[DIR]`.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.dir.path().to_str().unwrap(), "[DIR]")
    }
}
