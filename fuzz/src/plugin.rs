//! Manifests of plugins and marketplaces.

use prowess_format::Diagnostic;
use prowess_format::hidden::find_hidden;
use prowess_package::agent_plugins::{
    McpTransport, PluginFormat, PluginPath, PluginSource, limits, load_all_plugins, load_plugin,
    parse_marketplace, parse_mcp_config, parse_plugin_manifest,
};
use prowess_package::source::Source;
use prowess_package::{InnerPath, MemoryFile, MemoryTree};

/// Checks that nothing panics, that what is not accepted is reported with a location inside the text, that messages contain
/// nothing hidden, that paths stay inside the plugin, that remote sources are repositories, and that a plugin with these
/// manifests has only skills that exist.
pub fn plugin(bytes: &[u8]) {
    for format in PluginFormat::ALL {
        let parsed = parse_plugin_manifest(bytes, format);
        check_diagnostics(bytes, parsed.value.is_some(), &parsed.diagnostics);
        let paths = parsed.value.iter().flat_map(|manifest| manifest.components.skills.iter().flatten());
        paths.for_each(check_path);
        let parsed = parse_mcp_config(bytes, format);
        check_diagnostics(bytes, parsed.value.is_some(), &parsed.diagnostics);
        for server in parsed.value.iter().flatten().filter(|_| format == PluginFormat::AgentPlugins) {
            let McpTransport::Stdio(server) = &server.transport else { continue };
            assert!(!server.command.contains(char::is_whitespace) || server.command.starts_with("./"));
        }
    }
    let parsed = parse_marketplace(bytes);
    check_diagnostics(bytes, parsed.value.is_some(), &parsed.diagnostics);
    for entry in parsed.value.iter().flat_map(|marketplace| &marketplace.plugins) {
        match &entry.source {
            PluginSource::Local(path) => check_path(path),
            PluginSource::Remote { source, .. } => assert!(matches!(source, Source::Git { .. }), "{source}"),
            PluginSource::Unsupported(reason) => assert_eq!(find_hidden(reason), None),
        }
    }
    let file = |path: &str, bytes: &[u8]| {
        let path = InnerPath::parse(path.as_bytes()).expect("a path");
        MemoryFile { path, executable: false, bytes: bytes.to_vec() }
    };
    let skill = b"---\nname: a\ndescription: b\n---\n";
    let tree = MemoryTree::new([
        file("plugin.json", bytes),
        file("mcp.json", bytes),
        file(".mcp.json", bytes),
        file(".claude-plugin/plugin.json", bytes),
        file(".claude-plugin/marketplace.json", bytes),
        file("skills/a/SKILL.md", skill),
        file("a/SKILL.md", skill),
    ]);
    let load = load_plugin(&tree, "", None).expect("files in memory are readable");
    let (_, plugins) = load_all_plugins(&tree, "").expect("files in memory are readable");
    for skill in load.plugin.iter().chain(&plugins).flat_map(|plugin| &plugin.skills) {
        assert!(["skills/a", "a"].contains(&skill.as_str()), "{skill}");
    }
}

fn check_diagnostics(bytes: &[u8], is_accepted: bool, diagnostics: &[Diagnostic]) {
    assert!(is_accepted || diagnostics.iter().any(Diagnostic::is_error), "nothing is rejected silently");
    assert!(diagnostics.len() <= 2 * limits::DIAGNOSTICS_MAX);
    for diagnostic in diagnostics {
        assert_eq!(find_hidden(&diagnostic.message), None, "{diagnostic}");
        let end = diagnostic.location.map_or(0, |location| location.span.end as usize);
        assert!(end <= bytes.len().max(1), "{diagnostic}");
    }
}

fn check_path(path: &PluginPath) {
    let below = path.below("root");
    let is_normal =
        |component: std::path::Component<'_>| matches!(component, std::path::Component::Normal(_));
    assert!(below == "root" || below.starts_with("root/"), "{below}");
    assert!(std::path::Path::new(&below).components().all(is_normal), "{below}");
}
