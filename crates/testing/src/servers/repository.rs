//! Git repositories for tests, created by the `git` command without user or system configuration.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository with a working tree.
pub struct Repository {
    pub path: PathBuf,
}

/// Returns a `git` command without user or system configuration, with a fixed author and date.
pub fn git() -> Command {
    let mut command = Command::new("git");
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.com"),
        ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
    ] {
        command.env(name, value);
    }
    command
}

impl Repository {
    /// Creates an empty repository with the branch `main`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with_hash(path, "sha1")
    }

    pub fn with_hash(path: impl Into<PathBuf>, hash: &str) -> Self {
        let path = path.into();
        fs::create_dir_all(&path).unwrap();
        let repository = Self { path };
        repository.run(&["init", "-q", "-b", "main", "--object-format", hash]);
        repository
    }

    /// Runs `git` in the repository and returns its standard output.
    pub fn run(&self, args: &[&str]) -> String {
        self.run_with(args, b"")
    }

    /// Runs `git` with this standard input, see [`run`](Self::run).
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> String {
        let mut command = git();
        command.current_dir(&self.path).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Commits all changes and returns the commit id.
    pub fn commit(&self, message: &str) -> String {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "--allow-empty", "-m", message]);
        self.run(&["rev-parse", "HEAD"])
    }

    /// Clones the repository into a bare repository, to be served.
    pub fn publish(&self, target: &Path) {
        let output = git().args(["clone", "-q", "--bare"]).arg(&self.path).arg(target).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Creates a repository with two skills, three commits, the branch `next`, a lightweight tag and an annotated tag.
pub fn skills(path: impl Into<PathBuf>) -> Repository {
    let repository = Repository::new(path);
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo it.\n");
    repository.write("skills/one/SKILL.md", skill("one")).write("skills/two/SKILL.md", skill("two"));
    repository.write("README.md", "Skills.\n").write("old.txt", "old\n").commit("first");
    repository.run(&["tag", "light"]);
    repository.run(&["tag", "-a", "v1.0", "-m", "one"]);
    fs::remove_file(repository.path.join("old.txt")).unwrap();
    repository.write("skills/one/scripts/run.sh", "#!/bin/sh\n");
    fs::set_permissions(
        repository.path.join("skills/one/scripts/run.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    repository.commit("second");
    repository.run(&["branch", "next"]);
    repository.run(&["checkout", "-q", "next"]);
    repository.write("next.txt", "next\n").commit("third");
    repository.run(&["checkout", "-q", "main"]);
    repository
}
