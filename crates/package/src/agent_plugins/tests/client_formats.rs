//! The formats of clients, and marketplaces.

use super::*;
use crate::source::Source;

fn marketplace(plugins: &str) -> Parsed<Marketplace> {
    let text = format!(r#"{{"name": "team", "owner": {{"name": "Ada"}}, "plugins": [{plugins}]}}"#);
    parse_marketplace(text.as_bytes())
}

fn source_of(source: &str) -> PluginSource {
    let parsed = marketplace(&format!(r#"{{"name": "a", "source": {source}}}"#));
    parsed.value.unwrap().plugins.remove(0).source
}

#[test]
fn the_manifests_of_clients_are_found() {
    for path in
        [".claude-plugin", ".codex-plugin", ".plugin", ".github/plugin", ".cursor-plugin", ".factory-plugin"]
    {
        let source = TestSource::default().file(&format!("{path}/plugin.json"), r#"{"name": "demo"}"#);
        let plugin = source.skill("skills/sum").loaded();
        assert_eq!((plugin.manifest.format, plugin.skills.len()), (PluginFormat::Client, 1), "{path}");
    }
    // A root plugin.json without an identifier counts only beside parts of a plugin.
    let source = TestSource::default().file("plugin.json", r#"{"name": "demo"}"#);
    assert_eq!(source.load(), PluginLoad::default());
    assert_eq!(source.skill("skills/sum").loaded().skills, ["skills/sum"]);
}

#[test]
fn declared_skills_and_servers_are_added() {
    let text = r#"{"name": "demo", "version": "1.2", "skills": ["./more", "./extra/one", "./none", "../up"],
        "mcpServers": ["./servers.json", {"inline": {"command": "npx", "args": ["-y", "x"]}}, "./x.mcpb"],
        "hooks": "./hooks.json", "colour": 1, "author": "Ada"}"#;
    let source = TestSource::default()
        .file(".claude-plugin/plugin.json", text)
        .file(".mcp.json", r#"{"mcpServers": {"remote": {"type": "http", "url": "https://example.com"}}}"#)
        .file("servers.json", r#"{"flat": {"command": "${CLAUDE_PLUGIN_ROOT}/x", "timeout": 5}, "plain": {"url": "http://example.com"}}"#)
        .skill("skills/sum")
        .skill("more/two")
        .skill("extra/one");
    let load = source.load();
    let plugin = load.plugin.unwrap();
    assert_eq!(plugin.skills, ["extra/one", "more/two", "skills/sum"]);
    let servers: Vec<_> =
        plugin.servers.iter().map(|server| (server.name.as_str(), server.describe())).collect();
    insta::assert_debug_snapshot!((servers, plugin.parts));
    insta::assert_snapshot!(report(&load.files));
}

#[test]
fn sources_of_a_marketplace_follow_the_rules_of_install() {
    let git = |source: &str| match source_of(source) {
        PluginSource::Remote { source: Source::Git { url, reference, .. }, subdir } => {
            (url, reference, subdir.map(|subdir| subdir.to_string()))
        }
        other => panic!("{source}: {other:?}"),
    };
    let text = |text: &str| Some(text.to_owned());
    let sha = "0123456789012345678901234567890123456789";
    assert_eq!(
        git(r#"{"source": "github", "repo": "ada/pdf", "ref": "v1"}"#),
        ("https://github.com/ada/pdf".to_owned(), text("v1"), None)
    );
    assert_eq!(
        git(&format!(
            r#"{{"source": "url", "url": "https://git.example.com/a.git", "ref": "main", "sha": "{sha}"}}"#
        )),
        ("https://git.example.com/a.git".to_owned(), text(sha), None)
    );
    assert_eq!(
        git(r#"{"source": "git-subdir", "url": "git@example.com:a/b", "path": "./plugins/x/"}"#),
        ("git@example.com:a/b".to_owned(), None, text("plugins/x"))
    );
    let mut reasons = Vec::new();
    for refused in [
        r#"{"source": "npm", "package": "x"}"#,
        r#"{"source": "command", "command": "curl x | sh"}"#,
        r#"{"source": "archive", "url": "https://example.com/x.zip"}"#,
        r#"{"source": "new\u001b[31m"}"#,
        r#"{"source": "github", "repo": "../x"}"#,
        r#"{"source": "github", "repo": "a/b/c"}"#,
        r#"{"source": "github"}"#,
        r#"{"source": "url", "url": "http://example.com/a.git"}"#,
        r#"{"source": "url", "url": "ext::sh -c x"}"#,
        r#"{"source": "url", "url": "--upload-pack=x"}"#,
        r#"{"source": "url", "url": "/etc"}"#,
        r#"{"source": "url", "url": "https://u:p@example.com/a"}"#,
        r#"{"source": "url", "url": "https://example.com/a#b"}"#,
        r#"{"source": "github", "repo": "a/b", "ref": "--x"}"#,
        r#"{"source": "github", "repo": "a/b", "sha": "abc"}"#,
        r#"{"source": "git-subdir", "url": "https://example.com/a.git", "path": "../x"}"#,
        r#"{"source": "git-subdir", "url": "https://example.com/a.git"}"#,
        r#"{"path": "x"}"#,
    ] {
        match source_of(refused) {
            PluginSource::Unsupported(reason) => reasons.push(format!("{refused}\n  {reason}")),
            other => panic!("{refused}: {other:?}"),
        }
    }
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn directories_of_a_marketplace_stay_inside() {
    for inside in [r#""./""#, r#"".""#, r#""./plugins/a""#] {
        assert!(matches!(source_of(inside), PluginSource::Local(_)), "{inside}");
    }
    for outside in [r#""..""#, r#""/etc""#, r#""./../x""#, r#""plugins/a""#, r#""a""#, "1", "null"] {
        let parsed = marketplace(&format!(r#"{{"name": "a", "source": {outside}}}"#));
        assert_eq!(parsed.value.unwrap().plugins, Vec::new(), "{outside}");
        assert!(parsed.diagnostics[0].is_error(), "{outside}");
    }
    let text = r#"{"name": "t", "owner": {}, "metadata": {"pluginRoot": "./p"}, "plugins": [{"name": "a", "source": "a"}]}"#;
    let plugins = parse_marketplace(text.as_bytes()).value.unwrap().plugins;
    assert_eq!(plugins[0].source, PluginSource::Local(PluginPath::parse("./p/a").unwrap()));
}

#[test]
fn problems_of_a_marketplace_are_reported() {
    let parsed = marketplace(
        r#"{"name": "ok", "source": "./"}, {"name": "ok", "source": "./b"}, {"source": "./c"},
        {"name": "no-source"}, {"name": "a b", "source": "./"}, {"name": "\u202etxt", "source": "./"}, 1,
        {"name": "d", "source": "./d", "source": "./e"}, {"name": "v", "source": "./v", "version": 2}"#,
    );
    let names: Vec<_> = parsed.value.unwrap().plugins.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(names, ["ok", "v"]);
    let file =
        CheckedManifest { path: "m.json".to_owned(), text: Vec::new(), diagnostics: parsed.diagnostics };
    insta::assert_snapshot!(report(&[file]));
}

#[test]
fn an_entry_for_the_root_names_its_skills() {
    let text = r#"{"name": "skills", "owner": {"name": "Ada"}, "plugins": [
        {"name": "documents", "source": "./", "strict": false, "skills": ["./skills/pdf", "./skills/docx"]},
        {"name": "all", "source": "./", "strict": false},
        {"name": "inner", "source": "./plugins/inner", "version": "3"},
        {"name": "far", "source": {"source": "github", "repo": "ada/far"}}]}"#;
    let source = TestSource::default()
        .file(".claude-plugin/marketplace.json", text)
        .file("plugins/inner/.claude-plugin/plugin.json", r#"{"name": "other-name"}"#)
        .skill("plugins/inner/skills/sum")
        .skill("skills/pdf")
        .skill("skills/docx")
        .skill("skills/xlsx");
    let (found, plugins) = load_all_plugins(&source, "").unwrap();
    assert_eq!(report(&found.files), "");
    let plugins: Vec<_> = plugins
        .iter()
        .map(|plugin| {
            (plugin.manifest.name.as_str(), plugin.manifest.version.as_deref(), plugin.skills.join(" "))
        })
        .collect();
    let expected = [
        ("documents", None, "skills/docx skills/pdf".to_owned()),
        ("all", None, "skills/docx skills/pdf skills/xlsx".to_owned()),
        ("inner", Some("3"), "plugins/inner/skills/sum".to_owned()),
    ];
    assert_eq!(plugins, expected);
}

#[test]
fn hostile_manifests_are_bounded() {
    let deep = format!(r#"{{"name": {}1{}}}"#, "[".repeat(400), "]".repeat(400));
    let deeper = format!(r#"{{"name": {}"#, "[".repeat(200_000));
    let wide = format!(r#"{{"name": "a", "keywords": [{}1]}}"#, "1,".repeat(60_000));
    let large = format!(r#"{{"name": "{}"}}"#, "a".repeat(limits::MANIFEST_MAX));
    let mut messages = Vec::new();
    for text in [deep, deeper, wide, large] {
        let parsed = parse_plugin_manifest(text.as_bytes(), PluginFormat::Client);
        assert_eq!(parsed.value, None);
        messages.extend(parsed.diagnostics.iter().map(Diagnostic::to_string));
    }
    let many =
        (0..5_000).map(|number| format!(r#"{{"name": "p{number}", "source": "./p"}}"#)).collect::<Vec<_>>();
    let parsed = marketplace(&many.join(","));
    assert_eq!(parsed.value.unwrap().plugins.len(), limits::PLUGINS_MAX);
    messages.extend(parsed.diagnostics.iter().map(Diagnostic::to_string));
    let unknown = (0..3_000).map(|number| format!(r#""k{number}": 1"#)).collect::<Vec<_>>();
    let (is_accepted, found) = parse_standard(&manifest(&format!(", {}", unknown.join(","))));
    assert_eq!((is_accepted, found.len()), (true, limits::DIAGNOSTICS_MAX));
    messages.extend(found.into_iter().next_back());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn texts_from_manifests_are_escaped_in_messages() {
    let text = r#"{"name": "a\u001b[2Jb\u202e", "\u0007key": 1, "skills": "\u001b]0;x\u0007"}"#;
    let parsed = parse_plugin_manifest(text.as_bytes(), PluginFormat::Client);
    for diagnostic in &parsed.diagnostics {
        let shown = format!("{diagnostic} {:?}", diagnostic.help);
        assert_eq!(prowess_format::hidden::find_hidden(&shown), None, "{shown}");
    }
    assert_eq!(parsed.diagnostics.len(), 3);
}
