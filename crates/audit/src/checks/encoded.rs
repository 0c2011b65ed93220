//! PA304, PA307 and PA310: encoded blocks and their content.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::{fetch, push_finding};
use crate::report::RawFinding;
use crate::rule::compile;
use crate::text::{LineKind, SourceText};

/// The minimum length of a block to decode. Shorter ones are mostly names, and contain at most 17 bytes.
const BLOCK_MIN: usize = 24;

/// The length from which a block in code is reported.
const BLOCK_LONG: usize = 600;

/// The maximum number of encoded characters to decode.
const DECODED_MAX: usize = 4_096;

/// What a command looks like.
const COMMAND: &str = r"\b(curl|wget)\s+\S*.{0,40}http|https?://\d+\.\d+\.\d+\.\d+|/bin/(ba)?sh\b|\b(ba)?sh\s+-[ci]\b|/dev/tcp/|powershell|\biex\b|\b(certutil|mshta|bitsadmin|rundll32|regsvr32)\b|invoke-expression|new-object\s+net\.|os\.system\s*\(|subprocess|child_process|\beval\s*\(|\bexec\s*\(";

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    for (start, end) in blocks(&text.bytes) {
        let Some(block) = text.bytes.get(start..end) else { continue };
        let Some(command) = PATTERN.get_or_init(|| compile(COMMAND)) else { continue };
        let finding = decode(block)
            .filter(|plain| command.is_match(plain))
            .find_map(|plain| Some((rule_for(&plain)?, format!("decoded: {}", display_decoded(&plain)))));
        if let Some((id, note)) = finding {
            push_finding(findings, id, start, Some(note));
        } else if block.len() >= BLOCK_LONG && is_suspicious_code(text, start) && is_mixed(block) {
            push_finding(findings, "PA307", start, Some(format!("{} characters", block.len())));
        }
    }
}

/// Returns the rule for a decoded command; `None` for source maps and images, as found in code and style sheets.
fn rule_for(plain: &[u8]) -> Option<&'static str> {
    match is_attack(plain) {
        true => Some("PA310"),
        false => (!is_json(plain) && !is_markup(plain)).then_some("PA304"),
    }
}

/// Returns `true` for a JSON object. A group of shell commands starts with a brace, too.
fn is_json(plain: &[u8]) -> bool {
    plain.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
}

/// Returns `true` for an image or a page.
fn is_markup(plain: &[u8]) -> bool {
    let starts = ["<svg", "<?xml", "<!doctype", "<html"];
    starts.iter().any(|start| {
        plain.get(..start.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(start.as_bytes()))
    })
}

/// Returns `true` for content that has no legitimate reason to be encoded.
fn is_attack(plain: &[u8]) -> bool {
    let opens_connection = memchr::memmem::find_iter(plain, b"/dev/tcp/").any(|offset| {
        let next = plain.get(offset + 9);
        next.is_some_and(u8::is_ascii_digit)
    });
    opens_connection || fetch::is_dropper(plain)
}

/// Returns runs of base64 and hexadecimal characters.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        loop {
            // A run of BLOCK_MIN characters that starts at or after `offset` cannot skip every probe, so test
            // only every BLOCK_MIN-th byte.
            let probe = offset + BLOCK_MIN - 1;
            let byte = bytes.get(probe)?;
            if !is_encoding_char(*byte) {
                offset = probe + 1;
                continue;
            }
            let start = offset
                + bytes
                    .get(offset..probe)?
                    .iter()
                    .rposition(|byte| !is_encoding_char(*byte))
                    .map_or(0, |last| last + 1);
            let length = bytes.get(start..)?.iter().take_while(|byte| is_encoding_char(**byte)).count();
            offset = start + length;
            if length >= BLOCK_MIN {
                return Some((start, offset));
            }
        }
    })
}

fn is_encoding_char(byte: u8) -> bool {
    // Padding does not count: it is not needed for decoding, and `=` also precedes a value.
    // Every text is scanned with this; a table is twice as fast as comparisons.
    const DIGITS: [bool; 256] = {
        let mut digits = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            digits[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
            byte += 1;
        }
        digits
    };
    DIGITS[usize::from(byte)]
}

/// Returns the readable texts that a block may encode. The characters in front of the encoded text may belong to the
/// same run, so every alignment of base64 is tried.
fn decode(block: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let block = block.get(..DECODED_MAX).unwrap_or(block);
    let shifted = (0..4).filter_map(|shift| block.get(shift..).and_then(base64)).map(narrow_utf16);
    hex(block).into_iter().chain(shifted).flat_map(readable_texts)
}

