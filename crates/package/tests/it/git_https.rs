//! Fetches repositories from a real HTTPS server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_package::git::{
    FetchedCommit, GitError, GitOptions, GitRef, GitSource, GitUrl, LocalRepositories, ResolvedRef, Timeouts,
    fetch_commit, resolve_commit,
};
use prowess_package::{HttpError, InnerPath, SourceEntryKind, SourceTree, Task, limits};
use prowess_testing::servers::https::HttpsServer;
use prowess_testing::servers::repository::{Repository, skills};
use prowess_testing::servers::with_test_certificates;

/// A server with one repository, and a directory to fetch into.
struct HttpsFixture {
    dir: tempfile::TempDir,
    repository: Repository,
    server: HttpsServer,
}

impl HttpsFixture {
    fn new(certificates: &Path) -> Self {
        Self::serving(certificates, skills)
    }

    fn serving(certificates: &Path, create: impl Fn(std::path::PathBuf) -> Repository) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = create(dir.path().join("work"));
        repository.publish(&dir.path().join("served/skills.git"));
        let server = HttpsServer::start(&dir.path().join("served"), certificates, "server");
        Self { dir, repository, server }
    }

    fn source(&self, path: &str, reference: Option<&str>) -> GitSource {
        let url = GitUrl::parse(&self.server.url(path), LocalRepositories::Refused).unwrap();
        GitSource { url, reference: reference.map(|name| GitRef::parse(name).unwrap()), subdir: None }
    }

    fn fetch(&self, source: &GitSource) -> Result<FetchedCommit, GitError> {
        fetch_commit(source, &self.dir.path().join("scratch"), &options(), &Arc::default())
    }

    fn get(&self, path: &str, reference: Option<&str>) -> Result<FetchedCommit, GitError> {
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

fn paths(fetched: &FetchedCommit) -> Vec<String> {
    let path = |entry: &prowess_package::SourceEntry| String::from_utf8_lossy(&entry.path).into_owned();
    fetched.tree.entries().iter().map(path).collect()
}

const MAIN: [&str; 4] =
    ["README.md", "skills/one/SKILL.md", "skills/one/scripts/run.sh", "skills/two/SKILL.md"];

#[test]
fn branches_tags_and_commits_are_fetched() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        let first = fixture.id("light");
        for endpoint in ["git", "old", "moved"] {
            let path = format!("{endpoint}/skills.git");
            let fetched = fixture.get(&path, None).unwrap();
            assert_eq!(
                (&fetched.commit, &fetched.resolved),
                (&fixture.id("main"), &ResolvedRef::Head(Some("main".into())))
            );
            assert_eq!(paths(&fetched), MAIN);
            assert_eq!(fetched.tree.entries()[2].kind, SourceEntryKind::File { executable: true, bytes: 10 });
            assert_eq!(fetched.tree.read_entry(2).unwrap(), b"#!/bin/sh\n");
            for (name, resolved) in [
                ("next", ResolvedRef::Branch("next".into())),
                ("v1.0", ResolvedRef::Tag("v1.0".into())),
                ("light", ResolvedRef::Tag("light".into())),
                ("refs/heads/next", ResolvedRef::Branch("next".into())),
            ] {
                let source = fixture.source(&path, Some(name));
                let fetched = fixture.fetch(&source).unwrap();
                assert_eq!(
                    (&fetched.commit, &fetched.resolved),
                    (&fixture.id(name), &resolved),
                    "{endpoint} {name}"
                );
                assert_eq!(
                    resolve_commit(&source, &options(), &Arc::default()).unwrap(),
                    (fixture.id(name), resolved)
                );
            }
        }
        let fetched = fixture.get("git/skills.git", Some(&first)).unwrap();
        assert_eq!((fetched.commit.clone(), fetched.resolved.clone()), (first, ResolvedRef::Commit));
        assert!(paths(&fetched).contains(&"old.txt".to_owned()));
    });
}

