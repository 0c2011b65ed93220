//! Installing and managing skills in preset `harness`, as specified in document 002.

use crate::support::terminal::TerminalSession;
use crate::support::{BROKEN, CHANGING, TestEnv, keys, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::repository::{Repository, skills};

fn env() -> TestEnv {
    TestEnv::new()
        .variable("PROWESS_PRESET", "harness")
        .variable("PROWESS_ALLOW_FILE_URLS", "1")
        .variable("NO_COLOR", "1")
}

/// A repository with a single skill, in a directory with another name.
fn repository(env: &TestEnv) -> (Repository, String) {
    let repository = Repository::new(env.path("~/served/repository"));
    repository.write("SKILL.md", skill_md("pdf", "Fills forms.")).commit("first");
    let url = format!("file://{}", repository.path.display());
    (repository, url)
}

#[test]
fn s002_12_install_manage_list_update_and_remove() {
    let env = env();
    let (repository, url) = repository(&env);
    let mut result = env.runs(&[
        &["skill", "install", &url],
        &["skill", "manage", "list"],
        &["skill", "manage", "disable", "pdf"],
        &["skill", "manage", "list"],
        &["skill", "manage", "enable", "pdf"],
    ]);
    repository.write("SKILL.md", skill_md("pdf", "Fills more forms.")).commit("second");
    result += "\n";
    result += &env.runs(&[
        &["skill", "manage", "update", "pdf"],
        &["skill", "show"],
        &["skill", "manage", "remove", "pdf"],
        &["skill", "manage", "list"],
    ]);
    let bundled = result.find("[Bundled Skills]").unwrap();
    let result = match result[bundled..].find("\n\n") {
        Some(end) => format!("{}[Bundled Skills] …{}", &result[..bundled], &result[bundled + end..]),
        None => result,
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(result);
    });
}

#[test]
fn s002_13_the_directory_takes_the_manifest_name_and_is_in_the_configuration() {
    let env = env();
    let (_, url) = repository(&env);
    env.file("~/.agent/config.yaml", "# mine\nmodel: x # theirs\nskills:\n  scriptTimeout: 30000\n");
    assert_eq!(env.run(&["skill", "install", &url, "--ref", "main"]).code, 0);
    assert_eq!(env.tree("~/.agent/plugins"), ["pdf/SKILL.md"]);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.redact(&env.text("~/.agent/config.yaml")));
    });
    assert_eq!(env.run(&["skill", "manage", "remove", "pdf"]).code, 0);
    let left = "# mine\nmodel: x # theirs\nskills:\n  scriptTimeout: 30000\n";
    assert!(env.text("~/.agent/config.yaml").starts_with(left), "{}", env.text("~/.agent/config.yaml"));
    assert!(!env.text("~/.agent/config.yaml").contains("pdf"));
}

/// `InstallOptions` and `InstallResult` of the document correspond to the options and the output of the command.
#[test]
fn s002_14_install_takes_url_ref_and_name_and_returns_name_and_path() {
    let env = env();
    let (_, url) = repository(&env);
    let result = env.run(&["skill", "install", &url, "--ref", "main", "--name", "forms", "--json"]);
    let answer = result.json();
    let skill = &answer["skills"][0];
    assert_eq!((&skill["name"], &skill["action"]), (&"forms".into(), &"installed".into()));
    assert_eq!(skill["folder"], "[HOME]/.agent/plugins/forms");
    assert_eq!(result.code, 0);
    let result = env.run(&["skill", "install", "file:///nowhere/at-all", "--json"]);
    assert_eq!(keys(&result.json()["error"]), ["code", "help", "message"]);
    assert_eq!(result.code, 1);
}

#[test]
fn s002_15_an_invalid_url_has_a_clear_message() {
    let result = env().runs(&[
        &["skill", "install", "not a url"],
        &["skill", "install", "ftp://host.example/x"],
        &["skill", "install", "https://user:secret@host.example/x/y"],
        &["skill", "install", "nonsense"],
    ]);
    assert_snapshot!(result);
}

