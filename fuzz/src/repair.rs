//! Repairs of frontmatter whose values must be quoted.

use prowess_format::repair;
use prowess_format::yaml::{Node, NodeKind, YamlBudget, parse};

/// Checks that repaired text is a map, that it differs from the original only in the reported values, and that offsets map to the
/// original in order.
pub fn repair(bytes: &[u8]) {
    let Ok(yaml) = std::str::from_utf8(bytes) else { return };
    let is_map = |text: &str| {
        matches!(parse(text, YamlBudget::DEFAULT), Ok(Some(Node { kind: NodeKind::Map(_), .. })))
    };
    let Some(repaired) = repair::repair_yaml(yaml) else {
        assert!(!is_map(yaml), "a map needs no repair");
        return;
    };
    assert!(is_map(&repaired.text), "{:?}", repaired.text);
    assert_eq!(repaired.quoted.is_empty(), repaired.text == yaml, "{repaired:?}");

    let (mut rebuilt, mut at) = (String::new(), 0);
    for quoted in &repaired.quoted {
        rebuilt += &yaml[at..quoted.span.start as usize];
        rebuilt += &quoted.text;
        at = quoted.span.end as usize;
        assert!(quoted.text.len() >= 2 && quoted.text.starts_with('"') && quoted.text.ends_with('"'));
    }
    assert_eq!(rebuilt + &yaml[at..], repaired.text);

    let mut before = 0;
    for offset in 0..=repaired.text.len() {
        let original = repaired.original_offset(offset);
        assert!(before <= original && original <= yaml.len(), "{offset} leads to {original} after {before}");
        before = original;
    }
}
