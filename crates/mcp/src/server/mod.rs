//! Serves skills to any number of clients.
//!
//! | module | subject |
//! |---|---|
//! | `connection` | one client: its session, and the dispatch of its requests |
//! | `tools`, `attachments` | lists and calls tools, and converts their attachments |
//! | `scripts`, `consent`, `roots`, `artifacts` | runs scripts: questions to the user, inputs, and files that scripts write |
//! | `workspace` | where scripts work, and the files that clients can read |
//! | `resources`, `prompts`, `complete` | files, skills that users call, and completion |
//! | `skills` | the skills extension |
//! | `changes`, `subscriptions` | notifications about changed skills |
//! | `instructions` | the initial instructions for models |
//! | `log`, `progress`, `cancellation` | log messages, progress notifications, and cancelled calls |
//! | `errors` | errors of the protocol |
//!
//! Invariants: a [`Connection`] is one conversation, independent of all others; all files are read through the same
//! checks as everywhere in Prowess; nothing is kept for a client that has disconnected, except for a while the files that a
//! request without a session wrote.

mod artifacts;
mod attachments;
mod cancellation;
mod changes;
mod complete;
mod connection;
mod consent;
mod errors;
mod instructions;
mod log;
mod progress;
mod prompts;
mod resources;
mod roots;
mod schemas;
mod scripts;
mod skills;
mod subscriptions;
mod tools;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prowess::catalog::{Visibility, visibility};
use prowess::{Registry, Skill, Snapshot};
use prowess_tools::Toolbox;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use connection::Connection;

use crate::manifest::EntryCache;
use crate::page::Cursors;
use changes::{ChangeBroadcaster, ChangeEvent};
use connection::Transport;
use consent::PendingQuestions;
use instructions::InstructionsCache;
use workspace::WorkspaceStore;

/// The options of a server.
#[derive(Debug, Clone, Default)]
pub struct McpServerOptions {
    /// Skills that are active in every conversation from the start, so that their tools are available at once.
    pub active: Vec<String>,
    /// The maximum length of the initial instructions in characters. By default, as much as the client shows to its model,
    /// and at most 8,000.
    pub instructions_chars: Option<u32>,
    /// The directory in which all scripts work, as [`check_workspace`](prowess_sandbox::check_workspace) returned it. By
    /// default, each connection has its own files in memory.
    pub workspace: Option<PathBuf>,
}

/// Whether the caller of [`McpServer::with_external_watcher`] watches the skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalWatcher {
    /// The caller reports every change.
    Running,
    /// The skills cannot be watched, so they are checked with each call.
    Unavailable,
}

/// A server of skills. Each client gets its own [`Connection`].
#[derive(Debug, Clone)]
pub struct McpServer {
    shared: Arc<Shared>,
}

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) toolbox: Toolbox,
    options: McpServerOptions,
    cursors: Cursors,
    manifests: EntryCache,
    instructions: InstructionsCache,
    changes: ChangeBroadcaster,
    workspaces: Arc<WorkspaceStore>,
    questions: PendingQuestions,
    next_connection: AtomicU64,
    /// Limits how many clients' subscribed files are checked at the same time.
    check_permits: Semaphore,
    /// Held by each open connection.
    alive: Arc<()>,
}

impl McpServer {
    /// Creates a server with the tools and skills of a toolbox.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess::{Policy, Registry};
    /// use prowess_mcp::{McpServer, McpServerOptions};
    /// use prowess_tools::Toolbox;
    /// use rmcp::ServerHandler;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Toolbox::new(Arc::new(Registry::open(Policy::default())?));
    /// let server = McpServer::new(toolbox, McpServerOptions::default());
    /// let connection = server.connect(); // one for each client
    /// assert_eq!(connection.get_info().server_info.name, "prowess");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(toolbox: Toolbox, options: McpServerOptions) -> Self {
        let changes = ChangeBroadcaster::watch(toolbox.shared_registry());
        Self::build(toolbox, options, changes)
    }

    /// Creates a server without its own watcher. The caller reports changes with
    /// [`McpServer::notify_skills_changed`].
    pub fn with_external_watcher(
        toolbox: Toolbox,
        options: McpServerOptions,
        watcher: ExternalWatcher,
    ) -> Self {
        Self::build(toolbox, options, ChangeBroadcaster::without_watcher(watcher))
    }

    /// Notifies clients that skills changed.
    pub fn notify_skills_changed(&self) {
        self.shared.changes.notify(ChangeEvent::Skills);
    }

    fn build(toolbox: Toolbox, options: McpServerOptions, changes: ChangeBroadcaster) -> Self {
        Self {
            shared: Arc::new(Shared {
                toolbox: toolbox.with_watched(changes.is_watched),
                workspaces: WorkspaceStore::new(options.workspace.as_deref()),
                options,
                questions: PendingQuestions::default(),
                cursors: Cursors::default(),
                manifests: EntryCache::default(),
                instructions: InstructionsCache::default(),
                changes,
                next_connection: AtomicU64::new(0),
                check_permits: Semaphore::new(subscriptions::CHECK_PERMITS),
                alive: Arc::default(),
            }),
        }
    }

    /// Creates the connection of one client.
    pub fn connect(&self) -> Connection {
        self.build_connection(Transport::Stream, CancellationToken::new())
    }

    /// Creates the connection of a session or of a single request over HTTP. Its pending calls are cancelled when `stop`
    /// is cancelled.
    #[cfg(feature = "http")]
    pub(crate) fn connect_http(&self, stop: &CancellationToken) -> Connection {
        self.build_connection(Transport::Http, stop.child_token())
    }

    fn build_connection(&self, transport: Transport, closed: CancellationToken) -> Connection {
        let number = self.shared.next_connection.fetch_add(1, Ordering::Relaxed);
        Connection::new(Arc::clone(&self.shared), transport, number, closed)
    }

    /// Returns the number of connected clients. Over HTTP, a request without a session counts until its response.
    pub fn client_count(&self) -> usize {
        Arc::strong_count(&self.shared.alive) - 1
    }
}

impl Shared {
    fn registry(&self) -> &Registry {
        self.toolbox.registry()
    }

    /// Returns the skills that clients can see, sorted by key.
    fn visible_skills<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s Skill> {
        let policy = self.registry().policy();
        // A custom command has no files to serve.
        let is_visible =
            |skill: &&Skill| visibility(skill, policy) != Visibility::Manual && !skill.is_command();
        sort_by_key(snapshot.enabled().filter(is_visible))
    }

    /// Returns the skills that users can call, sorted by key.
    fn invocable_skills<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s Skill> {
        let is_invocable =
            |skill: &&Skill| skill.manifest().is_some_and(|manifest| manifest.user_invocable());
        sort_by_key(snapshot.enabled().filter(is_invocable))
    }
}

fn sort_by_key<'s>(skills: impl Iterator<Item = &'s Skill>) -> Vec<&'s Skill> {
    let mut skills: Vec<_> = skills.collect();
    skills.sort_by(|a, b| a.key().cmp(b.key()));
    skills
}
