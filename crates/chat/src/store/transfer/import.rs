//! Reading chats from JSON. The file comes from anywhere: everything in it is checked before anything is kept.

use serde::Deserialize;

use super::{FORMAT, Record, VERSION};
use crate::store::kept::summary;
use crate::store::limits::{TIME_MAX, check_name, check_names, check_text, check_title, is_id};
use crate::store::{MESSAGE_MAX, Store, StoreError};
use crate::{Message, Part, State};

/// The most bytes that are imported at once.
pub const IMPORT_MAX: u64 = 512 * 1024 * 1024;

/// A chat that was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its id in the file.
    pub from: String,
    /// Its id here: another one if that was taken.
    pub to: String,
}

/// Adds the chats of a file, all or none.
pub async fn import(store: &dyn Store, bytes: &[u8]) -> Result<Vec<Imported>, StoreError> {
    let chats = read(bytes)?;
    let from: Vec<_> = chats.iter().map(|chat| chat.id.clone()).collect();
    let to = store.add_chats(chats).await?;
    Ok(from.into_iter().zip(to).map(|(from, to)| Imported { from, to }).collect())
}

#[derive(Deserialize)]
struct Envelope {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
struct File {
    chats: Vec<Record>,
}

/// Reads and checks a file of chats.
///
/// ```
/// use prowess_chat::store::transfer::read;
///
/// let error = read(br#"{"format": "prowess-chats", "version": 9, "chats": []}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the file has version 9 of the format; this program reads up to 1");
/// ```
pub fn read(bytes: &[u8]) -> Result<Vec<Record>, StoreError> {
    let size = bytes.len() as u64;
    if size > IMPORT_MAX {
        return Err(StoreError::TooLarge { what: "the file of chats", bytes: size, most: IMPORT_MAX });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("the file is not UTF-8, from byte {}", error.valid_up_to())))?;
    let wrong = |error: serde_json::Error| {
        // The parser's words may quote the file.
        invalid(format!(
            "the file is not one of chats: {}",
            prowess::format::hidden::shown(&error.to_string())
        ))
    };
    let envelope: Envelope = serde_json::from_str(text).map_err(wrong)?;
    if envelope.format != FORMAT {
        return Err(invalid(format!("the file does not call itself {FORMAT}")));
    }
    if !(1..=VERSION).contains(&envelope.version) {
        let version = envelope.version;
        return Err(invalid(format!(
            "the file has version {version} of the format; this program reads up to {VERSION}"
        )));
    }
    let file: File = serde_json::from_str(text).map_err(wrong)?;
    file.chats.into_iter().enumerate().map(|(n, chat)| checked(chat).map_err(|error| at(n, error))).collect()
}

fn at(n: usize, error: StoreError) -> StoreError {
    match error {
        StoreError::Invalid(what) => invalid(format!("chat {} of the file: {what}", n + 1)),
        error => error,
    }
}

pub(crate) fn checked(mut chat: Record) -> Result<Record, StoreError> {
    check_id(&chat.id)?;
    check_title(&chat.title)?;
    check_name("the preset", &chat.preset)?;
    chat.activated_skill_names = check_names(&chat.activated_skill_names)?;
    check_time(chat.created)?;
    check_time(chat.updated)?;
    chat.messages = chat.messages.into_iter().map(checked_message).collect::<Result<_, _>>()?;
    Ok(chat)
}

fn checked_message(mut message: Message) -> Result<Message, StoreError> {
    check_id(&message.id)?;
    check_time(message.at)?;
    message.parts = message.parts.into_iter().map(checked_part).collect::<Result<_, _>>()?;
    let bytes = serde_json::to_string(&message.parts).map_or(u64::MAX, |json| json.len() as u64);
    // In JSON a message may take more than its text: quotes and line breaks are two characters there.
    if bytes > 2 * MESSAGE_MAX {
        return Err(StoreError::TooLarge { what: "a message of the file", bytes, most: 2 * MESSAGE_MAX });
    }
    if let Some(usage) = message.usage
        && [usage.input, usage.output, usage.cached].iter().any(|count| *count > TIME_MAX)
    {
        return Err(invalid("a message claims to have cost more tokens than there can be".into()));
    }
    message.state = match message.state {
        State::Complete => State::Complete,
        State::Writing => {
            State::Interrupted { reason: "it was being written when the chat was exported".to_owned() }
        }
        State::Interrupted { reason } => {
            check_text(&reason)?;
            State::Interrupted { reason }
        }
    };
    Ok(message)
}

/// Bodies of skills do not come in this way, either.
fn checked_part(part: Part) -> Result<Part, StoreError> {
    match &part {
        Part::Text { text } => check_text(text)?,
        Part::ToolCall { id, name, .. } => [id, name].into_iter().try_for_each(|text| check_text(text))?,
        Part::ToolResult { id, name, status, .. } => {
            [id, name, status].into_iter().try_for_each(|text| check_text(text))?
        }
    }
    Ok(match part {
        Part::ToolResult { id, summary: data, status, name } => {
            Part::ToolResult { summary: summary(&name, data), id, name, status }
        }
        part => part,
    })
}

fn check_id(id: &str) -> Result<(), StoreError> {
    match is_id(id) {
        true => Ok(()),
        false => Err(invalid("an id has 1 to 64 letters, digits, hyphens and underscores".into())),
    }
}

fn check_time(at: u64) -> Result<(), StoreError> {
    match at <= TIME_MAX {
        true => Ok(()),
        false => Err(invalid(format!("{at} is no time in milliseconds since 1970"))),
    }
}

fn invalid(what: String) -> StoreError {
    StoreError::Invalid(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(chat: &str) -> String {
        format!(r#"{{"format":"prowess-chats","version":1,"chats":[{chat}]}}"#)
    }

    #[test]
    fn what_is_refused_and_why() {
        let message = |more: &str| {
            file(&format!(
                r#"{{"id":"a","created":1,"updated":1,"messages":[{{"id":"m","role":"user","at":1,{more}}}]}}"#
            ))
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
            message(r#""state":"complete","parts":[],"usage":{"input":18446744073709551615,"output":0}"#),
        ];
        let mut told: Vec<_> =
            files.iter().map(|file| read(file.as_bytes()).unwrap_err().to_string()).collect();
        told.push(read(b"{\"format\": \"\xff\"}").unwrap_err().to_string());
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn what_was_being_written_is_marked_and_bodies_stay_out() {
        let chat = r#"{"id":"a","created":1,"updated":1,"later":{"x":1},"messages":[{"id":"m","role":"assistant","at":1,
            "state":"writing","parts":[{"type":"tool_result","id":"1","name":"skills.activate","status":"success",
            "summary":{"name":"pdf","body":"Secret."}}]}]}"#;
        let read = read(file(chat).as_bytes()).unwrap();
        assert!(matches!(read[0].messages[0].state, State::Interrupted { .. }));
        assert!(!serde_json::to_string(&read).unwrap().contains("Secret"));
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
            let _ = read(&bytes);
            let _ = read(file(&text).as_bytes());
        }
    }
}
