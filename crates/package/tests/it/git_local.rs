//! Repositories on this machine, and what their trees may hold.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::ErrorCode;
use prowess_package::git::{
    Fetched, GitError, GitOptions, GitRef, GitSource, GitUrl, Local, Resolved, fetch, resolve,
};
use prowess_package::{EntryKind, InnerPath, Tree, Work, limits};
use prowess_testing::servers::repository::{Repository, git, skills};

fn get(path: &Path, reference: Option<&str>, inner: Option<&str>) -> Result<Fetched, GitError> {
    let source = source(path, reference, inner);
    fetch(&source, Path::new("/nowhere"), &GitOptions::default(), &Arc::default())
}

fn source(path: &Path, reference: Option<&str>, inner: Option<&str>) -> GitSource {
    GitSource {
        url: GitUrl::parse(&format!("file://{}", path.display()), Local::Allowed).unwrap(),
        reference: reference.map(|name| GitRef::parse(name).unwrap()),
        inner: inner.map(|path| InnerPath::parse(path.as_bytes()).unwrap()),
    }
}

fn listed(fetched: &Fetched) -> Vec<(String, EntryKind)> {
    let entries = fetched.tree.entries().iter();
    entries.map(|entry| (String::from_utf8_lossy(&entry.path).into_owned(), entry.kind)).collect()
}

fn file(bytes: u64) -> EntryKind {
    EntryKind::File { executable: false, bytes }
}

#[test]
fn every_shape_of_repository_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let repository = skills(folder.path().join("work"));
    repository.publish(&folder.path().join("bare.git"));
    repository.run(&["worktree", "add", "-q", "../beside", "next"]);
    repository.publish(&folder.path().join("packed.git"));
    Repository { path: folder.path().join("packed.git") }.run(&["gc", "-q", "--aggressive"]);
    // Several packs, of which an index of all may tell, and files that are in none.
    for shape in ["several.git", "indexed.git"] {
        git().args(["init", "-q", "--bare", "-b", "main"]).arg(folder.path().join(shape)).status().unwrap();
        let several = Repository { path: folder.path().join(shape) };
        for name in ["light", "v1.0", "main"] {
            several.run(&["fetch", "-q", "../work", &format!("{name}:refs/x/{name}")]);
            several.run(&["repack", "-q"]);
        }
        several.run(&["fetch", "-q", "../work", "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"]);
        if shape == "indexed.git" {
            several.run(&["multi-pack-index", "write"]);
        }
    }
    let id = |name: &str| repository.run(&["rev-parse", &format!("{name}^{{commit}}")]);
    for shape in ["work", "bare.git", "packed.git", "several.git", "indexed.git", "work/.git"] {
        for (name, resolved) in [
            (None, Resolved::Head(Some("main".into()))),
            (Some("next"), Resolved::Branch("next".into())),
            (Some("v1.0"), Resolved::Tag("v1.0".into())),
            (Some("light"), Resolved::Tag("light".into())),
            (Some(id("light").as_str()), Resolved::Commit),
        ] {
            let path = folder.path().join(shape);
            let fetched = get(&path, name, None).unwrap();
            for at in 0..fetched.tree.entries().len() {
                fetched.tree.read(at).unwrap();
            }
            let wanted = id(name.unwrap_or("main"));
            assert_eq!((&fetched.commit, &fetched.resolved), (&wanted, &resolved), "{shape} {name:?}");
            let asked = resolve(&source(&path, name, None), &GitOptions::default(), &Arc::default());
            assert_eq!(asked.unwrap(), (wanted, resolved));
        }
    }
    let beside = get(&folder.path().join("beside"), None, None).unwrap();
    assert_eq!((beside.commit, beside.resolved), (id("next"), Resolved::Head(Some("next".into()))));
    let bare = get(&folder.path().join("packed.git"), None, Some("skills/one")).unwrap();
    assert_eq!(
        listed(&bare),
        [
            ("skills/one/SKILL.md".into(), file(49)),
            ("skills/one/scripts/run.sh".into(), EntryKind::File { executable: true, bytes: 10 }),
        ]
    );
    assert_eq!(bare.tree.read(1).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let repository = skills(folder.path().join("work"));
    let error = |path: &Path, name: Option<&str>| get(path, name, None).unwrap_err();
    assert_eq!(error(&repository.path, Some("mian")).hint().as_deref(), Some("there is main"));
    assert_eq!(error(&repository.path, Some(&"1".repeat(40))).code(), ErrorCode::NotFound);
    assert!(matches!(error(&folder.path().join("nothing"), None), GitError::NotFound { .. }));
    assert!(matches!(error(folder.path(), None), GitError::NotGit { .. }));
    let empty = Repository::new(folder.path().join("empty"));
    assert!(matches!(error(&empty.path, None), GitError::Empty { .. }));
    let blob = repository.run(&["rev-parse", "HEAD:README.md"]);
    repository.run(&["tag", "file", &blob]);
    assert_eq!(error(&repository.path, Some("file")), GitError::NotACommit { name: "file".into() });
    fs::remove_dir_all(repository.path.join(".git/objects")).unwrap();
    fs::create_dir(repository.path.join(".git/objects")).unwrap();
    assert!(matches!(error(&repository.path, None), GitError::Damaged { .. }));
}

