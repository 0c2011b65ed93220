//! Imports chats from JSON. The file is untrusted: everything is checked before anything is stored.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::exported_file::check_files;
use super::{ExportedChat, FORMAT, VERSION};
use crate::store::files::parse_path;
use crate::store::limits::{TIME_MAX, TOKENS_MAX, check_name, check_names, check_text, check_title, is_id};
use crate::store::stored_event::stored_result;
use crate::store::{STORED_MESSAGE_MAX, Store, StoreError, StoredBranch, VERSIONS_MAX};
use crate::thinking::{SEAL_MAX, ThinkingSeal};
use crate::{Message, MessageState, Part};

/// The maximum size of an import, in bytes.
pub const IMPORT_MAX: u64 = 512 * 1024 * 1024;

/// An imported chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedChat {
    /// The id in the file.
    pub from: String,
    /// The id in the store, which is different if the original was taken.
    pub to: String,
}

/// Adds the chats of a file, all or none.
pub async fn import(store: &dyn Store, bytes: &[u8]) -> Result<Vec<ImportedChat>, StoreError> {
    let chats = parse_export(bytes)?;
    let from: Vec<_> = chats.iter().map(|chat| chat.id.clone()).collect();
    let new_ids = store.add_chats(chats).await?;
    Ok(from.into_iter().zip(new_ids).map(|(from, to)| ImportedChat { from, to }).collect())
}

#[derive(Deserialize)]
struct FileHeader {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
struct ChatsFile {
    chats: Vec<ExportedChat>,
}

/// Parses and checks an export file.
///
/// ```
/// use prowess_chat::store::transfer::parse_export;
///
/// let error = parse_export(br#"{"format": "prowess-chats", "version": 9, "chats": []}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the file has format version 9; this program supports up to 3");
/// ```
pub fn parse_export(bytes: &[u8]) -> Result<Vec<ExportedChat>, StoreError> {
    let size = bytes.len() as u64;
    if size > IMPORT_MAX {
        return Err(StoreError::TooLarge { subject: "the export file", bytes: size, max: IMPORT_MAX });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("the file is not UTF-8, from byte {}", error.valid_up_to())))?;
    let to_error = |error: serde_json::Error| {
        // The parser's message may quote the file.
        invalid(format!(
            "the file is not an export of chats: {}",
            prowess::format::hidden::escape_for_display(&error.to_string())
        ))
    };
    let envelope: FileHeader = serde_json::from_str(text).map_err(to_error)?;
    if envelope.format != FORMAT {
        return Err(invalid(format!("the format of the file is not {FORMAT}")));
    }
    if !(1..=VERSION).contains(&envelope.version) {
        let version = envelope.version;
        return Err(invalid(format!(
            "the file has format version {version}; this program supports up to {VERSION}"
        )));
    }
    let file: ChatsFile = serde_json::from_str(text).map_err(to_error)?;
    file.chats
        .into_iter()
        .enumerate()
        .map(|(n, chat)| check_chat(chat).map_err(|error| with_chat_number(n, error)))
        .collect()
}

fn with_chat_number(n: usize, error: StoreError) -> StoreError {
    match error {
        StoreError::Invalid(message) => invalid(format!("chat {} of the file: {message}", n + 1)),
        error @ (StoreError::FileName { .. } | StoreError::FileIsDirectory(_)) => {
            invalid(format!("chat {} of the file: {error}", n + 1))
        }
        error => error,
    }
}

pub(crate) fn check_chat(mut chat: ExportedChat) -> Result<ExportedChat, StoreError> {
    check_id(&chat.id)?;
    check_title(&chat.title)?;
    check_name("the preset", &chat.preset)?;
    chat.activated_skill_names = check_names(&chat.activated_skill_names)?;
    check_time(chat.created)?;
    check_time(chat.updated)?;
    check_files(&chat.files)?;
    chat.messages = chat.messages.into_iter().map(check_message).collect::<Result<_, _>>()?;
    chat.branches = check_branches(chat.branches, &chat.messages)?;
    Ok(chat)
}