#[test]
fn s002_15_a_missing_or_invalid_manifest_is_rolled_back() {
    let env = env();
    env.file("~/.agent/config.yaml", "model: x\n");
    let empty = Repository::new(env.path("~/served/empty"));
    empty.write("README.md", "Nothing.\n").commit("first");
    let broken = Repository::new(env.path("~/served/broken"));
    broken.write("SKILL.md", BROKEN).commit("first");
    // This preset rejects keys of other dialects.
    let strange = Repository::new(env.path("~/served/strange"));
    strange.write("SKILL.md", "---\nname: strange\ndescription: D.\ntriggers: {}\n---\n").commit("first");
    for repository in [empty, broken, strange] {
        let url = format!("file://{}", repository.path.display());
        let result = env.run(&["skill", "install", &url]);
        assert_eq!(result.code, 1, "{}", result.transcript());
    }
    assert!(!env.path("~/.agent/plugins").exists() && !env.path("~/.prowess/state/installed.json").exists());
    assert_eq!(env.text("~/.agent/config.yaml"), "model: x\n");
}

#[test]
fn s002_15_an_existing_name_prompts_to_rename_or_skip() {
    let env = env();
    let (_, url) = repository(&env);
    env.skill("~/.agent/plugins/pdf");
    let result = env.run(&["skill", "install", &url, "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("CONFLICT", 1));
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["skill", "install", &url]);
        session.until("[r]ename to pdf-2, [o]verwrite, [s]kip pdf? ").answer(answer).end()
    };
    assert_eq!(ask("s").1, 1);
    assert_eq!(env.tree("~/.agent/plugins"), ["pdf/SKILL.md"]);
    assert_eq!(ask("r").1, 0);
    assert_eq!(env.tree("~/.agent/plugins"), ["pdf-2/SKILL.md", "pdf/SKILL.md"]);
    assert_eq!(env.text("~/.agent/plugins/pdf-2/SKILL.md"), skill_md("pdf-2", "Fills forms."));
}

#[test]
fn s002_16_plugin_entries_are_complete_and_the_file_is_preserved() {
    let env = env();
    let repository = skills(env.path("~/served/skills"));
    let url = format!("file://{}", repository.path.display());
    env.file("~/.agent/config.yaml", "# mine\nskills:\n  userDir: ~/own # here\n  plugins:\n    # kept\n    - url: https://h.example/u/other\n      enabled: false\n");
    assert_eq!(env.run(&["skill", "install", &url, "--ref", "v1.0", "--all"]).code, 0);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.redact(&env.text("~/.agent/config.yaml")));
    });
}

#[test]
fn s002_16_plugins_go_to_the_configured_directory() {
    let env = env();
    let (_, url) = repository(&env);
    env.file("~/.agent/config.yaml", "skills:\n  pluginsDir: ~/plugged\n");
    assert_eq!(env.run(&["skill", "install", &url]).code, 0);
    assert_eq!(env.tree("~/plugged"), ["pdf/SKILL.md"]);
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
    assert_eq!(env.run(&["verify"]).code, 0);
    assert_eq!(env.run(&["skill", "manage", "remove", "pdf"]).code, 0);
    assert_eq!(env.tree("~/plugged"), Vec::<String>::new());
}

/// A disabled plugin stays disabled in later versions.
#[test]
fn s002_16_a_disabled_plugin_stays_disabled_after_an_update() {
    let env = env();
    let (repository, url) = repository(&env);
    assert_eq!(env.run(&["skill", "install", &url]).code, 0);
    assert_eq!(env.run(&["skill", "manage", "disable", "pdf"]).code, 0);
    repository.write("SKILL.md", skill_md("pdf", "Fills more forms.")).commit("second");
    assert_eq!(env.run(&["skill", "manage", "update"]).code, 0);
    assert!(env.text("~/.agent/config.yaml").contains("enabled: false"));
    assert_eq!(env.text("~/.agent/plugins/pdf/SKILL.md"), skill_md("pdf", "Fills more forms."));
}

#[test]
fn a_bundled_skill_cannot_be_removed() {
    assert_snapshot!(env().runs(&[&["skill", "manage", "remove", "hello-world"]]));
}
