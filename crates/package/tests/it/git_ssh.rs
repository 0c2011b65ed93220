//! Repositories over ssh, from a real server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_package::git::{
    Fetched, GitError, GitOptions, GitRef, GitSource, GitUrl, Local, Resolved, SshProgram, Timeouts, fetch,
    resolve,
};
use prowess_package::{Tree, Work};
use prowess_testing::servers::repository::{Repository, skills};
use prowess_testing::servers::ssh::{Server, Versions, silent};

struct World {
    folder: tempfile::TempDir,
    repository: Repository,
    served: PathBuf,
    server: Server,
}

impl World {
    fn new(versions: Versions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = skills(folder.path().join("work"));
        // A name that a shell would make something of.
        let served = folder.path().join("it's; touch $HOME/pwned.git");
        repository.publish(&served);
        Self { folder, repository, served, server: Server::start(versions) }
    }

    fn url(&self) -> String {
        self.server.url(&self.served).replace(' ', "%20")
    }

    fn fetch(&self, url: &str, reference: Option<&str>, command: String) -> Result<Fetched, GitError> {
        let source = source(url, reference);
        fetch(&source, &self.folder.path().join("scratch"), &options(command), &Arc::default())
    }
}

fn source(url: &str, reference: Option<&str>) -> GitSource {
    let url = GitUrl::parse(url, Local::Refused).unwrap();
    GitSource { url, reference: reference.map(|name| GitRef::parse(name).unwrap()), inner: None }
}

fn options(command: String) -> GitOptions {
    let timeouts = Timeouts { stall: Duration::from_secs(10), ..Timeouts::default() };
    GitOptions { timeouts, ssh: SshProgram::Line(command.into()) }
}

fn fetched_from(versions: Versions) {
    let world = World::new(versions);
    let id = |name: &str| world.repository.run(&["rev-parse", &format!("{name}^{{commit}}")]);
    for (name, resolved) in [
        (None, Resolved::Head(Some("main".into()))),
        (Some("next"), Resolved::Branch("next".into())),
        (Some("v1.0"), Resolved::Tag("v1.0".into())),
        (Some("light"), Resolved::Tag("light".into())),
    ] {
        let fetched = world.fetch(&world.url(), name, world.server.command()).unwrap();
        assert_eq!((&fetched.commit, &fetched.resolved), (&id(name.unwrap_or("main")), &resolved));
        assert_eq!(fetched.tree.read(0).unwrap(), b"Skills.\n");
        let asked = resolve(&source(&world.url(), name), &options(world.server.command()), &Arc::default());
        assert_eq!(asked.unwrap(), (fetched.commit, resolved));
    }
    let unknown = world.fetch(&world.url(), Some("mian"), world.server.command()).unwrap_err();
    assert_eq!(unknown.hint().as_deref(), Some("there is main"));
    let home = std::env::var("HOME").unwrap();
    assert!(!PathBuf::from(home).join("pwned.git").exists());
}

#[test]
fn branches_and_tags_are_fetched() {
    fetched_from(Versions::Any);
}

#[test]
fn a_server_that_passes_no_version_on_is_understood() {
    fetched_from(Versions::Old);
}

#[test]
fn a_commit_is_fetched_where_the_server_allows_it() {
    let world = World::new(Versions::Any);
    let first = world.repository.run(&["rev-parse", "light"]);
    let fetched = world.fetch(&world.url(), Some(&first), world.server.command()).unwrap();
    assert_eq!((fetched.commit, fetched.resolved), (first, Resolved::Commit));
    let absent = "1".repeat(40);
    let error = world.fetch(&world.url(), Some(&absent), world.server.command()).unwrap_err();
    assert!(matches!(error, GitError::UnknownRef { .. }), "{error:?}");
}

#[test]
fn hosts_of_the_users_own_configuration_are_known() {
    let world = World::new(Versions::Any);
    let plain = world.folder.path().join("plain.git");
    world.repository.publish(&plain);
    let url = world.server.short(&plain);
    assert_eq!(world.fetch(&url, None, world.server.command()).unwrap().tree.entries().len(), 4);
}

#[test]
fn nobody_is_asked_for_anything() {
    let world = World::new(Versions::Any);
    let error = world.fetch(&world.url(), None, world.server.stranger()).unwrap_err();
    assert!(matches!(&error, GitError::Ssh { why, .. } if why.contains("Permission denied")), "{error:?}");
    let error = world.fetch(&world.url(), None, world.server.unknown()).unwrap_err();
    assert!(error.hint().unwrap().starts_with("connect once with"), "{error:?}");
    let missing = world.server.url(&world.folder.path().join("nothing.git"));
    let error = world.fetch(&missing, None, world.server.command()).unwrap_err();
    assert_eq!(error, GitError::NotFound { url: missing });
    assert_eq!(error.code(), ErrorCode::NotFound);
}

#[test]
fn there_may_be_no_ssh() {
    let missing = SshProgram::Program("no-such-program-as-this".into());
    let options = GitOptions { timeouts: Timeouts::default(), ssh: missing };
    let error = resolve(&source("git@localhost:x/y", None), &options, &Arc::default()).unwrap_err();
    assert!(matches!(error, GitError::NoSsh { .. }), "{error:?}");
}

#[test]
fn a_server_that_says_nothing_is_left() {
    let (_listener, url) = silent();
    let timeouts = Timeouts { stall: Duration::from_millis(300), ..Timeouts::default() };
    let options = GitOptions { timeouts, ssh: SshProgram::Line("ssh -F /dev/null".into()) };
    let error = resolve(&source(&url, None), &options, &Arc::default()).unwrap_err();
    assert_eq!(error, GitError::Timeout { host: "127.0.0.1".into() });
}

#[test]
fn a_server_that_stops_half_way_is_left() {
    let timeouts = Timeouts { stall: Duration::from_millis(300), ..Timeouts::default() };
    let error = |line: &str| {
        let options = GitOptions { timeouts, ssh: SshProgram::Line(line.into()) };
        resolve(&source("git@localhost:x/y", None), &options, &Arc::default()).unwrap_err()
    };
    assert_eq!(error("printf 000; :"), GitError::Damaged { why: "it ended half-way".into() });
    assert_eq!(error("printf 000; sleep 3600; :"), GitError::Timeout { host: "localhost".into() });
    assert!(matches!(error("printf 'Welcome to our server'; :"), GitError::Damaged { .. }));
}

#[test]
fn whoever_cancels_does_not_wait() {
    let (_listener, url) = silent();
    let folder = tempfile::tempdir().unwrap();
    // What connects starts a child of its own: it is not left behind.
    let pid = folder.path().join("pid");
    let line = format!("sleep 3600 & echo $! > {}; ssh -F /dev/null", pid.display());
    let timeouts = Timeouts { stall: Duration::from_secs(3_600), ..Timeouts::default() };
    let options = GitOptions { timeouts, ssh: SshProgram::Line(line.into()) };
    let work = Arc::<Work>::default();
    let written = || std::fs::read_to_string(&pid).ok().filter(|text| text.ends_with('\n'));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while written().is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            work.cancel();
        });
        let error = resolve(&source(&url, None), &options, &work).unwrap_err();
        assert_eq!(error, GitError::Cancelled);
    });
    let child = PathBuf::from(format!("/proc/{}", written().unwrap().trim()));
    let gone = || {
        let stat = std::fs::read_to_string(child.join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    for _ in 0..500 {
        if !cfg!(target_os = "linux") || gone() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a process was left behind");
}
