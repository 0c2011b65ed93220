//! Reads local repositories, and all kinds of entries in their trees.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::ErrorCode;
use prowess_package::git::{
    FetchedCommit, GitError, GitOptions, GitRef, GitSource, GitUrl, LocalRepositories, ResolvedRef,
    fetch_commit, resolve_commit,
};
use prowess_package::{InnerPath, SourceEntryKind, SourceTree, Task, limits};
use prowess_testing::servers::repository::{Repository, git, skills};

fn fetch_local(path: &Path, reference: Option<&str>, inner: Option<&str>) -> Result<FetchedCommit, GitError> {
    let source = source(path, reference, inner);
    fetch_commit(&source, Path::new("/nowhere"), &GitOptions::default(), &Arc::default())
}

fn source(path: &Path, reference: Option<&str>, inner: Option<&str>) -> GitSource {
    GitSource {
        url: GitUrl::parse(&format!("file://{}", path.display()), LocalRepositories::Allowed).unwrap(),
        reference: reference.map(|name| GitRef::parse(name).unwrap()),
        subdir: inner.map(|path| InnerPath::parse(path.as_bytes()).unwrap()),
    }
}

fn entries(fetched: &FetchedCommit) -> Vec<(String, SourceEntryKind)> {
    let entries = fetched.tree.entries().iter();
    entries.map(|entry| (String::from_utf8_lossy(&entry.path).into_owned(), entry.kind)).collect()
}

fn file(bytes: u64) -> SourceEntryKind {
    SourceEntryKind::File { executable: false, bytes }
}

#[test]
fn all_layouts_of_repositories_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let repository = skills(dir.path().join("work"));
    repository.publish(&dir.path().join("bare.git"));
    repository.run(&["worktree", "add", "-q", "../beside", "next"]);
    repository.publish(&dir.path().join("packed.git"));
    Repository { path: dir.path().join("packed.git") }.run(&["gc", "-q", "--aggressive"]);
    // Several packs, with and without a multi-pack index, and loose objects.
    for layout in ["several.git", "indexed.git"] {
        git().args(["init", "-q", "--bare", "-b", "main"]).arg(dir.path().join(layout)).status().unwrap();
        let several = Repository { path: dir.path().join(layout) };
        for name in ["light", "v1.0", "main"] {
            several.run(&["fetch", "-q", "../work", &format!("{name}:refs/x/{name}")]);
            several.run(&["repack", "-q"]);
        }
        several.run(&["fetch", "-q", "../work", "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"]);
        if layout == "indexed.git" {
            several.run(&["multi-pack-index", "write"]);
        }
    }
    let id = |name: &str| repository.run(&["rev-parse", &format!("{name}^{{commit}}")]);
    for layout in ["work", "bare.git", "packed.git", "several.git", "indexed.git", "work/.git"] {
        for (name, resolved) in [
            (None, ResolvedRef::Head(Some("main".into()))),
            (Some("next"), ResolvedRef::Branch("next".into())),
            (Some("v1.0"), ResolvedRef::Tag("v1.0".into())),
            (Some("light"), ResolvedRef::Tag("light".into())),
            (Some(id("light").as_str()), ResolvedRef::Commit),
        ] {
            let path = dir.path().join(layout);
            let fetched = fetch_local(&path, name, None).unwrap();
            for at in 0..fetched.tree.entries().len() {
                fetched.tree.read_entry(at).unwrap();
            }
            let expected = id(name.unwrap_or("main"));
            assert_eq!((&fetched.commit, &fetched.resolved), (&expected, &resolved), "{layout} {name:?}");
            let resolved_only =
                resolve_commit(&source(&path, name, None), &GitOptions::default(), &Arc::default());
            assert_eq!(resolved_only.unwrap(), (expected, resolved));
        }
    }
    let beside = fetch_local(&dir.path().join("beside"), None, None).unwrap();
    assert_eq!((beside.commit, beside.resolved), (id("next"), ResolvedRef::Head(Some("next".into()))));
    let bare = fetch_local(&dir.path().join("packed.git"), None, Some("skills/one")).unwrap();
    assert_eq!(
        entries(&bare),
        [
            ("skills/one/SKILL.md".into(), file(49)),
            ("skills/one/scripts/run.sh".into(), SourceEntryKind::File { executable: true, bytes: 10 }),
        ]
    );
    assert_eq!(bare.tree.read_entry(1).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn missing_refs_and_repositories_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let repository = skills(dir.path().join("work"));
    let error = |path: &Path, name: Option<&str>| fetch_local(path, name, None).unwrap_err();
    assert_eq!(error(&repository.path, Some("mian")).hint().as_deref(), Some("did you mean main?"));
    assert_eq!(error(&repository.path, Some(&"1".repeat(40))).code(), ErrorCode::NotFound);
    assert!(matches!(error(&dir.path().join("nothing"), None), GitError::NotFound { .. }));
    assert!(matches!(error(dir.path(), None), GitError::NotGit { .. }));
    let empty = Repository::new(dir.path().join("empty"));
    assert!(matches!(error(&empty.path, None), GitError::Empty { .. }));
    let blob = repository.run(&["rev-parse", "HEAD:README.md"]);
    repository.run(&["tag", "file", &blob]);
    assert_eq!(error(&repository.path, Some("file")), GitError::NotACommit { name: "file".into() });
    fs::remove_dir_all(repository.path.join(".git/objects")).unwrap();
    fs::create_dir(repository.path.join(".git/objects")).unwrap();
    assert!(matches!(error(&repository.path, None), GitError::Damaged { .. }));
}

