use proptest::prelude::*;

use super::*;

fn apply(body: &str, args: &str, placeholders: PlaceholderSyntax) -> (String, Substitution) {
    let mut out = String::new();
    let names = ["file".into(), "file-mode".into()];
    let values = PlaceholderValues {
        names: &names,
        skill_dir: Some(Path::new("/skills/a b")),
        project_dir: Some(Path::new("/project")),
    };
    let substituted =
        Arguments::parse(Some(args)).unwrap().write(body, placeholders, values, &mut out).unwrap();
    (out, substituted)
}

fn positions(body: &str, args: &str) -> String {
    apply(body, args, PlaceholderSyntax::Positions).0
}

#[test]
fn s001_10_the_placeholder_is_replaced_everywhere() {
    let (text, substituted) = apply("a $ARGUMENTS b `$ARGUMENTS`", "x y", PlaceholderSyntax::Whole);
    assert_eq!((text.as_str(), substituted), ("a x y b `x y`", Substitution::Yes));
    assert_eq!(apply("none $1", "x", PlaceholderSyntax::Whole), ("none $1".to_owned(), Substitution::No));
}

#[test]
fn s001_12_without_arguments_nothing_is_substituted() {
    for args in ["", "  \n"] {
        assert_eq!(apply("a $ARGUMENTS b", args, PlaceholderSyntax::Whole).0, "a $ARGUMENTS b");
        assert_eq!(positions("a $ARGUMENTS b$ARGUMENTS[0]c $0 $file", args), "a  b$ARGUMENTS[0]c $0 ");
    }
}

#[test]
fn positions_are_counted_from_zero() {
    for (body, expected) in [
        ("$0 then $1", "one then two words"),
        ("$ARGUMENTS[1]|$ARGUMENTS[0]|$ARGUMENTS[7]|", "two words|one|$ARGUMENTS[7]|"),
        ("$ARGUMENTS[x] $ARGUMENTS[", "one 'two words'[x] one 'two words'["),
        ("$5 and $1.50 and $1,5 and $1.", "$5 and $1.50 and $1,5 and two words."),
        ("$10 $name $1a $_ $$1 $", "$10 $name $1a $_ $$1 $"),
        ("\\$1 \\$ARGUMENTS \\\\$0", "$1 $ARGUMENTS \\\\one"),
        ("\\$ARGUMENTS[1] \\$file \\$9 \\$x \\$1.50", "$ARGUMENTS[1] $file $9 \\$x \\$1.50"),
        ("$01 $0001 $00001", "two words two words $00001"),
        ("$ARGUMENTS_X $ARGUMENTSX", "$ARGUMENTS_X $ARGUMENTSX"),
        ("$ARGUMENTS", "one 'two words'"),
    ] {
        assert_eq!(positions(body, "one 'two words'"), expected, "{body}");
    }
}

#[test]
fn declared_names_are_replaced() {
    for (body, expected) in [
        ("$file, $file-mode, $files, $file[0], $file_", "one, two, $files, $file[0], $file_"),
        ("`cat $file` \\$file", "`cat one` $file"),
        ("```sh\ncat $file $0\n```", "```sh\ncat one $0\n```"),
    ] {
        assert_eq!(positions(body, "one two"), expected, "{body}");
    }
    assert_eq!(positions("<$file> <$file-mode>", "one"), "<one> <>");
}

#[test]
fn directories_are_replaced_without_an_escape() {
    let body =
        "`${CLAUDE_SKILL_DIR}/x` \\${CLAUDE_PROJECT_DIR} ${HERMES_SKILL_DIR} ${CLAUDE_SESSION_ID} ${HOME}";
    let expected = "`/skills/a b/x` \\/project /skills/a b ${CLAUDE_SESSION_ID} ${HOME}";
    assert_eq!(positions(body, ""), expected);
    assert_eq!(apply(body, "x", PlaceholderSyntax::Whole).0, body);
}

