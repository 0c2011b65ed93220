//! Repositories over https, from a real server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_package::git::{
    Fetched, GitError, GitOptions, GitRef, GitSource, GitUrl, Local, Resolved, Timeouts, fetch, resolve,
};
use prowess_package::{EntryKind, HttpError, InnerPath, Tree, Work, limits};
use prowess_testing::servers::https::Server;
use prowess_testing::servers::repository::{Repository, skills};
use prowess_testing::servers::trusting;

/// A server with one repository, and a place to fetch to.
struct World {
    folder: tempfile::TempDir,
    repository: Repository,
    server: Server,
}

impl World {
    fn new(certificates: &Path) -> Self {
        Self::serving(certificates, skills)
    }

    fn serving(certificates: &Path, make: impl Fn(std::path::PathBuf) -> Repository) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = make(folder.path().join("work"));
        repository.publish(&folder.path().join("served/skills.git"));
        let server = Server::start(&folder.path().join("served"), certificates, "server");
        Self { folder, repository, server }
    }

    fn source(&self, path: &str, reference: Option<&str>) -> GitSource {
        let url = GitUrl::parse(&self.server.url(path), Local::Refused).unwrap();
        GitSource { url, reference: reference.map(|name| GitRef::parse(name).unwrap()), inner: None }
    }

    fn fetch(&self, source: &GitSource) -> Result<Fetched, GitError> {
        fetch(source, &self.folder.path().join("scratch"), &options(), &Arc::default())
    }

    fn get(&self, path: &str, reference: Option<&str>) -> Result<Fetched, GitError> {
        self.fetch(&self.source(path, reference))
    }

    fn id(&self, name: &str) -> String {
        self.repository.run(&["rev-parse", &format!("{name}^{{commit}}")])
    }
}

fn options() -> GitOptions {
    let timeouts = Timeouts { stall: Duration::from_millis(1_500), ..Timeouts::default() };
    GitOptions { timeouts, ..GitOptions::default() }
}

fn paths(fetched: &Fetched) -> Vec<String> {
    let path = |entry: &prowess_package::Entry| String::from_utf8_lossy(&entry.path).into_owned();
    fetched.tree.entries().iter().map(path).collect()
}

const MAIN: [&str; 4] =
    ["README.md", "skills/one/SKILL.md", "skills/one/scripts/run.sh", "skills/two/SKILL.md"];

#[test]
fn branches_tags_and_commits_are_fetched() {
    trusting(|certificates| {
        let world = World::new(certificates);
        let first = world.id("light");
        for way in ["git", "old", "moved"] {
            let path = format!("{way}/skills.git");
            let fetched = world.get(&path, None).unwrap();
            assert_eq!(
                (&fetched.commit, &fetched.resolved),
                (&world.id("main"), &Resolved::Head(Some("main".into())))
            );
            assert_eq!(paths(&fetched), MAIN);
            assert_eq!(fetched.tree.entries()[2].kind, EntryKind::File { executable: true, bytes: 10 });
            assert_eq!(fetched.tree.read(2).unwrap(), b"#!/bin/sh\n");
            for (name, resolved) in [
                ("next", Resolved::Branch("next".into())),
                ("v1.0", Resolved::Tag("v1.0".into())),
                ("light", Resolved::Tag("light".into())),
                ("refs/heads/next", Resolved::Branch("next".into())),
            ] {
                let source = world.source(&path, Some(name));
                let fetched = world.fetch(&source).unwrap();
                assert_eq!(
                    (&fetched.commit, &fetched.resolved),
                    (&world.id(name), &resolved),
                    "{way} {name}"
                );
                assert_eq!(
                    resolve(&source, &options(), &Arc::default()).unwrap(),
                    (world.id(name), resolved)
                );
            }
        }
        let fetched = world.get("git/skills.git", Some(&first)).unwrap();
        assert_eq!((fetched.commit.clone(), fetched.resolved.clone()), (first, Resolved::Commit));
        assert!(paths(&fetched).contains(&"old.txt".to_owned()));
    });
}

