//! Random texts: an added item is found, everything else keeps its value, and removing it restores the value.

use proptest::prelude::*;

use super::super::harness::{HarnessPlugin, add_plugin, plugins, remove_plugin, set_plugin_enabled};
use super::super::list::{ListFormat, add, find, remove};
use super::DISABLED;

/// Typical lines of configurations in random order, valid or not.
fn yaml() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "skills:",
        "skills: {}",
        "skills: ~",
        "  disabled:",
        "  disabled: []",
        "  disabled: [a, 'b']",
        "  disabled: ~",
        "    - a",
        "    - \"b\" # c",
        "  - d",
        "  plugins:",
        "    - url: u/p",
        "      name: p",
        "      enabled: true",
        "    - {url: u/q, enabled: false}",
        "  # comment",
        "# comment",
        "",
        "other: 1",
        "text: |",
        "  block - x",
        "list: &l [a]",
        "again: *l",
        "  disabled: *l",
        "    ",
        "---",
        "...",
        "  userDir: ~/x",
        "  disabled: [",
        "    a,",
        "  ]",
        "'skills':",
    ]);
    let ends = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(line, 0..9), ends, any::<bool>(), any::<bool>()).prop_map(
        |(lines, end, last, mark)| {
            let mark = if mark { "\u{feff}" } else { "" };
            format!("{mark}{}{}", lines.join(end), if last { end } else { "" })
        },
    )
}

fn toml() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "[skills]",
        "disabled = []",
        "disabled = [\"a\"]",
        "disabled = [",
        "  'a',",
        "  \"b\" # c, d",
        "  # e",
        "]",
        "pinned = [\"a\"]",
        "skills.disabled = ['a']",
        "skills.pinned = []",
        "skills = { pinned = [] }",
        "[scan]",
        "depth = 3",
        "# comment",
        "",
        "[skills.more]",
        "text = \"\"\"",
        "[[list]]",
        "preset = \"app\"",
    ]);
    let ends = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(line, 0..9), ends, any::<bool>())
        .prop_map(|(lines, end, last)| format!("{}{}", lines.join(end), if last { end } else { "" }))
}

/// Returns the lines that are only in the first text.
fn lost<'t>(before: &'t str, after: &str) -> Vec<&'t str> {
    let mut left: Vec<_> = after.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    before
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| match left.iter().position(|other| other == line) {
            Some(at) => {
                left.remove(at);
                false
            }
            None => true,
        })
        .collect()
}

fn check_invariants(text: &str, format: ListFormat) -> Result<(), TestCaseError> {
    let Ok(after) = add(text, format, DISABLED, "x-y") else { return Ok(()) };
    let names = |text: &str| -> Vec<String> {
        find(text, format, DISABLED).unwrap().into_iter().map(|found| found.text).collect()
    };
    prop_assert_eq!(names(&after), [names(text), vec!["x-y".to_owned()]].concat());
    // At most one line is rewritten: the one with the list.
    prop_assert!(lost(text, &after).len() <= 1, "{:?} to {:?}", text, after);
    prop_assert_eq!(text.starts_with('\u{feff}'), after.starts_with('\u{feff}'));
    prop_assert!(
        text.trim_start_matches('\u{feff}').is_empty() || text.ends_with('\n') == after.ends_with('\n'),
        "{:?} to {:?}",
        text,
        after
    );
    if text.contains("\r\n") && !text.replace("\r\n", "").contains('\n') {
        prop_assert!(!after.replace("\r\n", "").contains('\n'), "{:?}", after);
    }
    prop_assert_eq!(add(&after, format, DISABLED, "x-y").unwrap(), after.clone());
    let back = remove(&after, format, DISABLED, "x-y");
    prop_assert!(back.is_ok(), "{:?} from {:?}", back, after);
    let back = back.unwrap();
    prop_assert_eq!(names(&back), names(text));
    prop_assert!(lost(text, &back).len() <= 1, "{:?} back to {:?}", text, back);
    Ok(())
}

proptest! {
    #[test]
    fn lists_of_yaml(text in yaml()) {
        check_invariants(&text, ListFormat::Yaml)?;
    }

    #[test]
    fn lists_of_toml(text in toml()) {
        check_invariants(&text, ListFormat::Toml)?;
    }

    #[test]
    fn s002_16_plugins(text in yaml()) {
        let plugin = HarnessPlugin {
            url: "https://example.com/new.git".to_owned(),
            reference: Some("v1".to_owned()),
            name: None,
            enabled: true,
            installed_at: None,
        };
        let Ok(after) = add_plugin(&text, &plugin) else { return Ok(()) };
        let all = |text: &str| plugins(text).unwrap().into_iter().map(|(plugin, _)| plugin).collect::<Vec<_>>();
        let before = all(&text);
        prop_assert_eq!(all(&after), [before.clone(), vec![plugin]].concat());
        let off = set_plugin_enabled(&after, "new", false).unwrap();
        prop_assert!(!all(&off).last().unwrap().enabled);
        prop_assert_eq!(set_plugin_enabled(&off, "new", true).unwrap(), after);
        prop_assert_eq!(all(&remove_plugin(&off, "new").unwrap()), before);
    }

    #[test]
    fn no_text_causes_a_panic(text in "[a-c:\\-\\[\\]{},#&*!|>'\"\\n\\r\\t \u{feff}é]{0,60}") {
        for format in [ListFormat::Yaml, ListFormat::Toml] {
            check_invariants(&text, format)?;
            check_invariants(&format!("skills:\n  disabled: {text}"), format)?;
            check_invariants(&format!("[skills]\ndisabled = [{text}"), format)?;
        }
    }
}
