//! Reads configuration files as bounded, regular UTF-8 files.

use std::path::Path;

use prowess_format::{Code, Diagnostic, Location, Severity, Span};
use prowess_fs::{Dir, Errno, FileType, ReadError, Stat, SymlinkMode, open_nonblocking, read_whole};

/// The maximum size of a configuration file.
const FILE_MAX: u64 = 256 * 1024;

/// Whether symlinks on the path of a file are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigSymlinks<'p> {
    /// The user's file may be a symlink.
    Followed,
    /// A project's file must be inside this directory: a symlink could point to files that the project must not
    /// reveal.
    Rejected(&'p Path),
}

/// Reads a file; `None` if it does not exist.
pub(super) fn read_config_text(
    path: &Path,
    links: ConfigSymlinks<'_>,
    severity: Severity,
) -> Result<Option<String>, Diagnostic> {
    let unreadable = |message: String| Diagnostic::new(Code::ConfigUnreadable, severity, message);
    let bytes = match read_bytes(path, links) {
        Ok(bytes) => bytes,
        Err(ReadError::Os(Errno::NOENT)) => return Ok(None),
        Err(error) => return Err(unreadable(describe_error(error))),
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let location = Location::from_span(error.as_bytes(), Span::new(offset, offset + 1));
        unreadable("the configuration file is not UTF-8".to_owned()).at(location).help("save it as UTF-8")
    })
}

fn read_bytes(path: &Path, links: ConfigSymlinks<'_>) -> Result<Vec<u8>, ReadError> {
    let (file, stat) = match links {
        ConfigSymlinks::Followed => {
            let opened = open_nonblocking(path, SymlinkMode::Follow);
            let file = opened.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            let stat = Stat::from_fd(&file)?;
            (file.into(), stat)
        }
        ConfigSymlinks::Rejected(dir) => {
            let inner = path.strip_prefix(dir).map_err(|_| Errno::XDEV)?;
            Dir::open(dir)?.open_file(inner)?
        }
    };
    read_whole(&file, &stat, FILE_MAX)
}

fn describe_error(error: ReadError) -> String {
    let problem = match error {
        ReadError::NotAFile(FileType::Directory) => "is a directory".to_owned(),
        ReadError::NotAFile(FileType::Fifo) => "is a FIFO, not a regular file".to_owned(),
        ReadError::NotAFile(_) => "is not a regular file".to_owned(),
        ReadError::TooLarge(size) => format!("has {size} bytes; the limit is {FILE_MAX}"),
        ReadError::Changing => "changed while it was read".to_owned(),
        ReadError::Os(Errno::LOOP) => "is behind a symlink, which is not followed".to_owned(),
        ReadError::Os(error) => format!("cannot be read: {}", std::io::Error::from(error).kind()),
    };
    format!("the configuration file {problem}")
}
