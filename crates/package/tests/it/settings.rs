//! The user's settings, changed by a program.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use prowess::format::Value;
use prowess::{ErrorCode, Preset, Surroundings};
use prowess_config::edit::setting::set;
use prowess_config::{Inputs, key, tree};
use prowess_package::settings::{SettingsError, change};

struct World(tempfile::TempDir);

impl World {
    fn new(text: &str) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(world.file().parent().unwrap()).unwrap();
        if !text.is_empty() {
            fs::write(world.file(), text).unwrap();
        }
        world
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("home/.prowess/config.toml")
    }

    fn inputs(&self) -> Inputs {
        let (project, home) = (self.0.path().join("project"), Some(self.0.path().join("home")));
        Inputs::new(Surroundings { project, home, path: Default::default() })
    }

    fn change(&self, changes: &[(&str, Option<Value>)]) -> Result<String, SettingsError> {
        let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        change(&self.inputs(), &changes)?;
        Ok(fs::read_to_string(self.file()).unwrap_or_default())
    }
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.into()))
}

#[test]
fn everything_else_in_the_file_stays() {
    let world = World::new("# mine\r\npreset = 'app' # why\r\n\r\n[chat] # talk\r\nmodel = \"a\"\r\n");
    let after = world.change(&[
        ("preset", text("chat")),
        ("chat.model", text("b")),
        ("chat.max-steps", Some(Value::Number("3".into()))),
    ]);
    assert_eq!(
        after.unwrap(),
        "# mine\r\npreset = \"chat\" # why\r\n\r\n[chat] # talk\r\nmodel = \"b\"\r\nmax-steps = 3\r\n"
    );
    assert_eq!(
        world.change(&[("chat.max-steps", None), ("preset", None)]).unwrap(),
        "# mine\r\n\r\n[chat] # talk\r\nmodel = \"b\"\r\n"
    );
    let world = World::new("");
    assert_eq!(world.change(&[("enabled", Some(Value::Bool(false)))]).unwrap(), "enabled = false\n");
    assert_eq!(
        world.change(&[("chat.model", text("m"))]).unwrap(),
        "enabled = false\n\n[chat]\nmodel = \"m\"\n"
    );
    assert_eq!(
        world.change(&[("preset", text("app"))]).unwrap(),
        "enabled = false\npreset = \"app\"\n\n[chat]\nmodel = \"m\"\n"
    );
}

#[test]
fn what_could_not_be_used_is_not_written() {
    let world = World::new("[chat]\nmodel = \"a\"\n");
    let refused = |changes: &[(&str, Option<Value>)]| {
        let error = world.change(changes).unwrap_err();
        assert_eq!(fs::read_to_string(world.file()).unwrap(), "[chat]\nmodel = \"a\"\n", "{error}");
        (error.code(), error.to_string())
    };
    assert_eq!(
        refused(&[("chat.model", text("b")), ("catalog.format", text("odd"))]).0,
        ErrorCode::InvalidParam
    );
    assert_eq!(refused(&[("none", text("b"))]).0, ErrorCode::InvalidParam);
    for by_hand in [
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
        assert!(key(by_hand).is_some(), "{by_hand} is a setting");
        assert_eq!(refused(&[(by_hand, text("x"))]).0, ErrorCode::AccessDenied, "{by_hand}");
    }
    // Whatever else decides would go on deciding.
    let mut inputs = world.inputs();
    inputs.environment.push(("PROWESS_SKILLS_ENABLED".to_owned(), "false".to_owned()));
    let error = change(&inputs, &[("enabled".to_owned(), Some(Value::Bool(true)))]).unwrap_err();
    assert_eq!(error.to_string(), "enabled would stay as it is: variable PROWESS_SKILLS_ENABLED decides");
    inputs.preset = Some(Preset::Harness);
    assert!(matches!(
        change(&inputs, &[("chat.model".to_owned(), text("b"))]),
        Err(SettingsError::NoFile(_))
    ));
}

#[test]
fn a_change_can_be_taken_back() {
    let world = World::new("[chat]\nmodel = \"a\"\n");
    let changed = change(&world.inputs(), &[("chat.model".to_owned(), text("b"))]).unwrap();
    assert!(changed.is_change());
    changed.take_back().unwrap();
    assert_eq!(fs::read_to_string(world.file()).unwrap(), "[chat]\nmodel = \"a\"\n");
    let changed = change(&world.inputs(), &[("chat.model".to_owned(), text("b"))]).unwrap();
    fs::write(world.file(), "# theirs\n").unwrap();
    changed.take_back().unwrap();
    assert_eq!(fs::read_to_string(world.file()).unwrap(), "# theirs\n");
}

proptest! {
    /// Whatever a file looks like, the setting is there afterwards, and goes again; or the change is refused.
    #[test]
    fn set_then_taken(
        lines in proptest::collection::vec(prop::sample::select(vec![
            "# c", "", "[chat]", "model = 'a'", "[skills]", "disabled = [\n 'x', # y\n]", "preset = \"app\"", "chat.model = 'b'",
            "chat = { model = 'c' }",
        ]), 0..8),
        value in "[a-z\"\\\\ ]{0,8}",
    ) {
        let before = lines.join("\n");
        if let Ok(after) = set(&before, &["chat", "model"], Some(&Value::Text(value.as_str().into()))) {
            let tree = tree::toml(&after, &[]).unwrap().unwrap();
            let found = &tree.get("chat").unwrap().value.get("model").unwrap().value.kind;
            prop_assert_eq!(found, &tree::Kind::Text(value.clone()));
            if let Ok(gone) = set(&after, &["chat", "model"], None) {
                let tree = tree::toml(&gone, &[]).unwrap().unwrap();
                prop_assert!(tree.get("chat").is_none_or(|chat| chat.value.get("model").is_none()));
                prop_assert!(lines.iter().filter(|line| line.starts_with('#')).count() == gone.matches("# c").count());
            }
        }
    }
}
