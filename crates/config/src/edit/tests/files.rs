use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use super::super::file::{FILE_MAX, FileError, Links, change, change_within, read};

fn append(text: &str) -> Result<String, super::super::EditError> {
    Ok(format!("{text}b\n"))
}

#[test]
fn mode_and_link_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("dotfiles/real.toml"), folder.path().join("home/config.toml"));
    fs::create_dir(folder.path().join("dotfiles")).unwrap();
    fs::create_dir(folder.path().join("home")).unwrap();
    fs::write(&real, "a\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles/real.toml", &link).unwrap();

    assert!(change(&link, Links::Followed, append).unwrap());
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "a\nb\n");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!change(&link, Links::Followed, |text| Ok(text.to_owned())).unwrap());
    assert_eq!(fs::read_dir(folder.path().join("dotfiles")).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_not_there_is_made_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".prowess/config.toml");
    assert!(change(&path, Links::Refused(folder.path()), append).unwrap());
    assert_eq!(read(&path).unwrap().as_deref(), Some("b\n"));
}

#[test]
fn what_a_killed_process_left_is_swept_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(folder.path().join(".config.toml.prowess-new"), "half").unwrap();
    change(&path, Links::Followed, append).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), "b\n");
}

#[test]
fn a_project_file_behind_a_link_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (project, elsewhere) = (folder.path().join("project"), folder.path().join("elsewhere"));
    fs::create_dir(&project).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, project.join(".prowess")).unwrap();
    let error = change(&project.join(".prowess/config.toml"), Links::Refused(&project), append).unwrap_err();
    assert!(matches!(error, FileError::Unfit { .. }), "{error}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn what_somebody_else_writes_meanwhile_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, "a\n").unwrap();
    let error = change(&path, Links::Followed, |text| {
        fs::write(&path, "theirs\n").unwrap();
        append(text)
    });
    assert!(matches!(error, Err(FileError::Changing { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn many_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| change(&path, Links::Followed, append).unwrap());
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "b\n".repeat(8));
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::create_dir(&path).unwrap();
    assert!(matches!(change(&path, Links::Followed, append), Err(FileError::Unfit { .. })));
    let large = folder.path().join("large.toml");
    fs::write(&large, "#".repeat(300_000)).unwrap();
    assert!(matches!(read(&large), Err(FileError::Unfit { .. })));
    fs::write(&large, b"\xff").unwrap();
    assert!(matches!(read(&large), Err(FileError::Unfit { .. })));
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert!(change(&circle, Links::Followed, append).is_err());
}

#[test]
fn what_root_makes_belongs_to_whose_folder_it_is() {
    let folder = tempfile::tempdir().unwrap();
    // Only root can give it away; for everybody else it is their own.
    let _ = chown(folder.path(), Some(12_345), Some(12_345));
    let owner = fs::metadata(folder.path()).unwrap().uid();
    let path = folder.path().join("a/b/config.toml");
    change(&path, Links::Followed, append).unwrap();
    for made in [path.as_path(), path.parent().unwrap(), &folder.path().join("a")] {
        assert_eq!(fs::metadata(made).unwrap().uid(), owner, "{}", made.display());
    }
}

#[test]
fn a_file_that_becomes_empty_goes_and_what_a_link_leads_to_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("config.toml"), folder.path().join("link.toml"));
    fs::write(&path, "a").unwrap();
    symlink("config.toml", &link).unwrap();
    let empty = |path: &std::path::Path| {
        change_within(path, Links::Followed, FILE_MAX, |_| Ok(Some(String::new()))).unwrap()
    };
    assert!(empty(&link) && link.is_symlink());
    assert_eq!(read(&path).unwrap().as_deref(), Some(""));
    assert!(empty(&path) && !path.exists());
    assert!(!empty(&path));
    assert!(!change_within(&path, Links::Followed, FILE_MAX, |text| Ok(text.map(str::to_owned))).unwrap());
}
