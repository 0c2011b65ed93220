//! Installing and uninstalling hooks: what is written, and that removing it restores every byte.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::super::tests::{TestHome, client_env_for};
use super::super::{ClientEnv, ConnectAction};
use super::*;
use crate::install_target::InstallScope;

const SCOPES: [InstallScope; 2] = [InstallScope::User, InstallScope::Project];

fn command(client: &HookClient) -> HookCommand {
    HookCommand::new("prowess", client.id, &[])
}

fn install(env: &ClientEnv, client: &'static HookClient, scope: InstallScope) -> HookPlan {
    plan_hook_install(env, client, scope, &command(client))
        .unwrap_or_else(|error| panic!("{}: {error}", client.id))
}

fn file_of(home: &TestHome, client: &'static HookClient, scope: InstallScope) -> PathBuf {
    install(&home.client_env(), client, scope).change.file
}

/// Installs and uninstalls the hook, each twice, with a file of this text. Returns the text in between.
fn install_and_uninstall(client: &'static HookClient, scope: InstallScope, before: Option<&str>) -> String {
    let home = TestHome::new();
    let env = home.client_env();
    let file = file_of(&home, client, scope);
    if let Some(before) = before {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
    }
    let plan = install(&env, client, scope);
    assert_eq!((plan.change.action, plan.change.creates_file()), (ConnectAction::Add, before.is_none()));
    plan.change.perform(&env).unwrap();
    let after = fs::read_to_string(&file).unwrap();
    let again = install(&env, client, scope);
    assert_eq!((again.change.action, again.line.is_some()), (ConnectAction::Keep, true));
    again.change.perform(&env).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), after);

    let plan = plan_hook_uninstall(&env, client, scope).unwrap();
    assert_eq!(plan.change.action, ConnectAction::Remove, "{}", client.id);
    plan.change.perform(&env).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{} {before:?}", client.id);
    let again = plan_hook_uninstall(&env, client, scope).unwrap();
    assert_eq!(again.change.action, ConnectAction::Absent);
    again.change.perform(&env).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    after
}

/// Settings in the style of programs and of people, with hooks of others. `LIST` and `EVENT` are replaced.
const SETTINGS: [&str; 2] = [
    r#"{
  "theme": "dark",
  "hooks": {
    "EVENT": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "other-tool"
          }
        ]
      }
    ],
    "Stop": []
  }
}
"#,
    "\u{feff}// Keep off!\r\n{\r\n\t\"hooks\": {\r\n\t\t\"EVENT\": [\r\n\t\t\t{ \"command\": \"a\" }, // mine\r\n\t\t\t// more\r\n\t\t],\r\n\t},\r\n}\r\n",
];

fn is_list(client: &HookClient) -> Option<&'static [&'static str]> {
    match client.registration {
        clients::Registration::Item { user, .. } => user.first().map(|file| file.list),
        clients::Registration::File { .. } => None,
    }
}

#[test]
fn hooks_are_added_to_missing_and_existing_files() {
    for client in HOOK_CLIENTS {
        let fresh = SCOPES.map(|scope| install_and_uninstall(client, scope, None));
        assert_eq!(fresh[0], fresh[1]);
        let mut report = fresh[0].clone();
        for settings in SETTINGS.iter().filter(|_| is_list(client).is_some_and(|list| list.len() == 2)) {
            let settings = settings.replace("EVENT", is_list(client).and_then(|list| list.last()).unwrap());
            let full = install_and_uninstall(client, InstallScope::User, Some(&settings));
            report += &format!("---\n{}", full.replace('\u{feff}', "<bom>").replace('\r', "<cr>"));
        }
        assert_snapshot!(client.id, report);
    }
}

#[test]
fn files_of_all_kinds_are_restored() {
    for client in HOOK_CLIENTS {
        let Some(list) = is_list(client) else { continue };
        let event = list.last().unwrap();
        for text in [
            "{}",
            "{}\n",
            "// mine\n",
            "{\"a\":1}",
            "{\n\t\"a\": {}\n}\n",
            "{\"version\": 1}",
            "{\n  \"version\": 1\n}\n",
            "{\n  \"hooks\": {},\n  \"version\": 1\n}\n",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"EVENT\": []}, \"EVENT\": []}",
            "{\"hooks\": {\"EVENT\": [{\"hooks\": []}]}, \"EVENT\": [{}]}\n",
            "{\n  \"hooks\": {\n    \"EVENT\": [\n      {}\n    ]\n  },\n  \"EVENT\": [\n    {}\n  ]\n}\n",
        ] {
            install_and_uninstall(client, InstallScope::User, Some(&text.replace("EVENT", event)));
        }
    }
}

