//! Parses the input of an interactive chat: messages and commands.

use std::path::PathBuf;

use prowess::activation::arguments::Arguments;

/// The commands, with their descriptions.
pub(super) const COMMANDS: [(&str, &str); 14] = [
    ("/help", "Show this help."),
    ("/skills", "List the available skills."),
    ("/expand", "Show the details of a tool call, such as /expand 2; without a number, of the last one."),
    ("/file", "Add a file for the next message, such as /file report.csv."),
    ("/files", "List the files of this chat."),
    ("/save", "Save a file of this chat, such as /save out.csv or /save out.csv DIR."),
    ("/edit", "Replace your last message, such as /edit in French; the old version is kept."),
    ("/retry", "Answer your last message again; the old reply is kept."),
    ("/previous", "Show the previous version of the last message that has several."),
    ("/next", "Show its next version."),
    ("/delete", "Delete your last message and its reply."),
    ("/new", "Start a new chat; this one is saved."),
    ("/chats", "List the latest chats."),
    ("/quit", "Quit; so does Ctrl-D."),
];

/// The input of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatInput<'a> {
    /// No input.
    Empty,
    /// `/help`
    Help,
    /// `/skills`
    Skills,
    /// `/expand`: show the tool call with this number, or the last one.
    Expand(Option<usize>),
    /// `/file`: add this local file to the chat.
    AddFile(PathBuf),
    /// `/files`
    Files,
    /// `/save`: save this file of the chat to a directory, by default the current one.
    Save(String, Option<PathBuf>),
    /// `/edit`: replace the last message with this text.
    Edit(&'a str),
    /// `/retry`
    Retry,
    /// `/previous`
    PreviousVersion,
    /// `/next`
    NextVersion,
    /// `/delete`
    Delete,
    /// `/new`
    New,
    /// `/chats`
    Chats,
    /// `/quit`
    Quit,
    /// A command with invalid arguments, and the error message.
    InvalidCommand(&'static str),
    /// A message for the model. `/name` calls a skill.
    Message(&'a str),
}

/// Parses a line, or several pasted lines.
pub(super) fn parse_input(line: &str) -> ChatInput<'_> {
    let text = line.trim();
    if text.is_empty() {
        return ChatInput::Empty;
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let without_args = |typed: ChatInput<'static>, error: &'static str| {
        if rest.is_empty() { typed } else { ChatInput::InvalidCommand(error) }
    };
    match word {
        "/help" | "/?" => without_args(ChatInput::Help, "/help takes no arguments"),
        "/skills" => without_args(ChatInput::Skills, "/skills takes no arguments"),
        "/edit" if rest.is_empty() => {
            ChatInput::InvalidCommand("/edit needs the new text of your last message")
        }
        "/edit" => ChatInput::Edit(rest),
        "/retry" => without_args(ChatInput::Retry, "/retry takes no arguments"),
        "/previous" => without_args(ChatInput::PreviousVersion, "/previous takes no arguments"),
        "/next" => without_args(ChatInput::NextVersion, "/next takes no arguments"),
        "/delete" => {
            without_args(ChatInput::Delete, "/delete takes no arguments; it deletes your last message")
        }
        "/new" => without_args(ChatInput::New, "/new takes no arguments; send the message afterwards"),
        "/chats" => without_args(ChatInput::Chats, "/chats takes no arguments"),
        "/quit" => without_args(ChatInput::Quit, "/quit takes no arguments"),
        "/exit" => without_args(ChatInput::Quit, "/exit takes no arguments"),
        "/files" => without_args(ChatInput::Files, "/files takes no arguments"),
        "/file" => match &split_words(rest)[..] {
            [path] => ChatInput::AddFile(PathBuf::from(path)),
            _ => ChatInput::InvalidCommand(
                "/file takes one path, such as /file report.csv; put a path with spaces in quotes",
            ),
        },
        "/save" => match &split_words(rest)[..] {
            [path] => ChatInput::Save(path.clone(), None),
            [path, dir] => ChatInput::Save(path.clone(), Some(PathBuf::from(dir))),
            _ => ChatInput::InvalidCommand(
                "/save takes a path and a directory, such as /save out.csv DIR; put a path with spaces in quotes",
            ),
        },
        "/expand" if rest.is_empty() => ChatInput::Expand(None),
        "/expand" => match rest.trim_matches(['[', ']']).parse() {
            Ok(number) => ChatInput::Expand(Some(number)),
            Err(_) => ChatInput::InvalidCommand("/expand takes the number of a tool call, such as /expand 2"),
        },
        _ => ChatInput::Message(text),
    }
}

/// Splits arguments as a shell does, so that a path that was dropped on the terminal works.
pub(in crate::commands) fn split_words(text: &str) -> Vec<String> {
    Arguments::parse(Some(text)).map(|arguments| arguments.words().to_vec()).unwrap_or_default()
}

/// Returns `true` if the line ends with a backslash, so that more lines follow.
pub(super) fn is_continued(line: &str) -> bool {
    line.ends_with('\\')
}

/// Joins lines that end with a backslash.
pub(super) fn join_continued(line: &str) -> String {
    line.replace("\\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages_are_parsed() {
        assert_eq!(parse_input(" \n"), ChatInput::Empty);
        assert_eq!(parse_input("/help"), ChatInput::Help);
        assert_eq!(parse_input("/quit now"), ChatInput::InvalidCommand("/quit takes no arguments"));
        assert_eq!(parse_input("/expand"), ChatInput::Expand(None));
        assert_eq!(parse_input("/expand [12]"), ChatInput::Expand(Some(12)));
        assert_eq!(
            parse_input("/expand all"),
            ChatInput::InvalidCommand("/expand takes the number of a tool call, such as /expand 2")
        );
        assert_eq!(parse_input("/file a\\ b.csv"), ChatInput::AddFile("a b.csv".into()));
        assert_eq!(parse_input("/file '~/a b.csv'"), ChatInput::AddFile("~/a b.csv".into()));
        assert!(matches!(parse_input("/file a b"), ChatInput::InvalidCommand(_)));
        assert_eq!(parse_input("/save out/a.csv"), ChatInput::Save("out/a.csv".into(), None));
        assert_eq!(parse_input("/save \"a b\" dir"), ChatInput::Save("a b".into(), Some("dir".into())));
        assert!(matches!(parse_input("/save a b c"), ChatInput::InvalidCommand(_)));
        assert_eq!(parse_input(" /pdf fill in \n"), ChatInput::Message("/pdf fill in"));
        assert_eq!(parse_input("helpful"), ChatInput::Message("helpful"));
        for (word, _) in COMMANDS {
            assert!(!matches!(parse_input(word), ChatInput::Message(_)), "{word}");
        }
    }

    #[test]
    fn a_backslash_continues_the_line() {
        assert!(is_continued("a\\") && !is_continued("a\\b"));
        assert_eq!(join_continued("a\\\nb\nc\\d"), "a\nb\nc\\d");
    }
}
