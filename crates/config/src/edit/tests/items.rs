//! Adding and removing one item of a JSON list changes nothing else.

use proptest::prelude::*;
use prowess_format::Value;

use super::super::item::{Step, append, find, remove, set_text};

const PATH: [&str; 2] = ["hooks", "Stop"];
const STEPS: [Step<'static>; 2] = [Step::Key("hooks"), Step::Key("Stop")];

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// A group with one hook, as several clients expect it.
fn group() -> Value {
    let hook = Value::Map(vec![("command".into(), text("x")), ("timeout".into(), Value::Number("5".into()))]);
    Value::Map(vec![("hooks".into(), Value::List(vec![hook]))])
}

/// Checks the text after adding the item; removing it must restore the original text.
fn and_back(before: &str, expected: &str) {
    let after = append(before, &PATH, &group()).unwrap_or_else(|error| panic!("{error}: {before:?}"));
    assert_eq!(after, expected, "from {before:?}");
    restored(before, &after);
}

fn restored(before: &str, after: &str) {
    let items = find(after, &PATH).unwrap();
    assert_eq!(items.last().map(|item| &item.value), Some(&group()));
    assert_eq!(remove(after, &STEPS, items.len() - 1).unwrap(), before, "back from {after:?}");
}

const TIGHT: &str = r#"{"hooks": [{"command": "x", "timeout": 5}]}"#;

const LINES: &str = r#"{
        "hooks": [
          {
            "command": "x",
            "timeout": 5
          }
        ]
      }"#;

#[test]
fn a_missing_list_is_created() {
    for before in [
        "",
        "// mine\n",
        "{}",
        "{}\n",
        "{\"a\": 1}",
        "{\n  \"a\": 1 // one\n}\n",
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {\n    \"Start\": []\n  }\n}\n",
        "{\"hooks\":{\"Start\":[1]}}",
        "\u{feff}{\r\n\t\"a\": {}\r\n}\r\n",
    ] {
        let after = append(before, &PATH, &group()).unwrap();
        restored(before, &after);
    }
}

#[test]
fn an_item_is_added_after_the_last_one() {
    let doc = |list: &str| format!("{{\n  \"hooks\": {{\n    \"Stop\": {list}\n  }}\n}}\n");
    and_back(&doc("[]"), &doc(&format!("[ {TIGHT}]")));
    and_back(&doc("[ ]"), &doc(&format!("[ {TIGHT} ]")));
    and_back(&doc("[ /* none */ ]"), &doc(&format!("[ {TIGHT} /* none */ ]")));
    and_back(&doc("[1]"), &doc(&format!("[1, {TIGHT}]")));
    and_back(&doc("[1,]"), &doc(&format!("[1, {TIGHT},]")));
    and_back(&doc("[\n      1\n    ]"), &doc(&format!("[\n      1,\n      {LINES}\n    ]")));
    and_back(&doc("[\n      1 // one\n    ]"), &doc(&format!("[\n      1, // one\n      {LINES}\n    ]")));
    and_back(&doc("[\n      1, // one\n    ]"), &doc(&format!("[\n      1, // one\n      {LINES},\n    ]")));
    and_back(
        &doc("[\n      1\n      // more to come\n    ]"),
        &doc(&format!("[\n      1,\n      {LINES}\n      // more to come\n    ]")),
    );
    and_back(
        &doc("[\n      1 /* one,\n two */\n    ]"),
        &doc(&format!("[\n      1, {TIGHT} /* one,\n two */\n    ]")),
    );
    and_back("{\"hooks\":{\"Stop\":[{}]}}", &format!("{{\"hooks\":{{\"Stop\":[{{}}, {TIGHT}]}}}}"));
}

#[test]
fn tabs_and_line_endings_stay() {
    let before = "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{}\r\n\t\t]\r\n\t}\r\n}\r\n";
    let after = append(before, &PATH, &group()).unwrap();
    assert!(
        !after.replace("\r\n", "").contains('\n') && after.contains("\r\n\t\t\t\t\"hooks\": ["),
        "{after:?}"
    );
    restored(before, &after);
}

#[test]
fn a_list_at_the_top_level_is_edited() {
    for before in ["", "{}", "{\n  \"Start\": []\n}\n", "{\"Stop\": [1]}", "{\n  \"Stop\": [\n    1\n  ]\n}"]
    {
        let after = append(before, &["Stop"], &group()).unwrap();
        let items = find(&after, &["Stop"]).unwrap();
        assert_eq!(remove(&after, &[Step::Key("Stop")], items.len() - 1).unwrap(), before, "{after:?}");
    }
}

#[test]
fn items_of_others_are_removed() {
    let gone = |text: &str, index| remove(text, &STEPS, index).unwrap();
    assert_eq!(gone("{\"hooks\": {\"Stop\": [1, 2, 3]}}", 1), "{\"hooks\": {\"Stop\": [1, 3]}}");
    assert_eq!(gone("{\"hooks\": {\"Stop\": [1, 2]}}", 0), "{\"hooks\": {\"Stop\": [2]}}");
    assert_eq!(
        gone("{\"hooks\": {\"Stop\": [\n  1, // one\n  2, // two\n  3\n]}}", 0),
        "{\"hooks\": {\"Stop\": [\n  2, // two\n  3\n]}}"
    );
    assert_eq!(gone("{\"hooks\": {\"Stop\": [1]}}", 5), "{\"hooks\": {\"Stop\": [1]}}");
    assert_eq!(gone("// nothing\n", 0), "// nothing\n");
    let nested = "{\"hooks\": {\"Stop\": [{\"hooks\": [1, 2]}]}}";
    let steps = [&STEPS[..], &[Step::Index(0), Step::Key("hooks")]].concat();
    assert_eq!(remove(nested, &steps, 1).unwrap(), "{\"hooks\": {\"Stop\": [{\"hooks\": [1]}]}}");
}

#[test]
fn a_string_is_replaced_in_place() {
    let before = "{\"hooks\": {\"Stop\": [{\"command\": \"old\" /* mine */}]}}";
    let steps = [&STEPS[..], &[Step::Index(0), Step::Key("command")]].concat();
    assert_eq!(
        set_text(before, &steps, "a \"b\"\u{202e}").unwrap(),
        "{\"hooks\": {\"Stop\": [{\"command\": \"a \\\"b\\\"\\u202e\" /* mine */}]}}"
    );
    assert!(set_text(before, &STEPS, "x").is_err());
}

#[test]
fn errors_have_a_location() {
    for (text, expected) in [
        ("{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}", "line 3, column 1: Stop must be a list"),
        ("{\n  \"hooks\": []\n}", "line 2, column 12: hooks must be an object"),
        (
            "{\n  \"hooks\" 1\n}",
            "line 2, column 11: expected colon after the string or word in object property",
        ),
        ("[]", "line 1, column 1: the configuration must be an object"),
    ] {
        assert_eq!(append(text, &PATH, &group()).unwrap_err().to_string(), expected);
    }
}

fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        " ",
        "\n",
        "\n    ",
        "\r\n\t",
        " // c, c\n",
        " /* c, */",
        "/* a\n, b */",
    ])
}

