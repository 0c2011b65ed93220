//! Measures packages: installing from a directory and from a repository, auditing, verifying, and loading locked skills.
//!
//! The directory `packages` next to the trees contains `repo-SIZE`, a repository with the same skills; `fresh/NAME`, the project
//! that each command installs into; and the projects `locked-SIZE` and `unlocked-SIZE`, with all skills installed, with and without a
//! lock file.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::empty_project::EmptyProject;
use crate::measure::Call;
use crate::peers::{self, PeerCall, Variables};
use crate::suite::{Entry, Figure, Participant, Programs, Task, measure_task};
use crate::tree::Tree;

/// The numbers of skills.
pub const SIZES: [usize; 3] = [1, 100, 1_000];

/// The peers that can install: name, path of the installed skills, displayed call, and arguments after the source.
const PEERS: [(&str, &str, &str, &[&str]); 3] = [
    ("skilo", ".claude/skills", "skilo add SOURCE --agent claude --yes", &["--agent", "claude", "--yes"]),
    ("openskills", ".claude/skills", "openskills install SOURCE --yes", &["--yes"]),
    (
        "skills",
        ".agents/skills",
        "skills add SOURCE --skill * --agent codex --yes",
        &["--skill", "*", "--agent", "codex", "--yes"],
    ),
];

/// A repository URL that every peer accepts, short and long. A `.gitconfig` redirects it to the local repository.
const PEER_URL: (&str, &str) = ("owner/repo", "https://github.com/owner/repo");

const CLONE: &str = "git clone --quiet --depth 1 \"$1\" ../clone && cp -r ../clone/skills .agents/skills";
const CLONE_SHOWN: &str = "git clone --depth 1 REPO, cp -r";

/// Measures all tasks. `log` is called with progress messages.
pub fn run(programs: &Programs, base: &Path, mut log: impl FnMut(&str)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    remove(&base.join("packages")).map_err(|error| error.to_string())?;
    for size in SIZES {
        let failed = |error: io::Error| format!("{size} skills: {error}");
        let tree = Tree::ensure(base, size).map_err(failed)?;
        let bench = Bench { programs, tree, base: base.join("packages") };
        bench.create_repository().map_err(failed)?;
        bench.create_projects().map_err(failed)?;
        for task in [Task::FromDirectory, Task::FromGit, Task::Audit, Task::Verify, Task::Activate] {
            log(&format!("{task}, {size} skills"));
            measure_task(&mut figures, task, size, bench.entries(task).map_err(failed)?);
        }
    }
    remove(&base.join("packages")).map_err(|error| error.to_string())?;
    Ok(figures)
}

struct Bench<'a> {
    programs: &'a Programs,
    tree: Tree,
    base: PathBuf,
}

