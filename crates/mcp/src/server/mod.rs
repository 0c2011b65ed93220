//! Skills, served to any number of clients.
//!
//! | module | subject |
//! |---|---|
//! | `connection` | one client: its conversation, and which request goes where |
//! | `tools`, `attached` | the tools, calling them, and what they give beside text |
//! | `resources`, `prompts`, `complete` | files, skills that people call, and what can be typed |
//! | `skills` | the skills extension |
//! | `changes`, `subscriptions` | what clients are told when skills change |
//! | `instructions` | what a model is told at the start |
//! | `log`, `progress` | what clients are told about the work |
//! | `said` | what went wrong, as the protocol has it |
//!
//! What must always hold: a [`Connection`] is one conversation and knows of no other; whatever is read goes through the
//! same doors as everywhere else in Prowess; and nothing is kept for a client that is gone.

mod attached;
mod changes;
mod complete;
mod connection;
mod instructions;
mod log;
mod progress;
mod prompts;
mod resources;
mod said;
mod schemas;
mod skills;
mod subscriptions;
mod tools;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prowess::disclose::{Visibility, visibility};
use prowess::{Registry, Skill, Snapshot};
use prowess_tools::{Toolbox, key};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use connection::Connection;

use crate::manifest::Manifests;
use crate::page::Cursors;
use changes::{Change, Changes};
use instructions::Instructions;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Skills that count as active in every conversation from its start, so that their tools are there at once.
    pub active: Vec<String>,
    /// The most characters of the instructions that clients get at the start.
    pub instructions_chars: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { active: Vec::new(), instructions_chars: 8_000 }
    }
}

/// A server of skills. Each client gets a [`Connection`] of its own.
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) toolbox: Toolbox,
    options: Options,
    cursors: Cursors,
    manifests: Manifests,
    instructions: Instructions,
    changes: Changes,
    connections: AtomicU64,
    /// Taken while the files that a client asked about are looked at.
    looking: Semaphore,
    /// Held by each connection that is there.
    alive: Arc<()>,
}

impl Server {
    /// A server of the tools and skills of a toolbox.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess::{Policy, Registry};
    /// use prowess_mcp::{Options, Server};
    /// use prowess_tools::Toolbox;
    /// use rmcp::ServerHandler;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Toolbox::new(Arc::new(Registry::open(Policy::default())?));
    /// let server = Server::new(toolbox, Options::default());
    /// let connection = server.connection();      // one for each client
    /// assert_eq!(connection.get_info().server_info.name, "prowess");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(toolbox: Toolbox, options: Options) -> Self {
        let changes = Changes::watching(toolbox.registry_arc());
        Self::with(toolbox, options, changes)
    }

    /// A server of skills that somebody else watches, who calls [`Server::skills_changed`] when they change. Where they cannot
    /// be watched (`watched` is `false`), they are looked at with each call.
    pub fn watched_elsewhere(toolbox: Toolbox, options: Options, watched: bool) -> Self {
        Self::with(toolbox, options, Changes::watched_elsewhere(watched))
    }

    /// Tells clients that skills changed.
    pub fn skills_changed(&self) {
        self.shared.changes.tell(Change::Skills);
    }

    fn with(toolbox: Toolbox, options: Options, changes: Changes) -> Self {
        Self {
            shared: Arc::new(Shared {
                toolbox: toolbox.watched(changes.watched),
                options,
                cursors: Cursors::default(),
                manifests: Manifests::default(),
                instructions: Instructions::default(),
                changes,
                connections: AtomicU64::new(0),
                looking: Semaphore::new(subscriptions::LOOKING),
                alive: Arc::default(),
            }),
        }
    }

    /// What answers one client.
    pub fn connection(&self) -> Connection {
        self.connection_until(&CancellationToken::new())
    }

    /// The same, with calls under way given up when `stop` is cancelled.
    pub(crate) fn connection_until(&self, stop: &CancellationToken) -> Connection {
        let number = self.shared.connections.fetch_add(1, Ordering::Relaxed);
        Connection::new(Arc::clone(&self.shared), number, stop.child_token())
    }

    /// How many clients are there now. Over HTTP, a request without a session counts while it is answered.
    pub fn clients(&self) -> usize {
        Arc::strong_count(&self.shared.alive) - 1
    }
}

impl Shared {
    fn registry(&self) -> &Registry {
        self.toolbox.registry()
    }

    /// The skills that clients are told of, sorted by what they are called by.
    fn listed<'s>(&self, snapshot: &'s Snapshot) -> Vec<(Cow<'s, str>, &'s Skill)> {
        let policy = self.registry().policy();
        let told = snapshot.enabled().filter(|skill| visibility(skill, policy) != Visibility::Manual);
        sorted(told.map(|skill| (key(skill, policy), skill)))
    }

    /// The skills that people call by name, sorted.
    fn invocable<'s>(&self, snapshot: &'s Snapshot) -> Vec<(Cow<'s, str>, &'s Skill)> {
        let policy = self.registry().policy();
        let is_for_people = |skill: &&Skill| skill.manifest().is_some_and(|it| it.user_invocable());
        sorted(snapshot.enabled().filter(is_for_people).map(|skill| (key(skill, policy), skill)))
    }
}

fn sorted<'s>(skills: impl Iterator<Item = (Cow<'s, str>, &'s Skill)>) -> Vec<(Cow<'s, str>, &'s Skill)> {
    let mut skills: Vec<_> = skills.collect();
    skills.sort_by(|a, b| a.0.cmp(&b.0));
    skills
}
