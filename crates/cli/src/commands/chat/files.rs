//! Files of a chat in the terminal: adds local files, lists them, and saves them.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use prowess_chat::store::{ATTACHMENTS_MAX, ChatFile, FileChanges, FileOrigin, NewFile, Store, StoreError};
use prowess_config::ChatFileLimits;
use prowess_fs::SymlinkMode;
use serde_json::Value;

use super::errors::store_failure;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean, clean_path, format_size};

/// The maximum number of artifacts that are shown after a tool call.
const ARTIFACTS_MAX: usize = 20;

/// How many numbers are tried to find a free name.
const NUMBERS_MAX: u32 = 1_000;

/// A local file that was read.
#[derive(Debug)]
pub(in crate::commands) struct LocalFile {
    name: String,
    content: Vec<u8>,
}

/// Reads a local file of limited size. Only regular files are read.
pub(in crate::commands) fn read_local_file(
    path: &Path,
    limits: ChatFileLimits,
) -> Result<LocalFile, Failure> {
    let shown = clean_path(path);
    let unreadable = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::missing_path(format!("file {shown} not found")),
        io::ErrorKind::PermissionDenied => {
            Failure::new(ErrorCode::PermissionDenied, format!("cannot read {shown}: permission denied"))
        }
        _ => Failure::usage(format!("cannot read {shown}: {error}")),
    };
    let file = prowess_fs::open_nonblocking(path, SymlinkMode::Follow).map_err(|error| unreadable(&error))?;
    if !file.metadata().map_err(|error| unreadable(&error))?.is_file() {
        return Err(Failure::usage(format!("{shown} is not a regular file"))
            .hint("pass single files; pack a directory into an archive first"));
    }
    let mut content = Vec::new();
    let max = limits.file_bytes;
    file.take(max.saturating_add(1)).read_to_end(&mut content).map_err(|error| unreadable(&error))?;
    if content.len() as u64 > max {
        let message = format!("{shown} is larger than {}", format_size(max));
        return Err(
            Failure::new(ErrorCode::TooLarge, message).hint("raise chat.file-bytes in the configuration")
        );
    }
    let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let name = name.ok_or_else(|| Failure::usage(format!("the name of {shown} is not valid Unicode")))?;
    // Refuse a name before a chat is created for it.
    NewFile::new(&name, vec![], FileOrigin::Uploaded).map_err(store_failure)?;
    Ok(LocalFile { name, content })
}

/// Checks that a message may have this many files, before any of them is read.
pub(super) fn check_count(count: usize) -> Result<(), Failure> {
    match count <= ATTACHMENTS_MAX {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorCode::TooLarge,
            format!("a message can have at most {ATTACHMENTS_MAX} files"),
        )
        .hint("pack the files into an archive, or send them with several messages")),
    }
}

/// Reads local files of limited size together: nothing is stored unless all of them can be.
pub(super) fn read_local_files(paths: &[PathBuf], limits: ChatFileLimits) -> Result<Vec<LocalFile>, Failure> {
    check_count(paths.len())?;
    let mut files = Vec::with_capacity(paths.len());
    let mut bytes = 0_u64;
    for path in paths {
        let file = read_local_file(path, limits)?;
        bytes = bytes.saturating_add(file.content.len() as u64);
        if bytes > limits.workspace_bytes {
            let max = format_size(limits.workspace_bytes);
            return Err(Failure::new(
                ErrorCode::TooLarge,
                format!("the files are larger than {max} together"),
            )
            .hint("raise chat.workspace-bytes in the configuration"));
        }
        files.push(file);
    }
    Ok(files)
}

