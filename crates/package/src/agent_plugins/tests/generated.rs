//! Properties of the parsers for generated manifests.

use proptest::prelude::*;

use super::*;

/// Returns JSON values with the keys that manifests have.
fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let key = prop::sample::select(vec![
        "$schema",
        "name",
        "version",
        "author",
        "keywords",
        "extensions",
        "skills",
        "mcpServers",
        "plugins",
        "source",
        "type",
        "command",
        "args",
        "env",
        "cwd",
        "url",
        "headers",
        "owner",
        "metadata",
        "pluginRoot",
        "strict",
        "x",
    ]);
    let text = prop::sample::select(vec![
        PLUGIN_SCHEMA,
        MCP_SCHEMA,
        "demo",
        "stdio",
        "sse",
        "node",
        "./a",
        "../a",
        "./",
        "https://example.com",
        "github",
        "\u{202e}",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        text.prop_map(Into::into),
        ".{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

/// Checks that locations are inside the text and that nothing hidden is shown.
fn check_diagnostics(bytes: &[u8], diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        if let Some(location) = diagnostic.location {
            assert!(location.span.end as usize <= bytes.len().max(1), "{diagnostic}");
        }
        assert_eq!(prowess_format::hidden::find_hidden(&diagnostic.message), None);
    }
    assert!(diagnostics.len() <= 2 * limits::DIAGNOSTICS_MAX);
}

fn check_all(bytes: &[u8]) {
    for format in PluginFormat::ALL {
        let parsed = parse_plugin_manifest(bytes, format);
        check_diagnostics(bytes, &parsed.diagnostics);
        assert!(parsed.value.is_some() || !parsed.diagnostics.is_empty());
        let parsed = parse_mcp_config(bytes, format);
        check_diagnostics(bytes, &parsed.diagnostics);
        assert!(parsed.value.is_some() || !parsed.diagnostics.is_empty());
    }
    let parsed = parse_marketplace(bytes);
    check_diagnostics(bytes, &parsed.diagnostics);
    assert!(parsed.value.is_some() || !parsed.diagnostics.is_empty());
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_reported(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_all(&bytes);
    }

    #[test]
    fn any_json_is_parsed_or_reported(value in json_value()) {
        check_all(value.to_string().as_bytes());
    }

    /// A path that is accepted has only normal components below the plugin.
    #[test]
    fn accepted_paths_stay_inside(text in "[./a~\\\\:-]{0,12}") {
        if let Ok(path) = PluginPath::parse(&text) {
            let below = path.below("root");
            let mut components = std::path::Path::new(&below).components();
            prop_assert!(components.all(|component| matches!(component, std::path::Component::Normal(_))), "{}", below);
            prop_assert!(below == "root" || below.starts_with("root/"));
        }
    }

    /// Loading never panics and finds only skills that exist.
    #[test]
    fn loaded_skills_exist(manifest in json_value(), mcp in json_value()) {
        let source = TestSource::default()
            .file("plugin.json", &manifest.to_string())
            .file("mcp.json", &mcp.to_string())
            .skill("skills/sum")
            .skill("a");
        for skill in source.load().plugin.iter().flat_map(|plugin| &plugin.skills) {
            prop_assert!(["skills/sum", "a"].contains(&skill.as_str()), "{}", skill);
        }
    }
}
