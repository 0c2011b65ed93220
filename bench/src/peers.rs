//! The peers: which are installed, and how each is called for each task.
//!
//! Each call is the one that users would make for a whole tree. Peers that need the name of every skill get the names, so that
//! finding them is not measured.

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
    /// The path of the program in the peers directory.
    program: &'static str,
}

/// The peers that `peers.sh` installs.
pub const PEERS: [Peer; 6] = [
    Peer { name: "skilo", registry: "cargo", program: "cargo/bin/skilo" },
    Peer { name: "agent-skills-cli", registry: "cargo", program: "cargo/bin/agent-skills" },
    Peer { name: "skills-ref-rs", registry: "cargo", program: "cargo/bin/skills-ref" },
    Peer { name: "openskills", registry: "npm", program: "npm/node_modules/.bin/openskills" },
    Peer { name: "skills", registry: "npm", program: "npm/node_modules/.bin/skills" },
    Peer { name: "skills-ref", registry: "PyPI", program: "venv/bin/agentskills" },
];

/// The directory that `peers.sh` installs into.
pub struct PeersDir(PathBuf);

/// Environment variables.
pub(crate) type Variables = Vec<(&'static str, OsString)>;

/// How a task is run.
pub enum PeerCall {
    /// With this call.
    Call(Call),
    /// Not at this size, for this reason.
    Unavailable(String),
}

/// A call of a peer without a tree.
struct CallTemplate {
    shown: &'static str,
    args: &'static [&'static str],
    skills: SkillsArgument,
    /// How often the name of each skill occurs in the output.
    names: usize,
}

/// How a peer gets the skills.
enum SkillsArgument {
    /// The directory of the skills is the last argument.
    Directory,
    /// The peer searches this path in the current directory.
    Project(&'static str),
    Directories,
    /// The path of every `SKILL.md` is a line on standard input.
    Stdin,
    /// One process per skill in a shell loop, up to this many skills.
    Each(usize),
}

impl PeersDir {
    /// Creates a peers directory, which may be missing.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns the installed version of a peer, or `None` if it is missing.
    pub fn version(&self, peer: &Peer) -> Option<String> {
        let version = fs::read_to_string(self.0.join("versions").join(peer.name)).ok()?;
        self.0.join(peer.program).exists().then(|| version.trim().to_owned())
    }

    /// Returns the program of a peer and its environment variables, or `None` if it is missing.
    pub(crate) fn program(&self, name: &str, home: &Path) -> Option<(PathBuf, Variables)> {
        let peer = PEERS.iter().find(|peer| peer.name == name)?;
        self.version(peer).map(|_| (self.0.join(peer.program), self.variables(home)))
    }

    /// Returns the calls of a peer for a task on a tree; empty if it has no command for the task.
    pub fn calls(&self, peer: &Peer, task: Task, tree: &Tree) -> io::Result<Vec<(String, PeerCall)>> {
        templates(peer.name, task)
            .into_iter()
            .map(|template| Ok((template.shown.to_owned(), self.instantiate(peer, &template, tree)?)))
            .collect()
    }

    fn instantiate(&self, peer: &Peer, template: &CallTemplate, tree: &Tree) -> io::Result<PeerCall> {
        let mut call = Call {
            shown: template.shown.to_owned(),
            program: self.0.join(peer.program),
            args: template.args.iter().map(OsString::from).collect(),
            directory: tree.home(),
            input: None,
            variables: self.variables(&tree.home()),
            names: template.names * tree.size,
            empty_project: None,
        };
        match template.skills {
            SkillsArgument::Directory => call.args.push(tree.root().into()),
            SkillsArgument::Project(path) => call.directory = tree.project(peer.name, path)?,
            SkillsArgument::Directories => call.args.extend(tree.skills()?.into_iter().map(OsString::from)),
            SkillsArgument::Stdin => call.input = Some(tree.paths_file()?),
            SkillsArgument::Each(max) if tree.size > max => {
                return Ok(PeerCall::Unavailable(format!(
                    "one process for each skill, measured up to {max}"
                )));
            }
            SkillsArgument::Each(_) => {
                let script = "program=$1 root=$2; shift 2; for d in \"$root\"/*; do \"$program\" \"$@\" \"$d\" || exit; done";
                let mut args: Vec<OsString> = ["-c", script, "sh"].map(OsString::from).to_vec();
                args.extend([call.program.into(), tree.root().into()]);
                args.append(&mut call.args);
                call.args = args;
                call.program = "/bin/sh".into();
            }
        }
        Ok(PeerCall::Call(call))
    }