#[test]
fn a_hook_with_another_command_is_updated_in_place() {
    for client in HOOK_CLIENTS {
        let home = TestHome::new();
        let env = home.client_env();
        let old =
            HookCommand::new("/old place/prowess", client.id, &["--preset".to_owned(), "chat".to_owned()]);
        plan_hook_install(&env, client, InstallScope::User, &old).unwrap().change.perform(&env).unwrap();
        let plan = install(&env, client, InstallScope::User);
        assert_eq!(plan.change.action, ConnectAction::Replace);
        plan.change.perform(&env).unwrap();
        assert_eq!(
            fs::read_to_string(&plan.change.file).unwrap(),
            install_and_uninstall(client, InstallScope::User, None)
        );
    }
}

#[test]
fn a_hook_in_a_group_of_the_user_is_removed_alone() {
    let home = TestHome::new();
    let client = find_hook_client("claude-code").unwrap();
    let text = |ours: &str| {
        format!(
            "{{\"hooks\": {{\"UserPromptSubmit\": [{{\"hooks\": [{{\"command\": \"a\"}}{ours}], \"x\": 1}}]}}}}"
        )
    };
    let file = home.path("home/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text(", {\"command\": \"prowess hook prompt --client claude-code\", \"timeout\": 9}"))
        .unwrap();
    let env = home.client_env();
    assert_eq!(install(&env, client, InstallScope::User).change.action, ConnectAction::Keep);
    plan_hook_uninstall(&env, client, InstallScope::User).unwrap().change.perform(&env).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text(""));
}

#[test]
fn a_generated_file_that_was_changed_is_neither_replaced_nor_removed() {
    for client in ["copilot", "opencode"].map(|id| find_hook_client(id).unwrap()) {
        let home = TestHome::new();
        let env = home.client_env();
        let plan = install(&env, client, InstallScope::User);
        plan.change.perform(&env).unwrap();
        let changed = fs::read_to_string(&plan.change.file).unwrap() + "\n";
        fs::write(&plan.change.file, &changed).unwrap();
        let errors = [
            plan_hook_install(&env, client, InstallScope::User, &command(client)).unwrap_err(),
            plan_hook_uninstall(&env, client, InstallScope::User).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, HookError::ChangedFile(_)), "{error}");
        }
        assert_eq!(fs::read_to_string(&plan.change.file).unwrap(), changed);
    }
}

#[test]
fn droid_uses_its_settings_if_they_have_hooks() {
    let home = TestHome::new();
    let client = find_hook_client("droid").unwrap();
    let settings = home.path("home/.factory/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{\"model\": \"x\"}").unwrap();
    assert!(file_of(&home, client, InstallScope::User).ends_with("hooks.json"));
    fs::write(&settings, "{\"hooks\": {\"Stop\": []}}").unwrap();
    assert_eq!(file_of(&home, client, InstallScope::User), settings);
    fs::write(home.path("home/.factory/hooks.json"), "{}").unwrap();
    assert!(file_of(&home, client, InstallScope::User).ends_with("hooks.json"));
}

#[test]
fn files_and_notes_of_each_client() {
    let env = client_env_for("~".as_ref(), ".".as_ref(), "".into());
    let mut report = String::new();
    for client in HOOK_CLIENTS {
        report += &format!("{} ({})\n", client.id, client.title);
        for scope in SCOPES {
            let plan = plan_hook_install(&env, client, scope, &command(client)).unwrap();
            let note = client.note(scope).unwrap_or("-");
            report += &format!("  {}: {}; {note}\n", scope.as_str(), plan.change.file.display());
        }
    }
    assert_snapshot!(report);
}

#[test]
fn the_clients_are_sorted_and_named_once() {
    assert!(HOOK_CLIENTS.windows(2).all(|pair| pair[0].id < pair[1].id));
    for client in HOOK_CLIENTS {
        for name in std::iter::once(&client.id).chain(client.aliases) {
            assert_eq!(find_hook_client(name).unwrap().id, client.id);
        }
    }
}

#[test]
fn errors_of_clients() {
    let report: Vec<String> = ["coedx", "zed", "windsurf", "nonsense"]
        .map(|name| {
            let error = find_hook_client(name).unwrap_err();
            format!("{error} ({}; hint: {})", error.code(), error.hint().unwrap())
        })
        .to_vec();
    assert_snapshot!(report.join("\n"));
}