#[test]
fn a_subdirectory_can_be_selected() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        let mut source = fixture.source("git/skills.git", None);
        source.subdir = Some(InnerPath::parse(b"skills/two").unwrap());
        assert_eq!(paths(&fixture.fetch(&source).unwrap()), ["skills/two/SKILL.md"]);
        source.subdir = Some(InnerPath::parse(b"skills/three").unwrap());
        assert_eq!(
            fixture.fetch(&source).unwrap_err(),
            GitError::NoDirectory { path: "skills/three".into() }
        );
        source.subdir = Some(InnerPath::parse(b"README.md").unwrap());
        assert_eq!(fixture.fetch(&source).unwrap_err().code(), ErrorCode::NotFound);
    });
}

#[test]
fn missing_refs_and_repositories_are_reported_with_suggestions() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        let url = fixture.server.url("git/skills.git");
        let unknown = |name: &str, near: &[&str], short| GitError::UnknownRef {
            url: url.clone(),
            name: name.to_owned(),
            suggestions: near.iter().map(|name| (*name).to_owned()).collect(),
            is_abbreviated: short,
        };
        let error = |reference: &str| fixture.get("git/skills.git", Some(reference)).unwrap_err();
        assert_eq!(error("mian"), unknown("mian", &["main"], false));
        assert_eq!(error("abc1234"), unknown("abc1234", &[], true));
        let absent = "1".repeat(40);
        assert_eq!(error(&absent), unknown(&absent, &[], false));
        assert_eq!(error(&"1".repeat(64)).code(), ErrorCode::NotFound);

        let missing = fixture.get("git/nothing.git", None).unwrap_err();
        assert_eq!(missing, GitError::NotFound { url: fixture.server.url("git/nothing.git") });
        assert!(missing.hint().unwrap().contains("ssh form"));
        let private = fixture.get("private/skills.git", None).unwrap_err();
        assert_eq!(private, GitError::NotFound { url: fixture.server.url("private/skills.git") });
        assert!(matches!(fixture.get("page/skills.git", None).unwrap_err(), GitError::NotGit { .. }));
    });
}

#[test]
fn an_empty_repository_is_reported() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::serving(certificates, Repository::new);
        for endpoint in ["git", "old"] {
            let path = format!("{endpoint}/skills.git");
            assert_eq!(
                fixture.get(&path, None).unwrap_err(),
                GitError::Empty { url: fixture.server.url(&path) }
            );
            assert_eq!(fixture.get(&path, Some("main")).unwrap_err().code(), ErrorCode::NotFound);
        }
    });
}

#[test]
fn a_server_that_stops_responding_times_out() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        for endpoint in ["stall", "silent"] {
            let error = fixture.get(&format!("{endpoint}/skills.git"), None).unwrap_err();
            assert!(matches!(error, GitError::Http(HttpError::Timeout { .. })), "{error:?}");
            assert_eq!(error.code(), ErrorCode::Timeout);
        }
        let error = fixture.get("cut/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::ConnectionFailed { .. })), "{error:?}");
    });
}

#[test]
fn cancelling_does_not_wait_for_the_server() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        for endpoint in ["stall", "silent"] {
            let source = fixture.source(&format!("{endpoint}/skills.git"), None);
            let task = Arc::<Task>::default();
            // Longer than any test: only cancelling ends the request.
            let timeouts = Timeouts { stall: Duration::from_secs(3_600), ..Timeouts::default() };
            let options = GitOptions { timeouts, ..GitOptions::default() };
            let canceller = Arc::clone(&task);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let has_started = || match (endpoint, canceller.progress()) {
                        ("stall", (step, bytes, _)) => step == "receiving" && bytes > 0,
                        (_, (step, ..)) => step == "contacting the server",
                    };
                    while !has_started() {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    std::thread::sleep(Duration::from_millis(200));
                    canceller.cancel();
                });
                let result = fetch_commit(&source, &fixture.dir.path().join(endpoint), &options, &task);
                assert_eq!(result.unwrap_err(), GitError::Cancelled);
            });
        }
    });
}