#[test]
fn symlinks_submodules_and_similar_names_are_distinguished() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(dir.path().join("work"));
    repository
        .write("Readme", "1")
        .write("README", "2")
        .write("a.b", "x")
        .write("a/b", "y")
        .write("a-b", "z");
    symlink("/etc/passwd", repository.path.join("link")).unwrap();
    let first = repository.commit("first");
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},sub")]);
    repository.run(&["commit", "-q", "-m", "second"]);
    let fetched = fetch_local(&repository.path, None, None).unwrap();
    assert_eq!(
        entries(&fetched),
        [
            ("README".into(), file(1)),
            ("Readme".into(), file(1)),
            ("a-b".into(), file(1)),
            ("a.b".into(), file(1)),
            ("a/b".into(), file(1)),
            ("link".into(), SourceEntryKind::Link),
            ("sub".into(), SourceEntryKind::Submodule),
        ]
    );
    assert_eq!(fetched.tree.read_entry(5).unwrap_err().code, ErrorCode::AccessDenied);
    assert_eq!(fetched.tree.read_entry(6).unwrap_err().code, ErrorCode::AccessDenied);
}

#[test]
fn nothing_in_a_repository_is_executed() {
    let dir = tempfile::tempdir().unwrap();
    let canary = dir.path().join("canary");
    let touch = format!("touch {}", canary.display());
    let repository = Repository::new(dir.path().join("work"));
    repository.write("SKILL.md", "as it is\r\n").commit("first");
    repository.write(".gitattributes", "* filter=evil text eol=lf ident\n").run(&["add", ".gitattributes"]);
    repository.run(&["commit", "-q", "-m", "second"]);
    let git_dir = repository.path.join(".git");
    for hook in fs::read_dir(git_dir.join("hooks")).unwrap() {
        let name = hook.unwrap().path().with_extension("");
        fs::write(&name, format!("#!/bin/sh\n{touch}\n")).unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(dir.path().join("included"), format!("[core]\n\tsshCommand = {touch}\n")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {touch}\n\tpager = {touch}\n\thooksPath = hooks\n\
         [filter \"evil\"]\n\tsmudge = {touch}\n\tclean = {touch}\n\tprocess = {touch}\n\trequired = true\n\
         [uploadpack]\n\tpackObjectsHook = {touch}\n[remote \"origin\"]\n\tuploadpack = {touch}\n\
         [include]\n\tpath = {}\n",
        dir.path().join("included").display()
    );
    fs::write(git_dir.join("config"), config).unwrap();
    let fetched = fetch_local(&repository.path, None, None).unwrap();
    assert_eq!(fetched.tree.read_entry(1).unwrap(), b"as it is\r\n");
    assert!(!canary.exists());
}

#[test]
fn symbolic_refs_out_of_the_repository_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let repository = skills(dir.path().join("work"));
    let git = repository.path.join(".git");
    for (head, expected) in [
        ("ref: ../../secret", "a symbolic ref cannot be resolved"),
        ("ref: refs/../../secret", "a symbolic ref cannot be resolved"),
        ("ref: refs/heads/loop", "a symbolic ref cannot be resolved"),
        ("nonsense", "a ref does not contain an object id"),
    ] {
        fs::write(git.join("refs/heads/loop"), "ref: refs/heads/loop\n").unwrap();
        fs::write(git.join("HEAD"), head).unwrap();
        let error = fetch_local(&repository.path, None, None).unwrap_err();
        assert_eq!(error, GitError::Damaged { reason: expected.into() }, "{head}");
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("objects/info/alternates"), "/somewhere/else\n").unwrap();
    let error = fetch_local(&repository.path, None, None).unwrap_err();
    assert!(
        matches!(&error, GitError::Unsupported { message } if message.contains("another one")),
        "{error:?}"
    );
}

#[test]
fn special_files_do_not_block() {
    let dir = tempfile::tempdir().unwrap();
    for path in ["objects/pack/pack-1.idx", "objects/00/0000", "packed-refs", "refs/heads/main"] {
        let repository = skills(dir.path().join(path.replace('/', "-")));
        let path = repository.path.join(".git").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // The result does not matter, only that it returns.
        let _ = fetch_local(&repository.path, None, None);
    }
}

/// Creates a repository with many files without writing them to disk.
fn wide_repository(path: PathBuf, count: usize) -> Repository {
    let repository = Repository::new(path);
    let blob = repository.run_with(&["hash-object", "-w", "--stdin"], b"x");
    let lines: String = (0..count).map(|n| format!("100644 blob {blob}\tf{n:06}\n")).collect();
    let tree = repository.run_with(&["mktree"], lines.as_bytes());
    let small = repository.run_with(&["mktree"], format!("100644 blob {blob}\tSKILL.md\n").as_bytes());
    let both = format!("040000 tree {small}\tskill\n040000 tree {tree}\twide\n");
    let root = repository.run_with(&["mktree"], both.as_bytes());
    let commit = repository.run(&["commit-tree", &root, "-m", "x"]);
    repository.run(&["update-ref", "refs/heads/main", &commit]);
    repository
}

#[test]
fn too_many_files_are_rejected_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let repository = wide_repository(dir.path().join("work"), 300_000);
    let error = fetch_local(&repository.path, None, None).unwrap_err();
    assert_eq!(error, GitError::TooManyEntries);
    assert!(error.to_string().contains(&limits::ENTRIES_MAX.to_string()));
    assert_eq!(error.hint().as_deref(), Some("select a directory in the repository"));
    assert_eq!(
        entries(&fetch_local(&repository.path, None, Some("skill")).unwrap()),
        [("skill/SKILL.md".into(), file(1))]
    );
}

