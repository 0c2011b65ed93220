//! The records that say more about the next entry of a tar archive, or about all of them.

use super::ArchiveError;

/// For one entry, or for all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Next,
    All,
}

/// What is taken from them. Times, owners and attributes are passed over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pax<'a> {
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) size: Option<u64>,
    pub(crate) sparse: bool,
}

/// Reads records of the form `LENGTH KEY=VALUE\n`.
pub(crate) fn parse(mut bytes: &[u8], reach: Reach) -> Result<Pax<'_>, ArchiveError> {
    let mut pax = Pax::default();
    while !bytes.is_empty() {
        let (key, value, rest) = record(bytes).ok_or_else(|| malformed("one of its records is broken"))?;
        let ours = matches!(key, b"path" | b"size") || key.starts_with(b"GNU.sparse.");
        if ours && reach == Reach::All {
            return Err(malformed("it gives one name or size to all entries"));
        }
        match key {
            b"path" if pax.path.is_none() => pax.path = Some(value),
            b"size" if pax.size.is_none() => {
                let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                pax.size = Some(size.ok_or_else(|| malformed("a size is no number"))?);
            }
            b"path" | b"size" => return Err(malformed("it says the same thing twice")),
            b"hdrcharset" if value != b"ISO-IR 10646 2000 UTF-8" => {
                return Err(malformed("names are not in UTF-8"));
            }
            _ => pax.sparse |= key.starts_with(b"GNU.sparse."),
        }
        bytes = rest;
    }
    Ok(pax)
}

/// A key, its value, and the records that follow.
type Record<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let space = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let digits = bytes.get(..space)?;
    let length: usize =
        std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit))?.parse().ok()?;
    let (whole, rest) = bytes.split_at_checked(length)?;
    let text = whole.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = text.iter().position(|byte| *byte == b'=')?;
    Some((&text[..equals], &text[equals + 1..], rest))
}

fn malformed(why: &'static str) -> ArchiveError {
    ArchiveError::Malformed { what: "an extended header".to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_are_read_and_what_means_two_things_is_refused() {
        let all = b"12 path=a/b\n10 size=3\n20 mtime=1234567890\n";
        assert_eq!(parse(all, Reach::Next), Ok(Pax { path: Some(b"a/b"), size: Some(3), sparse: false }));
        assert_eq!(parse(b"20 mtime=1234567890\n", Reach::All), Ok(Pax::default()));
        assert!(parse(b"22 GNU.sparse.major=1\n", Reach::Next).unwrap().sparse);
        let broken: [&[u8]; 7] = [
            b"12 path=a/b\n12 path=a/c\n",
            b"10 size=x\n",
            b"99 path=a\n",
            b"path=a\n",
            b"0 \n",
            b"10 path=a",
            b"21 hdrcharset=BINARY\n",
        ];
        for bytes in broken {
            assert!(parse(bytes, Reach::Next).is_err(), "{bytes:?}");
        }
        assert!(parse(b"12 path=a/b\n", Reach::All).is_err());
    }

    proptest! {
        #[test]
        fn it_always_ends(bytes in "([0-9]{0,3} ?(path|size|x)?=?[a-z0-9]{0,5}\n?){0,6}") {
            let _ = parse(bytes.as_bytes(), Reach::Next);
        }
    }
}
