//! What is typed in a conversation: a message, or one of the few words for the terminal itself. Pure.

/// The words for the terminal itself, with what each does.
pub(super) const WORDS: [(&str, &str); 6] = [
    ("/help", "What can be typed here."),
    ("/skills", "The skills that there are."),
    ("/expand", "What is behind a line such as [2]: /expand 2; without a number, the last one."),
    ("/new", "Begin a new chat; this one is kept."),
    ("/chats", "The latest chats."),
    ("/quit", "Leave; so does Ctrl-D."),
];

/// What somebody typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed<'a> {
    /// Nothing.
    Nothing,
    /// What can be typed?
    Help,
    /// Which skills are there?
    Skills,
    /// What is behind the call of this number, or the last one?
    Expand(Option<usize>),
    /// A new chat.
    New,
    /// Which chats are there?
    Chats,
    /// Enough.
    Quit,
    /// A word for the terminal with something behind it that it does not take.
    Odd(&'static str),
    /// Something for the model. `/name` calls a skill.
    Message(&'a str),
}

/// Reads a line, or several that were pasted.
pub(super) fn typed(line: &str) -> Typed<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Typed::Nothing;
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let alone =
        |typed: Typed<'static>, how: &'static str| if rest.is_empty() { typed } else { Typed::Odd(how) };
    match word {
        "/help" | "/?" => alone(Typed::Help, "/help stands alone"),
        "/skills" => alone(Typed::Skills, "/skills stands alone"),
        "/new" => alone(Typed::New, "/new stands alone; the message follows in the next line"),
        "/chats" => alone(Typed::Chats, "/chats stands alone"),
        "/quit" | "/exit" => alone(Typed::Quit, "/quit stands alone"),
        "/expand" if rest.is_empty() => Typed::Expand(None),
        "/expand" => match rest.trim_matches(['[', ']']).parse() {
            Ok(number) => Typed::Expand(Some(number)),
            Err(_) => Typed::Odd("/expand takes the number of a call, such as /expand 2"),
        },
        _ => Typed::Message(text),
    }
}

/// Whether more lines are to come: a backslash at the end says so.
pub(super) fn goes_on(line: &str) -> bool {
    line.ends_with('\\')
}

/// Several lines that ended with a backslash as one message.
pub(super) fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_terminal_and_everything_else() {
        assert_eq!(typed(" \n"), Typed::Nothing);
        assert_eq!(typed("/help"), Typed::Help);
        assert_eq!(typed("/quit now"), Typed::Odd("/quit stands alone"));
        assert_eq!(typed("/expand"), Typed::Expand(None));
        assert_eq!(typed("/expand [12]"), Typed::Expand(Some(12)));
        assert_eq!(typed("/expand all"), Typed::Odd("/expand takes the number of a call, such as /expand 2"));
        assert_eq!(typed(" /pdf fill in \n"), Typed::Message("/pdf fill in"));
        assert_eq!(typed("helpful"), Typed::Message("helpful"));
        for (word, _) in WORDS {
            assert!(!matches!(typed(word), Typed::Message(_)), "{word}");
        }
    }

    #[test]
    fn a_backslash_goes_on() {
        assert!(goes_on("a\\") && !goes_on("a\\b"));
        assert_eq!(joined("a\\\nb\nc\\d"), "a\nb\nc\\d");
    }
}
