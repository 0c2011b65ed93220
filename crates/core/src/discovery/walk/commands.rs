//! Scans a directory of custom commands, in which each Markdown file is a command.
//!
//! Symlinks are not followed, and nothing but regular files is opened.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess_format::{Code, Diagnostic, parse_command};
use prowess_fs::{
    Dir, EntryKind, Errno, Fingerprint, ReadError, describe_errno, read_with_fingerprint, unix_now,
};

use super::{ListedDir, RootScan, ScanContext, is_hidden};
use crate::file_diagnostic::FileDiagnostic;
use crate::skill::{CommandDialect, ContentCache, DiscoveredSkill, FileName, command_name};

/// The maximum number of commands and of directories in a root.
const COMMANDS_MAX: usize = 1_000;
const DIRS_MAX: usize = 200;

/// The maximum depth of directories.
const DEPTH_MAX: usize = 6;

/// The maximum size of a command, in bytes.
const COMMAND_MAX: u64 = 256 * 1024;

/// Scans a root with custom commands. `earlier` has the previous results.
pub(super) fn scan_commands(
    scan: &mut RootScan,
    dialect: CommandDialect,
    context: &ScanContext<'_>,
    earlier: &HashMap<&Path, &Arc<DiscoveredSkill>>,
) {
    let entries = context.scan.max_entries as usize;
    let mut scanner =
        CommandScanner { scan, dialect, earlier, now: unix_now(), dirs: 0, entries, is_cut: false };
    match Dir::open_resolved(scanner.scan.root.canonical()) {
        Ok(dir) => scanner.visit(&dir, Path::new(""), 0),
        Err(error) => scanner.report_unreadable(Path::new(""), error),
    }
    if scanner.is_cut {
        let message = format!(
            "some commands were not read: at most {COMMANDS_MAX} commands in {DIRS_MAX} directories, {DEPTH_MAX} levels deep, are searched"
        );
        let diagnostic =
            Diagnostic::warning(Code::ScanBound, message).help("remove commands that you do not need");
        scanner.report(Path::new(""), diagnostic);
    }
    scan.skills.sort_by(|a, b| a.relative_dir.cmp(&b.relative_dir));
}

struct CommandScanner<'a> {
    scan: &'a mut RootScan,
    dialect: CommandDialect,
    earlier: &'a HashMap<&'a Path, &'a Arc<DiscoveredSkill>>,
    now: i64,
    dirs: usize,
    /// How many more entries may be listed.
    entries: usize,
    /// Whether a limit was reached.
    is_cut: bool,
}