/// Adds a local file to a chat. If another file has its name, it gets a number; the same content is not added twice.
pub(super) async fn add_file(
    store: &dyn Store,
    chat: &str,
    local: LocalFile,
    limits: ChatFileLimits,
) -> Result<ChatFile, Failure> {
    let LocalFile { name, content } = local;
    let digest = prowess::digest(&content);
    let files = store.files(chat).await.map_err(store_failure)?;
    for number in 1..NUMBERS_MAX {
        let path = numbered_name(&name, number);
        match files.iter().find(|file| file.path == path) {
            Some(existing) if existing.digest == digest => return Ok(existing.clone()),
            Some(_) => continue,
            None => {}
        }
        let file = NewFile::new(&path, content.clone(), FileOrigin::Uploaded).map_err(store_failure)?;
        match store.change_files(chat, FileChanges::add(file), limits).await {
            // A script or another process added it meanwhile, or it is a directory.
            Err(StoreError::FileExists(_) | StoreError::FileIsDirectory(_)) => {}
            Err(error) => return Err(store_failure(error)),
            Ok(written) => {
                return written.into_iter().next().ok_or_else(|| Failure::usage("no file was written"));
            }
        }
    }
    Err(Failure::new(ErrorCode::Conflict, format!("the chat already has many files named {}", clean(&name)))
        .hint("rename the file"))
}

/// Returns `report (2).csv` for the second file named `report.csv`.
fn numbered_name(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, extension)) => format!("{stem} ({number}).{extension}"),
        None => format!("{name} ({number})"),
    }
}

/// Returns the line that shows a file: its path, size and type.
pub(in crate::commands) fn file_line(path: &str, size: u64, media_type: &str) -> String {
    format!("{}  {}, {}", clean(path), format_size(size), clean(media_type))
}

/// Prints the files of a chat.
pub(in crate::commands) fn print_files(files: &[ChatFile], output: &mut Output) -> io::Result<()> {
    for file in files {
        let origin = match file.origin {
            FileOrigin::Uploaded => "",
            FileOrigin::Script => ", written by a script",
        };
        output.line(format!("{}{origin}", file_line(&file.path, file.size, &file.media_type)))?;
    }
    Ok(())
}

/// How a file of a chat is saved, for hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum SaveHint {
    /// With a command of an interactive chat.
    Interactive,
    /// With a command of the program, in this chat.
    NewProcess(String),
}

impl SaveHint {
    fn command(&self) -> String {
        match self {
            Self::Interactive => "to save a file: /save PATH".to_owned(),
            Self::NewProcess(chat) => format!("to save a file: prowess chats save {chat} PATH"),
        }
    }
}

/// Returns the lines about the files that a tool call created, changed and removed.
pub(in crate::commands) fn artifact_lines(data: &Value, hint: &SaveHint) -> Vec<String> {
    let list = |key: &str| data[key].as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let artifact = |item: &Value| {
        let path = item["path"].as_str()?;
        let media_type = item["media_type"].as_str().unwrap_or_default();
        let size = item["size"].as_u64().or(item["bytes"].as_u64()).unwrap_or(0);
        Some(format!("    {}", file_line(path, size, media_type)))
    };
    let artifacts: Vec<String> = list("artifacts").filter_map(artifact).collect();
    let removed =
        list("removed").filter_map(Value::as_str).map(|path| format!("    {}  removed", clean(path)));
    let saved = if artifacts.is_empty() { None } else { Some(format!("    {}", hint.command())) };
    let mut lines: Vec<String> = artifacts.into_iter().chain(removed).collect();
    if lines.len() > ARTIFACTS_MAX {
        let more = lines.len() - ARTIFACTS_MAX;
        lines.truncate(ARTIFACTS_MAX);
        lines.push(format!("    and {more} more changes"));
    }
    lines.extend(saved);
    lines
}

/// Checks that the directory of a target exists.
pub(in crate::commands) fn check_save_target(target: Option<&Path>) -> Result<(), Failure> {
    let dir = target.and_then(Path::parent).filter(|dir| !dir.as_os_str().is_empty());
    match (target, dir) {
        (Some(target), Some(dir)) if !dir.is_dir() => Err(missing_directory(target)),
        _ => Ok(()),
    }
}

fn missing_directory(target: &Path) -> Failure {
    Failure::missing_path(format!("the directory of {} does not exist", clean_path(target)))
}

