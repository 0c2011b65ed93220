//! Random texts: an entry that was put is found, everything else keeps its value, and removing the entry
//! restores the text except for white space, commas and comments next to it. Putting an entry never removes a
//! comment.

use proptest::prelude::*;

use super::super::super::entry::{ConfigFormat, find, put, remove};
use super::{PATH, server};

/// The text between two tokens of JSON.
fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "  ",
        "\n",
        "\n  ",
        "\n    ",
        "\r\n\t",
        " // c\n",
        " /* c */",
        "/* a\n b */",
        "\n// } c\n  ",
        "\t",
    ])
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "servers", "servers", "y", "x", "\\u0078", "é"])
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1",
        "-0.5e3",
        "\"x\"",
        "\"} // \\\" ,\"",
        "null",
        "true",
        "{}",
        "[]",
        "{ }",
        "{\n}",
    ]);
    let value = leaf.prop_map(str::to_owned).prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (prop::collection::vec((gap(), inner.clone(), gap()), 0..3), gap(), any::<bool>()).prop_map(
                |(items, end, comma)| {
                    let items: Vec<_> =
                        items.into_iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
                    let comma = if comma && !items.is_empty() { "," } else { "" };
                    format!("[{}{comma}{end}]", items.join(","))
                }
            ),
            map(inner),
        ]
    });
    (gap(), prop_oneof![4 => map(value.clone()).boxed(), 1 => value.boxed()], gap(), any::<bool>()).prop_map(
        |(before, root, after, mark)| format!("{}{before}{root}{after}", if mark { "\u{feff}" } else { "" }),
    )
}

fn map(inner: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let member = (gap(), key(), gap(), gap(), inner, gap());
    (prop::collection::vec(member, 0..4), gap(), any::<bool>()).prop_map(|(members, end, comma)| {
        let members: Vec<_> = members
            .into_iter()
            .map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}"))
            .collect();
        let comma = if comma && !members.is_empty() { "," } else { "" };
        format!("{{{}{comma}{end}}}", members.join(","))
    })
}

/// All generated comments.
const COMMENTS: [&str; 4] = ["// c", "/* c */", "/* a\n b */", "// } c"];

/// Removes everything that an edit may change: white space, commas, comments and empty maps.
fn normalize(text: &str) -> String {
    let text = COMMENTS.iter().fold(text.to_owned(), |text, comment| text.replace(comment, ""));
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let text = text.replace("\"servers\":{}", "");
    text.strip_suffix("{}").unwrap_or(&text).to_owned()
}

fn check_invariants(text: &str, format: ConfigFormat) -> Result<(), TestCaseError> {
    let Ok(known) = find(text, format, PATH) else { return Ok(()) };
    if known.is_some() {
        // An entry that existed before is gone after removing it.
        if let Ok(gone) = remove(text, format, PATH) {
            prop_assert_eq!(find(&gone, format, PATH).unwrap(), None, "{:?} to {:?}", text, gone);
        }
        return Ok(());
    }
    prop_assert_eq!(remove(text, format, PATH).unwrap(), text);
    let Ok(after) = put(text, format, PATH, &server()) else { return Ok(()) };
    prop_assert_eq!(
        find(&after, format, PATH).unwrap().map(|found| found.value),
        Some(server()),
        "{:?}",
        after
    );
    prop_assert_eq!(put(&after, format, PATH, &server()).unwrap(), after.clone());
    if format == ConfigFormat::Json {
        for comment in COMMENTS {
            prop_assert_eq!(after.matches(comment).count(), text.matches(comment).count(), "{:?}", after);
        }
        let back = remove(&after, format, PATH).unwrap();
        prop_assert_eq!(normalize(&back), normalize(text), "{:?} back from {:?}", back, after);
    }
    let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    prop_assert!(!crlf || !after.replace("\r\n", "").contains('\n'), "{:?}", after);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn json_is_restored(text in json()) {
        check_invariants(&text, ConfigFormat::Json)?;
    }

    #[test]
    fn no_text_causes_a_panic(text in "[{}\\[\\]a-c:,\"/* \\n\\r\\t1\\\\]{0,40}") {
        for format in [ConfigFormat::Json, ConfigFormat::Toml, ConfigFormat::Yaml] {
            check_invariants(&text, format)?;
            check_invariants(&format!("{{\"servers\": {{{text}"), format)?;
            check_invariants(&format!("{{\"servers\": {{}}{text}"), format)?;
            check_invariants(&format!("[servers]\n{text}"), format)?;
            check_invariants(&format!("servers:\n  {text}"), format)?;
        }
    }
}