    /// Returns the [`common_variables`] and a `PATH` with the Node.js of the peers.
    fn variables(&self, home: &Path) -> Variables {
        let mut path = OsString::from(self.0.join("npm/node_modules/.bin"));
        if let Some(system_path) = std::env::var_os("PATH") {
            path.push(":");
            path.push(system_path);
        }
        let mut variables = common_variables(home);
        variables.push(("PATH", path));
        variables
    }
}

/// Returns the variables of all measured commands: an empty home directory, no colours, no telemetry.
pub fn common_variables(home: &Path) -> Variables {
    vec![
        ("HOME", home.into()),
        ("NO_COLOR", "1".into()),
        ("DO_NOT_TRACK", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
    ]
}

/// Returns the calls of a peer for a task. Of two calls, the faster one counts.
fn templates(peer: &str, task: Task) -> Vec<CallTemplate> {
    let template = |shown, args, skills, names| CallTemplate { shown, args, skills, names };
    match (peer, task) {
        ("skilo", Task::List) => {
            vec![template("skilo list", &["list"], SkillsArgument::Project(".claude/skills"), 1)]
        }
        ("skilo", Task::Check) => {
            vec![template(
                "skilo lint TREE --format json",
                &["lint", "--format", "json"],
                SkillsArgument::Directory,
                1,
            )]
        }
        ("skilo", Task::Prompt) => {
            vec![template("skilo to-prompt TREE", &["to-prompt"], SkillsArgument::Directory, 2)]
        }
        ("agent-skills-cli", Task::List) => {
            vec![template("agent-skills list TREE", &["list"], SkillsArgument::Directory, 1)]
        }
        ("agent-skills-cli", Task::Check) => vec![
            template("agent-skills list --check TREE", &["list", "--check"], SkillsArgument::Directory, 1),
            template("agent-skills validate - < paths", &["validate", "-"], SkillsArgument::Stdin, 1),
        ],
        ("agent-skills-cli", Task::Prompt) => {
            vec![template("agent-skills to-prompt TREE/*", &["to-prompt"], SkillsArgument::Directories, 2)]
        }
        ("skills-ref-rs", Task::Check) => {
            vec![template(
                "skills-ref validate SKILL, for each",
                &["validate"],
                SkillsArgument::Each(10_000),
                1,
            )]
        }
        ("skills-ref-rs", Task::Prompt) => {
            vec![template("skills-ref to-prompt TREE/*", &["to-prompt"], SkillsArgument::Directories, 2)]
        }
        ("openskills", Task::List) => {
            vec![template("openskills list", &["list"], SkillsArgument::Project(".claude/skills"), 1)]
        }
        ("skills", Task::List) => {
            vec![template(
                "skills ls --json",
                &["ls", "--json"],
                SkillsArgument::Project(".agents/skills"),
                2,
            )]
        }
        ("skills-ref", Task::Check) => {
            vec![template(
                "agentskills validate SKILL, for each",
                &["validate"],
                SkillsArgument::Each(100),
                1,
            )]
        }
        ("skills-ref", Task::Prompt) => {
            vec![template("agentskills to-prompt TREE/*", &["to-prompt"], SkillsArgument::Directories, 2)]
        }
        _ => Vec::new(),
    }
}
