use super::*;
use proptest::prelude::*;

fn found(source: &str) -> (Before, &str, &str) {
    match split(source.as_bytes(), Extent::Whole) {
        Split::Found(fences) => (fences.before, &source[fences.yaml], &source[fences.body..]),
        other => panic!("{other:?} in {source:?}"),
    }
}

#[test]
fn each_way_people_begin_a_file() {
    assert_eq!(found("---\na: 1\n---\nB"), (Before::Nothing, "a: 1\n", "B"));
    assert_eq!(found("---\r\na: 1\r\n---\r\nB"), (Before::Nothing, "a: 1\r\n", "B"));
    assert_eq!(found("\u{feff}---  \na: 1\n---"), (Before::Nothing, "a: 1\n", ""));
    assert_eq!(found("\n\n---\na: 1\n---\n"), (Before::Blank, "a: 1\n", ""));
    assert_eq!(found("# T\n\n---\nname: x\n---\nB"), (Before::Text, "name: x\n", "B"));
    assert_eq!(found("```yaml\n---\nname: x\n---\n```\nB"), (Before::CodeFence, "name: x\n", "B"));
    assert_eq!(found("```yaml\nname: x\n```\nB"), (Before::CodeFence, "name: x\n", "B"));
    assert_eq!(found("```markdown\n---\nname: x\n---\nB\n```"), (Before::CodeFence, "name: x\n", "B\n```"));
    assert_eq!(found("---\nd: a --- b\n---\n---\n"), (Before::Nothing, "d: a --- b\n", "---\n"));
    assert_eq!(found("---\n---\n"), (Before::Nothing, "", ""));
}

#[test]
fn rulers_are_not_frontmatter() {
    for text in [
        "# T\n\n---\n\ntext\n\n---\n",
        "text only",
        "",
        "# T\n---\n",
        "``` \ncode\n```\n",
        "----\na: 1\n----\n",
    ] {
        assert_eq!(split(text.as_bytes(), Extent::Whole), Split::Missing, "{text:?}");
    }
}

#[test]
fn what_never_ends_is_bounded() {
    let unclosed = b"---\na: 1\n";
    assert_eq!(split(unclosed, Extent::Whole), Split::Unclosed { open: 0..3 });
    assert_eq!(split(unclosed, Extent::Prefix), Split::NeedMore);
    let long = [b"---\n".to_vec(), b"a: 1\n".repeat(20_000)].concat();
    assert_eq!(split(&long, Extent::Prefix), Split::TooLong { open: 0..3 });
    assert_eq!(split(&vec![b'x'; 9_000], Extent::Prefix), Split::Missing);
    assert_eq!(split(&vec![b'\n'; 9_000], Extent::Prefix), Split::Missing);
}

proptest! {
    /// Reading a prefix never gives another answer than reading the whole, only perhaps none yet.
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
        let whole = split(bytes, Extent::Whole);
        match split(&bytes[..cut], Extent::Prefix) {
            Split::NeedMore => {}
            Split::Found(prefix) => {
                let Split::Found(whole) = whole else { return Err(TestCaseError::fail(format!("{whole:?}"))) };
                prop_assert_eq!(prefix.yaml, whole.yaml);
            }
            prefix => prop_assert_eq!(prefix, whole),
        }
    }
}
