//! Talking to git's `upload-pack`: which names there are, and the pack of one commit without its history.
//!
//! Version 2 of the protocol where the server speaks it, else 0: an ssh server passes the wish for another version on
//! only if it is told to, and a few hosts know no other.

use std::io::{BufReader, Read};

use gix_hash::ObjectId;

use super::error::GitError;
use super::packet::{Packet, Packets, put};
use super::refs::{NAME_MAX, REFS_MAX, Ref, Refs};
use prowess_archive::limits::FILE_MAX;

/// The way to a server.
pub(super) trait Link {
    /// What the server says first.
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError>;

    /// Sends a request and gives the answer to it.
    fn ask(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError>;
}

/// A server that has greeted us.
pub(super) struct Server<'l> {
    link: &'l mut dyn Link,
    can: Capabilities,
    /// The names, if it speaks version 0 and so has said them.
    refs: Option<Refs>,
    format: gix_hash::Kind,
}

/// A pack on its way.
pub(super) struct Incoming<'l> {
    pub(super) pack: Box<dyn Read + 'l>,
    /// Whether the server was asked to leave out what is too large for us.
    pub(super) filtered: bool,
}

/// What a server can do: words, some with a value after `=`.
#[derive(Debug, Default)]
struct Capabilities(Vec<String>);

impl Capabilities {
    fn value(&self, name: &str) -> Option<&str> {
        let of = |word: &'_ String| word.len() == name.len() || word[name.len()..].starts_with('=');
        let word = self.0.iter().find(|word| word.starts_with(name) && of(word))?;
        Some(word[name.len()..].trim_start_matches('='))
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

const AGENT: &str = concat!("agent=prowess/", env!("CARGO_PKG_VERSION"));

impl<'l> Server<'l> {
    /// Listens to the greeting.
    pub(super) fn greet(link: &'l mut dyn Link) -> Result<Self, GitError> {
        let (can, refs) = greeting(&mut Packets::new(link.greeting()?))?;
        let format = match can.value("object-format") {
            None | Some("sha1") => gix_hash::Kind::Sha1,
            Some("sha256") => gix_hash::Kind::Sha256,
            Some(other) => {
                let what = format!("the repository uses the hash {}", super::packet::words(other.as_bytes()));
                return Err(GitError::Unsupported { what });
            }
        };
        Ok(Self { link, can, refs, format })
    }

    /// The hash of the repository.
    pub(super) fn format(&self) -> gix_hash::Kind {
        self.format
    }

    /// The names that begin in one of these ways. A server may give more.
    pub(super) fn refs(&mut self, prefixes: &[String]) -> Result<Refs, GitError> {
        if let Some(refs) = &self.refs {
            return Ok(refs.clone());
        }
        let mut request = Vec::new();
        put(&mut request, "command=ls-refs");
        self.put_common(&mut request);
        request.extend_from_slice(b"0001");
        for option in ["peel", "symrefs"] {
            put(&mut request, option);
        }
        for prefix in prefixes {
            put(&mut request, &format!("ref-prefix {prefix}"));
        }
        request.extend_from_slice(b"0000");
        let mut packets = Packets::new(BufReader::new(self.link.ask(&request)?));
        let mut refs = Refs::default();
        while let Packet::Data(line) = packets.line()? {
            add(&mut refs, line)?;
        }
        Ok(refs)
    }

    /// The pack of a commit, or of the tag of one, without what came before it.
    pub(super) fn pack(self, want: ObjectId) -> Result<Incoming<'l>, GitError> {
        match self.refs {
            None => self.pack_2(want),
            Some(_) => self.pack_0(want),
        }
    }

    fn put_common(&self, request: &mut Vec<u8>) {
        if self.can.has("agent") {
            put(request, AGENT);
        }
        if self.can.has("object-format") {
            put(request, &format!("object-format={}", self.format));
        }
    }

    fn pack_2(self, want: ObjectId) -> Result<Incoming<'l>, GitError> {
        let features = self.can.value("fetch").unwrap_or_default();
        let filtered = features.split(' ').any(|feature| feature == "filter");
        let mut request = Vec::new();
        put(&mut request, "command=fetch");
        self.put_common(&mut request);
        request.extend_from_slice(b"0001");
        put(&mut request, "no-progress");
        put(&mut request, "ofs-delta");
        if features.split(' ').any(|feature| feature == "shallow") {
            put(&mut request, "deepen 1");
        }
        if filtered {
            put(&mut request, &format!("filter blob:limit={}", FILE_MAX + 1));
        }
        put(&mut request, &format!("want {want}"));
        put(&mut request, "done");
        request.extend_from_slice(b"0000");
        let mut packets = Packets::new(self.link.ask(&request)?);
        loop {
            match packets.line()? {
                Packet::Data(b"packfile") => break,
                // Where history was cut, and what ends that part.
                Packet::Data(_) | Packet::Delimiter => {}
                Packet::Flush => return Err(GitError::damaged("the server sends no pack")),
            }
        }
        Ok(Incoming { pack: Box::new(packets.side_band()), filtered })
    }

