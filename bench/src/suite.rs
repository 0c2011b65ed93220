//! What is measured: each task on each tree, by the floor, by Prowess and by every peer that has a command for it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::measure::{self, Call, Effort, Stats};
use crate::peers::{self, Folder, Offer, PEERS};
use crate::tree::Tree;

/// Peers are measured up to this many skills.
pub const PEERS_UP_TO: usize = 10_000;

/// Passes in one process of `floor-stat` and `bench-refresh`.
const PASSES: &str = "5";

/// What a command is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Start and end.
    Start,
    /// Name all skills.
    List,
    /// Look for changes where there are none.
    Refresh,
    /// Validate all skills.
    Check,
    /// Write the catalog of all skills.
    Prompt,
    /// Install all skills of a folder.
    FromFolder,
    /// Install all skills of a repository.
    FromGit,
    /// Look for what is dangerous.
    Audit,
    /// Compare all skills with what was installed.
    Verify,
    /// Load one skill out of all; the floor is the same without a lock.
    Activate,
    /// Compare all skills with each other.
    Lint,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::List => "list",
            Self::Refresh => "refresh",
            Self::Check => "check",
            Self::Prompt => "prompt",
            Self::FromFolder => "install, folder",
            Self::FromGit => "install, git",
            Self::Audit => "audit",
            Self::Verify => "verify",
            Self::Activate => "activate",
            Self::Lint => "lint",
        })
    }
}

/// Whose figure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The unavoidable I/O; what targets refer to.
    Floor,
    /// The same with fewer system calls; for comparison only.
    LowerFloor,
    /// A clone and a copy, beside installs from a folder.
    CloneFloor,
    /// We.
    Prowess,
    /// A peer, by its package.
    Peer(&'static str),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor | Self::LowerFloor | Self::CloneFloor => f.write_str("floor"),
            Self::Prowess => f.write_str("prowess"),
            Self::Peer(name) => f.write_str(name),
        }
    }
}

/// One cell: what was measured, or why it was not.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The task.
    pub task: Task,
    /// The tree's size; 0 for [`Task::Start`].
    pub size: usize,
    /// Whose.
    pub who: Who,
    /// The call, with `TREE` for paths.
    pub call: String,
    /// The figures, or the reason for none.
    pub outcome: Result<Stats, String>,
}

/// The programs that are measured.
pub struct Programs {
    /// Where `floor-read` and the others lie.
    pub floors: PathBuf,
    /// The `prowess` to measure.
    pub prowess: PathBuf,
    /// The peers; none when they are left out.
    pub peers: Option<Folder>,
}

/// Measures everything; `say` is told what is under way.
pub fn run(programs: &Programs, trees: &[Tree], mut say: impl FnMut(&str)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    // Task by task, not tree by tree: the calls with ten thousand arguments come last, when this process has to be small
    // no longer (see `measure`).
    if let Some(tree) = trees.first() {
        say("start");
        measured(&mut figures, Task::Start, 0, programs.start(tree));
    }
    for task in [Task::List, Task::Refresh, Task::Check, Task::Prompt] {
        for tree in trees {
            say(&format!("{task} of {} skills", tree.size));
            let entries = programs.entries(task, tree).map_err(|error| format!("{task}: {error}"))?;
            measured(&mut figures, task, tree.size, entries);
        }
    }
    // Those look at every byte of every skill; one size is enough.
    if let Some(tree) = trees.iter().filter(|tree| tree.size <= PEERS_UP_TO).max_by_key(|tree| tree.size) {
        for task in [Task::Audit, Task::Lint] {
            say(&format!("{task} of {} skills", tree.size));
            let entries = programs.entries(task, tree).map_err(|error| format!("{task}: {error}"))?;
            measured(&mut figures, task, tree.size, entries);
        }
    }
    Ok(figures)
}

pub(crate) type Entry = (Who, String, Offer);

