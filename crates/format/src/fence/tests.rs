use super::*;
use proptest::prelude::*;

fn find(source: &str) -> (LeadingContent, &str, &str) {
    match find_fences(source.as_bytes(), Extent::Whole) {
        FenceSearch::Found(fences) => (fences.leading, &source[fences.yaml], &source[fences.body..]),
        other => panic!("{other:?} in {source:?}"),
    }
}

#[test]
fn supported_file_openings() {
    assert_eq!(find("---\na: 1\n---\nB"), (LeadingContent::Nothing, "a: 1\n", "B"));
    assert_eq!(find("---\r\na: 1\r\n---\r\nB"), (LeadingContent::Nothing, "a: 1\r\n", "B"));
    assert_eq!(find("\u{feff}---  \na: 1\n---"), (LeadingContent::Nothing, "a: 1\n", ""));
    assert_eq!(find("\n\n---\na: 1\n---\n"), (LeadingContent::Blank, "a: 1\n", ""));
    assert_eq!(find("# T\n\n---\nname: x\n---\nB"), (LeadingContent::Text, "name: x\n", "B"));
    assert_eq!(find("```yaml\n---\nname: x\n---\n```\nB"), (LeadingContent::CodeFence, "name: x\n", "B"));
    assert_eq!(find("```yaml\nname: x\n```\nB"), (LeadingContent::CodeFence, "name: x\n", "B"));
    assert_eq!(
        find("```markdown\n---\nname: x\n---\nB\n```"),
        (LeadingContent::CodeFence, "name: x\n", "B\n```")
    );
    assert_eq!(find("---\nd: a --- b\n---\n---\n"), (LeadingContent::Nothing, "d: a --- b\n", "---\n"));
    assert_eq!(find("---\n---\n"), (LeadingContent::Nothing, "", ""));
}

#[test]
fn horizontal_rules_are_not_frontmatter() {
    for text in [
        "# T\n\n---\n\ntext\n\n---\n",
        "text only",
        "",
        "# T\n---\n",
        "``` \ncode\n```\n",
        "----\na: 1\n----\n",
    ] {
        assert_eq!(find_fences(text.as_bytes(), Extent::Whole), FenceSearch::Missing, "{text:?}");
    }
}

#[test]
fn unclosed_frontmatter_is_bounded() {
    let unclosed = b"---\na: 1\n";
    assert_eq!(find_fences(unclosed, Extent::Whole), FenceSearch::Unclosed { open: 0..3 });
    assert_eq!(find_fences(unclosed, Extent::Prefix), FenceSearch::NeedMore);
    let long = [b"---\n".to_vec(), b"a: 1\n".repeat(20_000)].concat();
    assert_eq!(find_fences(&long, Extent::Prefix), FenceSearch::TooLong { open: 0..3 });
    assert_eq!(find_fences(&vec![b'x'; 9_000], Extent::Prefix), FenceSearch::Missing);
    assert_eq!(find_fences(&vec![b'\n'; 9_000], Extent::Prefix), FenceSearch::Missing);
}

proptest! {
    /// Parsing a prefix never contradicts parsing the whole file; it may only need more bytes.
    #[test]
    fn a_prefix_agrees_with_the_whole(
        parts in proptest::collection::vec(
            prop_oneof![Just("---\n"), Just("---"), Just("\n"), Just("name: x\n"), Just("text\n"), Just("```\n"), Just("\u{feff}")],
            0..12,
        ),
        cut in 0usize..64,
    ) {
        let source = parts.concat();
        let bytes = source.as_bytes();
        let cut = cut.min(bytes.len());
        let whole = find_fences(bytes, Extent::Whole);
        match find_fences(&bytes[..cut], Extent::Prefix) {
            FenceSearch::NeedMore => {}
            FenceSearch::Found(prefix) => {
                let FenceSearch::Found(whole) = whole else { return Err(TestCaseError::fail(format!("{whole:?}"))) };
                prop_assert_eq!(prefix.yaml, whole.yaml);
            }
            prefix => prop_assert_eq!(prefix, whole),
        }
    }
}
