use super::super::super::entry::{ConfigFormat, put, remove};
use super::{PATH, and_back, refused, server};

const Y: ConfigFormat = ConfigFormat::Yaml;

const BLOCK: &str = "  x:\n    command: \"/bin/x\"\n    args:\n      - mcp\n      - \"a \\\"b\\\"\"\n    headers:\n      A: b";
const FLOW: &str = "x: {command: \"/bin/x\", args: [mcp, \"a \\\"b\\\"\"], headers: {A: b}}";

#[test]
fn an_entry_is_added_to_a_mapping() {
    and_back(Y, "", &format!("servers:\n{BLOCK}\n"));
    and_back(Y, "a: 1", &format!("a: 1\nservers:\n{BLOCK}"));
    and_back(Y, "# mine\na: 1 # one\n", &format!("# mine\na: 1 # one\nservers:\n{BLOCK}\n"));
    and_back(
        Y,
        "servers:\n  a:\n    b: 1 # one\n# other\nc: |\n  x:\n    y\n",
        &format!("servers:\n  a:\n    b: 1 # one\n{BLOCK}\n# other\nc: |\n  x:\n    y\n"),
    );
    and_back(
        Y,
        "\u{feff}servers:\r\n  a: 1\r\n",
        &format!("\u{feff}servers:\r\n  a: 1\r\n{}\r\n", BLOCK.replace('\n', "\r\n")),
    );
    and_back(Y, "servers: {}\n", &format!("servers: {{{FLOW}}}\n"));
    and_back(Y, "servers: {a: 1}\nb: 2\n", &format!("servers: {{{FLOW}, a: 1}}\nb: 2\n"));
    and_back(Y, "servers:\nb: 2\n", &format!("servers: {{ {FLOW} }}\nb: 2\n"));
}

#[test]
fn entries_of_other_tools_are_removed() {
    let gone = |text: &str| remove(text, Y, PATH).unwrap();
    assert_eq!(gone("servers:\n  x:\n    a: 1 # mine\n  y: 2\n"), "servers:\n  y: 2\n");
    assert_eq!(gone("a: 1\nservers:\n  x:\n    a: 1 # mine\nb: 2\n"), "a: 1\nservers: {}\nb: 2\n");
    assert_eq!(gone("servers: {a: 1, x: 2}\n"), "servers: {a: 1}\n");
    assert_eq!(gone("servers: {y: 2}\n"), "servers: {y: 2}\n");
}

#[test]
fn an_existing_entry_is_replaced() {
    let before = "servers:\n  x:\n    a: 1\n  y: 2\n";
    assert_eq!(put(before, Y, PATH, &server()).unwrap(), format!("servers:\n  y: 2\n{BLOCK}\n"));
}

#[test]
fn errors_have_a_location() {
    assert_eq!(refused(Y, "a: 1\nservers: [a]\n"), "line 2, column 1: this must be a mapping");
    assert!(refused(Y, "a: 1\n\tb: [\n").starts_with("line "));
    let twice = "servers:\n  a: 1\nservers:\n  b: 1\n";
    assert_eq!(refused(Y, twice), "line 3, column 1: duplicate key servers; delete one of them");
}
