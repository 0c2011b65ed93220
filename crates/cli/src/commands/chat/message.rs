//! What is said: typed as an argument, piped in, or both.

use std::io::{IsTerminal, Read};

use prowess_chat::turn::MESSAGE_MAX;

use super::is_conversation;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;

/// The message; `None` where somebody types it at a terminal.
pub(super) fn of(typed: Option<&str>, output: &Output) -> Result<Option<String>, Failure> {
    let piped = match std::io::stdin().is_terminal() {
        true => None,
        false => Some(piped(std::io::stdin().lock())?),
    };
    if typed.is_none() && piped.is_none() && is_conversation(output) {
        return Ok(None);
    }
    let message = joined(typed, piped.as_deref());
    check(&message)?;
    Ok(Some(message))
}

/// What is piped in follows what is typed.
fn joined(typed: Option<&str>, piped: Option<&str>) -> String {
    let parts = [typed, piped].into_iter().flatten().map(|part| part.trim_end_matches(['\r', '\n']));
    parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Whether it can be said, before anything is kept.
pub(super) fn check(message: &str) -> Result<(), Failure> {
    if message.trim().is_empty() {
        let hint = "say something: prowess chat \"…\", or pipe it in";
        return Err(Failure::call("there is no message").hint(hint));
    }
    if message.len() > MESSAGE_MAX {
        return Err(too_long());
    }
    if message.contains('\0') {
        return Err(Failure::call("the message has U+0000 in it, which is not text"));
    }
    Ok(())
}

fn piped(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input.take(MESSAGE_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MESSAGE_MAX {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::call(format!("what is piped in is not UTF-8, from byte {at}"))
            .hint("convert it first, for example with iconv, or name a file of a skill in the message")
    })
}

fn too_long() -> Failure {
    let message = format!("the message has more than {MESSAGE_MAX} bytes, which is the most that is taken");
    Failure::new(ErrorCode::TooLarge, message).hint("say less, or put it into a file of a skill")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_in_follows_what_is_typed() {
        assert_eq!(joined(Some("Review"), Some("a\n")), "Review\n\na");
        assert_eq!(joined(None, Some("a\r\nb\n\n")), "a\r\nb");
        assert_eq!(joined(Some("Review"), Some(" \n")), "Review");
        assert_eq!(joined(None, None), "");
    }
}
