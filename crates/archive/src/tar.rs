//! Tar, read strictly: files and folders only, one name and one size for each, and zeros after the end.

use super::gather::{Gather, shown};
use super::pax::{self, Pax, Reach};
use super::{ArchiveError, Liar};
use crate::MemoryTree;
use crate::limits::PATH_MAX;

const BLOCK: usize = 512;
/// The most of a record that says more about the next entry. Names are bounded, the rest is not for us.
const RECORD_MAX: u64 = 64 * 1024;

pub(crate) fn read(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    let mut rest = bytes;
    let mut gather = Gather::default();
    let mut next = Next::default();
    loop {
        let (block, after) =
            rest.split_first_chunk::<BLOCK>().ok_or(ArchiveError::Truncated("its entries"))?;
        if block.iter().all(|byte| *byte == 0) {
            return end(after, &next).map(|()| gather.tree());
        }
        let header = Header::parse(block)?;
        let (data, after) = header.data(after)?;
        rest = after;
        match header.kind {
            b'x' => next.more(data)?,
            b'g' => pax::parse(data, Reach::All).map(|_| ())?,
            b'L' => next.long_name(data)?,
            b'K' => next.is_link = true,
            _ => std::mem::take(&mut next).add(&header, data, &mut gather)?,
        }
    }
}

/// After the first block of zeros there is another one, and nothing else.
fn end(rest: &[u8], next: &Next<'_>) -> Result<(), ArchiveError> {
    if rest.len() < BLOCK || *next != Next::default() {
        return Err(ArchiveError::Truncated("its end"));
    }
    let zeros = rest.iter().all(|byte| *byte == 0);
    if zeros { Ok(()) } else { Err(ArchiveError::Outside { what: "after its end" }) }
}

/// What was said about the entry that comes next.
#[derive(Debug, Default, PartialEq, Eq)]
struct Next<'a> {
    pax: Option<Pax<'a>>,
    long: Option<&'a [u8]>,
    is_link: bool,
}

impl<'a> Next<'a> {
    fn more(&mut self, data: &'a [u8]) -> Result<(), ArchiveError> {
        let pax = pax::parse(data, Reach::Next)?;
        if self.pax.replace(pax).is_some() { Err(twice()) } else { Ok(()) }
    }

    fn long_name(&mut self, data: &'a [u8]) -> Result<(), ArchiveError> {
        let name = data.strip_suffix(b"\0").unwrap_or(data);
        if self.long.replace(name).is_some() { Err(twice()) } else { Ok(()) }
    }

    fn add(self, header: &Header<'_>, data: &[u8], gather: &mut Gather) -> Result<(), ArchiveError> {
        let pax = self.pax.unwrap_or_default();
        let own = header.name();
        let raw = match (pax.path, self.long) {
            (Some(_), Some(_)) => return Err(twice()),
            (Some(name), None) | (None, Some(name)) => name,
            (None, None) => &own,
        };
        let name = || shown(raw);
        // In the oldest archives a folder is a file whose name ends so.
        let is_folder = header.kind == b'5' || (header.kind == 0 && raw.ends_with(b"/"));
        match header.kind {
            b'1' | b'2' => return Err(ArchiveError::Link { name: name() }),
            b'S' => return Err(ArchiveError::Sparse { name: name() }),
            0 | b'0' | b'5' if pax.sparse => return Err(ArchiveError::Sparse { name: name() }),
            0 | b'0' | b'5' => {}
            _ => return Err(ArchiveError::Special { name: name() }),
        }
        if self.is_link {
            return Err(ArchiveError::Link { name: name() });
        }
        // Where the two differ, one reader takes as a file what another takes as entries.
        if pax.size.is_some_and(|size| size != header.size) {
            return Err(ArchiveError::Lies { name: name(), about: Liar::Size });
        }
        let path = gather.name(raw, is_folder)?;
        match path {
            Some(path) if !is_folder => gather.file(path, header.mode & 0o111 != 0, data.to_vec()),
            _ if data.is_empty() => Ok(()),
            _ => Err(ArchiveError::Malformed { what: name(), why: "it is a folder with bytes of its own" }),
        }
    }
}

/// One header.
struct Header<'a> {
    block: &'a [u8; BLOCK],
    kind: u8,
    size: u64,
    mode: u64,
}

impl<'a> Header<'a> {
    fn parse(block: &'a [u8; BLOCK]) -> Result<Self, ArchiveError> {
        let malformed = |why| ArchiveError::Malformed {
            what: format!("the header of “{}”", shown(until_nul(&block[..100]))),
            why,
        };
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        let own: u64 = block[148..156].iter().map(|byte| u64::from(*byte)).sum();
        // The sum is taken as if spaces stood in its place.
        if octal(&block[148..156]) != Some(sum - own + 8 * u64::from(b' ')) {
            return Err(malformed("its checksum is wrong"));
        }
        let size = octal(&block[124..136]).ok_or_else(|| malformed("its size is no octal number"))?;
        let mode = octal(&block[100..108]).unwrap_or_default();
        Ok(Self { block, kind: block[156], size, mode })
    }

    /// The name that the header itself has.
    fn name(&self) -> Vec<u8> {
        let name = until_nul(&self.block[..100]);
        let prefix = until_nul(&self.block[345..500]);
        // GNU's own format keeps other things there.
        if &self.block[257..263] == b"ustar\0" && !prefix.is_empty() {
            [prefix, b"/", name].concat()
        } else {
            name.to_vec()
        }
    }

    /// Its bytes, and what follows the zeros that fill up the last block.
    fn data(&self, rest: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), ArchiveError> {
        const CUT: ArchiveError = ArchiveError::Truncated("an entry's bytes");
        let says_more = matches!(self.kind, b'x' | b'g' | b'L' | b'K');
        if says_more && self.size > RECORD_MAX || self.kind == b'L' && self.size > PATH_MAX as u64 + 1 {
            let why = "it is far longer than a name";
            return Err(ArchiveError::Malformed { what: "an extended header".to_owned(), why });
        }
        // What is no file has no bytes, whatever its size says; it is refused in a moment.
        let has_none = matches!(self.kind, b'1'..=b'4' | b'6');
        let size = if has_none { 0 } else { usize::try_from(self.size).map_err(|_| CUT)? };
        let data = rest.get(..size).ok_or(CUT)?;
        Ok((data, rest.get(size.next_multiple_of(BLOCK)..).ok_or(CUT)?))
    }
}

fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// An octal number, with spaces before it and spaces or zeros after it.
fn octal(field: &[u8]) -> Option<u64> {
    let text = until_nul(field).trim_ascii();
    if text.is_empty() {
        return Some(0);
    }
    text.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'7' => number.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

fn twice() -> ArchiveError {
    ArchiveError::Malformed { what: "an extended header".to_owned(), why: "it says the same thing twice" }
}
