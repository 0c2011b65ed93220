//! Packets: the lines in which git's programs talk to one another.

use std::io::{self, Read};

use prowess_format::hidden;

use super::error::GitError;

/// The most bytes of one packet, with the four that say how many.
const PACKET_MAX: usize = 65_520;

/// The longest message of a server that is passed on.
const MESSAGE_MAX: usize = 400;

/// What a packet is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    /// The end of a message.
    Flush,
    /// The end of a part of a message, or of an answer.
    Delimiter,
    Data(&'a [u8]),
}

/// Reads packets.
pub(super) struct Packets<R> {
    from: R,
    buffer: Vec<u8>,
}

impl<R: Read> Packets<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, buffer: Vec::new() }
    }

    /// The next packet, whatever it holds.
    pub(super) fn raw(&mut self) -> io::Result<Packet<'_>> {
        let mut length = [0; 4];
        self.from.read_exact(&mut length)?;
        let length =
            std::str::from_utf8(&length).ok().and_then(|digits| usize::from_str_radix(digits, 16).ok());
        match length {
            Some(0) => Ok(Packet::Flush),
            Some(1 | 2) => Ok(Packet::Delimiter),
            Some(length @ 4..=PACKET_MAX) => {
                self.buffer.resize(length - 4, 0);
                self.from.read_exact(&mut self.buffer)?;
                Ok(Packet::Data(&self.buffer))
            }
            _ => Err(io::Error::other(GitError::damaged("what came is not a packet of git's"))),
        }
    }

    /// The next packet as a line without its end. What a server refuses with is an error.
    pub(super) fn line(&mut self) -> Result<Packet<'_>, GitError> {
        match self.raw().map_err(|error| GitError::from_io(&error))? {
            Packet::Data(data) => {
                let line = data.strip_suffix(b"\n").unwrap_or(data);
                match line.strip_prefix(b"ERR ") {
                    Some(message) => Err(refused(message)),
                    None => Ok(Packet::Data(line)),
                }
            }
            other => Ok(other),
        }
    }

    /// What follows, out of the channel for data of those that share the packets.
    pub(super) fn side_band(self) -> SideBand<R> {
        SideBand { packets: self, at: 0, end: 0, over: false }
    }
}

/// What a server sends beside its messages: a pack.
pub(super) struct SideBand<R> {
    packets: Packets<R>,
    /// What of the last packet is not yet read.
    at: usize,
    end: usize,
    over: bool,
}

impl<R: Read> Read for SideBand<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.end && !self.over {
            match self.packets.raw()? {
                Packet::Flush | Packet::Delimiter => self.over = true,
                Packet::Data([1, data @ ..]) => (self.at, self.end) = (1, 1 + data.len()),
                // What it does just now, for people.
                Packet::Data([2, ..]) => {}
                Packet::Data([3, message @ ..]) => return Err(io::Error::other(refused(message))),
                Packet::Data(_) => {
                    return Err(io::Error::other(GitError::damaged("there is no such channel")));
                }
            }
        }
        let left = self.packets.buffer.get(self.at..self.end).unwrap_or_default();
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }
}

/// Appends a line as a packet.
pub(super) fn put(out: &mut Vec<u8>, line: &str) {
    out.extend_from_slice(format!("{:04x}{line}\n", line.len() + 5).as_bytes());
}

/// What a server or `ssh` says, fit for a message.
pub(super) fn words(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let short: String = text.trim().chars().take(MESSAGE_MAX).collect();
    hidden::shown(&short).into_owned()
}

fn refused(message: &[u8]) -> GitError {
    GitError::Refused { message: words(message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_are_told_apart() {
        let mut out = Vec::new();
        put(&mut out, "hello");
        out.extend_from_slice(b"00010000000dERR no\x1b[m\n");
        let mut packets = Packets::new(out.as_slice());
        assert_eq!(packets.line(), Ok(Packet::Data(b"hello")));
        assert_eq!(packets.line(), Ok(Packet::Delimiter));
        assert_eq!(packets.line(), Ok(Packet::Flush));
        assert_eq!(packets.line().unwrap_err().to_string(), "the server says: no\\u{1b}[m");
    }

    #[test]
    fn a_pack_comes_out_of_its_channel() {
        let bytes = b"0007\x01ab0008\x02xyz0006\x01c0000".as_slice();
        let mut pack = Vec::new();
        Packets::new(bytes).side_band().read_to_end(&mut pack).unwrap();
        assert_eq!(pack, b"abc");
        let refused = Packets::new(b"0007\x03no".as_slice()).side_band().read_to_end(&mut pack).unwrap_err();
        assert_eq!(GitError::from_io(&refused).to_string(), "the server says: no");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Packets::new(raw.as_slice()).side_band().read_to_end(&mut Vec::new());
        }
    }
}