#[test]
fn insecure_connections_are_rejected() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        let error = fixture.get("plain/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::Downgrade { .. })), "{error:?}");
        let error = fixture.get("round/skills.git", None).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::TooManyRedirects { .. })), "{error:?}");
        assert_eq!(fixture.server.requests().iter().filter(|request| request.contains("/round/")).count(), 6);

        let untrusted = HttpsServer::start(&fixture.dir.path().join("served"), certificates, "self-signed");
        let url = GitUrl::parse(&untrusted.url("git/skills.git"), LocalRepositories::Refused).unwrap();
        let error = fixture.fetch(&GitSource { url, reference: None, subdir: None }).unwrap_err();
        assert!(matches!(error, GitError::Http(HttpError::InvalidCertificate { .. })), "{error:?}");
        assert!(error.hint().unwrap().contains("SSL_CERT_FILE"));
        assert_eq!(untrusted.requests(), Vec::<String>::new());
    });
}

#[test]
fn an_unreachable_host_is_reported() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        let url = fixture.server.url("git/skills.git");
        let HttpsFixture { dir, server, .. } = fixture;
        drop(server);
        let url = GitUrl::parse(&url, LocalRepositories::Refused).unwrap();
        let source = GitSource { url, reference: None, subdir: None };
        let error = fetch_commit(&source, dir.path(), &options(), &Arc::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:?}");
    });
}

#[test]
fn large_files_need_not_be_downloaded() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::serving(certificates, |path| {
            let repository = Repository::new(path);
            let large = vec![0; limits::FILE_MAX as usize + 2];
            repository
                .write("large", &large[..])
                .write("most", &large[2..])
                .write("SKILL.md", "x")
                .commit("first");
            repository
        });
        let bare = Repository { path: fixture.dir.path().join("served/skills.git") };
        for (allowed, claimed) in [("false", limits::FILE_MAX + 2), ("true", limits::FILE_MAX + 1)] {
            bare.run(&["config", "uploadpack.allowFilter", allowed]);
            for endpoint in ["git", "old"] {
                let fetched = fixture.get(&format!("{endpoint}/skills.git"), None).unwrap();
                let kinds: Vec<_> = fetched.tree.entries().iter().map(|entry| entry.kind).collect();
                let file = |bytes| SourceEntryKind::File { executable: false, bytes };
                assert_eq!(kinds, [file(1), file(claimed), file(limits::FILE_MAX)], "{endpoint} {allowed}");
                assert_eq!(fetched.tree.read_entry(1).unwrap_err().code, ErrorCode::TooLarge);
                assert_eq!(fetched.tree.read_entry(2).unwrap().len() as u64, limits::FILE_MAX);
                drop(fetched);
                std::fs::remove_dir_all(fixture.dir.path().join("scratch")).unwrap();
            }
        }
    });
}

#[test]
fn sha256_repositories_are_supported() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::serving(certificates, |path| {
            let repository = Repository::with_hash(path, "sha256");
            repository.write("SKILL.md", "x").commit("first");
            repository
        });
        for endpoint in ["git", "old"] {
            let fetched = fixture.get(&format!("{endpoint}/skills.git"), None).unwrap();
            assert_eq!(fetched.commit, fixture.id("main"));
            assert_eq!((fetched.commit.len(), fetched.tree.read_entry(0).unwrap()), (64, b"x".to_vec()));
        }
    });
}

#[test]
fn a_redirect_to_another_host_is_rejected() {
    with_test_certificates(|certificates| {
        let fixture = HttpsFixture::new(certificates);
        assert!(fixture.get("moved/skills.git", None).is_ok(), "a redirect on the same host is followed");
        let error = fixture.get("elsewhere/skills.git", None).unwrap_err();
        assert_eq!(error.code(), ErrorCode::AccessDenied, "{error:?}");
        let target = fixture.server.url("git/skills.git").replace("localhost", "127.0.0.1");
        assert!(matches!(&error, GitError::Redirected { to, .. } if *to == target), "{error:?}");
        assert!(error.hint().unwrap().contains(&format!("prowess install {target}")));
    });
}
