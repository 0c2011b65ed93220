use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn key_file(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, path)
}

fn error_text(result: Result<Secret, SecretError>, dir: &tempfile::TempDir) -> String {
    let error = result.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(!text.contains("SECRET"), "{text}");
    error.to_string().replace(dir.path().to_str().unwrap(), "[DIR]")
}

#[test]
fn a_private_file_of_the_user_is_accepted() {
    for mode in [0o600, 0o400] {
        let (_dir, path) = key_file(b"  sk-SECRET\n", mode);
        assert_eq!(Secret::from_file(&path), Ok(Secret("sk-SECRET".to_owned())));
    }
}

#[test]
fn unsafe_files_are_refused_and_their_content_is_not_shown() {
    let mut all = Vec::new();
    for mode in [0o640, 0o604, 0o620, 0o644] {
        let (dir, path) = key_file(b"sk-SECRET", mode);
        all.push(error_text(Secret::from_file(&path), &dir));
    }
    for content in [&b""[..], b"two\nSECRET", b"SECRET \xff", &vec![b'x'; 20_000], b"a SECRET"] {
        let (dir, path) = key_file(content, 0o600);
        all.push(error_text(Secret::from_file(&path), &dir));
    }
    let (dir, path) = key_file(b"", 0o600);
    all.push(error_text(Secret::from_file(dir.path()), &dir));
    fs::remove_file(&path).unwrap();
    all.push(error_text(Secret::from_file(&path), &dir));
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    all.push(error_text(Secret::from_file(&path), &dir));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_file_of_another_user_is_refused() {
    let path = Path::new("/proc/1/comm");
    match rustix::process::geteuid().is_root() {
        // Root owns every file of the system; the mode still counts.
        true => assert!(matches!(Secret::from_file(path), Err(SecretError::TooPermissive { .. }))),
        false => assert_eq!(Secret::from_file(path), Err(SecretError::NotOwned(path.to_owned()))),
    }
}

#[test]
fn keys_from_environment_variables() {
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
        "environment variable WRONG does not contain a key: a key is one line of printable ASCII characters"
    );
}

#[test]
fn a_key_is_never_printed() {
    let secret = Secret::new("sk-SECRET").unwrap();
    assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(…) Some(Secret(…))");
    assert_eq!(format!("{:?}", secret.header("Bearer ").unwrap()), "Sensitive");
    assert_eq!(secret.scrub("you sent sk-SECRET, sk-SECRET!"), "you sent [key], [key]!");
}
