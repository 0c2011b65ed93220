//! A `SKILL.md` and its prefixes.

use prowess_format::fence::Extent;
use prowess_format::{
    Code, Diagnostic, Document, HeadOutcome, Manifest, ParseOutcome, Rules, parse, parse_head,
};

const DIRECTORY: Option<&str> = Some("pdf");

/// The maximum number of diagnostics of a file.
const DIAGNOSTICS_MAX: usize = 50;

/// Checks that nothing panics, that every location is inside the file, that a file without a document has an error, that a
/// prefix never has another manifest than the whole file, and that the suggested fixes work.
pub fn skill_md(bytes: &[u8]) {
    for rules in [Rules::standard(), Rules::strict()] {
        let parsed = parse(bytes, DIRECTORY, &rules);
        check_outcome(bytes, &parsed);
        let whole = manifest(parsed.document.as_ref());
        let head = parse_head(bytes, Extent::Whole, DIRECTORY, &rules);
        let HeadOutcome::Done(head) = head else { panic!("a whole file needs no more bytes") };
        assert_eq!(manifest(head.document.as_ref()), whole, "the frontmatter of the whole file");
        for cut in cuts(bytes) {
            if let HeadOutcome::Done(head) = parse_head(&bytes[..cut], Extent::Prefix, DIRECTORY, &rules) {
                assert_eq!(manifest(head.document.as_ref()), whole, "the first {cut} bytes");
            }
        }
        check_fixes(bytes, &parsed, &rules);
    }
}

fn manifest(document: Option<&Document>) -> Option<&Manifest> {
    document.map(|document| &document.manifest)
}

fn check_outcome(bytes: &[u8], parsed: &ParseOutcome) {
    let diagnostics = &parsed.diagnostics;
    assert!(diagnostics.len() <= DIAGNOSTICS_MAX, "{} diagnostics", diagnostics.len());
    assert_eq!(parsed.document.is_none(), diagnostics.iter().any(Diagnostic::is_error), "{diagnostics:#?}");
    for diagnostic in diagnostics {
        let Some(location) = diagnostic.location else { continue };
        assert!(location.line >= 1 && location.column >= 1, "{diagnostic:?}");
        assert!(location.span.start <= location.span.end, "{diagnostic:?}");
        // An error at the end of the text points one byte past it.
        assert!(location.span.end as usize <= bytes.len() + 1, "{diagnostic:?} in {} bytes", bytes.len());
    }
    if let Some(document) = &parsed.document {
        assert!(document.frontmatter.end as usize <= bytes.len());
        assert!(document.body(bytes).len() <= bytes.len());
        assert!(!document.manifest.name().as_str().is_empty());
        assert!(!document.manifest.description().trim().is_empty());
    }
}

/// Returns the lengths of the tested prefixes: at regular intervals, and where a reader would stop.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut cuts: Vec<_> = (0..bytes.len()).step_by(1 + bytes.len() / 24).collect();
    cuts.extend([4_096, bytes.len().saturating_sub(1), bytes.len()]);
    cuts.retain(|cut| *cut <= bytes.len());
    cuts
}

/// Applies all fixes, and checks that no repair is needed afterwards and that the manifest is the same.
fn check_fixes(bytes: &[u8], parsed: &ParseOutcome, rules: &Rules) {
    let mut fixes: Vec<_> =
        parsed.diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_deref()).collect();
    if fixes.is_empty() || parsed.diagnostics.len() == DIAGNOSTICS_MAX {
        return;
    }
    fixes.sort_by_key(|fix| fix.span.start);
    let mut source = Vec::new();
    let mut at = 0;
    for fix in fixes {
        source.extend_from_slice(&bytes[at..fix.span.start as usize]);
        source.extend_from_slice(fix.text.as_bytes());
        at = fix.span.end as usize;
    }
    source.extend_from_slice(&bytes[at..]);
    let again = parse(&source, DIRECTORY, rules);
    let is_repair = |diagnostic: &&Diagnostic| diagnostic.code == Code::Repaired;
    assert_eq!(again.diagnostics.iter().find(is_repair), None, "after the fixes");
    assert_eq!(
        manifest(again.document.as_ref()),
        manifest(parsed.document.as_ref()),
        "after the fixes: {:?}",
        String::from_utf8_lossy(&source)
    );
}
