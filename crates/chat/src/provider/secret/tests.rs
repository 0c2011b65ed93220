use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn file(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (folder, path)
}

fn said(result: Result<Secret, SecretError>, folder: &tempfile::TempDir) -> String {
    let error = result.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(!text.contains("SECRET"), "{text}");
    error.to_string().replace(folder.path().to_str().unwrap(), "[DIR]")
}

#[test]
fn a_file_of_ones_own_that_nobody_else_can_read() {
    for mode in [0o600, 0o400] {
        let (_folder, path) = file(b"  sk-SECRET\n", mode);
        assert_eq!(Secret::from_file(&path), Ok(Secret("sk-SECRET".to_owned())));
    }
}

#[test]
fn files_that_are_not_safe_are_refused_and_not_repeated() {
    let mut all = Vec::new();
    for mode in [0o640, 0o604, 0o620, 0o644] {
        let (folder, path) = file(b"sk-SECRET", mode);
        all.push(said(Secret::from_file(&path), &folder));
    }
    for content in [&b""[..], b"two\nSECRET", b"SECRET \xff", &vec![b'x'; 20_000], b"a SECRET"] {
        let (folder, path) = file(content, 0o600);
        all.push(said(Secret::from_file(&path), &folder));
    }
    let (folder, path) = file(b"", 0o600);
    all.push(said(Secret::from_file(folder.path()), &folder));
    fs::remove_file(&path).unwrap();
    all.push(said(Secret::from_file(&path), &folder));
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    all.push(said(Secret::from_file(&path), &folder));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn somebody_elses_file_is_refused() {
    let path = Path::new("/proc/1/comm");
    match rustix::process::geteuid().is_root() {
        // As root every file of the system's is one's own; the mode still counts.
        true => assert!(matches!(Secret::from_file(path), Err(SecretError::Open { .. }))),
        false => assert_eq!(Secret::from_file(path), Err(SecretError::NotYours(path.to_owned()))),
    }
}

#[test]
fn a_variable() {
    let environment = |name: &str| match name {
        "GOOD" => Some("sk-SECRET".into()),
        "EMPTY" => Some(OsString::new()),
        "WRONG" => Some("SECRET\nSECRET".into()),
        _ => None,
    };
    assert_eq!(Secret::from_variable("GOOD", environment), Ok(Secret("sk-SECRET".to_owned())));
    for name in ["EMPTY", "MISSING"] {
        assert_eq!(Secret::from_variable(name, environment), Err(SecretError::NotSet(name.to_owned())));
    }
    let error = Secret::from_variable("WRONG", environment).unwrap_err();
    assert_eq!(
        error.to_string(),
        "what the variable WRONG holds is not a key: a key is one line of visible ASCII characters"
    );
}

#[test]
fn it_is_never_printed() {
    let secret = Secret::new("sk-SECRET").unwrap();
    assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(…) Some(Secret(…))");
    assert_eq!(format!("{:?}", secret.header("Bearer ").unwrap()), "Sensitive");
    assert_eq!(secret.scrub("you sent sk-SECRET, sk-SECRET!"), "you sent [key], [key]!");
}