/// Checks that branches begin where they say, so that switching between them cannot mix up messages.
fn check_branches(branches: Vec<StoredBranch>, path: &[Message]) -> Result<Vec<StoredBranch>, StoreError> {
    if branches.len() as u64 > VERSIONS_MAX {
        return Err(invalid(format!("a chat cannot have more than {VERSIONS_MAX} versions of messages")));
    }
    let wrong = || invalid("the versions of its messages do not fit together".into());
    let mut ids: HashSet<String> = path.iter().map(|message| message.id.clone()).collect();
    let mut checked: Vec<StoredBranch> = Vec::with_capacity(branches.len());
    let mut seen = HashSet::new();
    for mut branch in branches {
        branch.activated_skill_names = check_names(&branch.activated_skill_names)?;
        if let Some(messages) = branch.messages.take() {
            let messages = messages.into_iter().map(check_message).collect::<Result<Vec<_>, _>>()?;
            if messages.iter().any(|message| !ids.insert(message.id.clone())) {
                return Err(wrong());
            }
            branch.messages = Some(messages);
        }
        if !seen.insert(branch.id.clone()) || branch.number > TIME_MAX {
            return Err(wrong());
        }
        checked.push(branch);
    }
    let by_id: HashMap<&str, &StoredBranch> =
        checked.iter().map(|branch| (branch.id.as_str(), branch)).collect();
    for branch in &checked {
        // The messages among which the branch begins, and the position of the first of them.
        let (start, around) = match &branch.parent {
            None => (0, path),
            Some(parent) => {
                let parent = by_id.get(parent.as_str()).ok_or_else(wrong)?;
                if parent.position >= branch.position {
                    return Err(wrong());
                }
                (parent.position, parent.messages.as_deref().ok_or_else(wrong)?)
            }
        };
        let offset = branch.position.checked_sub(start).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.filter(|offset| *offset <= around.len()).ok_or_else(wrong)?;
        let first = match &branch.messages {
            Some(messages) => messages.first(),
            None => around.get(offset),
        };
        if first.is_none_or(|first| first.id != branch.id) {
            return Err(wrong());
        }
    }
    Ok(checked)
}

fn check_message(mut message: Message) -> Result<Message, StoreError> {
    check_id(&message.id)?;
    check_time(message.at)?;
    message.parts = message.parts.into_iter().map(check_part).collect::<Result<_, _>>()?;
    let bytes = serde_json::to_string(&message.parts).map_or(u64::MAX, |json| json.len() as u64);
    // JSON may be larger than the text: quotes and line breaks take two characters.
    if bytes > 2 * STORED_MESSAGE_MAX {
        return Err(StoreError::TooLarge {
            subject: "a message of the file",
            bytes,
            max: 2 * STORED_MESSAGE_MAX,
        });
    }
    if let Some(usage) = message.usage
        && [usage.input, usage.output, usage.cached, usage.cache_writes]
            .iter()
            .any(|count| *count > TOKENS_MAX)
    {
        return Err(invalid("the token usage of a message is out of range".into()));
    }
    message.state = match message.state {
        MessageState::Complete => MessageState::Complete,
        MessageState::Writing => MessageState::Interrupted {
            reason: "it was still being written when the chat was exported".to_owned(),
        },
        MessageState::Interrupted { reason } => {
            check_text(&reason)?;
            MessageState::Interrupted { reason }
        }
    };
    Ok(message)
}

/// Checks a part. Bodies of skills are replaced by digests here, too.
fn check_part(part: Part) -> Result<Part, StoreError> {
    match &part {
        Part::Text { text } => check_text(text)?,
        Part::File { path, media_type, digest, .. } => {
            parse_path(path)?;
            [media_type, digest].into_iter().try_for_each(|text| check_name("a property of a file", text))?;
        }
        Part::Thinking { text, seal } => {
            check_text(text)?;
            if let Some(seal) = seal {
                check_seal(seal)?;
            }
        }
        Part::Summary { text, replaces } => {
            check_text(text)?;
            replaces.iter().try_for_each(|id| check_id(id))?;
        }
        Part::ToolCall { id, name, .. } => [id, name].into_iter().try_for_each(|text| check_text(text))?,
        Part::ToolResult { id, name, status, .. } => {
            [id, name, status].into_iter().try_for_each(|text| check_text(text))?
        }
    }
    Ok(match part {
        Part::ToolResult { id, summary: data, status, name } => {
            Part::ToolResult { summary: stored_result(&name, data), id, name, status }
        }
        part => part,
    })
}

/// Checks a seal. It is sent to the provider, so its size is limited as if the provider had just sent it.
fn check_seal(seal: &ThinkingSeal) -> Result<(), StoreError> {
    let (bytes, max) = (seal.size() as u64, SEAL_MAX as u64);
    if bytes > max {
        return Err(StoreError::TooLarge { subject: "the seal of thinking", bytes, max });
    }
    seal.texts().into_iter().try_for_each(check_text)
}