/// Saves a file of a chat without overwriting anything, and returns its path on disk. `target` is a file, or a directory
/// for the name that the file has in the chat.
pub(in crate::commands) async fn save_file(
    store: &dyn Store,
    chat: &str,
    path: &str,
    target: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let (file, content) = store.read_file(chat, path).await.map_err(store_failure)?;
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let target = match target {
        None => PathBuf::from(name),
        Some(dir) if dir.is_dir() => dir.join(name),
        Some(file) => file.to_owned(),
    };
    write_new(&target, &content).map_err(|error| unsaved(&target, &error))?;
    Ok(target)
}

/// Writes a file that does not exist yet: the whole content or nothing.
fn write_new(target: &Path, content: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let staged = prowess_fs::staging_path(target);
    // It exists only if a process was killed.
    let _ = fs::remove_file(&staged);
    let write = || {
        let mut file = prowess_fs::create_new(&staged, 0o666)?;
        file.write_all(content)?;
        file.sync_all()?;
        prowess_fs::rename_noreplace(&staged, target)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&staged);
    })
}

fn unsaved(target: &Path, error: &io::Error) -> Failure {
    let shown = clean_path(target);
    let message = format!("cannot write {shown}: {error}");
    match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::new(ErrorCode::Conflict, format!("{shown} already exists"))
            .hint("name another file or directory to save it to"),
        io::ErrorKind::NotFound => missing_directory(target),
        io::ErrorKind::PermissionDenied => Failure::new(ErrorCode::PermissionDenied, message),
        io::ErrorKind::StorageFull => {
            Failure::new(ErrorCode::Unavailable, message).hint("free some disk space")
        }
        _ => Failure::usage(message),
    }
}

/// Styles lines about artifacts.
pub(super) fn note_artifacts(data: &Value, hint: &SaveHint, output: &mut Output) {
    for line in artifact_lines(data, hint) {
        output.styled_note(TextStyle::Faint, &line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn names_are_numbered_before_the_extension() {
        let names = ["a.csv", "a.tar.gz", ".env", "Makefile"].map(|name| numbered_name(name, 2));
        assert_eq!(names, ["a (2).csv", "a.tar (2).gz", ".env (2)", "Makefile (2)"]);
        assert_eq!(numbered_name("a.csv", 1), "a.csv");
    }

    #[test]
    fn artifacts_of_a_tool_call() {
        let data = json!({
            "artifacts": [
                {"path": "out/report.csv", "size": 2_048, "media_type": "text/csv", "digest": "sha256:00"},
                {"path": "a\u{202e}b", "bytes": 1, "media_type": "text/plain", "digest": "sha256:00"},
                "[2 more]",
            ],
            "removed": ["old.csv"],
        });
        insta::assert_snapshot!(artifact_lines(&data, &SaveHint::Interactive).join("\n"), @r"
        out/report.csv  2 KiB, text/csv
        a\u{202e}b  1 byte, text/plain
        old.csv  removed
        to save a file: /save PATH
        ");
        let many: Vec<Value> = (0..30).map(|n| json!({"path": format!("f{n}"), "size": n})).collect();
        let lines = artifact_lines(&json!({"artifacts": many}), &SaveHint::NewProcess("c1".to_owned()));
        insta::assert_snapshot!(lines[ARTIFACTS_MAX..].join("\n"), @"
        and 10 more changes
        to save a file: prowess chats save c1 PATH
        ");
        assert_eq!(artifact_lines(&json!({}), &SaveHint::Interactive), [] as [&str; 0]);
    }

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.txt");
        write_new(&target, b"new").unwrap();
        assert_eq!(write_new(&target, b"other").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let link = dir.path().join("link");
        prowess_fs::create_symlink(&dir.path().join("elsewhere"), &link).unwrap();
        assert_eq!(write_new(&link, b"x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    proptest! {
        #[test]
        fn artifact_lines_have_no_hidden_characters(path in any::<String>(), kind in any::<String>()) {
            let data = json!({"artifacts": [{"path": path, "size": 1, "media_type": kind}], "removed": [path]});
            for line in artifact_lines(&data, &SaveHint::Interactive) {
                prop_assert_eq!(prowess_format::hidden::find_hidden(&line), None);
                prop_assert!(!line.chars().any(char::is_control));
            }
        }
    }
}
