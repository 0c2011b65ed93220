//! A world in a line: skills, a model, and a chat.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess::config::{Chat, Provider};
use prowess::{Policy, Preset, Progress, Registry, Surroundings};
use prowess_chat::Event;
use prowess_chat::provider::{Backoff, Model, connect_with};
use prowess_chat::turn::{Agent, Input, Memory, Outcome};
use prowess_tools::Toolbox;
use tokio_util::sync::CancellationToken;

pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
    pub chat: Chat,
}

impl World {
    /// A project and a home without any skill, the bundled ones left out, with skills switched on.
    pub fn new(preset: Preset) -> Self {
        let mut world = Self::with_bundled(preset);
        world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
        world
    }

    pub fn with_bundled(preset: Preset) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::preset(preset);
        policy.enabled = true;
        Self { folder, policy, chat: Chat::default() }
    }

    /// Talks to a server.
    pub fn talking(mut self, provider: Provider, base: &str) -> Self {
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

    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.folder.path().join("bin").into(),
        }
    }

    pub fn toolbox(&self) -> Arc<Toolbox> {
        let registry = Registry::open_in(self.policy.clone(), self.surroundings(), &Progress::default());
        Arc::new(Toolbox::new(Arc::new(registry)))
    }

    pub fn model(&self, toolbox: &Arc<Toolbox>) -> Arc<dyn Model> {
        let millis = Duration::from_millis;
        let backoff = Backoff { first: millis(1), most: millis(2), asked_most: Duration::from_secs(2) };
        let key = |name: &str| (name == "KEY").then(|| "sk-SECRET-123".into());
        connect_with(&self.chat, key, toolbox, backoff).unwrap()
    }

    /// A conversation.
    pub fn start(&self) -> Talk {
        let toolbox = self.toolbox();
        let model = self.model(&toolbox);
        Talk::new(Agent::new(toolbox, model, self.chat.limits))
    }

    /// A text without where it was written.
    pub fn filtered(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "[DIR]")
    }
}

/// A conversation, turn by turn.
pub struct Talk {
    pub agent: Agent,
    pub chat: Memory,
    pub events: Vec<Event>,
    pub cancel: CancellationToken,
}

impl Talk {
    pub fn new(agent: Agent) -> Self {
        Self { agent, chat: Memory::default(), events: Vec::new(), cancel: CancellationToken::new() }
    }

    /// One turn; the events of this turn alone are kept.
    pub async fn say(&mut self, text: &str) -> Outcome {
        let (history, activated) = (self.chat.messages.clone(), self.chat.activated.clone());
        let input = Input { chat: "chat-1", history: &history, activated: &activated, text };
        let mut events = Vec::new();
        let outcome =
            self.agent.turn(input, &mut self.chat, &mut |event| events.push(event), &self.cancel).await;
        self.events = events;
        assert!(
            matches!(self.events.last(), Some(Event::Done { .. } | Event::Error { .. })),
            "{:?}",
            self.events
        );
        outcome
    }

    /// What the model said in the latest turn.
    pub fn said(&self) -> String {
        let said = self.events.iter().filter_map(|event| match event {
            Event::Delta { text } => Some(text.as_str()),
            _ => None,
        });
        said.collect()
    }

    /// The results of tools in the latest turn: tool, status and what a page is told.
    pub fn results(&self) -> Vec<(String, String, serde_json::Value)> {
        let result = |event: &Event| match event {
            Event::ToolResult { name, status, data, .. } => {
                Some((name.clone(), status.clone(), data.clone()))
            }
            _ => None,
        };
        self.events.iter().filter_map(result).collect()
    }

    /// The error that the latest turn ended with: code and message.
    pub fn error(&self) -> (String, String) {
        match self.events.last() {
            Some(Event::Error { code, message }) => (code.clone(), message.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// How the latest turn ended.
    pub fn reason(&self) -> String {
        match self.events.last() {
            Some(Event::Done { reason, .. }) => reason.clone(),
            other => panic!("{other:?}"),
        }
    }
}
