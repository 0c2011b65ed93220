use super::super::EditError;
use super::super::list::{ListFormat, add, find, remove};
use super::{DISABLED, and_back, one_way};

const Y: ListFormat = ListFormat::Yaml;

#[test]
fn an_item_is_added_to_an_existing_list() {
    for (text, expected) in [
        ("skills:\n  disabled:\n    - a\n", "skills:\n  disabled:\n    - a\n    - x\n"),
        ("skills:\n  disabled:\n  - 'a'", "skills:\n  disabled:\n  - 'a'\n  - 'x'"),
        (
            "skills:\r\n  disabled: # off\r\n    - \"a\" # why\r\n    # more\r\n  userDir: ~/x\r\n",
            "skills:\r\n  disabled: # off\r\n    - \"a\" # why\r\n    - \"x\"\r\n    # more\r\n  userDir: ~/x\r\n",
        ),
        ("skills: {disabled: [a, b]}\n", "skills: {disabled: [a, b, x]}\n"),
        ("skills:\n  disabled: [\n    a,\n  ]\n", "skills:\n  disabled: [\n    a,\n    x,\n  ]\n"),
        ("skills:\n  disabled: []\n", "skills:\n  disabled: [\"x\"]\n"),
        ("\u{feff}skills:\n  disabled: [a]\n", "\u{feff}skills:\n  disabled: [a, x]\n"),
        (
            "---\nskills:\n  disabled:\n    -  a\nother: |\n  - b\n",
            "---\nskills:\n  disabled:\n    -  a\n    - x\nother: |\n  - b\n",
        ),
        (
            "a: &a [1]\nb: *a\nskills:\n disabled:\n  - a\n",
            "a: &a [1]\nb: *a\nskills:\n disabled:\n  - a\n  - x\n",
        ),
    ] {
        and_back(text, Y, expected);
    }
}

#[test]
fn a_missing_list_is_created() {
    for (text, expected, back) in [
        ("", "skills:\n  disabled:\n    - \"x\"\n", "skills:\n  disabled: []\n"),
        ("# mine\n", "# mine\nskills:\n  disabled:\n    - \"x\"\n", "# mine\nskills:\n  disabled: []\n"),
        ("a: 1", "a: 1\nskills:\n  disabled:\n    - \"x\"", "a: 1\nskills:\n  disabled: []"),
        ("skills:\n", "skills:\n  disabled:\n    - \"x\"\n", "skills:\n  disabled: []\n"),
        (
            "skills: ~ # none\nb: 2\n",
            "skills: # none\n  disabled:\n    - \"x\"\nb: 2\n",
            "skills: # none\n  disabled: []\nb: 2\n",
        ),
        (
            "skills:\n    disabled:\n    userDir: ~/x\n",
            "skills:\n    disabled:\n      - \"x\"\n    userDir: ~/x\n",
            "skills:\n    disabled: []\n    userDir: ~/x\n",
        ),
        (
            "skills:\n  plugins:\n  - url: u\n    name: n\n  # end\nb: 2\n",
            "skills:\n  plugins:\n  - url: u\n    name: n\n  disabled:\n  - \"x\"\n  # end\nb: 2\n",
            "skills:\n  plugins:\n  - url: u\n    name: n\n  disabled: []\n  # end\nb: 2\n",
        ),
        ("skills: {}\n", "skills: {disabled: [\"x\"]}\n", "skills: {disabled: []}\n"),
        ("{skills: {a: 1}}", "{skills: {disabled: [\"x\"], a: 1}}", "{skills: {disabled: [], a: 1}}"),
        ("{\"a\": 1}\n", "{skills: {disabled: [\"x\"]}, \"a\": 1}\n", "{skills: {disabled: []}, \"a\": 1}\n"),
        ("skills: {disabled: }\n", "skills: {disabled: [\"x\"] }\n", "skills: {disabled: [] }\n"),
        (
            "t: |\n  text\n\n# end\n",
            "t: |\n  text\nskills:\n  disabled:\n    - \"x\"\n\n# end\n",
            "t: |\n  text\nskills:\n  disabled: []\n\n# end\n",
        ),
        (
            "a: 1\n...\n",
            "a: 1\nskills:\n  disabled:\n    - \"x\"\n...\n",
            "a: 1\nskills:\n  disabled: []\n...\n",
        ),
    ] {
        one_way(text, Y, expected, back);
    }
}

#[test]
fn items_are_removed() {
    let off = |text: &str| remove(text, Y, DISABLED, "x").unwrap();
    assert_eq!(
        off("skills:\n  disabled:\n    - x\n    # b\n    - b\n    - 'x'\n"),
        "skills:\n  disabled:\n    # b\n    - b\n"
    );
    assert_eq!(off("skills:\n  disabled:\n    - b\n    - x"), "skills:\n  disabled:\n    - b");
    assert_eq!(off("skills:\n  disabled:\n    - b\r\n    - x\r\n"), "skills:\n  disabled:\n    - b\r\n");
    assert_eq!(off("skills: {disabled: [x, b, x]}"), "skills: {disabled: [b]}");
    assert_eq!(off("a: 1"), "a: 1");
}

#[test]
fn unsafe_changes_are_rejected_with_the_line() {
    let edit_error = |text: &str| match add(text, Y, DISABLED, "x").unwrap_err() {
        EditError::Unsafe { line, reason } => (line, reason),
        EditError::Malformed { line, message } => (line, format!("malformed: {message}")),
        other => panic!("{other}"),
    };
    let (line, reason) = edit_error("a: &a [b]\nskills:\n  disabled: *a\n");
    assert!(line == 3 && reason.contains("alias"), "{reason}");
    let (line, reason) = edit_error("skills:\n  disabled: &a [b]\nc: *a\n");
    assert!(line == 2 && reason.contains("anchor"), "{reason}");
    let (line, reason) = edit_error("skills:\n  disabled: &a\n    - b\nc: *a\n");
    assert!(line == 2 && reason.contains("anchor"), "{reason}");
    assert_eq!(
        edit_error("skills:\n  a: 1\nskills:\n  b: 2\n"),
        (3, "duplicate key skills; delete one of them".to_owned())
    );
    assert_eq!(edit_error("skills:\n  disabled: []\n  disabled: []\n").0, 3);
    assert!(edit_error("a: 1\n---\nb: 2\n").1.contains("a second one starts here"));
    assert!(edit_error("skills:\n\tdisabled: []\n").1.starts_with("malformed"));
    assert_eq!(edit_error("- a\n"), (1, "this must be a mapping".to_owned()));
    assert_eq!(edit_error("skills:\n  disabled: gh\n"), (2, "this must be a list".to_owned()));
    assert_eq!(edit_error("skills:\n  disabled: [[a]]\n"), (2, "this is not a list of strings".to_owned()));
}

#[test]
fn quotes_are_used_if_necessary() {
    for odd in ["true", "1.0", "a: b", "# c", "it's", "", "-", "a\nb", "\u{202e}", "source:~/x", "null"] {
        for beside in ["a", "'a'", "\"a\""] {
            let after = add(&format!("skills:\n  disabled:\n    - {beside}\n"), Y, DISABLED, odd).unwrap();
            assert_eq!(find(&after, Y, DISABLED).unwrap()[1].text, odd, "{after}");
        }
    }
}