/// Returns every second byte of UTF-16, as which PowerShell encodes commands.
fn narrow_utf16(bytes: Vec<u8>) -> Vec<u8> {
    let is_utf16 =
        |offset| bytes.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count() * 4 >= bytes.len();
    match [1, 0].into_iter().find(|offset| is_utf16(*offset)) {
        Some(zeros) if bytes.len() >= 8 => bytes.into_iter().skip(1 - zeros).step_by(2).collect(),
        _ => bytes,
    }
}

/// Returns the whole text if it is readable, or its readable parts that are long enough for a command.
fn readable_texts(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    const PART_MIN: usize = BLOCK_MIN / 4 * 3 - 2;
    let is_printable = |byte: &u8| (b' '..=b'~').contains(byte) || byte.is_ascii_whitespace();
    let printable = bytes.iter().filter(|byte| is_printable(byte)).count();
    if printable * 20 >= bytes.len() * 19 {
        return vec![bytes];
    }
    let parts = bytes.split(|byte| !is_printable(byte));
    parts.filter(|part| part.len() >= PART_MIN).map(<[u8]>::to_vec).collect()
}

fn hex(block: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Option<Vec<_>> = block.iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() >= 2 * BLOCK_MIN)?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn base64(block: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(block.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in block {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00FF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    Some(out)
}

fn display_decoded(plain: &[u8]) -> String {
    let text = String::from_utf8_lossy(plain.get(..100).unwrap_or(plain)).into_owned();
    let ellipsis = if plain.len() > 100 { "…" } else { "" };
    format!("{}{ellipsis}", prowess_format::hidden::escape_for_display(&text))
}

/// Returns `true` in code, unless the block is an embedded image or font, or a hash.
fn is_suspicious_code(text: &SourceText<'_>, start: usize) -> bool {
    let before = text.bytes.get(start.saturating_sub(60)..start).unwrap_or_default();
    let is_letter =
        |index: Option<usize>| index.and_then(|index| before.get(index)).is_some_and(u8::is_ascii_alphabetic);
    let is_hash = |start: usize| !is_letter(start.checked_sub(1)) && !is_letter(Some(start + 3));
    let is_expected = memchr::memmem::find(before, b"base64,").is_some()
        || memchr::memmem::find_iter(before, b"sha").any(is_hash);
    text.line_kind(text.line_of(start)) == LineKind::Code && !is_expected
}

/// Returns `false` for a line of dashes or of one letter.
fn is_mixed(block: &[u8]) -> bool {
    let contains = |kind: fn(&u8) -> bool| block.iter().any(kind);
    contains(u8::is_ascii_digit) && contains(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_blocks_are_found_and_decoded() {
        assert_eq!(base64(b"aGVsbG8gd29ybGQ").unwrap(), b"hello world");
        assert_eq!(
            hex(b"68656c6c6f20776f726c642068656c6c6f20776f726c6421").unwrap(),
            b"hello world hello world!"
        );
        let found = |text: &str| blocks(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(found("no"), []);
        assert_eq!(found(&"x".repeat(24)), [(0, 24)]);
        assert_eq!(found(&format!("say {} and {}", "x".repeat(30), "y".repeat(23))), [(4, 34)]);
        assert_eq!(found(&format!(".{}.{}.", "x".repeat(50), "y".repeat(25))), [(1, 51), (52, 77)]);
    }

    #[test]
    fn characters_around_an_encoded_command_do_not_hide_it() {
        let count = |text: &str, id: &str| {
            let mut findings = Vec::new();
            check(&SourceText::new("a.py", text.as_bytes().into()), &mut findings);
            findings.iter().filter(|finding| finding.rule.id == id).count()
        };
        // `/bin/sh -c 'ls -la # none'` and `{ /bin/sh -c 'ls -la'; }`
        let command = "L2Jpbi9zaCAtYyAnbHMgLWxhICMgbm9uZSc=";
        let group = "eyAvYmluL3NoIC1jICdscyAtbGEnOyB9";
        for prefix in ["", "x", "x-", "x-y", "x-yz", "data/abc/def_ghi/jkl-mno/pqr-stu/vwx/"] {
            assert_eq!(count(&format!("{prefix}{command}-tail"), "PA304"), 1, "{prefix}");
        }
        assert_eq!(count(group, "PA304"), 1);
        // `{"a": "/bin/sh -c ls -la"}` and `<svg>/bin/sh -c ls -la</svg>`
        for harmless in ["eyJhIjogIi9iaW4vc2ggLWMgbHMgLWxhIn0", "PHN2Zz4vYmluL3NoIC1jIGxzIC1sYTwvc3ZnPg"] {
            assert_eq!(count(harmless, "PA304"), 0, "{harmless}");
        }
        let long = "A7bQ".repeat(160);
        for name in ["shared", "shape", "x"] {
            assert_eq!(count(&format!("{name} = \"{long}\"\n"), "PA307"), 1, "{name}");
        }
        assert_eq!(count(&format!("sha512 = \"{long}\"\n"), "PA307"), 0);
    }
}
