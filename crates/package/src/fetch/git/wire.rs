//! The protocol of git's `upload-pack`: lists refs and fetches the pack of one commit without its history.
//!
//! Uses version 2 of the protocol if the server supports it, else version 0: ssh servers forward the requested
//! version only if they are configured to, and some hosts support only version 0.

use std::io::{BufReader, Read};

use gix_hash::ObjectId;

use super::error::GitError;
use super::packet::{Packet, PacketReader, write_line};
use super::refs::{NAME_MAX, REFS_MAX, Ref, Refs};
use prowess_archive::limits::FILE_MAX;

/// A connection to a server.
pub(super) trait GitTransport {
    /// Returns the greeting of the server.
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError>;

    /// Sends a request and returns the response.
    fn request(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError>;
}

/// A server, after its greeting.
pub(super) struct UploadPack<'l> {
    transport: &'l mut dyn GitTransport,
    capabilities: GitCapabilities,
    /// The refs, if the greeting contained them (version 0).
    refs: Option<Refs>,
    format: gix_hash::Kind,
}

/// A pack that is being received.
pub(super) struct IncomingPack<'l> {
    pub(super) pack: Box<dyn Read + 'l>,
    /// Whether the server was asked to omit blobs that are too large.
    pub(super) filtered: bool,
}

/// The capabilities of a server: words, some with a value after `=`.
#[derive(Debug, Default)]
struct GitCapabilities(Vec<String>);

impl GitCapabilities {
    fn value(&self, name: &str) -> Option<&str> {
        let is_exact = |word: &'_ String| word.len() == name.len() || word[name.len()..].starts_with('=');
        let word = self.0.iter().find(|word| word.starts_with(name) && is_exact(word))?;
        Some(word[name.len()..].trim_start_matches('='))
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

const AGENT: &str = concat!("agent=prowess/", env!("CARGO_PKG_VERSION"));

impl<'l> UploadPack<'l> {
    /// Reads the greeting.
    pub(super) fn connect(link: &'l mut dyn GitTransport) -> Result<Self, GitError> {
        let (capabilities, refs) = read_greeting(&mut PacketReader::new(link.greeting()?))?;
        let format = match capabilities.value("object-format") {
            None | Some("sha1") => gix_hash::Kind::Sha1,
            Some("sha256") => gix_hash::Kind::Sha256,
            Some(name) => {
                let hash = super::packet::display_message(name.as_bytes());
                return Err(GitError::Unsupported {
                    message: format!("the repository uses the unsupported hash {hash}"),
                });
            }
        };
        Ok(Self { transport: link, capabilities, refs, format })
    }

    /// Returns the hash function of the repository.
    pub(super) fn hash_kind(&self) -> gix_hash::Kind {
        self.format
    }

    /// Returns the refs with these prefixes. The server may return more.
    pub(super) fn refs(&mut self, prefixes: &[String]) -> Result<Refs, GitError> {
        if let Some(refs) = &self.refs {
            return Ok(refs.clone());
        }
        let mut request = Vec::new();
        write_line(&mut request, "command=ls-refs");
        self.write_common(&mut request);
        request.extend_from_slice(b"0001");
        for option in ["peel", "symrefs"] {
            write_line(&mut request, option);
        }
        for prefix in prefixes {
            write_line(&mut request, &format!("ref-prefix {prefix}"));
        }
        request.extend_from_slice(b"0000");
        let mut packets = PacketReader::new(BufReader::new(self.transport.request(&request)?));
        let mut refs = Refs::default();
        while let Packet::Data(line) = packets.read_line()? {
            add_ref(&mut refs, line)?;
        }
        Ok(refs)
    }

    /// Requests the pack of a commit, or of an annotated tag, without history.
    pub(super) fn fetch_pack(self, want: ObjectId) -> Result<IncomingPack<'l>, GitError> {
        match self.refs {
            None => self.fetch_pack_v2(want),
            Some(_) => self.fetch_pack_v0(want),
        }
    }

    fn write_common(&self, request: &mut Vec<u8>) {
        if self.capabilities.has("agent") {
            write_line(request, AGENT);
        }
        if self.capabilities.has("object-format") {
            write_line(request, &format!("object-format={}", self.format));
        }
    }

    fn fetch_pack_v2(self, want: ObjectId) -> Result<IncomingPack<'l>, GitError> {
        let features = self.capabilities.value("fetch").unwrap_or_default();
        let filtered = features.split(' ').any(|feature| feature == "filter");
        let mut request = Vec::new();
        write_line(&mut request, "command=fetch");
        self.write_common(&mut request);
        request.extend_from_slice(b"0001");
        write_line(&mut request, "no-progress");
        write_line(&mut request, "ofs-delta");
        if features.split(' ').any(|feature| feature == "shallow") {
            write_line(&mut request, "deepen 1");
        }
        if filtered {
            write_line(&mut request, &format!("filter blob:limit={}", FILE_MAX + 1));
        }
        write_line(&mut request, &format!("want {want}"));
        write_line(&mut request, "done");
        request.extend_from_slice(b"0000");
        let mut packets = PacketReader::new(self.transport.request(&request)?);
        loop {
            match packets.read_line()? {
                Packet::Data(b"packfile") => break,
                // The section about shallow commits and its end.
                Packet::Data(_) | Packet::Delimiter => {}
                Packet::Flush => return Err(GitError::damaged("the server sent no pack")),
            }
        }
        Ok(IncomingPack { pack: Box::new(packets.side_band()), filtered })
    }

