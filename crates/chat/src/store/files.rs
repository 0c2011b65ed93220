//! The files of a chat: its workspace.

use std::collections::BTreeMap;

use prowess::format::hidden::escape_for_display;
use prowess::resources::guess_mime_type;
use prowess_archive::InnerPath;
use prowess_config::ChatFileLimits;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::media_type::is_media_type;

/// A file in the workspace of a chat, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatFile {
    /// The path, relative to the workspace and with `/`.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The media type, such as `text/csv`.
    pub media_type: String,
    /// The digest of the content: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// Who wrote the current content.
    pub origin: FileOrigin,
    /// When the file was added, in milliseconds since 1970.
    pub created: u64,
    /// When the content was last changed.
    pub changed: u64,
}

/// Who wrote the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileOrigin {
    /// The user uploaded it.
    Uploaded,
    /// A script wrote it.
    Script,
}

/// A file to write, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    path: InnerPath,
    content: Vec<u8>,
    media_type: String,
    origin: FileOrigin,
}

impl NewFile {
    /// Creates a file. The media type is detected.
    ///
    /// ```
    /// use prowess_chat::store::{FileOrigin, NewFile};
    ///
    /// let file = NewFile::new("data/prices.csv", b"a,b".to_vec(), FileOrigin::Uploaded).unwrap();
    /// assert_eq!((file.path(), file.media_type()), ("data/prices.csv", "text/csv"));
    /// assert!(NewFile::new("../x", vec![], FileOrigin::Uploaded).is_err());
    /// ```
    pub fn new(path: &str, content: Vec<u8>, origin: FileOrigin) -> Result<Self, StoreError> {
        let path = parse_path(path)?;
        let media_type = guess_mime_type(path.as_str(), &content).to_owned();
        Ok(Self { path, content, media_type, origin })
    }

    /// Replaces the detected media type by a known one. A malformed one is ignored.
    #[must_use]
    pub fn with_media_type(mut self, media_type: &str) -> Self {
        if is_media_type(media_type) {
            media_type.clone_into(&mut self.media_type);
        }
        self
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    /// Returns the content.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Returns the media type.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Returns the entry of this file, if it is written at this time.
    pub(crate) fn to_entry(&self, now: u64) -> ChatFile {
        ChatFile {
            path: self.path.as_str().to_owned(),
            size: self.content.len() as u64,
            media_type: self.media_type.clone(),
            digest: prowess::digest(&self.content),
            origin: self.origin,
            created: now,
            changed: now,
        }
    }
}

/// Changes of the files of a chat, which are made in one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChanges {
    /// The files to add or replace.
    pub written: Vec<NewFile>,
    /// The paths of the files to remove. They are removed first.
    pub removed: Vec<String>,
    /// Whether to write only files that do not exist and to remove only files that do.
    pub strict: bool,
}

impl FileChanges {
    /// Returns changes that add or replace a file.
    pub fn write(file: NewFile) -> Self {
        Self { written: vec![file], ..Self::default() }
    }

    /// Returns changes that add a file. An existing one is an error.
    pub fn add(file: NewFile) -> Self {
        Self { strict: true, ..Self::write(file) }
    }

    /// Returns changes that remove a file, which must exist.
    pub fn remove(path: &str) -> Self {
        Self { written: vec![], removed: vec![path.to_owned()], strict: true }
    }
}

/// What changes do to the files of a chat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlannedChanges {
    /// The paths to delete.
    pub(crate) deleted: Vec<String>,
    /// The entries to store, with the index of their content in [`FileChanges::written`].
    pub(crate) stored: Vec<(usize, ChatFile)>,
}

/// Checks changes against the current files, sorted by path, and the limits.
pub(crate) fn plan_changes(
    current: Vec<ChatFile>,
    changes: &FileChanges,
    limits: ChatFileLimits,
    now: u64,
) -> Result<PlannedChanges, StoreError> {
    let mut files: BTreeMap<String, ChatFile> =
        current.into_iter().map(|file| (file.path.clone(), file)).collect();
    let size_before = total_size(&files);
    let mut plan = PlannedChanges { deleted: vec![], stored: vec![] };
    for path in &changes.removed {
        match files.remove(path) {
            Some(file) => plan.deleted.push(file.path),
            None if changes.strict => return Err(file_not_found(path)),
            None => {}
        }
    }
    for (index, new) in changes.written.iter().enumerate() {
        let bytes = new.content.len() as u64;
        if bytes > limits.file_bytes {
            return Err(StoreError::TooLarge { subject: "the file", bytes, max: limits.file_bytes });
        }
        let mut entry = new.to_entry(now);
        if let Some(previous) = files.get(&entry.path) {
            if changes.strict {
                return Err(StoreError::FileExists(escape_for_display(&entry.path).into_owned()));
            }
            entry.created = previous.created;
            if previous.digest == entry.digest {
                entry.changed = previous.changed;
            }
        }
        files.insert(entry.path.clone(), entry.clone());
        plan.stored.retain(|(_, earlier): &(usize, ChatFile)| earlier.path != entry.path);
        plan.stored.push((index, entry));
    }
    check_tree(files.keys().map(String::as_str))?;
    check_totals(&files, size_before, &plan, limits)?;
    Ok(plan)
}

/// Checks the limits of the workspace. Changes that only make it smaller are allowed even if it exceeds a limit that was
/// lowered later.
fn check_totals(
    files: &BTreeMap<String, ChatFile>,
    size_before: u64,
    plan: &PlannedChanges,
    limits: ChatFileLimits,
) -> Result<(), StoreError> {
    let bytes = total_size(files);
    if bytes > limits.workspace_bytes && bytes > size_before {
        let subject = "the workspace of this chat";
        return Err(StoreError::TooLarge { subject, bytes, max: limits.workspace_bytes });
    }
    let max = u64::from(limits.workspace_files);
    if files.len() as u64 > max && !plan.stored.is_empty() {
        return Err(StoreError::TooManyFiles { count: files.len() as u64, max });
    }
    Ok(())
}

fn total_size(files: &BTreeMap<String, ChatFile>) -> u64 {
    files.values().fold(0, |sum, file| sum.saturating_add(file.size))
}

/// Checks that no file has the path of a directory that another file needs. The paths are sorted.
pub(crate) fn check_tree<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), StoreError> {
    let paths: std::collections::BTreeSet<&str> = paths.collect();
    for path in &paths {
        let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        for parent in parents {
            if paths.contains(parent) {
                return Err(StoreError::FileIsDirectory(escape_for_display(parent).into_owned()));
            }
        }
    }
    Ok(())
}

/// Validates the path of a file.
pub(crate) fn parse_path(path: &str) -> Result<InnerPath, StoreError> {
    InnerPath::parse(path.as_bytes())
        .map_err(|reason| StoreError::FileName { name: shorten_name(path), reason })
}

pub(crate) fn file_not_found(path: &str) -> StoreError {
    StoreError::FileNotFound(shorten_name(path))
}

/// Returns a path that may be invalid, for a message.
fn shorten_name(path: &str) -> String {
    const SHOWN_MAX: usize = 80;
    let shown: String = path.chars().take(SHOWN_MAX).collect();
    let more = if shown.len() < path.len() { "…" } else { "" };
    format!("{}{more}", escape_for_display(&shown))
}

#[cfg(test)]
mod tests;
