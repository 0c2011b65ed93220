//! Measures each task on each tree with the floor, Prowess and every peer that has a command for it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::hook::HookInputs;
use crate::measure::{self, Call, Effort, Stats};
use crate::peers::{self, PEERS, PeerCall, PeersDir};
use crate::tree::Tree;

/// The maximum number of skills for peers.
pub const PEERS_UP_TO: usize = 10_000;

/// The passes per process of `floor-stat` and `bench-refresh`.
const PASSES: &str = "5";

/// The task of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Start and exit.
    Start,
    /// List all skills.
    List,
    /// Look for changes if there are none.
    Refresh,
    /// Validate all skills.
    Check,
    /// Write the catalog of all skills.
    Prompt,
    /// Install all skills of a directory.
    FromDirectory,
    /// Install all skills of a repository.
    FromGit,
    /// Audit all skills.
    Audit,
    /// Compare all skills with the lock file.
    Verify,
    /// Load one of the skills. The floor is loading it without a lock file.
    Activate,
    /// Compare all skills with each other.
    Lint,
    /// Suggest a skill for a message. The floor is an empty program.
    Hook,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::List => "list",
            Self::Refresh => "refresh",
            Self::Check => "check",
            Self::Prompt => "prompt",
            Self::FromDirectory => "install, directory",
            Self::FromGit => "install, git",
            Self::Audit => "audit",
            Self::Verify => "verify",
            Self::Activate => "activate",
            Self::Lint => "lint",
            Self::Hook => "hook",
        })
    }
}

/// The program that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Participant {
    /// The unavoidable I/O, which targets refer to.
    Floor,
    /// A floor with fewer system calls, for comparison only.
    LowerFloor,
    /// A clone and a copy, for installing from a directory.
    CloneFloor,
    /// Prowess.
    Prowess,
    /// A peer, by the name of its package.
    Peer(&'static str),
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor | Self::LowerFloor | Self::CloneFloor => f.write_str("floor"),
            Self::Prowess => f.write_str("prowess"),
            Self::Peer(name) => f.write_str(name),
        }
    }
}

/// The figures of one call on one tree.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The task.
    pub task: Task,
    /// The size of the tree; 0 for [`Task::Start`].
    pub size: usize,
    /// The measured program.
    pub participant: Participant,
    /// The displayed call, with `TREE` instead of paths.
    pub call: String,
    /// The statistics, or the reason why there are none.
    pub outcome: Result<Stats, String>,
}

/// The programs that are measured.
pub struct Programs {
    /// The directory of `floor-read` and the other programs of this package.
    pub floors: PathBuf,
    /// The path of `prowess`.
    pub prowess: PathBuf,
    /// The peers, or `None` to skip them.
    pub peers: Option<PeersDir>,
}

/// Measures all tasks. `log` is called with progress messages.
pub fn run(programs: &Programs, trees: &[Tree], mut log: impl FnMut(&str)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    // Task by task, not tree by tree: the calls with ten thousand arguments come last, because they increase the memory of
    // this process (see `measure`).
    if let Some(tree) = trees.first() {
        log("start");
        measure_task(&mut figures, Task::Start, 0, programs.start(tree));
    }
    for task in [Task::Hook, Task::List, Task::Refresh, Task::Check, Task::Prompt] {
        for tree in trees {
            log(&format!("{task} of {} skills", tree.size));
            let entries = programs.entries(task, tree).map_err(|error| format!("{task}: {error}"))?;
            measure_task(&mut figures, task, tree.size, entries);
        }
    }
    // These tasks read every byte of every skill, so one size is enough.
    if let Some(tree) = trees.iter().filter(|tree| tree.size <= PEERS_UP_TO).max_by_key(|tree| tree.size) {
        for task in [Task::Audit, Task::Lint] {
            log(&format!("{task} of {} skills", tree.size));
            let entries = programs.entries(task, tree).map_err(|error| format!("{task}: {error}"))?;
            measure_task(&mut figures, task, tree.size, entries);
        }
    }
    Ok(figures)
}

pub(crate) type Entry = (Participant, String, PeerCall);

/// Measures the entries of one task at one size, alternately.
pub(crate) fn measure_task(figures: &mut Vec<Figure>, task: Task, size: usize, entries: Vec<Entry>) {
    let mut calls = Vec::new();
    let mut slots = Vec::new();
    for (participant, call, peer_call) in entries {
        let reason = match peer_call {
            PeerCall::Unavailable(reason) => reason,
            PeerCall::Call(call) => {
                calls.push(call);
                slots.push(figures.len());
                String::new()
            }
        };
        figures.push(Figure { task, size, participant, call, outcome: Err(reason) });
    }
    let outcomes = match task {
        Task::Refresh => measure::run_passes_alternating(&calls, Effort::FULL),
        Task::FromDirectory | Task::FromGit => measure::run_alternating(&calls, Effort::WRITING),
        Task::Start | Task::Hook | Task::List | Task::Check | Task::Prompt => {
            measure::run_alternating(&calls, Effort::FULL)
        }
        Task::Audit | Task::Verify | Task::Activate | Task::Lint => {
            measure::run_alternating(&calls, Effort::FULL)
        }
    };
    for (slot, outcome) in slots.into_iter().zip(outcomes) {
        if let Some(figure) = figures.get_mut(slot) {
            figure.outcome = outcome;
        }
    }
}

impl Programs {
    fn start(&self, tree: &Tree) -> Vec<Entry> {
        vec![
            self.call(Participant::Floor, "empty", "empty", &[], tree, 0),
            self.call(Participant::Prowess, "prowess --version", "prowess", &["--version".into()], tree, 0),
        ]
    }

