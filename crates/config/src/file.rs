//! Configuration files as text: bounded, regular, UTF-8.

use std::path::Path;

use prowess_format::{Code, Diagnostic, Place, Severity, Span};
use prowess_fs::{Errno, FileType, Folder, LastStep, ReadError, Stat, open_without_waiting, read_whole};

/// The largest configuration file.
const FILE_MAX: u64 = 256 * 1024;

/// Whose word it is that the file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links<'p> {
    /// The user's, who may keep it elsewhere and link it.
    Followed,
    /// The project's: a link could lead to what the project may not know of. It lies beneath this folder.
    Refused(&'p Path),
}

/// Reads a file; `None` where there is none.
pub(super) fn read(path: &Path, links: Links<'_>, severity: Severity) -> Result<Option<String>, Diagnostic> {
    let say = |message: String| Diagnostic::new(Code::ConfigUnreadable, severity, message);
    let bytes = match bytes(path, links) {
        Ok(bytes) => bytes,
        Err(ReadError::Os(Errno::NOENT)) => return Ok(None),
        Err(error) => return Err(say(why(error))),
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let place = Place::of(error.as_bytes(), Span::new(at, at + 1));
        say("the configuration file is not UTF-8".to_owned()).at(place).help("save it as UTF-8")
    })
}

fn bytes(path: &Path, links: Links<'_>) -> Result<Vec<u8>, ReadError> {
    let (file, stat) = match links {
        Links::Followed => {
            let opened = open_without_waiting(path, LastStep::Followed);
            let file = opened.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            let stat = Stat::of(&file)?;
            (file.into(), stat)
        }
        Links::Refused(folder) => {
            let inner = path.strip_prefix(folder).map_err(|_| Errno::XDEV)?;
            Folder::open(folder)?.file(inner)?
        }
    };
    read_whole(&file, &stat, FILE_MAX)
}

fn why(error: ReadError) -> String {
    let what = match error {
        ReadError::NotAFile(FileType::Directory) => "is a directory".to_owned(),
        ReadError::NotAFile(FileType::Fifo) => "is a FIFO, not a regular file".to_owned(),
        ReadError::NotAFile(_) => "is not a regular file".to_owned(),
        ReadError::TooLarge(size) => format!("has {size} bytes; at most {FILE_MAX} are read"),
        ReadError::Changing => "changes while it is read".to_owned(),
        ReadError::Os(Errno::LOOP) => "is reached through a link, which is not followed".to_owned(),
        ReadError::Os(error) => format!("cannot be read: {}", std::io::Error::from(error).kind()),
    };
    format!("the configuration file {what}")
}