fn check_id(id: &str) -> Result<(), StoreError> {
    match is_id(id) {
        true => Ok(()),
        false => Err(invalid("an id must have 1 to 64 letters, digits, hyphens and underscores".into())),
    }
}

fn check_time(millis: u64) -> Result<(), StoreError> {
    match millis <= TIME_MAX {
        true => Ok(()),
        false => Err(invalid(format!("{millis} is not a valid time in milliseconds since 1970"))),
    }
}

fn invalid(message: String) -> StoreError {
    StoreError::Invalid(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(chat: &str) -> String {
        format!(r#"{{"format":"prowess-chats","version":1,"chats":[{chat}]}}"#)
    }

    #[test]
    fn invalid_files_are_refused() {
        let message = |more: &str| {
            file(&format!(
                r#"{{"id":"a","created":1,"updated":1,"messages":[{{"id":"m","role":"user","at":1,{more}}}]}}"#
            ))
        };
        let entry = |path: &str, content: &str| {
            format!(
                r#"{{"path":"{path}","size":1,"media_type":"text/plain","digest":"{}","origin":"uploaded",
                "created":1,"changed":1,"content":"{content}"}}"#,
                prowess::digest(b"a")
            )
        };
        let with_files = |files: &[String]| {
            let files = files.join(",");
            file(&format!(r#"{{"id":"a","created":1,"updated":1,"messages":[],"files":[{files}]}}"#))
        };
        let files = [
            "".to_owned(),
            "[]".to_owned(),
            r#"{"format":"other","version":1}"#.to_owned(),
            r#"{"format":"prowess-chats","version":0,"chats":[]}"#.to_owned(),
            r#"{"format":"prowess-chats","version":1}"#.to_owned(),
            file(r#"{"id":"../a","created":1,"updated":1,"messages":[]}"#),
            file(r#"{"id":"a","title":"a\nb","created":1,"updated":1,"messages":[]}"#),
            file(r#"{"id":"a","created":253402300800000,"updated":1,"messages":[]}"#),
            file(r#"{"id":"a","created":-1,"updated":1,"messages":[]}"#),
            file(r#"{"id":"a","created":1,"updated":1,"messages":[],"activated_skill_names":["a\u0000"]}"#),
            message(r#""state":"complete","parts":[{"type":"text","text":"\u0000"}]"#),
            message(r#""state":"complete","parts":[{"type":"text","text":"\ud800"}]"#),
            message(r#""state":"complete","parts":[{"type":"picture"}]"#),
            message(r#""state":"asleep","parts":[]"#),
            message(
                r#""state":"complete","parts":[{"type":"file","path":"../a","size":1,"media_type":"a/b","digest":"x"}]"#,
            ),
            with_files(&[entry("../a", "YQ==")]),
            with_files(&[entry("a\\u001b[31m", "YQ==")]),
            with_files(&[entry("a", "YQ")]),
            with_files(&[entry("a", "Yg==")]),
            with_files(&[entry("a", "YQ=="), entry("a", "YQ==")]),
            with_files(&[entry("a", "YQ=="), entry("a/b", "YQ==")]),
            with_files(&[entry("a", "YQ==").replace("text/plain", "text/html\\nX: y")]),
            message(r#""state":"complete","parts":[],"usage":{"input":18446744073709551615,"output":0}"#),
        ];
        let mut errors: Vec<_> =
            files.iter().map(|file| parse_export(file.as_bytes()).unwrap_err().to_string()).collect();
        errors.push(parse_export(b"{\"format\": \"\xff\"}").unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn unfinished_messages_are_marked_and_bodies_are_removed() {
        let chat = r#"{"id":"a","created":1,"updated":1,"later":{"x":1},"messages":[{"id":"m","role":"assistant","at":1,
            "state":"writing","parts":[{"type":"tool_result","id":"1","name":"skills.activate","status":"success",
            "summary":{"name":"pdf","body":"Secret."}}]}]}"#;
        let chats = parse_export(file(chat).as_bytes()).unwrap();
        assert!(matches!(chats[0].messages[0].state, MessageState::Interrupted { .. }));
        assert!(!serde_json::to_string(&chats).unwrap().contains("Secret"));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
            let _ = parse_export(&bytes);
            let _ = parse_export(file(&text).as_bytes());
        }
    }
}
