//! What is measured of packages: installing from a folder and from a repository, the audit, `verify`, and loading what
//! is locked.
//!
//! Below `packages` beside the trees lie `repo-SIZE`, a repository with the same skills; `fresh/WHO`, which each command
//! fills; and `locked-SIZE` and `unlocked-SIZE`, projects with all skills installed and with the same skills unlocked.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fresh::Fresh;
use crate::measure::Call;
use crate::peers::{self, Offer, Variables};
use crate::suite::{Entry, Figure, Programs, Task, Who, measured};
use crate::tree::Tree;

/// How many skills are installed.
pub const SIZES: [usize; 3] = [1, 100, 1_000];

/// Peers that can install, where they put skills, and how they are called for a source and told not to ask.
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

/// An address that every peer takes for a repository; in their homes, git is told where it is.
const ADDRESS: (&str, &str) = ("owner/repo", "https://github.com/owner/repo");

const CLONE: &str = "git clone --quiet --depth 1 \"$1\" ../clone && cp -r ../clone/skills .agents/skills";
const CLONE_SHOWN: &str = "git clone --depth 1 REPO, cp -r";

/// Measures everything; `say` is told what is under way.
pub fn run(programs: &Programs, base: &Path, mut say: impl FnMut(&str)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    remove(&base.join("packages")).map_err(|error| error.to_string())?;
    for size in SIZES {
        let failed = |error: io::Error| format!("{size} skills: {error}");
        let tree = Tree::ensure(base, size).map_err(failed)?;
        let bench = Bench { programs, tree, base: base.join("packages") };
        bench.repository().map_err(failed)?;
        bench.projects().map_err(failed)?;
        for task in [Task::FromFolder, Task::FromGit, Task::Audit, Task::Verify, Task::Activate] {
            say(&format!("{task}, {size} skills"));
            measured(&mut figures, task, size, bench.entries(task).map_err(failed)?);
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
    fn named(&self, name: &str) -> PathBuf {
        self.base.join(format!("{name}-{}", self.tree.size))
    }

    fn address(&self) -> String {
        format!("file://{}", self.named("repo").display())
    }

    /// A place that is filled: `Fresh` for the commands that install.
    fn fresh(&self, who: &str, place: &'static str) -> Fresh {
        Fresh::new(self.base.join("fresh").join(who), place, self.tree.size)
    }

    /// Makes the repository: one commit in one pack, as a server keeps it.
    fn repository(&self) -> io::Result<()> {
        let repository = self.named("repo");
        fs::create_dir_all(&repository)?;
        let source = OsString::from(self.tree.root());
        let script = "cp -r \"$1\" skills && git init --quiet && git add --all && \
                      git -c user.name=bench -c user.email=bench@example.com commit --quiet -m skills && git gc --quiet";
        let args = ["-c", script, "sh"].map(OsString::from).into_iter().chain([source]);
        done(Command::new("/bin/sh").args(args).current_dir(&repository))
    }

    /// Makes the project with everything installed, and the one in which nothing is locked.
    fn projects(&self) -> io::Result<()> {
        for name in ["locked", "unlocked"] {
            let place = Fresh::new(self.named(name), ".agents/skills", self.tree.size);
            place.make()?;
            let prowess = |args: &[&str]| {
                let mut command = Command::new(&self.programs.prowess);
                command.args(args).current_dir(place.project()).envs(peers::quiet(&place.home()));
                done(&mut command)
            };
            prowess(&["install", &self.tree.root().to_string_lossy(), "--all", "--project", "--yes"])?;
            if name == "unlocked" {
                fs::remove_file(place.project().join("skills.lock"))?;
                prowess(&["trust"])?;
            }
        }
        Ok(())
    }

    fn entries(&self, task: Task) -> io::Result<Vec<Entry>> {
        let root = self.tree.root();
        let locked = self.named("locked").join("project");
        let skills = locked.join(".agents/skills");
        let unlocked = self.named("unlocked").join("project");
        let all = self.tree.size;
        Ok(match task {
            Task::FromFolder => {
                let copy = self.fresh("copy", ".agents/skills");
                let args = ["-r".into(), root.clone().into(), copy.skills().into()];
                let mut entries =
                    vec![filling(Who::Floor, "cp -r FOLDER", "/bin/cp".into(), args.to_vec(), copy, None)];
                entries.extend([self.clone(Who::CloneFloor), self.install(root.clone().into(), "FOLDER")]);
                entries.extend(self.peers(&root.to_string_lossy(), "FOLDER"));
                entries
            }
            Task::FromGit => {
                let mut entries = vec![self.clone(Who::Floor), self.install(self.address().into(), "REPO")];
                entries.extend(self.peers(ADDRESS.0, "REPO"));
                entries
            }
            Task::Audit => {
                let args = ["audit".into(), root.clone().into(), "--json".into()];
                vec![
                    self.ours(Who::Floor, "floor-hash FOLDER", &[root.into()], &locked, 0),
                    self.ours(Who::Prowess, "prowess audit FOLDER --json", &args, &locked, all),
                ]
            }
            Task::Verify => {
                let args = ["verify", "--project", "--json"].map(OsString::from);
                vec![
                    self.ours(Who::Floor, "floor-hash FOLDER", &[skills.into()], &locked, 0),
                    self.ours(Who::Prowess, "prowess verify --project --json", &args, &locked, all),
                ]
            }
            Task::Activate => {
                let names = self.tree.skills()?;
                let name = names.get(all / 2).and_then(|path| path.file_name()).unwrap_or_default();
                let args = ["activate".into(), name.to_owned()];
                vec![
                    self.ours(Who::Floor, "prowess activate NAME, unlocked", &args, &unlocked, 1),
                    self.ours(Who::Prowess, "prowess activate NAME, locked", &args, &locked, 1),
                ]
            }
            Task::Start | Task::List | Task::Refresh | Task::Check | Task::Prompt | Task::Lint => Vec::new(),
        })
    }

    fn clone(&self, who: Who) -> Entry {
        let args = ["-c".into(), CLONE.into(), "sh".into(), self.address().into()];
        let fresh = self.fresh("clone", ".agents/skills");
        filling(who, CLONE_SHOWN, "/bin/sh".into(), args.to_vec(), fresh, None)
    }

    fn install(&self, source: OsString, shown: &str) -> Entry {
        let shown = format!("prowess install {shown} --all --project --yes");
        let rest = ["--all", "--project", "--yes"].map(OsString::from);
        let args = ["install".into(), source].into_iter().chain(rest).collect();
        let fresh = self.fresh("prowess", ".agents/skills");
        let mut variables = peers::quiet(&fresh.home());
        variables.push(("PROWESS_ALLOW_FILE_URLS", "1".into()));
        filling(Who::Prowess, &shown, self.programs.prowess.clone(), args, fresh, Some(variables))
    }

    /// How each peer installs a source.
    fn peers(&self, source: &str, shown: &str) -> Vec<Entry> {
        let Some(folder) = &self.programs.peers else { return Vec::new() };
        let entry = |(name, place, call, rest): (&'static str, &'static str, &str, &[&str])| {
            let fresh = self.fresh(name, place).with_address(ADDRESS.1, &self.address());
            let call = call.replace("SOURCE", shown);
            let Some((program, variables)) = folder.program(name, &fresh.home()) else {
                return (Who::Peer(name), call, Offer::Never("not installed".to_owned()));
            };
            let verb = if name == "openskills" { "install" } else { "add" };
            let args = [verb, source].into_iter().chain(rest.iter().copied()).map(OsString::from).collect();
            filling(Who::Peer(name), &call, program, args, fresh, Some(variables))
        };
        PEERS.into_iter().map(entry).collect()
    }

    /// A call of `prowess`, or of the floor program that the shown text begins with, which leaves everything as it is.
    fn ours(&self, who: Who, shown: &str, args: &[OsString], directory: &Path, names: usize) -> Entry {
        let program = match shown.split(' ').next() {
            Some("prowess") | None => self.programs.prowess.clone(),
            Some(floor) => self.programs.floors.join(floor),
        };
        let home = directory.parent().unwrap_or(directory).join("home");
        let (directory, variables) = (directory.to_owned(), peers::quiet(&home));
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
            fresh: None,
        };
        (who, shown, Offer::Call(call))
    }
}

/// A call that fills a place.
fn filling(
    who: Who,
    shown: &str,
    program: PathBuf,
    args: Vec<OsString>,
    fresh: Fresh,
    variables: Option<Variables>,
) -> Entry {
    let call = Call {
        shown: shown.to_owned(),
        program,
        args,
        directory: fresh.project(),
        input: None,
        variables: variables.unwrap_or_else(|| peers::quiet(&fresh.home())),
        names: 0,
        fresh: Some(fresh),
    };
    (who, shown.to_owned(), Offer::Call(call))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Runs what has to succeed before anything is measured.
fn done(command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let program = command.get_program().to_string_lossy();
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} ended with {status}"))) }
}
