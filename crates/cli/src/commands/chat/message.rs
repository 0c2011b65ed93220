//! The message, from the argument and standard input.

use std::io::{IsTerminal, Read};

use prowess_chat::turn::MESSAGE_MAX;

use super::is_interactive;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;

/// Returns the message, or `None` for an interactive chat.
pub(super) fn read_message(argument: Option<&str>, output: &Output) -> Result<Option<String>, Failure> {
    let stdin = match std::io::stdin().is_terminal() {
        true => None,
        false => Some(read_stdin(std::io::stdin().lock())?),
    };
    if argument.is_none() && stdin.is_none() && is_interactive(output) {
        return Ok(None);
    }
    let message = join(argument, stdin.as_deref());
    check_message(&message)?;
    Ok(Some(message))
}

/// Appends standard input to the argument.
fn join(argument: Option<&str>, stdin: Option<&str>) -> String {
    let parts = [argument, stdin].into_iter().flatten().map(|part| part.trim_end_matches(['\r', '\n']));
    parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Validates a message before anything is stored.
pub(super) fn check_message(message: &str) -> Result<(), Failure> {
    if message.trim().is_empty() {
        let hint = "pass a message as in `prowess chat \"…\"`, or pipe it to standard input";
        return Err(Failure::usage("no message given").hint(hint));
    }
    if message.len() > MESSAGE_MAX {
        return Err(too_long());
    }
    if message.contains('\0') {
        return Err(Failure::usage("the message contains U+0000"));
    }
    Ok(())
}

fn read_stdin(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input.take(MESSAGE_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MESSAGE_MAX {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Failure::usage(format!("standard input is not valid UTF-8 at byte {offset}"))
            .hint("convert it, for example with iconv")
    })
}

fn too_long() -> Failure {
    let message = format!("the message is larger than {MESSAGE_MAX} bytes");
    Failure::new(ErrorCode::TooLarge, message).hint("shorten it, or put it into a file of a skill")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_appended_to_the_argument() {
        assert_eq!(join(Some("Review"), Some("a\n")), "Review\n\na");
        assert_eq!(join(None, Some("a\r\nb\n\n")), "a\r\nb");
        assert_eq!(join(Some("Review"), Some(" \n")), "Review");
        assert_eq!(join(None, None), "");
    }
}
