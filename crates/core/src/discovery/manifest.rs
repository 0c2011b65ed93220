//! Reads a `SKILL.md` up to the end of its frontmatter.

use std::os::fd::OwnedFd;
use std::path::Path;

use prowess_format::dialects::{OPENAI_YAML, OPENAI_YAML_MAX, OpenAiYaml};
use prowess_format::fence::{Extent, FRONTMATTER_MAX, PREAMBLE_MAX};
use prowess_format::{Code, Diagnostic, HeadOutcome, Manifest, ParseOutcome, Rules, parse, parse_head};

use crate::skill::SKILL_MD_MAX;
use prowess_fs::{
    Dir, Errno, FileType, Fingerprint, ReadError, Stat, describe_errno, ensure_regular, read_at, read_whole,
};

/// The size of the first read: nearly all frontmatter ends within it.
const FIRST_READ: usize = 4096;

/// The manifest of a file and the problems found in it.
pub(crate) struct ManifestRead {
    pub(crate) manifest: Option<Manifest>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl ManifestRead {
    fn failed(diagnostic: Diagnostic) -> Self {
        Self { manifest: None, diagnostics: vec![diagnostic] }
    }
}

impl From<ParseOutcome> for ManifestRead {
    fn from(parsed: ParseOutcome) -> Self {
        Self { manifest: parsed.document.map(|document| document.manifest), diagnostics: parsed.diagnostics }
    }
}

/// Reads the frontmatter of an open file.
pub(crate) fn read_frontmatter(file: &OwnedFd, stat: &Stat, dir_name: &str, rules: &Rules) -> ManifestRead {
    match try_read_frontmatter(file, stat, dir_name, rules) {
        Ok(read) => read,
        Err(error) => ManifestRead::failed(read_error_diagnostic(error)),
    }
}

/// Reads and parses the whole file, including the body.
pub(crate) fn read_and_parse(
    file: &OwnedFd,
    stat: &Stat,
    dir_name: &str,
    rules: &Rules,
) -> (ParseOutcome, Vec<u8>) {
    match read_whole(file, stat, SKILL_MD_MAX) {
        Ok(bytes) => (parse(&bytes, Some(dir_name), rules), bytes),
        Err(error) => {
            (ParseOutcome { document: None, diagnostics: vec![read_error_diagnostic(error)] }, Vec::new())
        }
    }
}

/// Reads `agents/openai.yaml` of the skill in `inner`; `None` if it is missing or not a regular file.
pub(crate) fn read_openai_yaml(dir: &Dir, inner: &Path) -> Option<OpenAiYaml> {
    let (file, stat) = dir.open_file(&inner.join(OPENAI_YAML)).ok()?;
    let bytes = read_whole(&file, &stat, OPENAI_YAML_MAX).ok()?;
    Some(OpenAiYaml::parse(&bytes))
}

fn try_read_frontmatter(
    file: &OwnedFd,
    stat: &Stat,
    dir_name: &str,
    rules: &Rules,
) -> Result<ManifestRead, ReadError> {
    ensure_regular(stat)?;
    let mut before = Fingerprint::from_stat(stat);
    for _ in 0..2 {
        if before.size() > SKILL_MD_MAX {
            return Err(ReadError::TooLarge(before.size()));
        }
        let mut first = [0; FIRST_READ];
        let read = match parse_prefix(file, &before, &mut first, dir_name, rules)? {
            HeadOutcome::Done(parsed) => parsed.into(),
            HeadOutcome::NeedMore => read_longest(file, &before, dir_name, rules)?,
        };
        // A mixture of old and new text must not be loaded.
        let after = Fingerprint::from_stat(&Stat::from_fd(file)?);
        if before == after {
            return Ok(read);
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Reads and parses as much as fits into `buffer`.
fn parse_prefix(
    file: &OwnedFd,
    fingerprint: &Fingerprint,
    buffer: &mut [u8],
    dir_name: &str,
    rules: &Rules,
) -> Result<HeadOutcome, ReadError> {
    let length = usize::try_from(fingerprint.size()).map_or(buffer.len(), |size| size.min(buffer.len()));
    let read = read_at(file, &mut buffer[..length], 0)?;
    let extent = if (read as u64) < fingerprint.size() { Extent::Prefix } else { Extent::Whole };
    Ok(parse_head(&buffer[..read], extent, Some(dir_name), rules))
}

/// Parses a frontmatter that was read before. `None` if it is incomplete.
pub(super) fn parse_cached(head: &[u8], dir_name: &str, rules: &Rules) -> Option<ManifestRead> {
    match parse_head(head, Extent::Prefix, Some(dir_name), rules) {
        HeadOutcome::Done(parsed) => Some(parsed.into()),
        HeadOutcome::NeedMore => None,
    }
}

/// Reads as much as the longest valid frontmatter takes.
fn read_longest(
    file: &OwnedFd,
    fingerprint: &Fingerprint,
    dir_name: &str,
    rules: &Rules,
) -> Result<ManifestRead, ReadError> {
    let mut bytes = vec![0; FRONTMATTER_MAX + PREAMBLE_MAX + FIRST_READ];
    Ok(match parse_prefix(file, fingerprint, &mut bytes, dir_name, rules)? {
        HeadOutcome::Done(parsed) => parsed.into(),
        // No valid frontmatter is longer than this.
        HeadOutcome::NeedMore => {
            ManifestRead::failed(Diagnostic::error(Code::NoFrontmatter, "there is no frontmatter"))
        }
    })
}

/// Returns the diagnostic for a file that could not be read.
pub(crate) fn read_error_diagnostic(error: ReadError) -> Diagnostic {
    match error {
        ReadError::NotAFile(kind) => {
            let description = match kind {
                FileType::Directory => "a directory",
                FileType::Fifo => "a FIFO",
                FileType::Socket => "a socket",
                FileType::CharacterDevice | FileType::BlockDevice => "a device",
                _ => "not a regular file",
            };
            Diagnostic::error(Code::NotAFile, format!("SKILL.md is {description}"))
                .help("replace it with a text file")
        }
        ReadError::TooLarge(size) => {
            let (size, limit) = (size.div_ceil(1024 * 1024), SKILL_MD_MAX / (1024 * 1024));
            Diagnostic::error(Code::TooLarge, format!("the file has {size} MiB; the limit is {limit} MiB"))
                .help("move everything except the instructions into other files")
        }
        ReadError::Changing => Diagnostic::error(Code::Changing, "the file changed while it was read")
            .help("try again when the file is no longer being written"),
        ReadError::Os(error) => open_error_diagnostic(error),
    }
}

/// Returns the diagnostic for a file that cannot be opened.
pub(super) fn open_error_diagnostic(error: Errno) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::Unreadable, format!("cannot read the file: {}", describe_errno(error)));
    match error {
        Errno::ACCESS | Errno::PERM => diagnostic.help("make it readable: chmod u+r SKILL.md"),
        _ => diagnostic,
    }
}
