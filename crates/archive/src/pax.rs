//! The extended headers of a tar archive, which describe the next entry or all of them.

use super::ArchiveError;

/// Whether an extended header applies to the next entry or to all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaxScope {
    Next,
    All,
}

/// The supported records. Times, owners and attributes are ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PaxRecords<'a> {
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) size: Option<u64>,
    pub(crate) sparse: bool,
}

/// Parses records of the form `LENGTH KEY=VALUE\n`.
pub(crate) fn parse(mut bytes: &[u8], scope: PaxScope) -> Result<PaxRecords<'_>, ArchiveError> {
    let mut pax = PaxRecords::default();
    while !bytes.is_empty() {
        let (key, value, rest) = parse_record(bytes).ok_or_else(|| malformed("a record is malformed"))?;
        let relevant = matches!(key, b"path" | b"size") || key.starts_with(b"GNU.sparse.");
        if relevant && scope == PaxScope::All {
            return Err(malformed("it sets one name or size for all entries"));
        }
        match key {
            b"path" if pax.path.is_none() => pax.path = Some(value),
            b"size" if pax.size.is_none() => {
                pax.size = Some(parse_number(value).ok_or_else(|| malformed("a size is not a number"))?);
            }
            b"path" | b"size" => return Err(malformed("it has a duplicate record")),
            b"hdrcharset" if value != b"ISO-IR 10646 2000 UTF-8" => {
                return Err(malformed("names are not in UTF-8"));
            }
            _ => pax.sparse |= key.starts_with(b"GNU.sparse."),
        }
        bytes = rest;
    }
    Ok(pax)
}

/// A key, its value, and the remaining bytes.
type ParsedRecord<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn parse_record(bytes: &[u8]) -> Option<ParsedRecord<'_>> {
    let space = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let length = parse_number(bytes.get(..space)?)?;
    let (record, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    let text = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = text.iter().position(|byte| *byte == b'=')?;
    Some((&text[..equals], &text[equals + 1..], rest))
}

/// Parses decimal digits. Programs differ in what they make of a sign.
fn parse_number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn malformed(reason: &'static str) -> ArchiveError {
    ArchiveError::Malformed { part: "an extended header".to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_are_parsed_and_ambiguous_ones_rejected() {
        let all = b"12 path=a/b\n10 size=3\n20 mtime=1234567890\n";
        assert_eq!(
            parse(all, PaxScope::Next),
            Ok(PaxRecords { path: Some(b"a/b"), size: Some(3), sparse: false })
        );
        assert_eq!(parse(b"20 mtime=1234567890\n", PaxScope::All), Ok(PaxRecords::default()));
        assert!(parse(b"22 GNU.sparse.major=1\n", PaxScope::Next).unwrap().sparse);
        let invalid: [&[u8]; 8] = [
            b"12 path=a/b\n12 path=a/c\n",
            b"10 size=x\n",
            b"11 size=+3\n",
            b"99 path=a\n",
            b"path=a\n",
            b"0 \n",
            b"10 path=a",
            b"21 hdrcharset=BINARY\n",
        ];
        for bytes in invalid {
            assert!(parse(bytes, PaxScope::Next).is_err(), "{bytes:?}");
        }
        assert!(parse(b"12 path=a/b\n", PaxScope::All).is_err());
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in "([0-9]{0,3} ?(path|size|x)?=?[a-z0-9]{0,5}\n?){0,6}") {
            let _ = parse(bytes.as_bytes(), PaxScope::Next);
        }
    }
}
