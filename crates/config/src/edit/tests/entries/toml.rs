use super::super::super::entry::{ConfigFormat, put, remove};
use super::{PATH, and_back, refused, server, text};

const T: ConfigFormat = ConfigFormat::Toml;

const TABLE: &str =
    "[servers.x]\ncommand = \"/bin/x\"\nargs = [\"mcp\", \"a \\\"b\\\"\"]\nheaders = { A = \"b\" }";

#[test]
fn a_table_is_added_at_the_end() {
    and_back(T, "", &format!("{TABLE}\n"));
    and_back(T, "a = 1", &format!("a = 1\n\n{TABLE}"));
    and_back(T, "# mine\na = 1 # one\n", &format!("# mine\na = 1 # one\n\n{TABLE}\n"));
    and_back(T, "a = 1\n\n\n", &format!("a = 1\n\n\n\n{TABLE}\n"));
    and_back(
        T,
        "\u{feff}[servers.a]\r\ncommand = 'a'\r\n",
        &format!("\u{feff}[servers.a]\r\ncommand = 'a'\r\n\r\n{}\r\n", TABLE.replace('\n', "\r\n")),
    );
    and_back(
        T,
        "[servers]\n\n[other]\nb = '''\n[servers.x]\n'''\n",
        &format!("[servers]\n\n[other]\nb = '''\n[servers.x]\n'''\n\n{TABLE}\n"),
    );
}

#[test]
fn an_entry_is_added_to_an_inline_table() {
    let after = put("servers = { a = { command = \"a\" } }\n", T, PATH, &text("n")).unwrap();
    assert_eq!(after, "servers = { a = { command = \"a\" }, x = \"n\" }\n");
}

#[test]
fn entries_of_other_tools_are_removed_with_their_tables() {
    let gone = |text: &str| remove(text, T, PATH).unwrap();
    assert_eq!(
        gone(
            "a = 1\n\n[servers.x]\ncommand = \"y\"\n\n[servers.x.env]\nA = \"b\"\n\n# other\n[other]\nb = 2\n"
        ),
        "a = 1\n\n# other\n[other]\nb = 2\n"
    );
    assert_eq!(gone("[servers.x]\n[servers.y]\na = 1\n"), "[servers.y]\na = 1\n");
    assert_eq!(gone("[servers]\nx = { command = \"y\" }\ny = 1\n"), "[servers]\ny = 1\n");
    assert_eq!(gone("[servers.\"x\"]\na = [\n  1,\n]\n[b]\n"), "[b]\n");
    assert_eq!(gone("a = 1\n"), "a = 1\n");
    assert_eq!(gone("b = 1\nservers.x.command = 1\nservers.x.args = []\n"), "b = 1\n");
    assert_eq!(gone("servers = { x = 1, y = 2 }\n"), "servers = { y = 2 }\n");
}

#[test]
fn comments_above_the_entry_stay() {
    let gone = |text: &str| remove(text, T, PATH).unwrap();
    assert_eq!(gone("a = 1\n\n# mine\n[servers.x]\nb = 1\n[c]\n"), "a = 1\n\n# mine\n[c]\n");
    assert_eq!(gone("[servers]\n# mine\nx = 1 # theirs\ny = 2\n"), "[servers]\n# mine\ny = 2\n");
}

#[test]
fn an_existing_entry_is_replaced() {
    let before = "[servers.x]\ncommand = \"old\"\n\n[b]\nc = 1\n";
    assert_eq!(put(before, T, PATH, &server()).unwrap(), format!("{TABLE}\n\n[b]\nc = 1\n"));
}

#[test]
fn errors_have_a_location() {
    assert_eq!(refused(T, "a = 1\nservers = 3\n"), "line 2, column 1: servers must be a table");
    assert!(refused(T, "a = 1\nb = = 2\n").starts_with("line 2, column 5: "));
    assert_eq!(refused(T, "a = 1\na = 2\n"), "line 2, column 1: duplicate key a");
}