#[test]
fn directories_that_multiply_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(dir.path().join("work"));
    let mut tree = repository.run_with(&["mktree"], b"");
    for _ in 0..12 {
        let lines: String = (0..10).map(|n| format!("040000 tree {tree}\td{n}\n")).collect();
        tree = repository.run_with(&["mktree"], lines.as_bytes());
    }
    let commit = repository.run(&["commit-tree", &tree, "-m", "x"]);
    repository.run(&["update-ref", "refs/heads/main", &commit]);
    assert_eq!(fetch_local(&repository.path, None, None).unwrap_err(), GitError::TooManyEntries);
}

#[test]
fn a_large_file_is_listed_but_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(dir.path().join("work"));
    let large = limits::FILE_MAX + 1;
    repository.write("large", vec![0; large as usize]).write("most", vec![0; large as usize - 1]);
    repository.commit("first");
    for packed in [false, true] {
        if packed {
            repository.run(&["gc", "-q"]);
        }
        let fetched = fetch_local(&repository.path, None, None).unwrap();
        assert_eq!(entries(&fetched), [("large".into(), file(large)), ("most".into(), file(large - 1))]);
        assert_eq!(fetched.tree.read_entry(0).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(fetched.tree.read_entry(1).unwrap().len() as u64, large - 1);
    }
}

#[test]
fn a_cancelled_task_ends() {
    let dir = tempfile::tempdir().unwrap();
    let repository = skills(dir.path().join("work"));
    let task = Arc::<Task>::default();
    task.cancel();
    let source = source(&repository.path, None, None);
    let error = fetch_commit(&source, dir.path(), &GitOptions::default(), &task).unwrap_err();
    assert_eq!(error, GitError::Cancelled);
}

#[test]
fn sha256_repositories_are_supported() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::with_hash(dir.path().join("work"), "sha256");
    let commit = repository.write("SKILL.md", "x").commit("first");
    let fetched = fetch_local(&repository.path, None, None).unwrap();
    assert_eq!((fetched.commit, fetched.tree.read_entry(0).unwrap()), (commit, b"x".to_vec()));
}
