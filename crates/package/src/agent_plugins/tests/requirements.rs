//! The requirements of Agent Plugins 1.0.0 on the package, the manifest and the skills.

use super::*;

/// §5.1: "Clients MUST check for a manifest at `plugin.json` in the plugin root."
#[test]
fn ap_01_the_manifest_is_in_the_root() {
    let plugin = TestSource::plugin().file(".claude-plugin/plugin.json", r#"{"name": "other"}"#).loaded();
    assert_eq!(plugin.manifest.name.as_str(), "demo");
    assert_eq!(plugin.manifest.format, PluginFormat::AgentPlugins);
    let elsewhere = TestSource::default().file("inner/plugin.json", &manifest("")).skill("skills/sum");
    assert_eq!(elsewhere.load(), PluginLoad::default());
}

/// §4.1.3: "clients MUST reject package paths that resolve outside it." Prowess follows no symlink at all.
#[test]
fn ap_02_symlinks_are_not_followed() {
    let source = TestSource::plugin().skill("skills/sum").link("skills/linked").link("mcp.json");
    let load = source.load();
    assert_eq!(load.plugin.unwrap().skills, ["skills/sum"]);
    insta::assert_snapshot!(report(&load.files));
}

/// §4.1.4: a plugin-relative path "MUST begin with `./`, be resolved against the plugin root, and remain within".
#[test]
fn ap_03_paths_begin_with_a_dot_and_stay_inside() {
    for inside in ["./a", "./a/b/", "./", "."] {
        assert!(PluginPath::parse(inside).is_ok(), "{inside}");
    }
    for outside in
        ["a", "/a", "../a", "./..", "./a/../../b", "./a//b", "~/a", "./C:/x", "./a\\b", "./.git/x", ""]
    {
        assert!(PluginPath::parse(outside).is_err(), "{outside}");
    }
}

/// §4.1.5: "Clients MUST NOT interpret them [arguments, variables] as package paths".
#[test]
fn ap_04_arguments_and_variables_are_opaque() {
    let server =
        r#""a": {"type": "stdio", "command": "node", "args": ["../../x", "/etc"], "env": {"P": "../.."}}"#;
    let plugin = TestSource::plugin().file("mcp.json", &mcp_json(server)).loaded();
    assert_eq!(plugin.servers.len(), 1);
}

/// §4.1 failure boundary 1: "If `plugin.json` does not resolve within the plugin root, the client MUST reject the
/// plugin."
#[test]
fn ap_06_a_linked_manifest_rejects_the_plugin() {
    let load = TestSource::default().link("plugin.json").skill("skills/sum").load();
    assert_eq!(load.plugin, None);
    insta::assert_snapshot!(report(&load.files));
}

/// §4.1 failure boundary 2: a fixed location outside "MUST treat that component type as invalid".
#[test]
fn ap_07_a_linked_location_disables_only_its_type() {
    let server = r#""a": {"type": "stdio", "command": "node"}"#;
    let load = TestSource::plugin().link("skills").file("mcp.json", &mcp_json(server)).load();
    let plugin = load.plugin.unwrap();
    assert_eq!((plugin.skills.len(), plugin.servers.len()), (0, 1));
    insta::assert_snapshot!(report(&load.files));
}

/// §4.1 failure boundary 3: "If a discovered `SKILL.md` does not resolve within the plugin root, the client MUST skip
/// that skill".
#[test]
fn ap_08_a_linked_skill_is_skipped() {
    let load = TestSource::plugin().link("skills/bad/SKILL.md").skill("skills/sum").load();
    assert_eq!(load.plugin.unwrap().skills, ["skills/sum"]);
    insta::assert_snapshot!(report(&load.files));
}

/// §5.2: "The manifest MUST be JSON and MUST contain a top-level object."
#[test]
fn ap_11_the_manifest_is_a_json_object() {
    for invalid in [
        "",
        "[]",
        "1",
        "{",
        "{} x",
        "{\"name\": \"a\",}",
        "// x\n{}",
        "{'name': 1}",
        "\u{feff}{}",
        "{\"a\":\"\t\"}",
    ] {
        assert!(!parse_standard(invalid).0, "{invalid}");
    }
    let parsed = parse_plugin_manifest(b"{\"a\": \"\xff\"}", PluginFormat::AgentPlugins);
    assert_eq!(parsed.diagnostics[0].to_string(), "error[SK111]: the file is not UTF-8");
}

/// §5.2: "Clients MUST report and ignore each unknown field and MUST continue loading the plugin".
#[test]
fn ap_12_unknown_fields_are_reported_and_ignored() {
    let text = manifest(r#", "skills": "./elsewhere", "mcpServers": {"x": {"command": "sh"}}, "licence": 1"#);
    let load =
        TestSource::default().file("plugin.json", &text).skill("elsewhere/a").skill("skills/sum").load();
    let plugin = load.plugin.unwrap();
    assert_eq!((plugin.skills, plugin.servers), (vec!["skills/sum".to_owned()], Vec::new()));
    insta::assert_snapshot!(report(&load.files));
}

/// §5.2, §11.3.2: any other violation is fatal; the client "MUST NOT discover or execute any of its components".
#[test]
fn ap_13_a_field_of_the_wrong_type_rejects_the_plugin() {
    for field in [
        r#""version": 1"#,
        r#""description": null"#,
        r#""homepage": {}"#,
        r#""repository": ["x"]"#,
        r#""license": true"#,
        r#""keywords": "a""#,
        r#""keywords": ["a", 1]"#,
        r#""author": "Ada""#,
        r#""version": "1", "version": "2""#,
    ] {
        let source = TestSource::default().file("plugin.json", &manifest(&format!(", {field}")));
        let load = source.skill("skills/bad name").link("mcp.json").load();
        assert_eq!(load.plugin, None, "{field}");
        assert_eq!(load.files.len(), 1, "{field}: no component is looked at");
    }
}

/// §5.2: "Clients MUST use a recognized `$schema` value to select … rules", "MUST NOT retrieve a schema", and an
/// unsupported version "MUST reject the plugin and SHOULD report the unsupported version".
#[test]
fn ap_15_the_schema_selects_the_rules() {
    assert_eq!(parse_standard(&manifest("")), (true, Vec::new()));
    assert!(!parse_standard(r#"{"name": "demo"}"#).0);
    assert!(!parse_standard(r#"{"$schema": 1, "name": "demo"}"#).0);
    assert!(!parse_standard(r#"{"$schema": "https://example.com/x.json", "name": "demo"}"#).0);
}

/// §5.2, see above.
#[test]
fn ap_16_unsupported_versions_are_rejected_and_named() {
    for version in ["1.1.0", "2.0.0", "0.9.0", "1.0.0-rc1"] {
        let text = manifest("").replace("1.0.0", version);
        let message = format!("error[SK112]: version {version} of Agent Plugins is not supported");
        assert_eq!(parse_standard(&text), (false, vec![message]));
        // It is a plugin, so that no other manifest and no skill is used instead.
        let source = TestSource::default().file("plugin.json", &text).skill("skills/sum");
        assert_eq!(source.file(".claude-plugin/plugin.json", r#"{"name": "x"}"#).load().plugin, None);
    }
}

/// §5.3: a required field that "is missing, has the wrong type, is empty, or otherwise violates its requirements":
/// "Clients MUST reject the plugin".
#[test]
fn ap_17_required_fields() {
    let mut messages = Vec::new();
    for field in ["", r#", "name": 1"#, r#", "name": """#, r#", "name": "A""#] {
        let text = format!(r#"{{"$schema": "{PLUGIN_SCHEMA}"{field}}}"#);
        let (is_accepted, found) = parse_standard(&text);
        assert!(!is_accepted, "{field}");
        messages.extend(found);
    }
    insta::assert_snapshot!(messages.join("\n"));
}

/// §5.4: "Any other field or value type makes the manifest invalid."
#[test]
fn ap_18_the_author_is_closed() {
    assert!(parse_standard(&manifest(r#", "author": {"name": "A", "email": "a", "url": "b"}"#)).0);
    assert!(parse_standard(&manifest(r#", "author": {}"#)).0);
    for author in [r#"{"name": 1}"#, r#"{"phone": "1"}"#, r#"{"name": "A", "name": "B"}"#, "[]"] {
        assert!(!parse_standard(&manifest(&format!(r#", "author": {author}"#))).0, "{author}");
    }
}

/// §5.4: "Clients MUST NOT reject a manifest solely because `version` is not valid Semantic Versioning; …".
#[test]
fn ap_19_metadata_is_only_checked_by_type() {
    let fields = r#", "version": "next", "homepage": "x", "repository": "y", "license": "mine",
        "author": {"email": "z", "url": ""}, "description": "", "keywords": []"#;
    assert_eq!(parse_standard(&manifest(fields)), (true, Vec::new()));
}

/// §5.5: the constraints on names.
#[test]
fn ap_20_names() {
    let is_valid = |name: &str| PluginName::parse(name, PluginFormat::AgentPlugins).is_ok();
    for name in ["my-plugin", "acme.tools", "lint3r", "a", "0", &"a".repeat(64), "a.b-c", "a-.b"] {
        assert!(is_valid(name), "{name}");
    }
    for name in [
        "",
        "My-Plugin",
        "-start",
        "end-",
        ".a",
        "a.",
        "has--double",
        "too.many..dots",
        "a_b",
        "a b",
        "ä",
        &"a".repeat(65),
        "a/b",
        "a\u{200b}",
    ] {
        assert!(!is_valid(name), "{name}");
    }
}

/// §6.1: "Clients MUST discover each supported component type from its fixed location."
#[test]
fn ap_21_components_are_at_fixed_locations() {
    let server = r#""a": {"type": "stdio", "command": "node"}"#;
    let source =
        TestSource::plugin().skill("skills/sum").skill("other/b").file("mcp.json", &mcp_json(server));
    let plugin = source.file("inner/mcp.json", &mcp_json(server)).file(".mcp.json", "{}").loaded();
    assert_eq!((plugin.skills, plugin.servers.len()), (vec!["skills/sum".to_owned()], 1));
}

/// §6.2: "If a fixed component location is absent, the client MUST NOT treat that as an error."
#[test]
fn ap_22_absent_locations_are_fine() {
    let load = TestSource::plugin().load();
    assert_eq!(report(&load.files), "");
    assert_eq!(load.plugin.unwrap().skills, Vec::<String>::new());
}

/// §6.2: a location of the wrong kind: "the client MUST treat that component type as invalid and continue".
#[test]
fn ap_23_locations_of_the_wrong_kind() {
    let load = TestSource::plugin().file("skills", "x").file("mcp.json/x", "y").load();
    let plugin = load.plugin.unwrap();
    assert_eq!((plugin.skills.len(), plugin.servers.len()), (0, 0));
    insta::assert_snapshot!(report(&load.files));
}

/// §7, §11.3.1: "Clients MUST ignore component types they do not support."
#[test]
fn ap_24_other_parts_are_listed_and_left_alone() {
    let source = TestSource::plugin()
        .file("commands/a.md", "x")
        .file("agents/b.md", "x")
        .file("hooks/hooks.json", "{");
    let load = source.file(".lsp.json", "{").file("com.example.client/x", "").skill("skills/sum").load();
    let plugin = load.plugin.unwrap();
    let parts: Vec<_> = plugin.parts.iter().map(|part| part.as_str()).collect();
    assert_eq!(parts, ["commands", "agents", "hooks", "LSP servers", "client extensions"]);
    assert_eq!(report(&load.files), "");
}

/// §7.1: "Each immediate child directory containing a path named exactly `SKILL.md` … Clients MUST NOT recursively
/// search deeper descendants".
#[test]
fn ap_26_only_immediate_children_are_skills() {
    let source =
        TestSource::plugin().skill("skills/sum").skill("skills/group/inner").file("skills/low/skill.md", "x");
    let source = source.file("skills/SKILL.md", &skill_md("skills")).file("SKILL.md", &skill_md("demo"));
    assert_eq!(source.loaded().skills, ["skills/sum"]);
}

/// §7.1: "If a discovered skill does not conform to the Agent Skills specification, the client MUST skip that skill and
/// continue … SHOULD report the invalid skill."
#[test]
fn ap_27_invalid_skills_are_skipped_and_reported() {
    let source = TestSource::plugin()
        .file("skills/none/SKILL.md", "no frontmatter")
        .file("skills/other/SKILL.md", &skill_md("name-of-another"))
        .file("skills/Upper/SKILL.md", &skill_md("Upper"))
        .file("skills/keys/SKILL.md", &skill_md("keys").replace("---\nAdd", "model: x\n---\nAdd"))
        .skill("skills/sum");
    let load = source.load();
    assert_eq!(load.plugin.unwrap().skills, ["skills/keys", "skills/sum"]);
    insta::assert_snapshot!(report(&load.files));
}

/// §8.1: `extensions` that "is not an object, the client MUST report and ignore the field and continue"; other
/// namespaces are ignored "without validating the contents of their values".
#[test]
fn ap_51_extensions_of_other_clients_are_ignored() {
    let fields = r#", "extensions": {"com.example": 1, "org.example.x": {"a": [1, {}], "a": null}}"#;
    assert_eq!(parse_standard(&manifest(fields)), (true, Vec::new()));
}

/// §8.1, see above.
#[test]
fn ap_52_extensions_that_are_not_an_object_are_reported() {
    let message = "warning[SK114]: extensions is not an object; ignored".to_owned();
    assert_eq!(parse_standard(&manifest(r#", "extensions": []"#)), (true, vec![message]));
}

/// §11.3.3: "A failure isolated to a component type, component entry, or component process MUST NOT prevent the client
/// from loading independently valid components."
#[test]
fn ap_65_failures_stay_isolated() {
    let servers = r#""bad": {"type": "stdio"}, "good": {"type": "stdio", "command": "node"}"#;
    let source = TestSource::plugin().file("skills/bad/SKILL.md", "").skill("skills/sum");
    let plugin = source.file("mcp.json", &mcp_json(servers)).loaded();
    assert_eq!((plugin.skills, plugin.servers.len()), (vec!["skills/sum".to_owned()], 1));
}
