//! Files as people have them: what is written into each, and that taking it away leaves every byte as it was.

use std::fs;

use insta::assert_snapshot;

use super::super::{Action, CLIENTS, Client, plan_install, plan_uninstall};
use super::{World, name, stdio};
use crate::place::For;

/// JSON as programs write it.
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

/// JSON as people write it.
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

fn rich(client: &Client) -> String {
    let text = match client.id {
        "codex" => TOML,
        "goose" => YAML,
        "opencode" | "vscode" | "zed" => PEOPLE,
        _ => PROGRAMS,
    };
    text.replace("SECTION", client.section)
}

fn both(world: &World, client: &'static Client, before: Option<&str>) -> String {
    let machine = world.machine();
    let file = machine.files(client, For::User).unwrap().remove(0);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    match before {
        Some(before) => fs::write(&file, before).unwrap(),
        None => {
            let _ = fs::remove_file(&file);
        }
    }
    let plan = plan_install(&machine, client, For::User, &name(), &stdio()).unwrap();
    assert_eq!((plan.action, plan.makes_file()), (Action::Add, before.is_none()));
    plan.perform(&machine).unwrap();
    let after = fs::read_to_string(&file).unwrap();
    let again = plan_install(&machine, client, For::User, &name(), &stdio()).unwrap();
    assert_eq!(again.action, Action::Keep);
    again.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), after);

    let plan = plan_uninstall(&machine, client, For::User, &name()).unwrap();
    assert_eq!((plan.action, plan.removes_file()), (Action::Remove, before.is_none()));
    plan.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{}", client.id);
    let again = plan_uninstall(&machine, client, For::User, &name()).unwrap();
    assert_eq!(again.action, Action::Absent);
    again.perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    after
}

#[test]
fn into_nothing_and_into_what_is_there() {
    let world = World::new();
    for client in CLIENTS {
        let nothing = both(&world, client, None);
        let rich = rich(client);
        let full = both(&world, client, Some(&rich));
        let shown = full.replace('\u{feff}', "<bom>").replace('\r', "<cr>");
        assert_snapshot!(client.id, format!("{nothing}---\n{shown}"));
    }
}

#[test]
fn into_a_file_that_has_nothing_for_servers() {
    let world = World::new();
    for client in CLIENTS {
        let texts: &[&str] = match client.id {
            "codex" => &["\n", "# mine", "model = \"x\"\n\n"],
            "goose" => &["\n", "# mine", "---\na: 1\n", "extensions: {}\n", "{\"a\": 1}\n"],
            _ => &["{}", "{}\n", "// mine\n", "{\"a\":1}", "{\n\t\"a\": {}\n}\n"],
        };
        for text in texts {
            both(&world, client, Some(text));
        }
    }
}
