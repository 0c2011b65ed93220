use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use super::super::file::{EditFileError, FILE_MAX, SymlinkPolicy, edit_file, edit_file_within, read_text};

fn append(text: &str) -> Result<String, super::super::EditError> {
    Ok(format!("{text}b\n"))
}

#[test]
fn mode_and_symlink_stay() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("dotfiles/real.toml"), dir.path().join("home/config.toml"));
    fs::create_dir(dir.path().join("dotfiles")).unwrap();
    fs::create_dir(dir.path().join("home")).unwrap();
    fs::write(&real, "a\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles/real.toml", &link).unwrap();

    assert!(edit_file(&link, SymlinkPolicy::Followed, append).unwrap());
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "a\nb\n");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!edit_file(&link, SymlinkPolicy::Followed, |text| Ok(text.to_owned())).unwrap());
    assert_eq!(fs::read_dir(dir.path().join("dotfiles")).unwrap().count(), 1);
}

#[test]
fn a_missing_file_is_created_with_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".prowess/config.toml");
    assert!(edit_file(&path, SymlinkPolicy::Rejected(dir.path()), append).unwrap());
    assert_eq!(read_text(&path).unwrap().as_deref(), Some("b\n"));
}

#[test]
fn leftovers_of_a_killed_process_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::write(dir.path().join(".config.toml.prowess-new"), "half").unwrap();
    edit_file(&path, SymlinkPolicy::Followed, append).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), "b\n");
}

#[test]
fn a_project_file_behind_a_symlink_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (project, elsewhere) = (dir.path().join("project"), dir.path().join("elsewhere"));
    fs::create_dir(&project).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, project.join(".prowess")).unwrap();
    let error = edit_file(&project.join(".prowess/config.toml"), SymlinkPolicy::Rejected(&project), append)
        .unwrap_err();
    assert!(matches!(error, EditFileError::Unsupported { .. }), "{error}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_concurrent_change_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::write(&path, "a\n").unwrap();
    let error = edit_file(&path, SymlinkPolicy::Followed, |text| {
        fs::write(&path, "theirs\n").unwrap();
        append(text)
    });
    assert!(matches!(error, Err(EditFileError::ConcurrentChange { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn concurrent_edits_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| edit_file(&path, SymlinkPolicy::Followed, append).unwrap());
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "b\n".repeat(8));
}

#[test]
fn only_regular_files_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::create_dir(&path).unwrap();
    assert!(matches!(
        edit_file(&path, SymlinkPolicy::Followed, append),
        Err(EditFileError::Unsupported { .. })
    ));
    let large = dir.path().join("large.toml");
    fs::write(&large, "#".repeat(300_000)).unwrap();
    assert!(matches!(read_text(&large), Err(EditFileError::Unsupported { .. })));
    fs::write(&large, b"\xff").unwrap();
    assert!(matches!(read_text(&large), Err(EditFileError::Unsupported { .. })));
    let circle = dir.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert!(edit_file(&circle, SymlinkPolicy::Followed, append).is_err());
}

#[test]
fn files_created_by_root_belong_to_the_owner_of_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    // Only root can change the owner; other users own the file anyway.
    let _ = chown(dir.path(), Some(12_345), Some(12_345));
    let owner = fs::metadata(dir.path()).unwrap().uid();
    let path = dir.path().join("a/b/config.toml");
    edit_file(&path, SymlinkPolicy::Followed, append).unwrap();
    for created in [path.as_path(), path.parent().unwrap(), &dir.path().join("a")] {
        assert_eq!(fs::metadata(created).unwrap().uid(), owner, "{}", created.display());
    }
}

#[test]
fn an_empty_file_is_removed_and_the_target_of_a_symlink_is_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("config.toml"), dir.path().join("link.toml"));
    fs::write(&path, "a").unwrap();
    symlink("config.toml", &link).unwrap();
    let empty = |path: &std::path::Path| {
        edit_file_within(path, SymlinkPolicy::Followed, FILE_MAX, |_| Ok(Some(String::new()))).unwrap()
    };
    assert!(empty(&link) && link.is_symlink());
    assert_eq!(read_text(&path).unwrap().as_deref(), Some(""));
    assert!(empty(&path) && !path.exists());
    assert!(!empty(&path));
    assert!(
        !edit_file_within(&path, SymlinkPolicy::Followed, FILE_MAX, |text| Ok(text.map(str::to_owned)))
            .unwrap()
    );
}
