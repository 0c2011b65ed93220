//! Parser for `text/event-stream`, independent of how the bytes are split. Memory is limited.

use std::collections::VecDeque;

/// The maximum length of a line, in bytes. Some providers repeat the whole request in one line.
pub(super) const LINE_MAX: usize = 8 * 1024 * 1024;

/// The maximum length of an event, in bytes.
pub(super) const EVENT_MAX: usize = 16 * 1024 * 1024;

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SseEvent {
    /// The name, or an empty string.
    pub(super) name: String,
    pub(super) data: String,
}

/// A line or an event exceeds this limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong(pub(super) usize);

/// Parses bytes into events.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed that follows belongs to the same line end.
    after_cr: bool,
    /// The first line is complete, so a byte-order mark is no longer skipped.
    started: bool,
    event: SseEvent,
    has_data: bool,
    ready: VecDeque<SseEvent>,
}

impl SseParser {
    /// Adds bytes. After an error, the parser must not be used again.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let mut remaining = bytes;
        if self.after_cr && !remaining.is_empty() {
            self.after_cr = false;
            remaining = remaining.strip_prefix(b"\n").unwrap_or(remaining);
        }
        while let Some(end) = remaining.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.add(&remaining[..end])?;
            self.end_line()?;
            let was_return = remaining[end] == b'\r';
            remaining = &remaining[end + 1..];
            if was_return {
                match remaining.split_first() {
                    Some((b'\n', following)) => remaining = following,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
        }
        self.add(remaining)
    }

    /// Returns the next complete event.
    pub(super) fn next(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LINE_MAX {
            return Err(TooLong(LINE_MAX));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !self.started {
            self.started = true;
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(event);
            }
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]))
            }
            None => (line, &[][..]),
        };
        match field {
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if self.event.data.len() + value.len() + 1 > EVENT_MAX {
                    return Err(TooLong(EVENT_MAX));
                }
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            // Comments keep a connection alive; ids and delays are only for clients that reconnect.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser.push(piece).unwrap();
            while let Some(event) = parser.next() {
                events.push((event.name, event.data));
            }
        }
        events
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn events_follow_the_standard() {
        let text = "\u{feff}data: a\n\nevent: x\ndata:b\ndata:  c\nid: 7\nretry: 1\n\n: keep alive\n\nevent: lost\n\ndata\n\ndata: d\r\n\r\ndata: e\r\rdata: unfinished\n";
        let expected = [event("", "a"), event("x", "b\n c"), event("", ""), event("", "d"), event("", "e")];
        assert_eq!(parse(&[text.as_bytes()]), expected);
    }

    #[test]
    fn a_character_may_be_split() {
        assert_eq!(parse(&[b"data: \xe2\x82", b"\xac\n", b"\n"]), [event("", "€")]);
        assert_eq!(parse(&[b"data: \xff\n\n"]), [event("", "\u{fffd}")]);
    }

    #[test]
    fn lines_and_events_are_limited() {
        let mut parser = SseParser::default();
        let piece = vec![b'x'; LINE_MAX / 2];
        assert_eq!(parser.push(&piece), Ok(()));
        assert_eq!(parser.push(&piece), Ok(()));
        assert_eq!(parser.push(b"x"), Err(TooLong(LINE_MAX)));
        let mut parser = SseParser::default();
        let line = [b"data: ", vec![b'x'; LINE_MAX - 10].as_slice(), b"\n"].concat();
        let pushed: Vec<_> = (0..3).map(|_| parser.push(&line)).collect();
        assert_eq!(pushed, [Ok(()), Ok(()), Err(TooLong(EVENT_MAX))]);
        assert_eq!(parser.next(), None);
    }

    proptest! {
        #[test]
        fn splitting_does_not_matter(
            lines in proptest::collection::vec("(data|event|id|)(:| :|: )[a-zé€😀:]{0,6}|", 0..12),
            ends in proptest::collection::vec(proptest::sample::select(vec!["\n", "\r\n", "\r"]), 12),
            cuts in proptest::collection::vec(0_usize..400, 0..12),
        ) {
            let text: String = lines.iter().zip(&ends).map(|(line, end)| format!("{line}{end}")).collect();
            let bytes = text.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&pieces), parse(&[bytes]));
        }
    }
}