fn list() -> impl Strategy<Value = String> {
    let item = prop::sample::select(vec!["1", "{}", "[]", "\"a,]\"", "{\"a\": [1]}", "{\n  \"a\": 1\n}"]);
    (prop::collection::vec((gap(), item, gap()), 0..4), gap(), any::<bool>()).prop_map(
        |(items, end, comma)| {
            let comma = if comma && !items.is_empty() { "," } else { "" };
            let items: Vec<_> = items.iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
            format!("[{}{comma}{end}]", items.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn lists_are_restored(list in list(), a in gap(), b in gap(), before in prop::bool::ANY) {
        let other = if before { "\"Start\": [1]," } else { "" };
        let text = format!("{{{a}\"hooks\":{b}{{{other}{a}\"Stop\":{b}{list}{a}}}{b}}}");
        if let Ok(after) = append(&text, &PATH, &group()) {
            let items = find(&after, &PATH).unwrap();
            prop_assert_eq!(items.last().map(|item| &item.value), Some(&group()));
            prop_assert_eq!(remove(&after, &STEPS, items.len() - 1).unwrap(), text, "{:?}", after);
        }
    }

    #[test]
    fn no_text_causes_a_panic(text in "[{}\\[\\]a-c:,\"/* \\n\\r\\t1\\\\]{0,40}", index in 0_usize..3) {
        for text in [text.clone(), format!("{{\"hooks\": {{\"Stop\": [{text}]}}}}"), format!("{{\"hooks\": {text}")] {
            let _ = append(&text, &PATH, &group());
            let _ = remove(&text, &STEPS, index);
        }
    }
}
