use super::super::EditError;
use super::super::harness::{HarnessPlugin, add_plugin, plugins, remove_plugin, set_plugin_enabled};

/// The example of document 002.
const DOCUMENT: &str = r#"skills:
  # Installed plugins (tracked automatically)
  plugins:
    - url: "https://github.com/user/my-skill"
      name: "my-skill"
      enabled: true
      installedAt: "2024-01-05T10:30:00Z"
    - url: "https://github.com/user/another-skill"
      ref: "v1.0.0"
      enabled: false
      installedAt: "2024-01-04T15:20:00Z"

  # Custom plugins directory (default: ~/.agent/plugins)
  pluginsDir: "~/.agent/plugins"

  # Disable bundled skills by name
  disabledBundled:
    - "gh"

  # Only enable specific bundled skills (overrides defaults)
  enabledBundled: []

  # Script execution timeout (planned)
  scriptTimeout: 30000
"#;

fn third() -> HarnessPlugin {
    HarnessPlugin {
        url: "https://github.com/user/third.git".to_owned(),
        reference: Some("1.0".to_owned()),
        name: None,
        enabled: true,
        installed_at: Some("2026-01-02T03:04:05Z".to_owned()),
    }
}

#[test]
fn s002_16_plugins_are_read_as_the_document_writes_them() {
    let listed: Vec<_> = plugins(DOCUMENT)
        .unwrap()
        .iter()
        .map(|(plugin, line)| {
            (plugin.effective_name().to_owned(), plugin.reference.clone(), plugin.enabled, *line)
        })
        .collect();
    let another = ("another-skill".to_owned(), Some("v1.0.0".to_owned()), false, 8);
    assert_eq!(listed, [("my-skill".to_owned(), None, true, 4), another]);
}

#[test]
fn s002_16_a_plugin_is_added_and_removed_and_the_rest_stays() {
    let after = add_plugin(DOCUMENT, &third()).unwrap();
    let lines = "    - url: \"https://github.com/user/third.git\"\n      ref: \"1.0\"\n      enabled: true\n      \
                 installedAt: \"2026-01-02T03:04:05Z\"\n";
    let (before, rest) = DOCUMENT.split_at(DOCUMENT.find("\n  # Custom plugins").unwrap());
    assert_eq!(after, format!("{before}{lines}{rest}"));
    assert_eq!(plugins(&after).unwrap()[2].0, third());
    assert_eq!(remove_plugin(&after, "third").unwrap(), DOCUMENT);

    let without = remove_plugin(&remove_plugin(DOCUMENT, "my-skill").unwrap(), "another-skill").unwrap();
    assert!(
        without.contains("  # Installed plugins (tracked automatically)\n  plugins: []\n\n  # Custom"),
        "{without}"
    );
}

#[test]
fn s002_16_enabling_a_plugin_changes_only_its_line() {
    let off = set_plugin_enabled(DOCUMENT, "my-skill", false).unwrap();
    assert_eq!(off, DOCUMENT.replacen("enabled: true", "enabled: false", 1));
    assert_eq!(set_plugin_enabled(&off, "my-skill", true).unwrap(), DOCUMENT);
    assert_eq!(set_plugin_enabled(DOCUMENT, "my-skill", true).unwrap(), DOCUMENT);

    for (text, expected) in [
        ("skills:\n  plugins:\n  - url: u/p\n", "skills:\n  plugins:\n  - url: u/p\n    enabled: false\n"),
        ("skills: {plugins: [{url: u/p}]}", "skills: {plugins: [{enabled: false, url: u/p}]}"),
        (
            "skills:\n  plugins:\n    -\n      url: u/p # c\n    - url: q\n",
            "skills:\n  plugins:\n    -\n      url: u/p # c\n      enabled: false\n    - url: q\n",
        ),
        (
            "skills:\n  plugins:\n  - enabled:\n    url: u/p\n",
            "skills:\n  plugins:\n  - enabled: false\n    url: u/p\n",
        ),
    ] {
        assert_eq!(set_plugin_enabled(text, "p", false).unwrap(), expected);
        assert_eq!(set_plugin_enabled(expected, "p", true).unwrap(), expected.replace("false", "true"));
    }
}

#[test]
fn s002_16_an_empty_file_gets_the_section() {
    let text = add_plugin("", &HarnessPlugin { reference: None, installed_at: None, ..third() }).unwrap();
    let expected =
        "skills:\n  plugins:\n    - url: \"https://github.com/user/third.git\"\n      enabled: true\n";
    assert_eq!(text, expected);
    let flow = add_plugin("skills: {plugins: []}\n", &third()).unwrap();
    assert_eq!(plugins(&flow).unwrap()[0].0, third());
}

#[test]
fn missing_and_duplicate_names_are_errors() {
    let none = EditError::NoPlugin { name: "x".to_owned() };
    assert_eq!(remove_plugin(DOCUMENT, "x").unwrap_err(), none);
    assert_eq!(set_plugin_enabled("", "x", true).unwrap_err(), none);
    let twice = add_plugin(&add_plugin(DOCUMENT, &third()).unwrap(), &third()).unwrap_err();
    assert_eq!(twice, EditError::PluginExists { name: "third".to_owned(), line: 12 });
    let alias = "a: &a {url: u/p}\nskills:\n  plugins:\n    - *a\n";
    assert!(matches!(set_plugin_enabled(alias, "p", false), Err(EditError::Unsafe { line: 4, .. })));
    assert_eq!(remove_plugin(alias, "p").unwrap(), "a: &a {url: u/p}\nskills:\n  plugins: []\n");
}
