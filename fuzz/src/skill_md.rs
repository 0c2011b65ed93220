//! A `SKILL.md` and its prefixes.

use prowess_format::fence::Extent;
use prowess_format::{Diagnostic, Document, HeadOutcome, Manifest, ParseOutcome, Rules, parse, parse_head};

const DIRECTORY: Option<&str> = Some("pdf");

/// The maximum number of diagnostics of a file.
const DIAGNOSTICS_MAX: usize = 50;

/// Checks that nothing panics, that every location is inside the file, that a file without a document has an error, and
/// that a prefix never has another manifest than the whole file.
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
