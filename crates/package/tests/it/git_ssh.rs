//! Fetches repositories from a real SSH server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_package::git::{
    FetchedCommit, GitError, GitOptions, GitRef, GitSource, GitUrl, LocalRepositories, ResolvedRef,
    SshProgram, Timeouts, fetch_commit, resolve_commit,
};
use prowess_package::{SourceTree, Task};
use prowess_testing::servers::repository::{Repository, skills};
use prowess_testing::servers::ssh::{ProtocolVersions, SshServer, silent_listener};

struct SshFixture {
    dir: tempfile::TempDir,
    repository: Repository,
    served: PathBuf,
    server: SshServer,
}

impl SshFixture {
    fn new(versions: ProtocolVersions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = skills(dir.path().join("work"));
        // A name with special characters of shells.
        let served = dir.path().join("it's; touch $HOME/pwned.git");
        repository.publish(&served);
        Self { dir, repository, served, server: SshServer::start(versions) }
    }

    fn url(&self) -> String {
        self.server.url(&self.served).replace(' ', "%20")
    }

    fn fetch(&self, url: &str, reference: Option<&str>, command: String) -> Result<FetchedCommit, GitError> {
        let source = source(url, reference);
        fetch_commit(&source, &self.dir.path().join("scratch"), &options(command), &Arc::default())
    }
}

fn source(url: &str, reference: Option<&str>) -> GitSource {
    let url = GitUrl::parse(url, LocalRepositories::Refused).unwrap();
    GitSource { url, reference: reference.map(|name| GitRef::parse(name).unwrap()), subdir: None }
}

fn options(command: String) -> GitOptions {
    let timeouts = Timeouts { stall: Duration::from_secs(10), ..Timeouts::default() };
    GitOptions { timeouts, ssh: SshProgram::ShellCommand(command.into()) }
}

fn check_fetching(versions: ProtocolVersions) {
    let fixture = SshFixture::new(versions);
    let id = |name: &str| fixture.repository.run(&["rev-parse", &format!("{name}^{{commit}}")]);
    for (name, resolved) in [
        (None, ResolvedRef::Head(Some("main".into()))),
        (Some("next"), ResolvedRef::Branch("next".into())),
        (Some("v1.0"), ResolvedRef::Tag("v1.0".into())),
        (Some("light"), ResolvedRef::Tag("light".into())),
    ] {
        let fetched = fixture.fetch(&fixture.url(), name, fixture.server.command()).unwrap();
        assert_eq!((&fetched.commit, &fetched.resolved), (&id(name.unwrap_or("main")), &resolved));
        assert_eq!(fetched.tree.read_entry(0).unwrap(), b"Skills.\n");
        let resolved_only = resolve_commit(
            &source(&fixture.url(), name),
            &options(fixture.server.command()),
            &Arc::default(),
        );
        assert_eq!(resolved_only.unwrap(), (fetched.commit, resolved));
    }
    let unknown = fixture.fetch(&fixture.url(), Some("mian"), fixture.server.command()).unwrap_err();
    assert_eq!(unknown.hint().as_deref(), Some("did you mean main?"));
    let home = std::env::var("HOME").unwrap();
    assert!(!PathBuf::from(home).join("pwned.git").exists());
}

#[test]
fn branches_and_tags_are_fetched() {
    check_fetching(ProtocolVersions::All);
}

#[test]
fn a_server_without_version_negotiation_is_supported() {
    check_fetching(ProtocolVersions::V0);
}

#[test]
fn a_commit_is_fetched_if_the_server_allows_it() {
    let fixture = SshFixture::new(ProtocolVersions::All);
    let first = fixture.repository.run(&["rev-parse", "light"]);
    let fetched = fixture.fetch(&fixture.url(), Some(&first), fixture.server.command()).unwrap();
    assert_eq!((fetched.commit, fetched.resolved), (first, ResolvedRef::Commit));
    let absent = "1".repeat(40);
    let error = fixture.fetch(&fixture.url(), Some(&absent), fixture.server.command()).unwrap_err();
    assert!(matches!(error, GitError::UnknownRef { .. }), "{error:?}");
}

