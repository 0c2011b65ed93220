//! Any text: an entry that is put is found, everything else means the same, and taking it away leaves the text as it
//! was, but for white space, commas and comments beside the entry. What is put never takes a comment away.

use proptest::prelude::*;

use super::super::super::entry::{Form, find, put, take};
use super::{PATH, server};

/// What may stand between the parts of JSON.
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

/// All comments that are generated.
const COMMENTS: [&str; 4] = ["// c", "/* c */", "/* a\n b */", "// } c"];

/// The text without what an entry may leave or take along: white space, commas, comments, and maps that are empty.
fn bare(text: &str) -> String {
    let text = COMMENTS.iter().fold(text.to_owned(), |text, comment| text.replace(comment, ""));
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let text = text.replace("\"servers\":{}", "");
    text.strip_suffix("{}").unwrap_or(&text).to_owned()
}

fn holds(text: &str, form: Form) -> Result<(), TestCaseError> {
    let Ok(known) = find(text, form, PATH) else { return Ok(()) };
    if known.is_some() {
        // What somebody else wrote: taken away, it is gone.
        if let Ok(gone) = take(text, form, PATH) {
            prop_assert_eq!(find(&gone, form, PATH).unwrap(), None, "{:?} to {:?}", text, gone);
        }
        return Ok(());
    }
    prop_assert_eq!(take(text, form, PATH).unwrap(), text);
    let Ok(after) = put(text, form, PATH, &server()) else { return Ok(()) };
    prop_assert_eq!(
        find(&after, form, PATH).unwrap().map(|found| found.value),
        Some(server()),
        "{:?}",
        after
    );
    prop_assert_eq!(put(&after, form, PATH, &server()).unwrap(), after.clone());
    if form == Form::Json {
        for comment in COMMENTS {
            prop_assert_eq!(after.matches(comment).count(), text.matches(comment).count(), "{:?}", after);
        }
        let back = take(&after, form, PATH).unwrap();
        prop_assert_eq!(bare(&back), bare(text), "{:?} back from {:?}", back, after);
    }
    let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    prop_assert!(!crlf || !after.replace("\r\n", "").contains('\n'), "{:?}", after);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn json_comes_back(text in json()) {
        holds(&text, Form::Json)?;
    }

    #[test]
    fn no_text_is_too_odd(text in "[{}\\[\\]a-c:,\"/* \\n\\r\\t1\\\\]{0,40}") {
        for form in [Form::Json, Form::Toml, Form::Yaml] {
            holds(&text, form)?;
            holds(&format!("{{\"servers\": {{{text}"), form)?;
            holds(&format!("{{\"servers\": {{}}{text}"), form)?;
            holds(&format!("[servers]\n{text}"), form)?;
            holds(&format!("servers:\n  {text}"), form)?;
        }
    }
}