#[test]
fn a_folder_in_it_is_enough() {
    trusting(|certificates| {
        let world = World::new(certificates);
        let mut source = world.source("git/skills.git", None);
        source.inner = Some(InnerPath::parse(b"skills/two").unwrap());
        assert_eq!(paths(&world.fetch(&source).unwrap()), ["skills/two/SKILL.md"]);
        source.inner = Some(InnerPath::parse(b"skills/three").unwrap());
        assert_eq!(world.fetch(&source).unwrap_err(), GitError::NoFolder { path: "skills/three".into() });
        source.inner = Some(InnerPath::parse(b"README.md").unwrap());
        assert_eq!(world.fetch(&source).unwrap_err().code(), ErrorCode::NotFound);
    });
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    trusting(|certificates| {
        let world = World::new(certificates);
        let url = world.server.url("git/skills.git");
        let unknown = |name: &str, near: &[&str], short| GitError::UnknownRef {
            url: url.clone(),
            name: name.to_owned(),
            near: near.iter().map(|name| (*name).to_owned()).collect(),
            short,
        };
        let error = |reference: &str| world.get("git/skills.git", Some(reference)).unwrap_err();
        assert_eq!(error("mian"), unknown("mian", &["main"], false));
        assert_eq!(error("abc1234"), unknown("abc1234", &[], true));
        let absent = "1".repeat(40);
        assert_eq!(error(&absent), unknown(&absent, &[], false));
        assert_eq!(error(&"1".repeat(64)).code(), ErrorCode::NotFound);

        let missing = world.get("git/nothing.git", None).unwrap_err();
        assert_eq!(missing, GitError::NotFound { url: world.server.url("git/nothing.git") });
        assert!(missing.hint().unwrap().contains("ssh form"));
        let private = world.get("private/skills.git", None).unwrap_err();
        assert_eq!(private, GitError::NotFound { url: world.server.url("private/skills.git") });
        assert!(matches!(world.get("page/skills.git", None).unwrap_err(), GitError::NotGit { .. }));
    });
}

#[test]
fn an_empty_repository_is_called_empty() {
    trusting(|certificates| {
        let world = World::serving(certificates, Repository::new);
        for way in ["git", "old"] {
            let path = format!("{way}/skills.git");
            assert_eq!(world.get(&path, None).unwrap_err(), GitError::Empty { url: world.server.url(&path) });
            assert_eq!(world.get(&path, Some("main")).unwrap_err().code(), ErrorCode::NotFound);
        }
    });
}

#[test]
fn a_server_that_stops_half_way_is_left() {
    trusting(|certificates| {
        let world = World::new(certificates);
        for way in ["stall", "silent"] {
            let error = world.get(&format!("{way}/skills.git"), None).unwrap_err();
            assert!(matches!(error, GitError::Http(HttpError::Timeout { .. })), "{error:?}");
            assert_eq!(error.code(), ErrorCode::Timeout);
        }
        let error = world.get("cut/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::Broken { .. })), "{error:?}");
    });
}

#[test]
fn whoever_cancels_does_not_wait() {
    trusting(|certificates| {
        let world = World::new(certificates);
        for way in ["stall", "silent"] {
            let source = world.source(&format!("{way}/skills.git"), None);
            let work = Arc::<Work>::default();
            // Longer than any test lasts: only cancelling ends it.
            let timeouts = Timeouts { stall: Duration::from_secs(3_600), ..Timeouts::default() };
            let options = GitOptions { timeouts, ..GitOptions::default() };
            let canceller = Arc::clone(&work);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let begun = || match (way, canceller.state()) {
                        ("stall", (step, bytes, _)) => step == "receiving" && bytes > 0,
                        (_, (step, ..)) => step == "asking the server",
                    };
                    while !begun() {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    std::thread::sleep(Duration::from_millis(200));
                    canceller.cancel();
                });
                let result = fetch(&source, &world.folder.path().join(way), &options, &work);
                assert_eq!(result.unwrap_err(), GitError::Cancelled);
            });
        }
    });
}

