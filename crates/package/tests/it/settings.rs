//! Changing the user's settings.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use prowess::format::Value;
use prowess::{ErrorCode, HostEnv, Preset};
use prowess_config::edit::setting::set;
use prowess_config::{ConfigInputs, find_key, tree};
use prowess_package::settings::{
    ChangeSettingsError, ScriptDecision, change_settings, remember_script_decision,
};

struct TestConfig(tempfile::TempDir);

impl TestConfig {
    fn new(text: &str) -> Self {
        let config = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(config.file().parent().unwrap()).unwrap();
        if !text.is_empty() {
            fs::write(config.file(), text).unwrap();
        }
        config
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("home/.prowess/config.toml")
    }

    fn inputs(&self) -> ConfigInputs {
        let (project, home) = (self.0.path().join("project"), Some(self.0.path().join("home")));
        ConfigInputs::new(HostEnv { project, home, path: Default::default() })
    }

    fn change(&self, changes: &[(&str, Option<Value>)]) -> Result<String, ChangeSettingsError> {
        let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        change_settings(&self.inputs(), &changes)?;
        Ok(fs::read_to_string(self.file()).unwrap_or_default())
    }
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.into()))
}

/// A decision replaces earlier ones about the same skill, and none about a skill whose directory has a similar name.
#[test]
fn a_decision_replaces_those_about_the_same_skill() {
    let hash = |digit: &str| format!("@sha256-tree-v1:{}", digit.repeat(64));
    let config = TestConfig::new(&format!(
        "run.denied-skills = [\"/p/evil\", \"pdf\"]\nrun.allowed-skills = [\"pdf-tools\", \"csv{}\"]\n",
        hash("1")
    ));
    // The directory of this skill is named as if it were the permission of another one.
    let unusual = format!("/p/evil{}{}", hash("2"), hash("3"));
    for (decision, entry) in [
        (ScriptDecision::Allow, unusual.clone()),
        (ScriptDecision::Deny, "csv".to_owned()),
        (ScriptDecision::Allow, format!("pdf{}", hash("4"))),
    ] {
        remember_script_decision(&config.inputs(), decision, &entry).unwrap();
    }
    let run = prowess_config::load(&config.inputs()).policy.run;
    assert_eq!(run.denied_skills, ["/p/evil", "csv"]);
    assert_eq!(run.allowed_skills, ["pdf-tools".to_owned(), unusual, format!("pdf{}", hash("4"))]);
}

#[test]
fn the_rest_of_the_file_is_preserved() {
    let config = TestConfig::new("# mine\r\npreset = 'app' # why\r\n\r\n[chat] # talk\r\nmodel = \"a\"\r\n");
    let after = config.change(&[
        ("preset", text("chat")),
        ("chat.model", text("b")),
        ("chat.max-steps", Some(Value::Number("3".into()))),
    ]);
    assert_eq!(
        after.unwrap(),
        "# mine\r\npreset = \"chat\" # why\r\n\r\n[chat] # talk\r\nmodel = \"b\"\r\nmax-steps = 3\r\n"
    );
    assert_eq!(
        config.change(&[("chat.max-steps", None), ("preset", None)]).unwrap(),
        "# mine\r\n\r\n[chat] # talk\r\nmodel = \"b\"\r\n"
    );
    let config = TestConfig::new("");
    assert_eq!(config.change(&[("enabled", Some(Value::Bool(false)))]).unwrap(), "enabled = false\n");
    assert_eq!(
        config.change(&[("chat.model", text("m"))]).unwrap(),
        "enabled = false\n\n[chat]\nmodel = \"m\"\n"
    );
    assert_eq!(
        config.change(&[("preset", text("app"))]).unwrap(),
        "enabled = false\npreset = \"app\"\n\n[chat]\nmodel = \"m\"\n"
    );
}

#[test]
fn invalid_settings_are_not_written() {
    let config = TestConfig::new("[chat]\nmodel = \"a\"\n");
    let change_error = |changes: &[(&str, Option<Value>)]| {
        let error = config.change(changes).unwrap_err();
        assert_eq!(fs::read_to_string(config.file()).unwrap(), "[chat]\nmodel = \"a\"\n", "{error}");
        (error.code(), error.to_string())
    };
    assert_eq!(
        change_error(&[("chat.model", text("b")), ("catalog.format", text("odd"))]).0,
        ErrorCode::InvalidParam
    );
    assert_eq!(change_error(&[("none", text("b"))]).0, ErrorCode::InvalidParam);
    for manual_only in [
        "run.scripts",
        "trust.project",
        "sources.mcp",
        "scan.roots",
        "scan.links",
        "chat.key-env",
        "chat.key-file",
        "chat.base-url",
        "chat.allow-http",
        "embeddings.provider",
        "embeddings.base-url",
    ] {
        assert!(find_key(manual_only).is_some(), "{manual_only} is a setting");
        assert_eq!(change_error(&[(manual_only, text("x"))]).0, ErrorCode::AccessDenied, "{manual_only}");
    }
    // A setting that is overridden elsewhere cannot be changed.
    let mut inputs = config.inputs();
    inputs.environment.push(("PROWESS_SKILLS_ENABLED".to_owned(), "false".to_owned()));
    let error = change_settings(&inputs, &[("enabled".to_owned(), Some(Value::Bool(true)))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "enabled would not change, because variable PROWESS_SKILLS_ENABLED overrides it"
    );
    inputs.preset = Some(Preset::Harness);
    assert!(matches!(
        change_settings(&inputs, &[("chat.model".to_owned(), text("b"))]),
        Err(ChangeSettingsError::NoUserFile(_))
    ));
}

#[test]
fn a_change_can_be_reverted() {
    let config = TestConfig::new("[chat]\nmodel = \"a\"\n");
    let changed = change_settings(&config.inputs(), &[("chat.model".to_owned(), text("b"))]).unwrap();
    assert!(changed.is_change());
    changed.revert().unwrap();
    assert_eq!(fs::read_to_string(config.file()).unwrap(), "[chat]\nmodel = \"a\"\n");
    let changed = change_settings(&config.inputs(), &[("chat.model".to_owned(), text("b"))]).unwrap();
    fs::write(config.file(), "# theirs\n").unwrap();
    changed.revert().unwrap();
    assert_eq!(fs::read_to_string(config.file()).unwrap(), "# theirs\n");
}

proptest! {
    /// In any file, a setting can be set and removed again, or the change is rejected.
    #[test]
    fn set_then_remove(
        lines in proptest::collection::vec(prop::sample::select(vec![
            "# c", "", "[chat]", "model = 'a'", "[skills]", "disabled = [\n 'x', # y\n]", "preset = \"app\"", "chat.model = 'b'",
            "chat = { model = 'c' }",
        ]), 0..8),
        value in "[a-z\"\\\\ ]{0,8}",
    ) {
        let before = lines.join("\n");
        if let Ok(after) = set(&before, &["chat", "model"], Some(&Value::Text(value.as_str().into()))) {
            let tree = tree::parse_toml(&after, &[]).unwrap().unwrap();
            let found = &tree.get("chat").unwrap().value.get("model").unwrap().value.kind;
            prop_assert_eq!(found, &tree::TreeKind::Text(value.clone()));
            if let Ok(removed) = set(&after, &["chat", "model"], None) {
                let tree = tree::parse_toml(&removed, &[]).unwrap().unwrap();
                prop_assert!(tree.get("chat").is_none_or(|chat| chat.value.get("model").is_none()));
                prop_assert!(lines.iter().filter(|line| line.starts_with('#')).count() == removed.matches("# c").count());
            }
        }
    }
}
