//! Tests with realistic files: what is written, and that removing it restores every byte.

use std::fs;

use insta::assert_snapshot;

use super::super::{CLIENTS, Client, ConnectAction, plan_uninstall};
use super::{TestHome, plan_entry, server_name};
use crate::install_target::InstallScope;

/// JSON in the style of programs.
const PROGRAMS: &str = r#"{
  "numStartups": 41,
  "SECTION": {
    "other": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "other-server"
      ],
      "env": {}
    }
  },
  "projects": {
    "/home/you/project": {
      "SECTION": {}
    }
  }
}"#;

/// JSON in the style of people.
const PEOPLE: &str = "\u{feff}// My settings. Keep off!\r
{\r
\t\"theme\": \"dark\", // at night\r
\t/* Servers:\r
\t   one so far */\r
\t\"SECTION\": {\r
\t\t\"other\": { \"url\": \"https://example.com/mcp\" }, // fast\r
\t\t// more to come\r
\t},\r
\t\"last\": [1, 2,],\r
}\r
";

const TOML: &str = r#"# Mine.
model = "large"   # the good one

[mcp_servers.other] # another
command = 'npx'
args = [
  "-y",
  "other-server", # not [mcp_servers.prowess]
]

[mcp_servers.other.env]
A = "b"

[projects."/home/you/project"]
trust_level = "trusted"
"#;

const YAML: &str = r#"# Mine.
GOOSE_MODEL: large # the good one
extensions:
  developer:
    enabled: true   # always
    type: builtin
    name: developer
  # more to come

GOOSE_MODE: auto
"#;

fn sample_config(client: &Client) -> String {
    let text = match client.id {
        "codex" => TOML,
        "goose" => YAML,
        "opencode" | "vscode" | "zed" => PEOPLE,
        _ => PROGRAMS,
    };
    text.replace("SECTION", client.section)
}

fn install_and_uninstall(home: &TestHome, client: &'static Client, before: Option<&str>) -> String {
    let machine = home.client_env();
    let file = machine.files(client, InstallScope::User).unwrap().remove(0);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    match before {
        Some(before) => fs::write(&file, before).unwrap(),
        None => {
            let _ = fs::remove_file(&file);
        }
    }
    let plan = plan_entry(&machine, client, InstallScope::User).unwrap();
    assert_eq!((plan.change.action, plan.change.creates_file()), (ConnectAction::Add, before.is_none()));
    plan.change.perform(&machine).unwrap();
    let after = fs::read_to_string(&file).unwrap();
    let repeated = plan_entry(&machine, client, InstallScope::User).unwrap();
    assert_eq!(repeated.change.action, ConnectAction::Keep);
    repeated.change.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), after);

    let plan = plan_uninstall(&machine, client, InstallScope::User, &server_name()).unwrap();
    assert_eq!((plan.change.action, plan.change.removes_file()), (ConnectAction::Remove, before.is_none()));
    plan.change.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{}", client.id);
    let repeated = plan_uninstall(&machine, client, InstallScope::User, &server_name()).unwrap();
    assert_eq!(repeated.change.action, ConnectAction::Absent);
    repeated.change.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    after
}

#[test]
fn entries_are_added_to_missing_and_existing_files() {
    let home = TestHome::new();
    for client in CLIENTS {
        let fresh = install_and_uninstall(&home, client, None);
        let rich = sample_config(client);
        let full = install_and_uninstall(&home, client, Some(&rich));
        let shown = full.replace('\u{feff}', "<bom>").replace('\r', "<cr>");
        assert_snapshot!(client.id, format!("{fresh}---\n{shown}"));
    }
}

#[test]
fn entries_are_added_to_files_without_a_server_section() {
    let home = TestHome::new();
    for client in CLIENTS {
        let texts: &[&str] = match client.id {
            "codex" => &["\n", "# mine", "model = \"x\"\n\n"],
            "goose" => &["\n", "# mine", "---\na: 1\n", "extensions: {}\n", "{\"a\": 1}\n"],
            _ => &["{}", "{}\n", "// mine\n", "{\"a\":1}", "{\n\t\"a\": {}\n}\n"],
        };
        for text in texts {
            install_and_uninstall(&home, client, Some(text));
        }
    }
}
