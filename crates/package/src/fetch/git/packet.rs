//! The packet lines of the git protocol.

use std::io::{self, Read};

use prowess_format::hidden;

use super::error::GitError;

/// The maximum size of a packet, including the four bytes of its length.
const PACKET_MAX: usize = 65_520;

/// The maximum length of a reported server message.
const MESSAGE_MAX: usize = 400;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    /// The end of a message.
    Flush,
    /// The end of a section of a message, or of a response.
    Delimiter,
    Data(&'a [u8]),
}

/// Reads packets.
pub(super) struct PacketReader<R> {
    from: R,
    buffer: Vec<u8>,
}

impl<R: Read> PacketReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, buffer: Vec::new() }
    }

    /// Reads the next packet.
    pub(super) fn read_packet(&mut self) -> io::Result<Packet<'_>> {
        let mut length = [0; 4];
        self.from.read_exact(&mut length)?;
        // Unlike git, `from_str_radix` accepts a sign.
        let digits = std::str::from_utf8(&length).ok().filter(|digits| !digits.starts_with('+'));
        match digits.and_then(|digits| usize::from_str_radix(digits, 16).ok()) {
            Some(0) => Ok(Packet::Flush),
            Some(1 | 2) => Ok(Packet::Delimiter),
            Some(length @ 4..=PACKET_MAX) => {
                self.buffer.resize(length - 4, 0);
                self.from.read_exact(&mut self.buffer)?;
                Ok(Packet::Data(&self.buffer))
            }
            _ => Err(io::Error::other(GitError::damaged("the data is not a git packet"))),
        }
    }

    /// Reads the next packet as a line without its newline. An error packet becomes an error.
    pub(super) fn read_line(&mut self) -> Result<Packet<'_>, GitError> {
        match self.read_packet().map_err(|error| GitError::from_io(&error))? {
            Packet::Data(data) => {
                let line = data.strip_suffix(b"\n").unwrap_or(data);
                match line.strip_prefix(b"ERR ") {
                    Some(message) => Err(rejection(message)),
                    None => Ok(Packet::Data(line)),
                }
            }
            packet => Ok(packet),
        }
    }

    /// Returns a reader of the data channel of multiplexed packets.
    pub(super) fn side_band(self) -> SideBand<R> {
        SideBand { packets: self, position: 0, end: 0, is_finished: false }
    }
}

/// The data channel of a server: a pack.
pub(super) struct SideBand<R> {
    packets: PacketReader<R>,
    /// The unread range of the last packet.
    position: usize,
    end: usize,
    is_finished: bool,
}

impl<R: Read> Read for SideBand<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.position == self.end && !self.is_finished {
            match self.packets.read_packet()? {
                Packet::Flush | Packet::Delimiter => self.is_finished = true,
                Packet::Data([1, data @ ..]) => (self.position, self.end) = (1, 1 + data.len()),
                // Progress messages.
                Packet::Data([2, ..]) => {}
                Packet::Data([3, message @ ..]) => return Err(io::Error::other(rejection(message))),
                Packet::Data(_) => {
                    return Err(io::Error::other(GitError::damaged("unknown side-band channel")));
                }
            }
        }
        let unread = self.packets.buffer.get(self.position..self.end).unwrap_or_default();
        let count = unread.len().min(out.len());
        out[..count].copy_from_slice(&unread[..count]);
        self.position += count;
        Ok(count)
    }
}

/// Appends a line as a packet.
pub(super) fn write_line(out: &mut Vec<u8>, line: &str) {
    out.extend_from_slice(format!("{:04x}{line}\n", line.len() + 5).as_bytes());
}

/// Returns a message of a server or of `ssh`, shortened and escaped.
pub(super) fn display_message(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let short: String = text.trim().chars().take(MESSAGE_MAX).collect();
    hidden::escape_for_display(&short).into_owned()
}

fn rejection(message: &[u8]) -> GitError {
    GitError::Rejected { message: display_message(message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_are_distinguished() {
        let mut out = Vec::new();
        write_line(&mut out, "hello");
        out.extend_from_slice(b"00010000000dERR no\x1b[m\n");
        let mut packets = PacketReader::new(out.as_slice());
        assert_eq!(packets.read_line(), Ok(Packet::Data(b"hello")));
        assert_eq!(packets.read_line(), Ok(Packet::Delimiter));
        assert_eq!(packets.read_line(), Ok(Packet::Flush));
        assert_eq!(packets.read_line().unwrap_err().to_string(), "the server reported: no\\u{1b}[m");
        for length in [b"+008abcd", b"-008abcd", b"0xabcdef"] {
            assert!(PacketReader::new(length.as_slice()).read_packet().is_err());
        }
    }

    #[test]
    fn a_pack_is_read_from_its_channel() {
        let bytes = b"0007\x01ab0008\x02xyz0006\x01c0000".as_slice();
        let mut pack = Vec::new();
        PacketReader::new(bytes).side_band().read_to_end(&mut pack).unwrap();
        assert_eq!(pack, b"abc");
        let error =
            PacketReader::new(b"0007\x03no".as_slice()).side_band().read_to_end(&mut pack).unwrap_err();
        assert_eq!(GitError::from_io(&error).to_string(), "the server reported: no");
    }

    proptest! {
        #[test]
        fn arbitrary_input_does_not_panic(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = PacketReader::new(raw.as_slice()).side_band().read_to_end(&mut Vec::new());
        }
    }
}
