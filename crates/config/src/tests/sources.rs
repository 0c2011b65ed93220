//! Servers that provide skills.

use super::TestProject;
use crate::{McpSource, McpTransport};

const DOCS: &str = "[[sources.mcp]]\nlabel = \"docs\"\ncommand = \"docs-server\"\n";

#[test]
fn a_server_is_a_command_or_a_url() {
    let text = format!(
        "{DOCS}args = [\"--stdio\"]\nenv = [\"KEY\"]\n\
         [[sources.mcp]]\nlabel = \"team\"\nurl = \"https://a.example/mcp\"\ntoken-env = \"T\"\ntimeout-ms = 5\nenabled = false\n"
    );
    let configuration = TestProject::new().user(&text).load();
    assert_eq!(configuration.diagnostics, []);
    let docs = McpSource {
        label: "docs".to_owned(),
        transport: McpTransport::Command {
            program: "docs-server".to_owned(),
            args: vec!["--stdio".to_owned()],
            env: vec!["KEY".to_owned()],
        },
        timeout_ms: 10_000,
        enabled: true,
    };
    let team = McpSource {
        label: "team".to_owned(),
        transport: McpTransport::Url {
            url: "https://a.example/mcp".to_owned(),
            token_env: Some("T".to_owned()),
        },
        timeout_ms: 5,
        enabled: false,
    };
    assert_eq!(configuration.mcp_sources, [docs, team]);
}

#[test]
fn a_project_cannot_start_programs() {
    let setup =
        TestProject::new().user(DOCS).project("[[sources.mcp]]\nlabel = \"evil\"\ncommand = \"evil\"\n");
    assert_eq!(setup.load().mcp_sources.len(), 1);
    assert_eq!(setup.load().mcp_sources[0].label, "docs");
    insta::assert_snapshot!(setup.report());
    let chat = TestProject::new().preset(prowess::Preset::Chat).file("project/config.toml", DOCS);
    assert!(chat.load().mcp_sources.is_empty(), "{}", chat.report());
}

#[test]
fn a_later_file_replaces_the_list() {
    let setup = TestProject::new()
        .user(DOCS)
        .config_file("g.yaml", "sources:\n  mcp:\n    - {label: g, url: 'http://127.0.0.1:1/'}\n");
    let labels: Vec<_> = setup.load().mcp_sources.into_iter().map(|source| source.label).collect();
    assert_eq!(labels, ["g"]);
    let alone = setup.load().with_roots(["/x".into()]);
    assert!(alone.mcp_sources.is_empty(), "exactly these directories, and nothing else");
    assert_eq!(alone.setting("sources.mcp").unwrap().origin.to_string(), "flag --root");
}

#[test]
fn problems_are_reported_with_their_location() {
    let mut all = String::new();
    for (description, text) in [
        ("no list", "sources.mcp = \"docs\"\n"),
        ("no table", "sources.mcp = [\"docs\"]\n"),
        ("no label", "[[sources.mcp]]\ncommand = \"x\"\n"),
        ("bad label", "[[sources.mcp]]\nlabel = \"Docs/x\"\ncommand = \"x\"\n"),
        (
            "twice",
            "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\n[[sources.mcp]]\nlabel = \"a\"\ncommand = \"y\"\n",
        ),
        ("neither", "[[sources.mcp]]\nlabel = \"a\"\n"),
        ("both", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\nurl = \"https://x\"\n"),
        ("relative", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"./x\"\n"),
        ("plain http", "[[sources.mcp]]\nlabel = \"a\"\nurl = \"http://a.example/\"\n"),
        ("user in url", "[[sources.mcp]]\nlabel = \"a\"\nurl = \"http://127.0.0.1@a.example/\"\n"),
        ("other scheme", "[[sources.mcp]]\nlabel = \"a\"\nurl = \"file:///etc\"\n"),
        ("env with value", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\nenv = [\"A=b\"]\n"),
        ("token", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\ntoken-env = \"T\"\n"),
        ("args of url", "[[sources.mcp]]\nlabel = \"a\"\nurl = \"https://x\"\nargs = []\n"),
        ("timeout", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\ntimeout-ms = 0\n"),
        ("enabled", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\nenabled = \"yes\"\n"),
        ("unknown", "[[sources.mcp]]\nlabel = \"a\"\ncommand = \"x\"\ntoken_env = \"x\"\n"),
    ] {
        let setup = TestProject::new().user(text);
        assert!(setup.load().mcp_sources.is_empty(), "{description}");
        all.push_str(&format!("{description}: {}\n", setup.report()));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn local_servers_need_no_encryption() {
    for url in ["http://127.0.0.1:8080/mcp", "http://localhost/mcp", "HTTP://[::1]:1/", "https://a.example"] {
        let setup = TestProject::new().user(&format!("[[sources.mcp]]\nlabel = \"a\"\nurl = \"{url}\"\n"));
        assert_eq!(setup.load().mcp_sources.len(), 1, "{url}: {}", setup.report());
    }
}