    fn fetch_pack_v0(self, want: ObjectId) -> Result<IncomingPack<'l>, GitError> {
        if !self.capabilities.has("side-band-64k") {
            return Err(GitError::Unsupported {
                message: "the git version of the server is too old".to_owned(),
            });
        }
        let mut words = vec!["side-band-64k", "ofs-delta", "no-progress"];
        words.retain(|word| self.capabilities.has(word));
        let mut line = format!("want {want} {}", words.join(" "));
        if self.capabilities.has("agent") {
            line = format!("{line} {AGENT}");
        }
        if self.capabilities.has("object-format") {
            line = format!("{line} object-format={}", self.format);
        }
        let shallow = self.capabilities.has("shallow");
        let filtered = self.capabilities.has("filter");
        if filtered {
            line.push_str(" filter");
        }
        let mut request = Vec::new();
        write_line(&mut request, &line);
        if shallow {
            write_line(&mut request, "deepen 1");
        }
        if filtered {
            write_line(&mut request, &format!("filter blob:limit={}", FILE_MAX + 1));
        }
        request.extend_from_slice(b"0000");
        write_line(&mut request, "done");
        let mut packets = PacketReader::new(self.transport.request(&request)?);
        if shallow {
            while let Packet::Data(_) = packets.read_line()? {}
        }
        match packets.read_line()? {
            Packet::Data(b"NAK") => Ok(IncomingPack { pack: Box::new(packets.side_band()), filtered }),
            _ => Err(GitError::damaged("unexpected response of the server")),
        }
    }
}

/// Reads the capabilities of the server and, in version 0, its refs.
fn read_greeting(packets: &mut PacketReader<impl Read>) -> Result<(GitCapabilities, Option<Refs>), GitError> {
    let mut first = packets.read_line()?;
    if let Packet::Data(line) = first
        && line.starts_with(b"# service=")
    {
        // Over HTTP, a line about the service and a flush precede the greeting.
        packets.read_line()?;
        first = packets.read_line()?;
    }
    let mut capabilities = GitCapabilities::default();
    match first {
        Packet::Data(b"version 2") => {
            while let Packet::Data(line) = packets.read_line()? {
                capabilities.0.push(String::from_utf8_lossy(line).into_owned());
                if capabilities.0.len() > 1_000 {
                    return Err(GitError::damaged("the greeting of the server is too long"));
                }
            }
            return Ok((capabilities, None));
        }
        Packet::Data(b"version 1") => first = packets.read_line()?,
        Packet::Data(_) | Packet::Flush | Packet::Delimiter => {}
    }
    let mut refs = Refs::default();
    while let Packet::Data(line) = first {
        let (line, words) = match line.iter().position(|byte| *byte == 0) {
            Some(end) => (&line[..end], &line[end + 1..]),
            None => (line, &[][..]),
        };
        if refs == Refs::default() {
            let words = String::from_utf8_lossy(words);
            capabilities.0.extend(words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
        }
        add_ref(&mut refs, line)?;
        first = packets.read_line()?;
    }
    let head = capabilities.0.iter().find_map(|word| word.strip_prefix("symref=HEAD:"));
    refs.head_target = head.map(str::to_owned);
    Ok((capabilities, Some(refs)))
}

/// Adds a ref from a line such as `ID NAME`, followed by attributes in version 2.
fn add_ref(refs: &mut Refs, line: &[u8]) -> Result<(), GitError> {
    let Ok(line) = std::str::from_utf8(line) else { return Ok(()) };
    let mut words = line.split(' ');
    let (Some(id), Some(name)) = (words.next(), words.next()) else {
        return Err(GitError::damaged("a line with a ref is incomplete"));
    };
    let hex = |text: &str| ObjectId::from_hex(text.as_bytes()).ok();
    // In an empty repository, version 0 sends a placeholder with its capabilities.
    let Some(id) = hex(id).filter(|_| name != "capabilities^{}") else {
        // `unborn HEAD`.
        return Ok(());
    };
    let (mut peeled, mut target) = (None, None);
    for word in words {
        match word.split_once(':') {
            Some(("peeled", id)) => peeled = hex(id),
            Some(("symref-target", name)) => target = Some(name.to_owned()),
            _ => {}
        }
    }
    if name == "HEAD" {
        (refs.head, refs.head_target) = (Some(id), target);
    } else if let Some(tag) = name.strip_suffix("^{}") {
        if let Some(last) = refs.all.last_mut().filter(|last| last.name == tag) {
            last.peeled = Some(id);
        }
    } else if name.len() > NAME_MAX {
        // Too long to match a reference.
    } else if refs.all.len() >= REFS_MAX {
        return Err(GitError::damaged("the repository has too many refs"));
    } else {
        refs.all.push(Ref { name: name.to_owned(), id, peeled });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