impl CommandScanner<'_> {
    fn visit(&mut self, dir: &Dir, inner: &Path, depth: usize) {
        self.dirs += 1;
        let listing =
            dir.stat_self().and_then(|stat| Ok((Fingerprint::from_stat(&stat), dir.entries(self.entries)?)));
        let (fingerprint, listing) = match listing {
            Ok(listing) => listing,
            Err(error) => return self.report_unreadable(inner, error),
        };
        self.entries -= listing.entries.len();
        self.is_cut |= listing.truncated;
        let listed = if inner.as_os_str().is_empty() { PathBuf::from(".") } else { inner.to_owned() };
        let settled = fingerprint.is_settled(self.now);
        self.scan.listed.push(ListedDir { inner: listed, real: None, fingerprint, settled });
        // A directory with a SKILL.md is a skill, which is not a command.
        if depth > 0 && listing.entries.iter().any(|entry| *entry.name == *OsStr::new("SKILL.md")) {
            return;
        }
        for entry in listing.entries {
            let path = inner.join(&*entry.name);
            let is_markdown = Path::new(&*entry.name).extension() == Some(OsStr::new("md"));
            match entry.kind {
                _ if is_hidden(&entry.name) => {}
                EntryKind::Dir if self.dialect == CommandDialect::ClaudeCode => {
                    self.visit_child(dir, Path::new(&*entry.name), &path, depth + 1);
                }
                EntryKind::File if is_markdown => {
                    if self.scan.skills.len() >= COMMANDS_MAX {
                        self.is_cut = true;
                        return;
                    }
                    let command = self.read(dir, Path::new(&*entry.name), &path);
                    self.scan.skills.push(command);
                }
                EntryKind::Symlink if is_markdown => {
                    let message = "a symlink among custom commands is not followed";
                    let help = "copy the file, or make the whole directory a symlink";
                    self.report(&path, Diagnostic::warning(Code::LinkOutside, message).help(help));
                }
                EntryKind::Dir | EntryKind::File | EntryKind::Symlink | EntryKind::Special => {}
            }
        }
    }

    fn visit_child(&mut self, dir: &Dir, name: &Path, inner: &Path, depth: usize) {
        if depth >= DEPTH_MAX || self.dirs >= DIRS_MAX {
            self.is_cut = true;
            return;
        }
        match dir.open_dir(name) {
            Ok(child) => self.visit(&child, inner, depth),
            Err(error) => self.report_unreadable(inner, error),
        }
    }

    /// Reads a command, or returns the earlier result if the file is unchanged.
    fn read(&self, dir: &Dir, name: &Path, inner: &Path) -> Arc<DiscoveredSkill> {
        let earlier = self.earlier.get(inner).filter(|earlier| earlier.settled);
        if let (Some(earlier), Ok(stat)) = (earlier, dir.stat(name))
            && Fingerprint::from_stat(&stat) == earlier.fingerprint
        {
            return Arc::clone(earlier);
        }
        let read = dir
            .open_file(name)
            .map_err(ReadError::from)
            .and_then(|(file, stat)| read_with_fingerprint(&file, &stat, COMMAND_MAX));
        let (manifest, diagnostics, fingerprint) = match read {
            Ok((bytes, fingerprint)) => {
                let parsed = parse_command(&bytes, &command_name(inner));
                (parsed.document.map(|document| document.manifest), parsed.diagnostics, fingerprint)
            }
            Err(error) => (None, vec![read_error(error)], Fingerprint::synthetic(0)),
        };
        let manifest = match self.dialect {
            CommandDialect::ClaudeCode => manifest,
            CommandDialect::Codex => manifest.map(|manifest| manifest.with_model_invocation_disabled()),
        };
        Arc::new(DiscoveredSkill {
            root: Arc::clone(&self.scan.root),
            relative_dir: inner.into(),
            file: FileName::Command,
            settled: fingerprint.is_settled(self.now),
            fingerprint,
            manifest,
            diagnostics: diagnostics.into(),
            link: None,
            canonical_path: None,
            remote: None,
            content: ContentCache::default(),
        })
    }

    fn report(&mut self, inner: &Path, diagnostic: Diagnostic) {
        let root = self.scan.root.path();
        let path = if inner.as_os_str().is_empty() { root.to_owned() } else { root.join(inner) };
        self.scan.diagnostics.push(FileDiagnostic::new(path, diagnostic));
    }

    fn report_unreadable(&mut self, inner: &Path, error: Errno) {
        let message = format!("cannot read the directory: {}", describe_errno(error));
        self.report(inner, Diagnostic::warning(Code::DirectoryUnreadable, message));
        // Always scan again: no listing reveals whether it becomes readable.
        let fingerprint = Fingerprint::synthetic(0);
        self.scan.listed.push(ListedDir { inner: inner.to_owned(), real: None, fingerprint, settled: false });
    }
}

fn read_error(error: ReadError) -> Diagnostic {
    match error {
        ReadError::TooLarge(size) => {
            let (size, limit) = (size.div_ceil(1024), COMMAND_MAX / 1024);
            let message = format!("the command has {size} KiB; the limit is {limit} KiB");
            Diagnostic::error(Code::TooLarge, message)
                .help("shorten it, or make it a skill with several files")
        }
        ReadError::NotAFile(_) => Diagnostic::error(Code::NotAFile, "the command is not a regular file"),
        ReadError::Changing => Diagnostic::error(Code::Changing, "the file changed while it was read"),
        ReadError::Os(error) => {
            Diagnostic::error(Code::Unreadable, format!("cannot read the file: {}", describe_errno(error)))
        }
    }
}
