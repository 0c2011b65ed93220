//! Reading a `SKILL.md` no further than it is needed.

use std::os::fd::OwnedFd;

use prowess_format::fence::{Extent, FRONTMATTER_MAX, PREAMBLE_MAX};
use prowess_format::{Code, Diagnostic, Head, Manifest, Parsed, Rules, parse, parse_head};

use crate::skill::SKILL_MD_MAX;
use prowess_fs::{Errno, FileType, Fingerprint, ReadError, Stat, fill, read_whole, regular, words};

/// What is read first: nearly all frontmatter ends within it.
const FIRST: usize = 4096;

/// A file, read and judged.
pub(crate) struct Read {
    pub(crate) manifest: Option<Manifest>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Read {
    fn refused(diagnostic: Diagnostic) -> Self {
        Self { manifest: None, diagnostics: vec![diagnostic] }
    }
}

impl From<Parsed> for Read {
    fn from(parsed: Parsed) -> Self {
        Self { manifest: parsed.document.map(|document| document.manifest), diagnostics: parsed.diagnostics }
    }
}

/// Reads the frontmatter of an open file.
pub(crate) fn head(file: &OwnedFd, stat: &Stat, folder: &str, rules: &Rules) -> Read {
    match try_head(file, stat, folder, rules) {
        Ok(read) => read,
        Err(error) => Read::refused(refusal(error)),
    }
}

/// Reads and parses the whole file, body included.
pub(crate) fn check_file(file: &OwnedFd, stat: &Stat, folder: &str, rules: &Rules) -> (Parsed, Vec<u8>) {
    match read_whole(file, stat, SKILL_MD_MAX) {
        Ok(bytes) => (parse(&bytes, Some(folder), rules), bytes),
        Err(error) => (Parsed { document: None, diagnostics: vec![refusal(error)] }, Vec::new()),
    }
}

fn try_head(file: &OwnedFd, stat: &Stat, folder: &str, rules: &Rules) -> Result<Read, ReadError> {
    regular(stat)?;
    let mut before = Fingerprint::of(stat);
    for _ in 0..2 {
        if before.size() > SKILL_MD_MAX {
            return Err(ReadError::TooLarge(before.size()));
        }
        let mut first = [0; FIRST];
        let read = match prefix(file, &before, &mut first, folder, rules)? {
            Head::Done(parsed) => parsed.into(),
            Head::NeedMore => more(file, &before, folder, rules)?,
        };
        // Half of the old text and half of the new one must not be taken for a skill.
        let after = Fingerprint::of(&Stat::of(file)?);
        if before == after {
            return Ok(read);
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Reads and judges as much as fits into `buffer`.
fn prefix(
    file: &OwnedFd,
    print: &Fingerprint,
    buffer: &mut [u8],
    folder: &str,
    rules: &Rules,
) -> Result<Head, ReadError> {
    let wanted = usize::try_from(print.size()).map_or(buffer.len(), |size| size.min(buffer.len()));
    let read = fill(file, &mut buffer[..wanted], 0)?;
    let extent = if (read as u64) < print.size() { Extent::Prefix } else { Extent::Whole };
    Ok(parse_head(&buffer[..read], extent, Some(folder), rules))
}

/// Reads as much as the longest frontmatter takes.
fn more(file: &OwnedFd, print: &Fingerprint, folder: &str, rules: &Rules) -> Result<Read, ReadError> {
    let mut bytes = vec![0; FRONTMATTER_MAX + PREAMBLE_MAX + FIRST];
    Ok(match prefix(file, print, &mut bytes, folder, rules)? {
        Head::Done(parsed) => parsed.into(),
        // The fences ask for no more than was read; whatever this is, it has no end in sight.
        Head::NeedMore => Read::refused(Diagnostic::error(Code::NoFrontmatter, "there is no frontmatter")),
    })
}

/// What to say of a file that was not read.
pub(super) fn refusal(error: ReadError) -> Diagnostic {
    match error {
        ReadError::NotAFile(kind) => {
            let what = match kind {
                FileType::Directory => "a folder",
                FileType::Fifo => "a FIFO",
                FileType::Socket => "a socket",
                FileType::CharacterDevice | FileType::BlockDevice => "a device",
                _ => "not a regular file",
            };
            Diagnostic::error(Code::NotAFile, format!("SKILL.md is {what}")).help("replace it by a text file")
        }
        ReadError::TooLarge(size) => {
            let (size, limit) = (size.div_ceil(1024 * 1024), SKILL_MD_MAX / (1024 * 1024));
            Diagnostic::error(Code::TooLarge, format!("the file has {size} MiB; at most {limit} are read"))
                .help("move what is not instructions into files beside it")
        }
        ReadError::Changing => Diagnostic::error(Code::Changing, "the file changes while it is read")
            .help("try again when whoever writes it is done"),
        ReadError::Os(error) => unreadable(error),
    }
}

/// What to say of a file that cannot be opened.
pub(super) fn unreadable(error: Errno) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::Unreadable, format!("the file cannot be read: {}", words(error)));
    match error {
        Errno::ACCESS | Errno::PERM => diagnostic.help("make it readable for you: chmod u+r SKILL.md"),
        _ => diagnostic,
    }
}
