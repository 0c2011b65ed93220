//! PA7xx: what a file is, by its first bytes.

use super::push;
use crate::audit::finding::Finding;
use crate::audit::rules::rule;
use crate::audit::text::{Kind, Text};
use crate::audit::wording::Raw;
use crate::audit::{AuditFile, AuditKind, LOOKED_AT};

/// A NUL byte where instructions or code are read: some programs stop at it, others pass over it.
pub(super) fn nul(text: &Text<'_>, raw: &mut Vec<Raw>) {
    if let (Some(at), Kind::Markdown | Kind::Script) = (text.nul, text.kind) {
        push(raw, "PA710", at.min(text.bytes.len().saturating_sub(1)), None);
    }
}

/// What there is to say about a file as a whole.
pub(in crate::audit) fn of(file: &AuditFile<'_>, kept: &[u8]) -> Option<Finding> {
    match file.kind {
        AuditKind::Link(target) => {
            let id = if target.is_none_or(|target| leads_out(file.path, target)) { "PA701" } else { "PA702" };
            whole(id, file.path, Some(target.unwrap_or("it is not known where it leads")))
        }
        AuditKind::Unread(why) => whole("PA709", file.path, Some(why)),
        AuditKind::File => {
            let what = program(kept).or_else(|| archive(kept));
            match what {
                Some(Magic::Program(what)) if is_disguised(file.path) => {
                    whole("PA704", file.path, Some(what))
                }
                Some(Magic::Program(what)) => whole("PA703", file.path, Some(what)),
                Some(Magic::Locked) => whole("PA706", file.path, None),
                Some(Magic::Archive) if !is_document(file.path) => whole("PA705", file.path, None),
                Some(Magic::Archive) => None,
                None if has_extension(file.path, "pyc pyo") => whole("PA707", file.path, None),
                None if file.bytes.len() > LOOKED_AT => whole("PA708", file.path, None),
                None => None,
            }
        }
    }
}

enum Magic {
    Program(&'static str),
    Archive,
    Locked,
}

fn program(bytes: &[u8]) -> Option<Magic> {
    let what = match bytes {
        [0x7F, b'E', b'L', b'F', ..] => "ELF, for Linux",
        [0xFE, 0xED, 0xFA, 0xCE | 0xCF, ..] | [0xCE | 0xCF, 0xFA, 0xED, 0xFE, ..] => "Mach-O, for macOS",
        // A universal Mach-O begins like a Java class, whose version is larger than any number of processors.
        [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, count, ..] if *count < 20 => "Mach-O, for macOS",
        [b'M', b'Z', ..] if is_windows(bytes) => "PE, for Windows",
        _ => return None,
    };
    Some(Magic::Program(what))
}

/// Two letters are not enough: the header says where the real one begins.
fn is_windows(bytes: &[u8]) -> bool {
    let at = bytes.get(0x3C..0x40).and_then(|at| at.try_into().ok()).map(u32::from_le_bytes);
    at.and_then(|at| bytes.get(usize::try_from(at).ok()?..)).is_some_and(|rest| rest.starts_with(b"PE\0\0"))
}

fn archive(bytes: &[u8]) -> Option<Magic> {
    match bytes {
        // The lowest bit of the flags says that the first file is encrypted.
        [b'P', b'K', 3, 4, _, _, flags, ..] if flags & 1 == 1 => Some(Magic::Locked),
        [b'P', b'K', 3 | 5, 4 | 6, ..]
        | [0x1F, 0x8B, ..]
        | [b'7', b'z', 0xBC, 0xAF, ..]
        | [b'R', b'a', b'r', b'!', ..]
        | [0xFD, b'7', b'z', b'X', b'Z', ..]
        | [b'B', b'Z', b'h', b'1'..=b'9', ..]
        | [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Magic::Archive),
        _ if bytes.get(257..262) == Some(b"ustar") => Some(Magic::Archive),
        _ => None,
    }
}

/// Documents and fonts that are archives inside.
fn is_document(path: &str) -> bool {
    let known = "docx xlsx pptx dotx xltx potx odt ods odp epub jar whl sketch key pages \
                 numbers vsdx svgz xlsm pptm docm";
    has_extension(path, known)
}

fn is_disguised(path: &str) -> bool {
    let harmless = "md txt png jpg jpeg gif svg webp pdf json yaml yml toml csv py js \
                    ts sh html css xml docx xlsx pptx zip mp3 mp4 ttf woff woff2";
    has_extension(path, harmless)
}

fn has_extension(path: &str, known: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| known.split(' ').any(|it| extension.eq_ignore_ascii_case(it)))
}

/// Whether a link leads above the skill.
fn leads_out(path: &str, target: &str) -> bool {
    if target.starts_with(['/', '~', '\\']) || target.contains(':') {
        return true;
    }
    let mut depth = path.matches('/').count();
    for step in target.split('/') {
        match step {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

fn whole(id: &str, path: &str, note: Option<&str>) -> Option<Finding> {
    let rule = rule(id)?;
    let note = note.map(|note| format!(" ({})", prowess_format::hidden::shown(note))).unwrap_or_default();
    Some(Finding {
        rule: rule.id,
        family: rule.family,
        severity: rule.severity,
        path: path.to_owned(),
        line: 0,
        column: 0,
        message: format!("{}: {}{note}", rule.title, rule.why),
        excerpt: String::new(),
        help: rule.help,
        suppressed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_link_leads() {
        assert!(leads_out("a", "../b") && leads_out("a/b", "../../c") && leads_out("a", "/etc"));
        assert!(!leads_out("a/b", "../c") && !leads_out("a", "b/../c") && !leads_out("a/b", "./c"));
        assert!(leads_out("a", "b/../../c"));
    }
}