#[test]
fn code_keeps_positions_but_not_the_whole_placeholder() {
    for (body, expected) in [
        ("`awk $1` $0", "`awk $1` a"),
        ("`` $0 ` $0 `` $0", "`` $0 ` $0 `` a"),
        ("`$ARGUMENTS` `$ARGUMENTS[0]`", "`a b` `$ARGUMENTS[0]`"),
        ("```sh\necho $0 $1\n```\n$0", "```sh\necho $0 $1\n```\na"),
        ("~~~\n$0\n```\n$0\n~~~~\n$0", "~~~\n$0\n```\n$0\n~~~~\na"),
        ("1. x\n   ```\n   $0\n   ```\n   $0", "1. x\n   ```\n   $0\n   ```\n   a"),
        ("```\nnever closed $0", "```\nnever closed $0"),
        ("a ` lone $0\n\nnext ` $0", "a ` lone a\n\nnext ` a"),
        ("\\`$0\\`", "\\`a\\`"),
        ("```\nrun $ARGUMENTS\n```", "```\nrun a b\n```"),
    ] {
        assert_eq!(positions(body, "a b"), expected, "{body}");
    }
}

#[test]
fn words_are_split_as_a_shell_does() {
    for (text, expected) in [
        ("a  b\tc\nd", vec!["a", "b", "c", "d"]),
        ("'a b' \"c \\\" d\" e\\ f", vec!["a b", "c \" d", "e f"]),
        ("a'b'\"c\" '' x", vec!["abc", "", "x"]),
        ("'never closed", vec!["never closed"]),
        ("\"C:\\dir\" back\\", vec!["C:\\dir", "back\\"]),
    ] {
        assert_eq!(split_words(text), expected, "{text}");
    }
}

#[test]
fn arguments_are_bounded_and_clean() {
    let long = "x".repeat(1_000_000);
    assert_eq!(Arguments::parse(Some(&long)), Err(ParseArgumentsError::TooLong(1_000_000)));
    assert_eq!(Arguments::parse(Some("a\0b")), Err(ParseArgumentsError::Nul));
    assert_eq!(ParseArgumentsError::Nul.code(), ErrorCode::InvalidParam);
    let clean = Arguments::parse(Some("a\x1b[31m\r\nb\tc\x07\rd")).unwrap();
    assert_eq!(clean.as_str(), "a\nb\tcd");
}

#[test]
fn placeholders_in_arguments_are_not_replaced() {
    for placeholders in [PlaceholderSyntax::Whole, PlaceholderSyntax::Positions] {
        let (text, _) = apply("<$ARGUMENTS>", "$ARGUMENTS $0 `", placeholders);
        assert_eq!(text, "<$ARGUMENTS $0 `>");
    }
    assert_eq!(positions("$0-$1", "$1 $0"), "$1-$0");
}

proptest! {
    #[test]
    fn a_body_without_placeholders_is_unchanged(body in "[^$]*", args in "[^\0]*") {
        for placeholders in [PlaceholderSyntax::Whole, PlaceholderSyntax::Positions] {
            let (once, substituted) = apply(&body, &args, placeholders);
            prop_assert_eq!(substituted, Substitution::No);
            prop_assert_eq!(&apply(&once, &args, placeholders).0, &once);
            prop_assert_eq!(once, body.clone());
        }
    }

    #[test]
    fn the_pieces_of_a_body_are_the_body(body in "([$`~\\\\\n 0-9a\\[\\]ü]|\\$ARGUMENTS|```){0,40}") {
        let text: String = split_pieces(&body, &["a".into()]).map(|piece| match piece {
            Piece::Text(text) | Piece::Position(_, text) | Piece::Variable(_, text) => text.to_owned(),
            Piece::All => "$ARGUMENTS".to_owned(),
            Piece::Named(_) => "$a".to_owned(),
            Piece::Escaped(text) => format!("\\{text}"),
        }).collect();
        prop_assert_eq!(text, body);
    }

    /// Every value that is inserted appears as it is, and nothing in it is replaced again.
    #[test]
    fn values_cannot_introduce_placeholders(
        before in "[a-z `\n]{0,10}",
        value in "(\\$ARGUMENTS|\\$0|\\$file|\\$\\{CLAUDE_SKILL_DIR\\}|!`x`|\\\\|`|[a-z]){1,8}",
    ) {
        let quoted = format!("'{value}'");
        for placeholder in ["$ARGUMENTS", "$file"] {
            let (text, substituted) = apply(&format!("{before}\n\n{placeholder} end"), &quoted, PlaceholderSyntax::Positions);
            let inserted = if placeholder == "$ARGUMENTS" { &quoted } else { &value };
            prop_assert_eq!(substituted, Substitution::Yes);
            prop_assert_eq!(text, format!("{before}\n\n{inserted} end"));
        }
    }
}