#[test]
fn hosts_of_the_ssh_configuration_are_used() {
    let fixture = SshFixture::new(ProtocolVersions::All);
    let plain = fixture.dir.path().join("plain.git");
    fixture.repository.publish(&plain);
    let url = fixture.server.scp_address(&plain);
    assert_eq!(fixture.fetch(&url, None, fixture.server.command()).unwrap().tree.entries().len(), 4);
}

#[test]
fn ssh_never_prompts() {
    let fixture = SshFixture::new(ProtocolVersions::All);
    let error = fixture.fetch(&fixture.url(), None, fixture.server.command_with_unknown_key()).unwrap_err();
    assert!(
        matches!(&error, GitError::Ssh { reason, .. } if reason.contains("Permission denied")),
        "{error:?}"
    );
    let error = fixture.fetch(&fixture.url(), None, fixture.server.command_without_host_key()).unwrap_err();
    assert!(error.hint().unwrap().starts_with("run `ssh"), "{error:?}");
    let missing = fixture.server.url(&fixture.dir.path().join("nothing.git"));
    let error = fixture.fetch(&missing, None, fixture.server.command()).unwrap_err();
    assert_eq!(error, GitError::NotFound { url: missing });
    assert_eq!(error.code(), ErrorCode::NotFound);
}

#[test]
fn a_missing_ssh_program_is_reported() {
    let missing = SshProgram::Program("no-such-program-as-this".into());
    let options = GitOptions { timeouts: Timeouts::default(), ssh: missing };
    let error = resolve_commit(&source("git@localhost:x/y", None), &options, &Arc::default()).unwrap_err();
    assert!(matches!(error, GitError::SshNotStarted { .. }), "{error:?}");
}

#[test]
fn a_silent_server_times_out() {
    let (_listener, url) = silent_listener();
    let timeouts = Timeouts { stall: Duration::from_millis(300), ..Timeouts::default() };
    let options = GitOptions { timeouts, ssh: SshProgram::ShellCommand("ssh -F /dev/null".into()) };
    let error = resolve_commit(&source(&url, None), &options, &Arc::default()).unwrap_err();
    assert_eq!(error, GitError::Timeout { host: "127.0.0.1".into() });
}

#[test]
fn a_server_that_stops_responding_is_reported() {
    let timeouts = Timeouts { stall: Duration::from_millis(300), ..Timeouts::default() };
    let error = |line: &str| {
        let options = GitOptions { timeouts, ssh: SshProgram::ShellCommand(line.into()) };
        resolve_commit(&source("git@localhost:x/y", None), &options, &Arc::default()).unwrap_err()
    };
    assert_eq!(error("printf 000; :"), GitError::Damaged { reason: "the data ends unexpectedly".into() });
    assert_eq!(error("printf 000; sleep 3600; :"), GitError::Timeout { host: "localhost".into() });
    assert!(matches!(error("printf 'Welcome to our server'; :"), GitError::Damaged { .. }));
}

#[test]
fn cancelling_does_not_wait_for_the_server() {
    let (_listener, url) = silent_listener();
    let dir = tempfile::tempdir().unwrap();
    // The ssh command starts a child process, which must be ended, too.
    let pid = dir.path().join("pid");
    let line = format!("sleep 3600 & echo $! > {}; ssh -F /dev/null", pid.display());
    let timeouts = Timeouts { stall: Duration::from_secs(3_600), ..Timeouts::default() };
    let options = GitOptions { timeouts, ssh: SshProgram::ShellCommand(line.into()) };
    let task = Arc::<Task>::default();
    let read_pid = || std::fs::read_to_string(&pid).ok().filter(|text| text.ends_with('\n'));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while read_pid().is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            task.cancel();
        });
        let error = resolve_commit(&source(&url, None), &options, &task).unwrap_err();
        assert_eq!(error, GitError::Cancelled);
    });
    let child = PathBuf::from(format!("/proc/{}", read_pid().unwrap().trim()));
    let has_exited = || {
        let stat = std::fs::read_to_string(child.join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    for _ in 0..500 {
        if !cfg!(target_os = "linux") || has_exited() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a process was left behind");
}
