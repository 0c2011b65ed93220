//! A whole `SKILL.md`, and the beginnings of it.

use prowess_format::fence::Extent;
use prowess_format::{
    Code, Diagnostic, Document, HeadOutcome, Manifest, ParseOutcome, Rules, parse, parse_head,
};

const FOLDER: Option<&str> = Some("pdf");

/// The most diagnostics of one file.
const DIAGNOSTICS_MAX: usize = 50;

/// Nothing panics, every place lies inside the file, what does not load says why, a prefix never gives another
/// manifest than the whole file, and the fixes that are offered mend what they are offered for.
pub fn skill_md(bytes: &[u8]) {
    for rules in [Rules::standard(), Rules::strict()] {
        let parsed = parse(bytes, FOLDER, &rules);
        sound(bytes, &parsed);
        let whole = manifest(parsed.document.as_ref());
        let head = parse_head(bytes, Extent::Whole, FOLDER, &rules);
        let HeadOutcome::Done(head) = head else { panic!("nothing is beyond the whole file") };
        assert_eq!(manifest(head.document.as_ref()), whole, "the frontmatter of the whole file");
        for cut in cuts(bytes) {
            if let HeadOutcome::Done(head) = parse_head(&bytes[..cut], Extent::Prefix, FOLDER, &rules) {
                assert_eq!(manifest(head.document.as_ref()), whole, "the first {cut} bytes");
            }
        }
        mended(bytes, &parsed, &rules);
    }
}

fn manifest(document: Option<&Document>) -> Option<&Manifest> {
    document.map(|document| &document.manifest)
}

fn sound(bytes: &[u8], parsed: &ParseOutcome) {
    let said = &parsed.diagnostics;
    assert!(said.len() <= DIAGNOSTICS_MAX, "{} diagnostics", said.len());
    assert_eq!(parsed.document.is_none(), said.iter().any(Diagnostic::is_error), "{said:#?}");
    for diagnostic in said {
        let Some(place) = diagnostic.location else { continue };
        assert!(place.line >= 1 && place.column >= 1, "{diagnostic:?}");
        assert!(place.span.start <= place.span.end, "{diagnostic:?}");
        // An error at the very end of the text points one byte behind it.
        assert!(place.span.end as usize <= bytes.len() + 1, "{diagnostic:?} in {} bytes", bytes.len());
    }
    if let Some(document) = &parsed.document {
        assert!(document.frontmatter.end as usize <= bytes.len());
        assert!(document.body(bytes).len() <= bytes.len());
        assert!(!document.manifest.name().as_str().is_empty());
        assert!(!document.manifest.description().trim().is_empty());
    }
}

/// Where a file is cut: now and then, and wherever reading really stops.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut cuts: Vec<_> = (0..bytes.len()).step_by(1 + bytes.len() / 24).collect();
    cuts.extend([4_096, bytes.len().saturating_sub(1), bytes.len()]);
    cuts.retain(|cut| *cut <= bytes.len());
    cuts
}

/// Applies all fixes: nothing that was repaired has to be repaired again, and the manifest stays the same.
fn mended(bytes: &[u8], parsed: &ParseOutcome, rules: &Rules) {
    let mut fixes: Vec<_> = parsed.diagnostics.iter().filter_map(|said| said.fix.as_deref()).collect();
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
    let again = parse(&source, FOLDER, rules);
    let left = |said: &&Diagnostic| said.code == Code::Repaired;
    assert_eq!(again.diagnostics.iter().find(left), None, "after the fixes");
    assert_eq!(
        manifest(again.document.as_ref()),
        manifest(parsed.document.as_ref()),
        "after the fixes: {:?}",
        String::from_utf8_lossy(&source)
    );
}