#[test]
fn links_submodules_and_odd_names_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::new(folder.path().join("work"));
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
    let fetched = get(&repository.path, None, None).unwrap();
    assert_eq!(
        listed(&fetched),
        [
            ("README".into(), file(1)),
            ("Readme".into(), file(1)),
            ("a-b".into(), file(1)),
            ("a.b".into(), file(1)),
            ("a/b".into(), file(1)),
            ("link".into(), EntryKind::Link),
            ("sub".into(), EntryKind::Submodule),
        ]
    );
    assert_eq!(fetched.tree.read(5).unwrap_err().code, ErrorCode::AccessDenied);
    assert_eq!(fetched.tree.read(6).unwrap_err().code, ErrorCode::AccessDenied);
}

#[test]
fn nothing_of_a_repository_runs() {
    let folder = tempfile::tempdir().unwrap();
    let canary = folder.path().join("canary");
    let touch = format!("touch {}", canary.display());
    let repository = Repository::new(folder.path().join("work"));
    repository.write("SKILL.md", "as it is\r\n").commit("first");
    repository.write(".gitattributes", "* filter=evil text eol=lf ident\n").run(&["add", ".gitattributes"]);
    repository.run(&["commit", "-q", "-m", "second"]);
    let git = repository.path.join(".git");
    for hook in fs::read_dir(git.join("hooks")).unwrap() {
        let name = hook.unwrap().path().with_extension("");
        fs::write(&name, format!("#!/bin/sh\n{touch}\n")).unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(folder.path().join("included"), format!("[core]\n\tsshCommand = {touch}\n")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {touch}\n\tpager = {touch}\n\thooksPath = hooks\n\
         [filter \"evil\"]\n\tsmudge = {touch}\n\tclean = {touch}\n\tprocess = {touch}\n\trequired = true\n\
         [uploadpack]\n\tpackObjectsHook = {touch}\n[remote \"origin\"]\n\tuploadpack = {touch}\n\
         [include]\n\tpath = {}\n",
        folder.path().join("included").display()
    );
    fs::write(git.join("config"), config).unwrap();
    let fetched = get(&repository.path, None, None).unwrap();
    assert_eq!(fetched.tree.read(1).unwrap(), b"as it is\r\n");
    assert!(!canary.exists());
}

#[test]
fn names_that_lead_elsewhere_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let repository = skills(folder.path().join("work"));
    let git = repository.path.join(".git");
    for (head, want) in [
        ("ref: ../../secret", "a name leads nowhere"),
        ("ref: refs/../../secret", "a name leads nowhere"),
        ("ref: refs/heads/loop", "a name leads nowhere"),
        ("nonsense", "a name stands for no commit"),
    ] {
        fs::write(git.join("refs/heads/loop"), "ref: refs/heads/loop\n").unwrap();
        fs::write(git.join("HEAD"), head).unwrap();
        let error = get(&repository.path, None, None).unwrap_err();
        assert_eq!(error, GitError::Damaged { why: want.into() }, "{head}");
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("objects/info/alternates"), "/somewhere/else\n").unwrap();
    let error = get(&repository.path, None, None).unwrap_err();
    assert!(matches!(&error, GitError::Unsupported { what } if what.contains("borrows")), "{error:?}");
}

#[test]
fn nobody_waits_for_what_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    for place in ["objects/pack/pack-1.idx", "objects/00/0000", "packed-refs", "refs/heads/main"] {
        let repository = skills(folder.path().join(place.replace('/', "-")));
        let place = repository.path.join(".git").join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&place);
        assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
        // Whatever it says, it says it.
        let _ = get(&repository.path, None, None);
    }
}

