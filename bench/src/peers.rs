//! The peers: which are installed in the peers folder, and how each is called for each task.
//!
//! Every call is the one its users would make for a whole tree. Where a peer wants every skill named, the names are
//! handed over ready-made, so that the search for them is not counted against it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::measure::Call;
use crate::suite::Task;
use crate::tree::Tree;

/// A peer, by the name of its package.
pub struct Peer {
    /// The package.
    pub name: &'static str,
    /// The registry it comes from.
    pub registry: &'static str,
    /// The program, below the peers folder.
    program: &'static str,
}

/// Every peer that `peers.sh` installs.
pub const PEERS: [Peer; 6] = [
    Peer { name: "skilo", registry: "cargo", program: "cargo/bin/skilo" },
    Peer { name: "agent-skills-cli", registry: "cargo", program: "cargo/bin/agent-skills" },
    Peer { name: "skills-ref-rs", registry: "cargo", program: "cargo/bin/skills-ref" },
    Peer { name: "openskills", registry: "npm", program: "npm/node_modules/.bin/openskills" },
    Peer { name: "skills", registry: "npm", program: "npm/node_modules/.bin/skills" },
    Peer { name: "skills-ref", registry: "PyPI", program: "venv/bin/agentskills" },
];

/// The folder that `peers.sh` fills.
pub struct Folder(PathBuf);

/// Variables of the environment.
pub(crate) type Variables = Vec<(&'static str, OsString)>;

/// What a peer does for a task.
pub enum Offer {
    /// This call.
    Call(Call),
    /// Nothing at this size, for this reason.
    Never(String),
}

/// One way of calling a peer, before it is tied to a tree.
struct Form {
    shown: &'static str,
    args: &'static [&'static str],
    target: Target,
    /// How often each skill's name occurs in what is printed.
    names: usize,
}

/// How a peer learns which skills are meant.
enum Target {
    /// The directory that holds them is the last argument.
    Directory,
    /// It looks in this place of the current directory.
    Project(&'static str),
    /// Every skill's folder is an argument.
    Folders,
    /// Every `SKILL.md` is a line on standard input.
    Lines,
    /// One process for each skill, in a shell loop; up to this many skills.
    Each(usize),
}

impl Folder {
    /// The peers folder, whether or not it is there.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The installed version of a peer; none when it is missing.
    pub fn version(&self, peer: &Peer) -> Option<String> {
        let version = fs::read_to_string(self.0.join("versions").join(peer.name)).ok()?;
        self.0.join(peer.program).exists().then(|| version.trim().to_owned())
    }

    /// The program of a peer and the variables to call it with; none when it is missing.
    pub(crate) fn program(&self, name: &str, home: &Path) -> Option<(PathBuf, Variables)> {
        let peer = PEERS.iter().find(|peer| peer.name == name)?;
        self.version(peer).map(|_| (self.0.join(peer.program), self.variables(home)))
    }

    /// The peer's calls for a task on a tree; empty when it has no command for it.
    pub fn offers(&self, peer: &Peer, task: Task, tree: &Tree) -> io::Result<Vec<(String, Offer)>> {
        forms(peer.name, task)
            .into_iter()
            .map(|form| Ok((form.shown.to_owned(), self.tie(peer, &form, tree)?)))
            .collect()
    }

    fn tie(&self, peer: &Peer, form: &Form, tree: &Tree) -> io::Result<Offer> {
        let mut call = Call {
            shown: form.shown.to_owned(),
            program: self.0.join(peer.program),
            args: form.args.iter().map(OsString::from).collect(),
            directory: tree.home(),
            input: None,
            variables: self.variables(&tree.home()),
            names: form.names * tree.size,
            fresh: None,
        };
        match form.target {
            Target::Directory => call.args.push(tree.root().into()),
            Target::Project(place) => call.directory = tree.project(peer.name, place)?,
            Target::Folders => call.args.extend(tree.skills()?.into_iter().map(OsString::from)),
            Target::Lines => call.input = Some(tree.lines()?),
            Target::Each(most) if tree.size > most => {
                return Ok(Offer::Never(format!("one process for each skill, measured up to {most}")));
            }
            Target::Each(_) => {
                let script = "program=$1 root=$2; shift 2; for d in \"$root\"/*; do \"$program\" \"$@\" \"$d\" || exit; done";
                let mut args: Vec<OsString> = ["-c", script, "sh"].map(OsString::from).to_vec();
                args.extend([call.program.into(), tree.root().into()]);
                args.append(&mut call.args);
                call.args = args;
                call.program = "/bin/sh".into();
            }
        }
        Ok(Offer::Call(call))
    }

    /// An empty home, no colours, no telemetry, and the Node.js that was installed with the peers.
    fn variables(&self, home: &Path) -> Variables {
        let mut path = OsString::from(self.0.join("npm/node_modules/.bin"));
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        let mut variables = quiet(home);
        variables.push(("PATH", path));
        variables
    }
}

/// Variables for every command that is measured.
pub fn quiet(home: &Path) -> Variables {
    vec![
        ("HOME", home.into()),
        ("NO_COLOR", "1".into()),
        ("DO_NOT_TRACK", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
    ]
}

/// How a peer is called for a task. A peer with two ways appears with both: the faster one counts.
fn forms(peer: &str, task: Task) -> Vec<Form> {
    let form = |shown, args, target, names| Form { shown, args, target, names };
    match (peer, task) {
        ("skilo", Task::List) => vec![form("skilo list", &["list"], Target::Project(".claude/skills"), 1)],
        ("skilo", Task::Check) => {
            vec![form("skilo lint TREE --format json", &["lint", "--format", "json"], Target::Directory, 1)]
        }
        ("skilo", Task::Prompt) => vec![form("skilo to-prompt TREE", &["to-prompt"], Target::Directory, 2)],
        ("agent-skills-cli", Task::List) => {
            vec![form("agent-skills list TREE", &["list"], Target::Directory, 1)]
        }
        ("agent-skills-cli", Task::Check) => vec![
            form("agent-skills list --check TREE", &["list", "--check"], Target::Directory, 1),
            form("agent-skills validate - < paths", &["validate", "-"], Target::Lines, 1),
        ],
        ("agent-skills-cli", Task::Prompt) => {
            vec![form("agent-skills to-prompt TREE/*", &["to-prompt"], Target::Folders, 2)]
        }
        ("skills-ref-rs", Task::Check) => {
            vec![form("skills-ref validate SKILL, for each", &["validate"], Target::Each(10_000), 1)]
        }
        ("skills-ref-rs", Task::Prompt) => {
            vec![form("skills-ref to-prompt TREE/*", &["to-prompt"], Target::Folders, 2)]
        }
        ("openskills", Task::List) => {
            vec![form("openskills list", &["list"], Target::Project(".claude/skills"), 1)]
        }
        ("skills", Task::List) => {
            vec![form("skills ls --json", &["ls", "--json"], Target::Project(".agents/skills"), 2)]
        }
        ("skills-ref", Task::Check) => {
            vec![form("agentskills validate SKILL, for each", &["validate"], Target::Each(100), 1)]
        }
        ("skills-ref", Task::Prompt) => {
            vec![form("agentskills to-prompt TREE/*", &["to-prompt"], Target::Folders, 2)]
        }
        _ => Vec::new(),
    }
}
