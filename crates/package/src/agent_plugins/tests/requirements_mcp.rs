//! The requirements of Agent Plugins 1.0.0 on MCP servers.

use super::*;

fn servers(text: &str) -> (Option<usize>, Vec<String>) {
    let parsed = parse_mcp_config(text.as_bytes(), PluginFormat::AgentPlugins);
    let messages = parsed.diagnostics.iter().map(Diagnostic::to_string).collect();
    (parsed.value.map(|servers| servers.len()), messages)
}

/// Returns `true` if a server with these fields is valid.
fn is_valid(fields: &str) -> bool {
    servers(&mcp_json(&format!(r#""x": {{{fields}}}"#))).0 == Some(1)
}

fn stdio(fields: &str) -> bool {
    is_valid(&format!(r#""type": "stdio", {fields}"#))
}

fn http(url: &str) -> bool {
    is_valid(&format!(r#""type": "streamable-http", "url": "{url}""#))
}

/// §4.1 failure boundary 4: "If an MCP server `command` or `cwd` fails containment, the client MUST treat that server
/// entry as invalid".
#[test]
fn ap_09_servers_outside_the_plugin_are_invalid() {
    let text = mcp_json(
        r#""ok": {"type": "stdio", "command": "./bin/ok", "cwd": "./bin"},
        "link": {"type": "stdio", "command": "./bin/link"},
        "through": {"type": "stdio", "command": "./linked/x"},
        "missing": {"type": "stdio", "command": "./bin/none"},
        "cwd": {"type": "stdio", "command": "node", "cwd": "${PLUGIN_ROOT}/linked"},
        "up": {"type": "stdio", "command": "./../x"}"#,
    );
    let source = TestSource::plugin().file("mcp.json", &text).file("bin/ok", "x");
    let load = source.link("bin/link").link("linked").load();
    let names: Vec<_> = load.plugin.unwrap().servers.into_iter().map(|server| server.name).collect();
    assert_eq!(names, ["ok"]);
    insta::assert_snapshot!(report(&load.files));
}

/// §7.2.1: "MCP configuration MUST NOT be declared inline in `plugin.json` or loaded from any alternative core path."
#[test]
fn ap_28_servers_come_only_from_mcp_json() {
    let text = manifest(r#", "mcpServers": {"x": {"type": "stdio", "command": "sh"}}"#);
    let source = TestSource::default().file("plugin.json", &text);
    assert_eq!(source.file(".mcp.json", r#"{"y": {"command": "sh"}}"#).loaded().servers, Vec::new());
}

/// §7.2.1: "`mcp.json` MUST be a JSON object containing the required `$schema` and `mcpServers` fields, with no other
/// top-level fields."
#[test]
fn ap_29_the_top_level_is_closed() {
    assert_eq!(servers(&mcp_json("")), (Some(0), Vec::new()));
    for invalid in [
        "[]".to_owned(),
        r#"{"mcpServers": {}}"#.to_owned(),
        format!(r#"{{"$schema": "{MCP_SCHEMA}"}}"#),
        format!(r#"{{"$schema": "{MCP_SCHEMA}", "mcpServers": []}}"#),
        format!(r#"{{"$schema": "{MCP_SCHEMA}", "mcpServers": {{}}, "inputs": []}}"#),
        format!(r#"{{"$schema": "{MCP_SCHEMA}", "mcpServers": {{}}, "mcpServers": {{}}}}"#),
    ] {
        assert_eq!(servers(&invalid).0, None, "{invalid}");
    }
}

/// §7.2.1: "Each server configuration MUST contain a `type` field and match exactly one of the closed variants".
#[test]
fn ap_31_servers_are_closed() {
    assert!(stdio(r#""command": "node", "args": ["a"], "env": {"A": "b"}, "cwd": "./x""#));
    assert!(is_valid(r#""type": "sse", "url": "https://example.com", "headers": {"X-A": "b"}"#));
    for fields in [
        r#""command": "node""#,
        r#""type": "stdio""#,
        r#""type": "stdio", "command": """#,
        r#""type": "stdio", "command": 1"#,
        r#""type": "stdio", "command": "node", "timeout": 1"#,
        r#""type": "stdio", "command": "node", "url": "https://example.com""#,
        r#""type": "stdio", "command": "node", "args": "a""#,
        r#""type": "stdio", "command": "node", "args": [1]"#,
        r#""type": "stdio", "command": "node", "env": {"A": 1}"#,
        r#""type": "stdio", "command": "node", "env": {"A": "1", "A": "2"}"#,
        r#""type": "stdio", "command": "node", "command": "sh""#,
        r#""type": "http", "url": "https://example.com""#,
        r#""type": "streamable-http""#,
        r#""type": "streamable-http", "url": "https://example.com", "command": "x""#,
        r#""type": null, "command": "x""#,
    ] {
        assert!(!is_valid(fields), "{fields}");
    }
}

/// §7.2.1: "The `command` field MUST contain a single executable token … either a bare executable name or a
/// plugin-relative path beginning with `./`."
#[test]
fn ap_32_commands_are_one_program() {
    for command in ["node", "python3.12", "my_tool", "g++", "./bin/server", "./server.py"] {
        assert!(stdio(&format!(r#""command": "{command}""#)), "{command}");
    }
    for command in [
        "node server.js",
        "sh -c x",
        "a;b",
        "a|b",
        "$(x)",
        "`x`",
        "a&b",
        "../x",
        "/bin/sh",
        "bin/x",
        "./",
        "./../x",
        "./a/../../b",
        "~/x",
        "-x",
        "a\\\\b",
        "C:/x.exe",
        "a\\u0000b",
        "a\\u202eb",
        "./a\\u0007",
        "a\\nb",
    ] {
        assert!(!stdio(&format!(r#""command": "{command}""#)), "{command}");
    }
}

/// §7.2.1: "Clients MUST NOT perform placeholder expansion in `command`."
#[test]
fn ap_33_commands_have_no_placeholders() {
    assert!(!stdio(r#""command": "${PLUGIN_ROOT}/bin/x""#));
    assert!(!stdio(r#""command": "./${PLUGIN_ROOT}/../x""#));
}

/// §7.2.1: the three forms of `cwd`; "Any other form or any post-resolution escape makes that server entry invalid".
#[test]
fn ap_37_working_directories_stay_inside() {
    for cwd in ["./", "./data", "${PLUGIN_ROOT}", "${PLUGIN_ROOT}/a/b", "${PLUGIN_DATA}", "${PLUGIN_DATA}/x/"]
    {
        assert!(stdio(&format!(r#""command": "node", "cwd": "{cwd}""#)), "{cwd}");
    }
    for cwd in [
        "",
        "data",
        "/tmp",
        "../x",
        "./../x",
        "${PLUGIN_ROOT}x",
        "${PLUGIN_ROOT}/../x",
        "${PLUGIN_DATA}/../x",
        "${HOME}",
        "${PLUGIN_ROOT}/${PLUGIN_DATA}/../..",
        "~",
        ".",
        "..",
        "./a/../..",
    ] {
        assert!(!stdio(&format!(r#""command": "node", "cwd": "{cwd}""#)), "{cwd}");
    }
}

/// §7.2.1: "The `url` value MUST be an absolute HTTP or HTTPS URL and MUST NOT contain user information or a fragment.
/// Non-loopback endpoints MUST use HTTPS."
#[test]
fn ap_39_urls() {
    for url in [
        "https://example.com/mcp",
        "http://localhost:1/x",
        "http://127.0.0.1/",
        "http://[::1]:8/",
        "http://127.9.9.9",
        "https://example.com/mcp?a=b",
    ] {
        assert!(http(url), "{url}");
    }
    for url in [
        "",
        "/mcp",
        "example.com",
        "ftp://example.com",
        "file:///x",
        "http://example.com",
        "http://localhost.evil.com",
        "http://x.localhost",
        "https://user@example.com",
        "https://u:p@example.com",
        "https://@example.com",
        "https://example.com/#x",
        "https://example.com/#",
        "https://exa mple.com",
        "https://example.com/\\u0000",
        "https://example.com\\\\@evil.com",
        "http://0.0.0.0/",
        "${URL}",
        "https://${HOST}/mcp",
        "\\nhttps://example.com",
    ] {
        assert!(!http(url), "{url}");
    }
}

/// §7.2.1: "Header names and values MUST be valid HTTP header fields … the same header name more than once under
/// different casing is invalid. Clients MUST NOT perform placeholder or environment-variable expansion".
#[test]
fn ap_40_headers() {
    let with = |headers: &str| {
        is_valid(&format!(
            r#""type": "streamable-http", "url": "https://example.com", "headers": {{{headers}}}"#
        ))
    };
    assert!(with(r#""X-Tenant": "public", "Accept": """#));
    for headers in [
        r#""X A": "b""#,
        r#""": "b""#,
        r#""X-A": "b\r\nHost: c""#,
        r#""X-A": "1", "x-a": "2""#,
        r#""X:": "1""#,
        r#""X": " a""#,
    ] {
        assert!(!with(headers), "{headers}");
    }
    let text = mcp_json(
        r#""x": {"type": "sse", "url": "https://example.com/$A", "headers": {"A": "${PLUGIN_ROOT}"}}"#,
    );
    let parsed = parse_mcp_config(text.as_bytes(), PluginFormat::AgentPlugins).value.unwrap();
    let McpTransport::Sse(server) = &parsed[0].transport else { panic!("{parsed:?}") };
    assert_eq!(server.headers, [("A".to_owned(), "${PLUGIN_ROOT}".to_owned())]);
}

/// §7.2.2.2: an invalid `mcp.json`: "the client MUST disable MCP for that plugin and continue loading other component
/// types."
#[test]
fn ap_44_an_invalid_file_disables_only_mcp() {
    for text in ["{", "[]", r#"{"mcpServers": {}}"#] {
        let load = TestSource::plugin().skill("skills/sum").file("mcp.json", text).load();
        let plugin = load.plugin.unwrap();
        assert_eq!((plugin.skills.len(), plugin.servers.len()), (1, 0));
        assert!(report(&load.files).starts_with("mcp.json"), "{text}");
    }
}

/// §7.2.2.3: "If an individual server entry does not satisfy the requirements …, the client MUST skip that server and
/// continue … SHOULD report the invalid entry."
#[test]
fn ap_45_invalid_servers_are_skipped_and_reported() {
    let text = mcp_json(
        r#""a": {"type": "stdio", "command": "node"},
        "shell": {"type": "stdio", "command": "sh -c 'curl x'"},
        "plain": {"type": "streamable-http", "url": "http://example.com"},
        "root": {"type": "stdio", "command": "node", "env": {"PLUGIN_ROOT": "/"}},
        "ws": {"type": "websocket", "url": "wss://example.com"},
        "more": {"type": "stdio", "command": "node", "shell": true},
        "text": "node""#,
    );
    let (count, messages) = servers(&text);
    assert_eq!(count, Some(1));
    insta::assert_snapshot!(messages.join("\n"));
}

/// §9.2: "An MCP server's `env` object MUST NOT contain entries named `PLUGIN_ROOT` or `PLUGIN_DATA`."
#[test]
fn ap_60_reserved_variables() {
    for name in ["PLUGIN_ROOT", "PLUGIN_DATA", "", "A=B", "A B"] {
        assert!(!stdio(&format!(r#""command": "node", "env": {{"{name}": "x"}}"#)), "{name}");
    }
}

/// §10.1: a version of `mcp.json` that differs from `plugin.json`: "A mismatch makes the MCP configuration invalid …
/// but does not invalidate other component types."
#[test]
fn ap_61_versions_match() {
    let text = mcp_json("").replace("1.0.0", "1.1.0");
    let load = TestSource::plugin().skill("skills/sum").file("mcp.json", &text).load();
    assert_eq!(load.plugin.unwrap().skills.len(), 1);
    assert!(report(&load.files).contains("version 1.1.0 of Agent Plugins is not supported"));
}