    fn pack_0(self, want: ObjectId) -> Result<Incoming<'l>, GitError> {
        if !self.can.has("side-band-64k") {
            return Err(GitError::Unsupported { what: "the server's git is too old".to_owned() });
        }
        let mut words = vec!["side-band-64k", "ofs-delta", "no-progress"];
        words.retain(|word| self.can.has(word));
        let mut line = format!("want {want} {}", words.join(" "));
        if self.can.has("agent") {
            line = format!("{line} {AGENT}");
        }
        if self.can.has("object-format") {
            line = format!("{line} object-format={}", self.format);
        }
        let shallow = self.can.has("shallow");
        let filtered = self.can.has("filter");
        if filtered {
            line.push_str(" filter");
        }
        let mut request = Vec::new();
        put(&mut request, &line);
        if shallow {
            put(&mut request, "deepen 1");
        }
        if filtered {
            put(&mut request, &format!("filter blob:limit={}", FILE_MAX + 1));
        }
        request.extend_from_slice(b"0000");
        put(&mut request, "done");
        let mut packets = Packets::new(self.link.ask(&request)?);
        if shallow {
            while let Packet::Data(_) = packets.line()? {}
        }
        match packets.line()? {
            Packet::Data(b"NAK") => Ok(Incoming { pack: Box::new(packets.side_band()), filtered }),
            _ => Err(GitError::damaged("the server answers something else than it was asked")),
        }
    }
}

/// What the server can do, and in version 0 the names.
fn greeting(packets: &mut Packets<impl Read>) -> Result<(Capabilities, Option<Refs>), GitError> {
    let mut first = packets.line()?;
    if let Packet::Data(line) = first
        && line.starts_with(b"# service=")
    {
        // Over http, a greeting comes after a line about the service and a flush.
        packets.line()?;
        first = packets.line()?;
    }
    let mut can = Capabilities::default();
    match first {
        Packet::Data(b"version 2") => {
            while let Packet::Data(line) = packets.line()? {
                can.0.push(String::from_utf8_lossy(line).into_owned());
                if can.0.len() > 1_000 {
                    return Err(GitError::damaged("the server's greeting has no end"));
                }
            }
            return Ok((can, None));
        }
        Packet::Data(b"version 1") => first = packets.line()?,
        Packet::Data(_) | Packet::Flush | Packet::Delimiter => {}
    }
    let mut refs = Refs::default();
    while let Packet::Data(line) = first {
        let (line, words) = match line.iter().position(|byte| *byte == 0) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        if refs == Refs::default() {
            let words = String::from_utf8_lossy(words);
            can.0.extend(words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
        }
        add(&mut refs, line)?;
        first = packets.line()?;
    }
    let head = can.0.iter().find_map(|word| word.strip_prefix("symref=HEAD:"));
    refs.head_target = head.map(str::to_owned);
    Ok((can, Some(refs)))
}

/// Takes in a line such as `ID NAME`, in version 2 followed by more words.
fn add(refs: &mut Refs, line: &[u8]) -> Result<(), GitError> {
    let Ok(line) = std::str::from_utf8(line) else { return Ok(()) };
    let mut words = line.split(' ');
    let (Some(id), Some(name)) = (words.next(), words.next()) else {
        return Err(GitError::damaged("a name of the server's has no commit"));
    };
    let hex = |text: &str| ObjectId::from_hex(text.as_bytes()).ok();
    // In a repository without commits, version 0 has only capabilities to tell.
    let Some(id) = hex(id).filter(|_| name != "capabilities^{}") else {
        // `unborn HEAD`, where it was asked for.
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
        // Nobody can have asked for it.
    } else if refs.all.len() >= REFS_MAX {
        return Err(GitError::damaged("the repository has too many names"));
    } else {
        refs.all.push(Ref { name: name.to_owned(), id, peeled });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
