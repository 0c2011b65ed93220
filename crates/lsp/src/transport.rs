//! Messages over standard input and output: a header with the length, then JSON.
//!
//! Unlike the transport of `lsp-server`, this one limits the size of messages, and answers malformed ones instead of
//! ending.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// The maximum size of a message, in bytes.
pub const MESSAGE_MAX: usize = 64 * 1024 * 1024;

/// The maximum size of the headers of a message, in bytes.
const HEADERS_MAX: u64 = 4 * 1024;

/// A message as read from a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The content of the message.
    Content(Vec<u8>),
    /// A message of this size, which exceeds the limit and was discarded.
    TooLarge(u64),
}

/// Why no more messages can be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream failed or ended inside of a message.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The headers are not valid, so that the next message cannot be found.
    #[error("invalid headers: {0}")]
    Headers(&'static str),
}

/// Reads the next message of at most `max` bytes. Returns `None` at the end of the stream.
///
/// ```
/// use prowess_lsp::transport::{Frame, read_frame};
///
/// let mut stream = &b"Content-Length: 2\r\n\r\n{}"[..];
/// assert_eq!(read_frame(&mut stream, 100).unwrap(), Some(Frame::Content(b"{}".to_vec())));
/// assert_eq!(read_frame(&mut stream, 100).unwrap(), None);
/// ```
pub fn read_frame(reader: &mut impl BufRead, max: usize) -> Result<Option<Frame>, FrameError> {
    let mut length = None;
    let mut remaining = HEADERS_MAX;
    loop {
        let mut line = Vec::new();
        let count = reader.by_ref().take(remaining).read_until(b'\n', &mut line)? as u64;
        if count == 0 && remaining == HEADERS_MAX {
            return Ok(None);
        }
        remaining -= count;
        if line.pop() != Some(b'\n') {
            let is_too_long = remaining == 0;
            return Err(match is_too_long {
                true => FrameError::Headers("they are too long"),
                false => io::Error::from(io::ErrorKind::UnexpectedEof).into(),
            });
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let line = std::str::from_utf8(line).map_err(|_| FrameError::Headers("they are not text"))?;
        let (name, value) = line.split_once(':').ok_or(FrameError::Headers("a line has no colon"))?;
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse::<u64>();
            length = Some(value.map_err(|_| FrameError::Headers("Content-Length is not a number"))?);
        }
    }
    let length = length.ok_or(FrameError::Headers("Content-Length is missing"))?;
    if length > max as u64 {
        let discarded = io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        return match discarded == length {
            true => Ok(Some(Frame::TooLarge(length))),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        };
    }
    let mut content = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut content)?;
    match content.len() as u64 == length {
        true => Ok(Some(Frame::Content(content))),
        false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

/// Parses a message. Returns the error response for one that is malformed.
pub fn parse_message(frame: Frame) -> Result<Message, Value> {
    let content = match frame {
        Frame::Content(content) => content,
        Frame::TooLarge(size) => {
            let limit = MESSAGE_MAX / (1024 * 1024);
            let message = format!("the message has {size} bytes; at most {limit} MiB are allowed");
            return Err(error_response(Value::Null, ErrorCode::InvalidRequest, &message));
        }
    };
    let value: Value = serde_json::from_slice(&content).map_err(|error| {
        error_response(Value::Null, ErrorCode::ParseError, &format!("the message is not valid JSON: {error}"))
    })?;
    let id = value.get("id").cloned().unwrap_or_default();
    let is_id = id.is_null() || id.is_string() || id.as_i64().is_some_and(|id| i32::try_from(id).is_ok());
    let message = match (is_id, serde_json::from_value(value)) {
        (true, Ok(message)) => return Ok(message),
        (true, Err(_)) => "the message is not a request, a notification or a response",
        (false, _) => "the id is neither a 32-bit integer nor a string",
    };
    Err(error_response(if is_id { id } else { Value::Null }, ErrorCode::InvalidRequest, message))
}

fn error_response(id: Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": message}})
}

/// The threads that read and write messages.
#[derive(Debug)]
pub struct TransportThreads {
    writer: JoinHandle<io::Result<()>>,
}

impl TransportThreads {
    /// Waits until every message has been written. The connection must have been dropped before.
    pub fn join(self) -> io::Result<()> {
        // The reader may still wait for input and ends with the process.
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

/// Starts threads that read messages from `reader` and write messages to `writer`. The receiver of the connection is
/// closed at the end of the input.
pub fn connect<R, W>(mut reader: R, writer: W) -> (Connection, TransportThreads)
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    let (incoming, receiver) = crossbeam_channel::bounded(64);
    let (sender, outgoing) = crossbeam_channel::unbounded::<Message>();
    let writer = Arc::new(Mutex::new(writer));
    let responder = Arc::clone(&writer);
    std::thread::spawn(move || {
        while let Ok(Some(frame)) = read_frame(&mut reader, MESSAGE_MAX) {
            let sent = match parse_message(frame) {
                Ok(message) => incoming.send(message).is_ok(),
                Err(response) => {
                    let mut writer = responder.lock().unwrap_or_else(PoisonError::into_inner);
                    write_content(&mut *writer, response.to_string().as_bytes()).is_ok()
                }
            };
            if !sent {
                break;
            }
        }
    });
    let writer = std::thread::spawn(move || {
        for message in outgoing {
            message.write(&mut *writer.lock().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(())
    });
    (Connection { sender, receiver }, TransportThreads { writer })
}

fn write_content(writer: &mut impl Write, content: &[u8]) -> io::Result<()> {
    write!(writer, "Content-Length: {}\r\n\r\n", content.len())?;
    writer.write_all(content)?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut stream: &[u8]) -> String {
        let mut texts = Vec::new();
        loop {
            match read_frame(&mut stream, 10) {
                Ok(Some(Frame::Content(content))) => texts.push(String::from_utf8(content).unwrap()),
                Ok(Some(Frame::TooLarge(size))) => texts.push(format!("too large: {size}")),
                Ok(None) => return texts.join(", "),
                Err(error) => return format!("{}, {error}", texts.join(", ")),
            }
        }
    }

    #[test]
    fn messages_are_separated_by_their_length() {
        assert_eq!(frames(b""), "");
        assert_eq!(frames(b"Content-Length: 2\r\n\r\n{}content-length:1\nContent-Type: x\n\n1"), "{}, 1");
        assert_eq!(
            frames(b"Content-Length: 11\r\n\r\n12345678901Content-Length: 0\r\n\r\n"),
            "too large: 11, "
        );
    }

    #[test]
    fn invalid_headers_and_an_early_end_are_errors() {
        for (stream, expected) in [
            (&b"Content-Length: x\r\n\r\n"[..], ", invalid headers: Content-Length is not a number"),
            (b"Content-Length: -1\r\n\r\n", ", invalid headers: Content-Length is not a number"),
            (b"\r\n", ", invalid headers: Content-Length is missing"),
            (b"{\"jsonrpc\"\r\n\r\n", ", invalid headers: a line has no colon"),
            (b"\xff: 1\r\n", ", invalid headers: they are not text"),
            (b"Content-Length: 5\r\n\r\n{}", ", unexpected end of file"),
            (b"Content-Length: 50\r\n\r\n{}", ", unexpected end of file"),
            (b"Content-Length: 5", ", unexpected end of file"),
        ] {
            assert_eq!(frames(stream), expected);
        }
        let endless = [b"a: b\n".repeat(1_000), b"\n".to_vec()].concat();
        assert_eq!(frames(&endless), ", invalid headers: they are too long");
    }

    #[test]
    fn malformed_messages_get_an_error_response() {
        let response = |text: &str| parse_message(Frame::Content(text.into())).unwrap_err().to_string();
        insta::assert_snapshot!([response("{"), response("[]"), response(r#"{"id":7}"#), response(r#"{"id":1.5,"method":"x"}"#)].join("\n"), @r#"
    {"error":{"code":-32700,"message":"the message is not valid JSON: EOF while parsing an object at line 1 column 1"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"the message is not a request, a notification or a response"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"the message is not a request, a notification or a response"},"id":7,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"the id is neither a 32-bit integer nor a string"},"id":null,"jsonrpc":"2.0"}
    "#);
        assert!(parse_message(Frame::Content(br#"{"jsonrpc":"2.0","method":"exit"}"#.to_vec())).is_ok());
        assert!(parse_message(Frame::TooLarge(9)).unwrap_err().to_string().contains("9 bytes"));
    }
}