    fn entries(&self, task: Task, tree: &Tree) -> std::io::Result<Vec<Entry>> {
        let root = OsString::from(tree.root());
        let arg = OsString::from;
        let read = |participant, shown, args: &[OsString]| {
            self.call(participant, shown, "floor-read", args, tree, 0)
        };
        let floor = read(Participant::Floor, "floor-read TREE", std::slice::from_ref(&root));
        let lower = read(Participant::LowerFloor, "floor-read TREE open", &[root.clone(), arg("open")]);
        let ours = |shown, args: &[OsString], names| {
            let (participant, call, peer_call) =
                self.call(Participant::Prowess, shown, "prowess", args, tree, names);
            let peer_call = if self.has_command(task) {
                peer_call
            } else {
                PeerCall::Unavailable("no such command yet".to_owned())
            };
            (participant, call, peer_call)
        };
        // The last argument is how often each name occurs: in id, name and location; path and name; name and location.
        let mut entries = match task {
            Task::Start => self.start(tree),
            Task::List => {
                let args = [arg("list"), arg("--json"), arg("--root"), root];
                vec![floor, lower, ours("prowess list --json --root TREE", &args, 3)]
            }
            Task::Refresh => {
                let args = [root, arg(PASSES), arg(&tree.size.to_string())];
                vec![
                    self.call(Participant::Floor, "floor-stat TREE", "floor-stat", &args, tree, 0),
                    self.call(
                        Participant::Prowess,
                        "Registry::refresh, in process",
                        "bench-refresh",
                        &args,
                        tree,
                        0,
                    ),
                ]
            }
            Task::Check => {
                let args = [arg("check"), root, arg("--format"), arg("json")];
                vec![floor, ours("prowess check TREE --format json", &args, 2)]
            }
            Task::Prompt => {
                let budget = [arg("--location"), arg("--budget-chars"), arg("1000000000")];
                let args = [&[arg("prompt"), arg("--root"), root], &budget[..]].concat();
                vec![floor, ours("prowess prompt --root TREE --location", &args, 2)]
            }
            Task::Audit => {
                let args = [arg("audit"), root.clone(), arg("--json")];
                vec![
                    self.call(Participant::Floor, "floor-hash TREE", "floor-hash", &[root], tree, 0),
                    ours("prowess audit TREE --json", &args, 1),
                ]
            }
            Task::Lint => {
                // The exit code is 1 if skills are too similar, as some of these are.
                let script = [arg("-c"), arg("\"$@\"; [ $? -le 1 ]"), arg("sh"), self.prowess.clone().into()];
                let args = [arg("lint"), arg("--routing"), arg("--json"), arg("--root"), root.clone()];
                let args = [&script[..], &args].concat();
                vec![
                    self.call(Participant::Floor, "floor-hash TREE", "floor-hash", &[root], tree, 0),
                    self.call(
                        Participant::Prowess,
                        "prowess lint --routing --json --root TREE",
                        "/bin/sh",
                        &args,
                        tree,
                        0,
                    ),
                ]
            }
            Task::Hook => {
                let HookInputs { event, home } = HookInputs::create(tree)?;
                let args = ["hook", "prompt", "--client", "codex"].map(arg);
                let (participant, call, mut ours) = ours("prowess hook prompt < event", &args, 0);
                if let PeerCall::Call(call) = &mut ours {
                    call.variables = peers::common_variables(&home);
                    (call.input, call.names) = (Some(event), 1);
                }
                let floor = self.call(Participant::Floor, "empty", "empty", &[], tree, 0);
                vec![floor, (participant, call, ours)]
            }
            // These tasks are measured in `packages`.
            Task::FromDirectory | Task::FromGit | Task::Verify | Task::Activate => Vec::new(),
        };
        if let Some(peers_dir) = self.peers.as_ref().filter(|_| tree.size <= PEERS_UP_TO) {
            for peer in &PEERS {
                let calls = peers_dir.calls(peer, task, tree)?.into_iter();
                entries.extend(calls.map(|(call, peer_call)| match peers_dir.version(peer) {
                    Some(_) => (Participant::Peer(peer.name), call, peer_call),
                    None => (
                        Participant::Peer(peer.name),
                        call,
                        PeerCall::Unavailable("not installed".to_owned()),
                    ),
                }));
            }
        }
        Ok(entries)
    }

    /// Returns whether `prowess` has the command of a task. A missing program is reported as not built instead.
    fn has_command(&self, task: Task) -> bool {
        let mut help = Command::new(&self.prowess);
        help.args([&task.to_string(), "--help"]).stdout(Stdio::null()).stderr(Stdio::null());
        help.status().map_or(true, |status| status.success())
    }

    /// Returns a call of `prowess` or of a program of this package.
    fn call(
        &self,
        participant: Participant,
        shown: &str,
        program: &str,
        args: &[OsString],
        tree: &Tree,
        names: usize,
    ) -> Entry {
        let path = if program == "prowess" { self.prowess.clone() } else { self.floors.join(program) };
        let peer_call = if path.is_file() {
            PeerCall::Call(Call {
                shown: shown.to_owned(),
                program: path,
                args: args.to_vec(),
                directory: tree.home(),
                input: None,
                variables: peers::common_variables(&tree.home()),
                names: names * tree.size,
                empty_project: None,
            })
        } else {
            PeerCall::Unavailable(format!("{program} is not built"))
        };
        (participant, shown.to_owned(), peer_call)
    }
}
