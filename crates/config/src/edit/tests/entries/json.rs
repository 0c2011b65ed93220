use super::super::super::entry::{ConfigFormat, put, remove};
use super::{PATH, and_back, refused, server, text};

const J: ConfigFormat = ConfigFormat::Json;

const LINES: &str = r#""x": {
      "command": "/bin/x",
      "args": ["mcp", "a \"b\""],
      "headers": {
        "A": "b"
      }
    }"#;

const TIGHT: &str = r#""x": {"command": "/bin/x", "args": ["mcp", "a \"b\""], "headers": {"A": "b"}}"#;

#[test]
fn an_empty_text_gets_the_entry() {
    and_back(J, "", &format!("{{\n  \"servers\": {{\n    {LINES}\n  }}\n}}\n"));
    and_back(J, "// mine\n", &format!("// mine\n{{\n  \"servers\": {{\n    {LINES}\n  }}\n}}\n"));
    and_back(J, "\u{feff}", &format!("\u{feff}{{\n  \"servers\": {{\n    {LINES}\n  }}\n}}\n"));
    and_back(J, "{}\n", &format!("{{\n  \"servers\": {{\n    {TIGHT}\n  }}\n}}\n"));
    and_back(J, "{ // mine\n}\n", &format!("{{ // mine\n  \"servers\": {{\n    {TIGHT}\n  }}\n}}\n"));
    // The line break inside an empty object is not restored.
    let after = put("{\n}", J, PATH, &server()).unwrap();
    assert_eq!(after, format!("{{\n  \"servers\": {{\n    {TIGHT}\n  }}\n}}"));
    assert_eq!(remove(&after, J, PATH).unwrap(), "{}");
}

#[test]
fn a_missing_section_is_created() {
    and_back(
        J,
        "{\n  \"a\": 1 // one\n}\n",
        &format!("{{\n  \"a\": 1, // one\n  \"servers\": {{\n    {LINES}\n  }}\n}}\n"),
    );
    let after = put("{\n  \"a\": 1, /* one */ // more\n  // end\n}\n", J, PATH, &text("n")).unwrap();
    assert_eq!(
        after,
        "{\n  \"a\": 1, /* one */ // more\n  \"servers\": {\n    \"x\": \"n\"\n  },\n  // end\n}\n"
    );
    and_back(J, "{\"a\": 1}", &format!("{{\"a\": 1, \"servers\": {{{TIGHT}}}}}"));
}

#[test]
fn an_existing_section_gets_the_entry() {
    and_back(J, "{\"servers\": {}}", &format!("{{\"servers\": {{{TIGHT}}}}}"));
    and_back(
        J,
        "{\n  \"servers\": {\n    // none yet\n  }\n}",
        &format!("{{\n  \"servers\": {{\n    // none yet\n    {TIGHT}\n  }}\n}}"),
    );
    and_back(
        J,
        "{\n  \"servers\": {\n    \"a\": {} // first\n  },\n  \"b\": 2\n}\n",
        &format!("{{\n  \"servers\": {{\n    \"a\": {{}}, // first\n    {LINES}\n  }},\n  \"b\": 2\n}}\n"),
    );
    and_back(J, "{\"servers\":{\"a\":1}}", &format!("{{\"servers\":{{\"a\":1, {TIGHT}}}}}"));
}

#[test]
fn tabs_and_line_endings_stay() {
    let lines =
        LINES.replace("\n      ", "\r\n\t\t\t").replace("  \"A\"", "\t\"A\"").replace("\n    }", "\r\n\t\t}");
    and_back(
        J,
        "{\r\n\t\"a\": 1,\r\n\t\"servers\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}\r\n",
        &format!("{{\r\n\t\"a\": 1,\r\n\t\"servers\": {{\r\n\t\t\"a\": 1,\r\n\t\t{lines}\r\n\t}}\r\n}}\r\n"),
    );
}

#[test]
fn an_existing_entry_is_replaced_in_place() {
    let before =
        "{\n  \"servers\": {\n    \"x\": {\n      \"command\": \"old\"\n    },\n    \"y\": 1\n  }\n}";
    let after = put(before, J, PATH, &server()).unwrap();
    assert_eq!(after, format!("{{\n  \"servers\": {{\n    {LINES},\n    \"y\": 1\n  }}\n}}"));
    let before = "{\"servers\": {\"x\": 1 /* old */, \"y\": 1}}";
    assert_eq!(
        put(before, J, PATH, &text("n")).unwrap(),
        "{\"servers\": {\"x\": \"n\" /* old */, \"y\": 1}}"
    );
}

#[test]
fn entries_of_other_tools_are_removed() {
    let gone = |text: &str| remove(text, J, PATH).unwrap();
    assert_eq!(gone("{\"servers\": {\"x\": {}}}"), "{\"servers\": {}}");
    assert_eq!(gone("{\"servers\": {\"x\": 1, \"y\": 2}}"), "{\"servers\": { \"y\": 2}}");
    assert_eq!(gone("{\"servers\": {\"w\": 0, \"x\": 1, \"y\": 2}}"), "{\"servers\": {\"w\": 0, \"y\": 2}}");
    assert_eq!(
        gone("{\n  \"servers\": {\n    \"x\": {\n      \"a\": 1\n    },\n    \"y\": 2\n  }\n}\n"),
        "{\n  \"servers\": {\n    \"y\": 2\n  }\n}\n"
    );
    assert_eq!(
        gone("{\n  \"servers\": {\n    // theirs\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}\n"),
        "{\n  \"servers\": {\n    // theirs\n  }\n}\n"
    );
    assert_eq!(
        gone("{\n  \"servers\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"),
        "{\n  \"servers\": {}\n}\n"
    );
    assert_eq!(gone("{\"servers\": {\"y\": 2}}"), "{\"servers\": {\"y\": 2}}");
    assert_eq!(gone("// nothing\n"), "// nothing\n");
}

#[test]
fn errors_have_a_location() {
    for (text, expected) in [
        ("{", "line 1, column 1: unterminated object"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 2, column 9: expected comma"),
        ("{\n  'a': 1\n}", "line 2, column 3: single-quoted strings are not allowed"),
        ("{\"a\" 1}", "line 1, column 6: expected colon after the string or word in object property"),
        ("{\"a\": }", "line 1, column 7: unexpected close brace"),
        ("{\"a\": 01}", "line 1, column 8: expected comma"),
        ("{\"a\": yes}", "line 1, column 7: unexpected token"),
        ("{\"é\": \"\\x\"}", "line 1, column 8: invalid escape"),
        ("{} {}", "line 1, column 4: text cannot contain more than one JSON value"),
        ("{} /*", "line 1, column 4: unterminated comment block"),
        ("[]", "line 1, column 1: the configuration must be an object"),
        ("{\"servers\": []}", "line 1, column 13: servers must be an object"),
        (
            "{\"servers\": {},\n \"servers\": {}}",
            "line 2, column 2: duplicate key servers; delete one of them",
        ),
        ("{\"a\": \u{1b}[}", "line 1, column 7: unexpected token"),
    ] {
        assert_eq!(refused(J, text), expected, "{text:?}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(refused(J, &deep).contains("nesting"), "{}", refused(J, &deep));
}

#[test]
fn hidden_characters_are_escaped() {
    let after = put("", J, PATH, &text("a\u{202e}\u{1b}\u{e0041}é\\")).unwrap();
    assert!(after.contains(r#""a\u202e\u001b\udb40\udc41é\\""#), "{after}");
}
