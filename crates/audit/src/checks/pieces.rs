//! PA312: names that are split into pieces, so that a search does not find them.

use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::push_finding;
use crate::report::RawFinding;
use crate::rule::compile;
use crate::text::{LineKind, SourceText};

/// Names that legitimate code never assembles from parts. They must be the whole text.
const WHOLE_NAMES: [&str; 9] =
    ["exec", "eval", "iex", "curl", "wget", "execfile", "popen", "powershell", "function"];

/// Names that legitimate code never assembles from parts. They may be anywhere in the text.
const PARTIAL_NAMES: [&str; 15] = [
    "invoke-expression",
    "downloadstring",
    "downloadfile",
    "webclient",
    "urlopen",
    "urllib.request",
    "subprocess",
    "os.system",
    "child_process",
    "execsync",
    "b64decode",
    "__import__",
    "/dev/tcp/",
    "fromcharcode",
    "id_rsa",
];

/// Text literals that are joined: with an operator, or as a list.
const JOINED: &str = concat!(
    r"(?:['\x22][^'\x22\n]{0,24}['\x22]\s*\+\s*){1,16}['\x22][^'\x22\n]{0,24}['\x22]",
    r"|[\[(]\s*(?:['\x22][^'\x22\n]{0,16}['\x22]\s*,\s*){1,24}['\x22][^'\x22\n]{0,16}['\x22]\s*,?\s*[\])]",
);

/// Spellings of PowerShell and shells that only hide a name: a format string, an alias, back quotes, mixed case,
/// a variable that completes the name of a download program, a variable piped into a variable, and escaped letters.
const SPELLINGS: &str = concat!(
    r"\(\s*['\x22](\{\d\}){2,}['\x22]\s*-f\s*['\x22]",
    r"|\b(set-alias|new-alias|sal)\s+(-name\s+)?\S+\s+(-value\s+)?['\x22]?(iex|invoke-expression)\b",
    r"|\b(i\x60e\x60?x|ie\x60x|i\x60nvoke|in\x60?v\x60o\x60?ke|d\x60ownload\w*|down\x60load\w*)",
    r"|(?-i:\b([a-z]+[A-Z]+[a-z]+[A-Z]+[a-z]*-[a-zA-Z]*[a-z][A-Z]+[a-z]+[A-Z]*[a-z]*|[a-z]+[A-Z]+[a-z]*-[a-z]+[A-Z]+[a-z]+[A-Z]+[a-z]*)\b)",
    r"|(?-i:(^|\n)\s*['\x22]?\$\{?[a-z]\w*\}?['\x22]?\s[^|\n#]*(\\\n[^|\n]*)*\|\s*['\x22]?\$\{?[a-z])",
    r"|\$\(\s*(printf|echo\s+-e)\s+['\x22]?(%b)?['\x22\s]*(\\+0?[0-7]{3}|\\+x[0-9a-f]{2}){3,}",
    r"|\$\{\w+\}['\x22]*(url|rl)\b['\x22]?\s*(\\|-|$|['\x22]?\s+(-|['\x22]?http))",
);

/// Words of which a line must contain one before [`SPELLINGS`] is tried.
const SPELLING_KEYWORDS: [&[u8]; 9] =
    [b"-f ", b"`", b"}rl", b"}url", b"| $", b"| \"$", b"|$", b"$(printf", b"$(echo -e"];

fn patterns() -> Option<&'static (Regex, Regex)> {
    static PATTERNS: OnceLock<Option<(Regex, Regex)>> = OnceLock::new();
    PATTERNS.get_or_init(|| Some((compile(JOINED)?, compile(SPELLINGS)?))).as_ref()
}

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    let Some((joined, spellings)) = patterns() else { return };
    let mut checked_until = 0;
    for offset in memchr::memchr2_iter(b'+', b'[', &text.bytes) {
        if offset < checked_until || !may_join_literals(&text.bytes, offset) {
            continue;
        }
        let line = text.line_of(offset);
        let (start, bytes) = text.line(line);
        checked_until = start + bytes.len();
        if text.line_kind(line) != LineKind::Code {
            continue;
        }
        let hidden_name = joined.find_iter(bytes).find(|joined_match| is_hidden_name(bytes, joined_match));
        if let Some(joined_match) = hidden_name {
            push_finding(findings, "PA312", start + joined_match.start(), None);
        }
    }
    let extension = text.path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_powershell = matches!(extension.as_str(), "ps1" | "psm1" | "bat" | "cmd");
    let has_spelling = || SPELLING_KEYWORDS.iter().any(|word| memmem::find(&text.bytes, word).is_some());
    let is_shell = matches!(extension.as_str(), "sh" | "bash" | "zsh");
    if is_powershell || (is_shell && has_spelling()) {
        let hits = spellings.find_iter(&text.bytes);
        hits.take(1).for_each(|spelling| push_finding(findings, "PA312", spelling.start(), None));
    }
}

/// Returns `true` for a plus sign between two quotation marks, and for a bracket in front of one.
fn may_join_literals(bytes: &[u8], offset: usize) -> bool {
    let is_quote = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'\'' | b'"'));
    let is_not_space = |byte: &&u8| !matches!(byte, b' ' | b'\t');
    let before = bytes.get(..offset).unwrap_or_default().iter().rev().find(is_not_space);
    let after = bytes.get(offset + 1..).unwrap_or_default().iter().find(is_not_space);
    is_quote(after) && (bytes.get(offset) == Some(&b'[') || is_quote(before))
}

/// Returns `true` if the joined literals are a suspicious name, and no single one is.
fn is_hidden_name(line: &[u8], joined: &regex::bytes::Match<'_>) -> bool {
    let is_list = matches!(joined.as_bytes().first(), Some(b'[' | b'('));
    let surroundings = [line.get(..joined.start()), line.get(joined.end()..)].map(Option::unwrap_or_default);
    if is_list && !surroundings.iter().any(|part| memmem::find(part, b"join").is_some()) {
        return false;
    }
    let pieces: Vec<String> = joined
        .as_bytes()
        .split(|byte| matches!(byte, b'\'' | b'"'))
        .skip(1)
        .step_by(2)
        .map(|piece| String::from_utf8_lossy(piece).to_ascii_lowercase())
        .collect();
    let name_text = pieces.concat();
    WHOLE_NAMES.iter().any(|name| name_text == *name && !pieces.iter().any(|piece| piece == name))
        || PARTIAL_NAMES
            .iter()
            .any(|name| name_text.contains(name) && !pieces.iter().any(|piece| piece.contains(name)))
}
