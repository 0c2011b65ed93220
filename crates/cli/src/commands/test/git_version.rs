//! An earlier version of a skill, from the repository that contains it.
//!
//! The objects are read with `git`, without filters, hooks or network access, because the configuration of a repository may
//! not be the user's own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{ErrorCode, Failure};
use crate::output::clean;

/// The maximum number of files and of their total bytes.
const FILES_MAX: usize = 4_096;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;

/// Returns the files of a skill directory at a commit: paths in the skill, contents, and whether they are executable.
pub(super) fn read_files(dir: &Path, reference: &str) -> Result<Vec<(String, Vec<u8>, bool)>, Failure> {
    let unknown = || {
        Failure::usage(format!(
            "{} is neither a skill directory nor a commit of the repository",
            clean(reference)
        ))
        .hint("name a directory with a SKILL.md, or a commit such as HEAD~1 or a tag")
    };
    let verify = format!("{reference}^{{commit}}");
    let commit = git(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &verify], None)?
        .ok_or_else(unknown)?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    let listing = git(dir, &["ls-tree", "-r", "-z", "-l", &commit, "--", "."], None)?.ok_or_else(unknown)?;
    let entries = parse_listing(&listing)?;
    if entries.is_empty() {
        return Err(Failure::usage(format!("{} does not contain the skill", clean(reference)))
            .hint("name a commit in which the skill exists"));
    }
    let input: String = entries.iter().map(|(_, object, _)| format!("{object}\n")).collect();
    let output = git(dir, &["cat-file", "--batch"], Some(input.as_bytes()))?.ok_or_else(unknown)?;
    let contents = parse_batch(&output, entries.len())?;
    let files = entries.into_iter().zip(contents);
    Ok(files.map(|((path, _, executable), bytes)| (path, bytes, executable)).collect())
}

fn malformed() -> Failure {
    Failure::new(ErrorCode::ExecutionError, "git returned output that cannot be understood")
}

/// Parses `ls-tree -r -z -l`: mode, type, object, size and path. Only regular files count.
fn parse_listing(listing: &[u8]) -> Result<Vec<(String, String, bool)>, Failure> {
    let mut entries = Vec::new();
    let mut total = 0_u64;
    for line in listing.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let line = String::from_utf8_lossy(line);
        let (head, path) = line.split_once('\t').ok_or_else(malformed)?;
        let mut fields = head.split_ascii_whitespace();
        let (mode, _kind, object, size) = (fields.next(), fields.next(), fields.next(), fields.next());
        let (Some(mode), Some(object), Some(size)) = (mode, object, size) else { return Err(malformed()) };
        if !mode.starts_with("100") {
            continue;
        }
        total = total.saturating_add(size.parse().unwrap_or_default());
        entries.push((path.to_owned(), object.to_owned(), mode == "100755"));
        if entries.len() > FILES_MAX || total > TOTAL_MAX {
            return Err(Failure::new(ErrorCode::TooLarge, "that version of the skill is too large"));
        }
    }
    Ok(entries)
}

/// Parses the output of `cat-file --batch`.
fn parse_batch(mut output: &[u8], count: usize) -> Result<Vec<Vec<u8>>, Failure> {
    let mut contents = Vec::new();
    for _ in 0..count {
        let end = output.iter().position(|byte| *byte == b'\n').ok_or_else(malformed)?;
        let head = String::from_utf8_lossy(output.get(..end).unwrap_or_default()).into_owned();
        let size: usize = head.rsplit(' ').next().and_then(|size| size.parse().ok()).ok_or_else(malformed)?;
        let start = end + 1;
        contents.push(output.get(start..start + size).ok_or_else(malformed)?.to_vec());
        output = output.get(start + size + 1..).unwrap_or_default();
    }
    Ok(contents)
}

/// Runs git. Returns `None` if it fails.
fn git(dir: &Path, arguments: &[&str], input: Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure> {
    let settings =
        ["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "core.quotePath=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).arg("--no-pager").arg("--no-optional-locks");
    for setting in settings {
        command.arg("-c").arg(setting);
    }
    let child = command
        .args(arguments)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|_| {
        Failure::new(ErrorCode::ExecutionError, "git is not available")
            .hint("install git, or name a directory")
    })?;
    let writer = match (child.stdin.take(), input) {
        (Some(mut stdin), Some(input)) => {
            let input = input.to_vec();
            Some(std::thread::spawn(move || {
                // git ends early only on an error, which its status shows.
                let _ = stdin.write_all(&input);
            }))
        }
        _ => None,
    };
    let output = child.wait_with_output()?;
    if let Some(writer) = writer {
        let _ = writer.join();
    }
    Ok(output.status.success().then_some(output.stdout))
}
