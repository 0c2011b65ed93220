//! Parses the input of an interactive chat: messages and commands.

/// The commands, with their descriptions.
pub(super) const COMMANDS: [(&str, &str); 6] = [
    ("/help", "Show this help."),
    ("/skills", "List the available skills."),
    ("/expand", "Show the details of a tool call, such as /expand 2; without a number, of the last one."),
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
        "/new" => without_args(ChatInput::New, "/new takes no arguments; send the message afterwards"),
        "/chats" => without_args(ChatInput::Chats, "/chats takes no arguments"),
        "/quit" => without_args(ChatInput::Quit, "/quit takes no arguments"),
        "/exit" => without_args(ChatInput::Quit, "/exit takes no arguments"),
        "/expand" if rest.is_empty() => ChatInput::Expand(None),
        "/expand" => match rest.trim_matches(['[', ']']).parse() {
            Ok(number) => ChatInput::Expand(Some(number)),
            Err(_) => ChatInput::InvalidCommand("/expand takes the number of a tool call, such as /expand 2"),
        },
        _ => ChatInput::Message(text),
    }
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