/// A tree of so many files without writing any of them.
fn wide(path: PathBuf, count: usize) -> Repository {
    let repository = Repository::new(path);
    let blob = repository.run_with(&["hash-object", "-w", "--stdin"], b"x");
    let lines: String = (0..count).map(|n| format!("100644 blob {blob}\tf{n:06}\n")).collect();
    let tree = repository.run_with(&["mktree"], lines.as_bytes());
    let small = repository.run_with(&["mktree"], format!("100644 blob {blob}\tSKILL.md\n").as_bytes());
    let both = format!("040000 tree {small}\tskill\n040000 tree {tree}\twide\n");
    let top = repository.run_with(&["mktree"], both.as_bytes());
    let commit = repository.run(&["commit-tree", &top, "-m", "x"]);
    repository.run(&["update-ref", "refs/heads/main", &commit]);
    repository
}

#[test]
fn too_many_files_are_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let repository = wide(folder.path().join("work"), 300_000);
    let error = get(&repository.path, None, None).unwrap_err();
    assert_eq!(error, GitError::TooMany);
    assert!(error.to_string().contains(&limits::ENTRIES_MAX.to_string()));
    assert_eq!(error.hint().as_deref(), Some("name a path inside the repository"));
    assert_eq!(
        listed(&get(&repository.path, None, Some("skill")).unwrap()),
        [("skill/SKILL.md".into(), file(1))]
    );
}

#[test]
fn folders_that_multiply_come_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::new(folder.path().join("work"));
    let mut tree = repository.run_with(&["mktree"], b"");
    for _ in 0..12 {
        let lines: String = (0..10).map(|n| format!("040000 tree {tree}\td{n}\n")).collect();
        tree = repository.run_with(&["mktree"], lines.as_bytes());
    }
    let commit = repository.run(&["commit-tree", &tree, "-m", "x"]);
    repository.run(&["update-ref", "refs/heads/main", &commit]);
    assert_eq!(get(&repository.path, None, None).unwrap_err(), GitError::TooMany);
}

#[test]
fn a_large_file_is_listed_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::new(folder.path().join("work"));
    let large = limits::FILE_MAX + 1;
    repository.write("large", vec![0; large as usize]).write("most", vec![0; large as usize - 1]);
    repository.commit("first");
    for packed in [false, true] {
        if packed {
            repository.run(&["gc", "-q"]);
        }
        let fetched = get(&repository.path, None, None).unwrap();
        assert_eq!(listed(&fetched), [("large".into(), file(large)), ("most".into(), file(large - 1))]);
        assert_eq!(fetched.tree.read(0).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(fetched.tree.read(1).unwrap().len() as u64, large - 1);
    }
}

#[test]
fn a_cancelled_work_ends() {
    let folder = tempfile::tempdir().unwrap();
    let repository = skills(folder.path().join("work"));
    let work = Arc::<Work>::default();
    work.cancel();
    let source = source(&repository.path, None, None);
    let error = fetch(&source, folder.path(), &GitOptions::default(), &work).unwrap_err();
    assert_eq!(error, GitError::Cancelled);
}

#[test]
fn a_repository_of_sha256_works() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::with_hash(folder.path().join("work"), "sha256");
    let commit = repository.write("SKILL.md", "x").commit("first");
    let fetched = get(&repository.path, None, None).unwrap();
    assert_eq!((fetched.commit, fetched.tree.read(0).unwrap()), (commit, b"x".to_vec()));
}