impl Bench<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.base.join(format!("{name}-{}", self.tree.size))
    }

    fn repository_url(&self) -> String {
        format!("file://{}", self.path("repo").display())
    }

    /// Returns an empty project for a command that installs.
    fn empty_project(&self, participant: &str, skills_path: &'static str) -> EmptyProject {
        EmptyProject::new(self.base.join("fresh").join(participant), skills_path, self.tree.size)
    }

    /// Creates the repository with one commit in one pack, like on a server.
    fn create_repository(&self) -> io::Result<()> {
        let repository = self.path("repo");
        fs::create_dir_all(&repository)?;
        let source = OsString::from(self.tree.root());
        let script = "cp -r \"$1\" skills && git init --quiet && git add --all && \
                      git -c user.name=bench -c user.email=bench@example.com commit --quiet -m skills && git gc --quiet";
        let args = ["-c", script, "sh"].map(OsString::from).into_iter().chain([source]);
        run_checked(Command::new("/bin/sh").args(args).current_dir(&repository))
    }

    /// Creates the projects `locked` and `unlocked`.
    fn create_projects(&self) -> io::Result<()> {
        for name in ["locked", "unlocked"] {
            let project = EmptyProject::new(self.path(name), ".agents/skills", self.tree.size);
            project.create()?;
            let prowess = |args: &[&str]| {
                let mut command = Command::new(&self.programs.prowess);
                command
                    .args(args)
                    .current_dir(project.project())
                    .envs(peers::common_variables(&project.home()));
                run_checked(&mut command)
            };
            prowess(&["install", &self.tree.root().to_string_lossy(), "--all", "--project", "--yes"])?;
            if name == "unlocked" {
                fs::remove_file(project.project().join("skills.lock"))?;
                prowess(&["trust"])?;
            }
        }
        Ok(())
    }

    fn entries(&self, task: Task) -> io::Result<Vec<Entry>> {
        let root = self.tree.root();
        let locked = self.path("locked").join("project");
        let skills = locked.join(".agents/skills");
        let unlocked = self.path("unlocked").join("project");
        let all = self.tree.size;
        Ok(match task {
            Task::FromDirectory => {
                let copy = self.empty_project("copy", ".agents/skills");
                let args = ["-r".into(), root.clone().into(), copy.skills().into()];
                let mut entries = vec![installing(
                    Participant::Floor,
                    "cp -r DIR",
                    "/bin/cp".into(),
                    args.to_vec(),
                    copy,
                    None,
                )];
                entries
                    .extend([self.clone(Participant::CloneFloor), self.install(root.clone().into(), "DIR")]);
                entries.extend(self.peers(&root.to_string_lossy(), "DIR"));
                entries
            }
            Task::FromGit => {
                let mut entries =
                    vec![self.clone(Participant::Floor), self.install(self.repository_url().into(), "REPO")];
                entries.extend(self.peers(PEER_URL.0, "REPO"));
                entries
            }
            Task::Audit => {
                let args = ["audit".into(), root.clone().into(), "--json".into()];
                vec![
                    self.call(Participant::Floor, "floor-hash DIR", &[root.into()], &locked, 0),
                    self.call(Participant::Prowess, "prowess audit DIR --json", &args, &locked, all),
                ]
            }
            Task::Verify => {
                let args = ["verify", "--project", "--json"].map(OsString::from);
                vec![
                    self.call(Participant::Floor, "floor-hash DIR", &[skills.into()], &locked, 0),
                    self.call(Participant::Prowess, "prowess verify --project --json", &args, &locked, all),
                ]
            }
            Task::Activate => {
                let names = self.tree.skills()?;
                let name = names.get(all / 2).and_then(|path| path.file_name()).unwrap_or_default();
                let args = ["activate".into(), name.to_owned()];
                vec![
                    self.call(Participant::Floor, "prowess activate NAME, unlocked", &args, &unlocked, 1),
                    self.call(Participant::Prowess, "prowess activate NAME, locked", &args, &locked, 1),
                ]
            }
            Task::Start
            | Task::List
            | Task::Refresh
            | Task::Check
            | Task::Prompt
            | Task::Lint
            | Task::Hook => Vec::new(),
        })
    }

    fn clone(&self, participant: Participant) -> Entry {
        let args = ["-c".into(), CLONE.into(), "sh".into(), self.repository_url().into()];
        let project = self.empty_project("clone", ".agents/skills");
        installing(participant, CLONE_SHOWN, "/bin/sh".into(), args.to_vec(), project, None)
    }

    fn install(&self, source: OsString, shown: &str) -> Entry {
        let shown = format!("prowess install {shown} --all --project --yes");
        let rest = ["--all", "--project", "--yes"].map(OsString::from);
        let args = ["install".into(), source].into_iter().chain(rest).collect();
        let project = self.empty_project("prowess", ".agents/skills");
        let mut variables = peers::common_variables(&project.home());
        variables.push(("PROWESS_ALLOW_FILE_URLS", "1".into()));
        installing(
            Participant::Prowess,
            &shown,
            self.programs.prowess.clone(),
            args,
            project,
            Some(variables),
        )
    }

    /// Returns the calls of the peers for installing a source.
    fn peers(&self, source: &str, shown: &str) -> Vec<Entry> {
        let Some(peers_dir) = &self.programs.peers else { return Vec::new() };
        let entry = |(name, skills_path, call, rest): (&'static str, &'static str, &str, &[&str])| {
            let project =
                self.empty_project(name, skills_path).with_redirect(PEER_URL.1, &self.repository_url());
            let call = call.replace("SOURCE", shown);
            let Some((program, variables)) = peers_dir.program(name, &project.home()) else {
                return (Participant::Peer(name), call, PeerCall::Unavailable("not installed".to_owned()));
            };
            let verb = if name == "openskills" { "install" } else { "add" };
            let args = [verb, source].into_iter().chain(rest.iter().copied()).map(OsString::from).collect();
            installing(Participant::Peer(name), &call, program, args, project, Some(variables))
        };
        PEERS.into_iter().map(entry).collect()
    }

    /// Returns a read-only call of `prowess`, or of the floor program at the start of the displayed call.
    fn call(
        &self,
        participant: Participant,
        shown: &str,
        args: &[OsString],
        directory: &Path,
        names: usize,
    ) -> Entry {
        let program = match shown.split(' ').next() {
            Some("prowess") | None => self.programs.prowess.clone(),
            Some(floor) => self.programs.floors.join(floor),
        };
        let home = directory.parent().unwrap_or(directory).join("home");
        let (directory, variables) = (directory.to_owned(), peers::common_variables(&home));
        let args = args.to_vec();
        let shown = shown.to_owned();
        let call = Call {
            shown: shown.clone(),
            program,
            args,
            directory,
            input: None,
            variables,
            names,
            empty_project: None,
        };
        (participant, shown, PeerCall::Call(call))
    }
}

/// Returns a call that installs into an empty project.
fn installing(
    participant: Participant,
    shown: &str,
    program: PathBuf,
    args: Vec<OsString>,
    project: EmptyProject,
    variables: Option<Variables>,
) -> Entry {
    let call = Call {
        shown: shown.to_owned(),
        program,
        args,
        directory: project.project(),
        input: None,
        variables: variables.unwrap_or_else(|| peers::common_variables(&project.home())),
        names: 0,
        empty_project: Some(project),
    };
    (participant, shown.to_owned(), PeerCall::Call(call))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Runs a command and fails if it does not succeed.
fn run_checked(command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let program = command.get_program().to_string_lossy();
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} exited with {status}"))) }
}