#[test]
fn only_https_and_only_who_can_prove_it() {
    trusting(|certificates| {
        let world = World::new(certificates);
        let error = world.get("plain/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::Downgrade { .. })), "{error:?}");
        let error = world.get("round/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::Redirects { .. })), "{error:?}");
        assert_eq!(world.server.asked().iter().filter(|asked| asked.contains("/round/")).count(), 6);

        let stranger = Server::start(&world.folder.path().join("served"), certificates, "stranger");
        let url = GitUrl::parse(&stranger.url("git/skills.git"), Local::Refused).unwrap();
        let error = world.fetch(&GitSource { url, reference: None, inner: None }).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::Certificate { .. })), "{error:?}");
        assert!(error.hint().unwrap().contains("SSL_CERT_FILE"));
        assert_eq!(stranger.asked(), Vec::<String>::new());
    });
}

#[test]
fn a_host_that_nobody_answers_for_is_unreachable() {
    trusting(|certificates| {
        let world = World::new(certificates);
        let url = world.server.url("git/skills.git");
        let World { folder, server, .. } = world;
        drop(server);
        let url = GitUrl::parse(&url, Local::Refused).unwrap();
        let source = GitSource { url, reference: None, inner: None };
        let error = fetch(&source, folder.path(), &options(), &Arc::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:?}");
    });
}

#[test]
fn what_is_too_large_need_not_be_sent() {
    trusting(|certificates| {
        let world = World::serving(certificates, |path| {
            let repository = Repository::new(path);
            let large = vec![0; limits::FILE_MAX as usize + 2];
            repository
                .write("large", &large[..])
                .write("most", &large[2..])
                .write("SKILL.md", "x")
                .commit("first");
            repository
        });
        let bare = Repository { path: world.folder.path().join("served/skills.git") };
        for (allowed, claimed) in [("false", limits::FILE_MAX + 2), ("true", limits::FILE_MAX + 1)] {
            bare.run(&["config", "uploadpack.allowFilter", allowed]);
            for way in ["git", "old"] {
                let fetched = world.get(&format!("{way}/skills.git"), None).unwrap();
                let kinds: Vec<_> = fetched.tree.entries().iter().map(|entry| entry.kind).collect();
                let file = |bytes| EntryKind::File { executable: false, bytes };
                assert_eq!(kinds, [file(1), file(claimed), file(limits::FILE_MAX)], "{way} {allowed}");
                assert_eq!(fetched.tree.read(1).unwrap_err().code, ErrorCode::TooLarge);
                assert_eq!(fetched.tree.read(2).unwrap().len() as u64, limits::FILE_MAX);
                drop(fetched);
                std::fs::remove_dir_all(world.folder.path().join("scratch")).unwrap();
            }
        }
    });
}

#[test]
fn a_repository_of_sha256_works() {
    trusting(|certificates| {
        let world = World::serving(certificates, |path| {
            let repository = Repository::with_hash(path, "sha256");
            repository.write("SKILL.md", "x").commit("first");
            repository
        });
        for way in ["git", "old"] {
            let fetched = world.get(&format!("{way}/skills.git"), None).unwrap();
            assert_eq!(fetched.commit, world.id("main"));
            assert_eq!((fetched.commit.len(), fetched.tree.read(0).unwrap()), (64, b"x".to_vec()));
        }
    });
}

#[test]
fn a_redirect_to_another_host_is_refused_and_named() {
    trusting(|certificates| {
        let world = World::new(certificates);
        assert!(world.get("moved/skills.git", None).is_ok(), "the same host is followed");
        let error = world.get("elsewhere/skills.git", None).unwrap_err();
        assert_eq!(error.code(), ErrorCode::AccessDenied, "{error:?}");
        let there = world.server.url("git/skills.git").replace("localhost", "127.0.0.1");
        assert!(matches!(&error, GitError::Redirected { to, .. } if *to == there), "{error:?}");
        assert!(error.hint().unwrap().contains(&format!("prowess install {there}")));
    });
}