/// Measures the entries of one task at one size, in turns.
pub(crate) fn measured(figures: &mut Vec<Figure>, task: Task, size: usize, entries: Vec<Entry>) {
    let mut calls = Vec::new();
    let mut slots = Vec::new();
    for (who, call, offer) in entries {
        let reason = match offer {
            Offer::Never(reason) => reason,
            Offer::Call(call) => {
                calls.push(call);
                slots.push(figures.len());
                String::new()
            }
        };
        figures.push(Figure { task, size, who, call, outcome: Err(reason) });
    }
    let outcomes = match task {
        Task::Refresh => measure::passes_in_turns(&calls, Effort::FULL),
        Task::FromFolder | Task::FromGit => measure::in_turns(&calls, Effort::WRITING),
        Task::Start | Task::List | Task::Check | Task::Prompt => measure::in_turns(&calls, Effort::FULL),
        Task::Audit | Task::Verify | Task::Activate | Task::Lint => measure::in_turns(&calls, Effort::FULL),
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
            self.own(Who::Floor, "empty", "empty", &[], tree, 0),
            self.own(Who::Prowess, "prowess --version", "prowess", &["--version".into()], tree, 0),
        ]
    }

    fn entries(&self, task: Task, tree: &Tree) -> std::io::Result<Vec<Entry>> {
        let root = OsString::from(tree.root());
        let arg = OsString::from;
        let read = |who, shown, args: &[OsString]| self.own(who, shown, "floor-read", args, tree, 0);
        let floor = read(Who::Floor, "floor-read TREE", std::slice::from_ref(&root));
        let lower = read(Who::LowerFloor, "floor-read TREE open", &[root.clone(), arg("open")]);
        let ours = |shown, args: &[OsString], names| {
            let (who, call, offer) = self.own(Who::Prowess, shown, "prowess", args, tree, names);
            let offer = if self.knows(task) { offer } else { Offer::Never("no such command yet".to_owned()) };
            (who, call, offer)
        };
        // How often a name occurs for each skill: id, name and location; path and name; name and location.
        let mut entries = match task {
            Task::Start => self.start(tree),
            Task::List => {
                let args = [arg("list"), arg("--json"), arg("--root"), root];
                vec![floor, lower, ours("prowess list --json --root TREE", &args, 3)]
            }
            Task::Refresh => {
                let args = [root, arg(PASSES), arg(&tree.size.to_string())];
                vec![
                    self.own(Who::Floor, "floor-stat TREE", "floor-stat", &args, tree, 0),
                    self.own(Who::Prowess, "Registry::refresh, in process", "bench-refresh", &args, tree, 0),
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
                    self.own(Who::Floor, "floor-hash TREE", "floor-hash", &[root], tree, 0),
                    ours("prowess audit TREE --json", &args, 1),
                ]
            }
            Task::Lint => {
                // It ends with 1 where skills are hard to tell apart, as some of these are.
                let script = [arg("-c"), arg("\"$@\"; [ $? -le 1 ]"), arg("sh"), self.prowess.clone().into()];
                let args = [arg("lint"), arg("--routing"), arg("--json"), arg("--root"), root.clone()];
                let args = [&script[..], &args].concat();
                vec![
                    self.own(Who::Floor, "floor-hash TREE", "floor-hash", &[root], tree, 0),
                    self.own(
                        Who::Prowess,
                        "prowess lint --routing --json --root TREE",
                        "/bin/sh",
                        &args,
                        tree,
                        0,
                    ),
                ]
            }
            // Those have a suite of their own.
            Task::FromFolder | Task::FromGit | Task::Verify | Task::Activate => Vec::new(),
        };
        if let Some(folder) = self.peers.as_ref().filter(|_| tree.size <= PEERS_UP_TO) {
            for peer in &PEERS {
                let offers = folder.offers(peer, task, tree)?.into_iter();
                entries.extend(offers.map(|(call, offer)| match folder.version(peer) {
                    Some(_) => (Who::Peer(peer.name), call, offer),
                    None => (Who::Peer(peer.name), call, Offer::Never("not installed".to_owned())),
                }));
            }
        }
        Ok(entries)
    }

    /// Whether `prowess` has the task's command. One that is not there to be asked is reported as not built instead.
    fn knows(&self, task: Task) -> bool {
        let mut help = Command::new(&self.prowess);
        help.args([&task.to_string(), "--help"]).stdout(Stdio::null()).stderr(Stdio::null());
        help.status().map_or(true, |status| status.success())
    }

    /// A call of one of our own programs.
    fn own(
        &self,
        who: Who,
        shown: &str,
        program: &str,
        args: &[OsString],
        tree: &Tree,
        names: usize,
    ) -> Entry {
        let path = if program == "prowess" { self.prowess.clone() } else { self.floors.join(program) };
        let offer = if path.is_file() {
            Offer::Call(Call {
                shown: shown.to_owned(),
                program: path,
                args: args.to_vec(),
                directory: tree.home(),
                input: None,
                variables: peers::quiet(&tree.home()),
                names: names * tree.size,
                fresh: None,
            })
        } else {
            Offer::Never(format!("{program} is not built"))
        };
        (who, shown.to_owned(), offer)
    }
}
