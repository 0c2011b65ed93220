use std::fs;

use prowess::HostEnv;

use super::*;

struct SwitchTestHome {
    dir: tempfile::TempDir,
}

impl SwitchTestHome {
    fn new() -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        home.write_file("project/x", "");
        home.write_file("home/.agent/skills/mine/SKILL.md", "---\nname: mine\ndescription: Is mine.\n---\n");
        home.write_file("home/.agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\n");
        home
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(inner)
    }

    fn write_file(&self, inner: &str, text: &str) {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        fs::write(self.path(inner), text).unwrap();
    }

    fn text(&self, inner: &str) -> Option<String> {
        fs::read_to_string(self.path(inner)).ok()
    }

    fn inputs(&self) -> ConfigInputs {
        let (project, home) = (self.path("project"), Some(self.path("home")));
        ConfigInputs::new(HostEnv { project, home, path: Default::default() })
    }

    fn switch(&self, name: &str, to: DesiredState, scope: ConfigScope) -> Result<SwitchOutcome, SwitchError> {
        switch(&self.inputs(), &[], &SwitchTarget::Skill(name.to_owned()), to, scope)
    }
}

/// A list in a later file overrides the one in an earlier file, so a new entry goes to the effective list.
#[test]
fn the_file_with_the_effective_list_is_changed() {
    let home = SwitchTestHome::new();
    let (toml, yaml) = ("home/.prowess/config.toml", "home/.agent/config.yaml");
    home.write_file(toml, "preset = \"harness\"\nskills.disabled = [\"gone\"]\n");
    home.write_file(yaml, "skills: {}\n");
    let switched = home.switch("mine", DesiredState::Disabled, ConfigScope::User).unwrap();
    assert_eq!((switched.status, switched.obstacle), (Some("disabled"), None));
    assert_eq!(switched.changed_files, [home.path(toml)]);
    assert_eq!(home.text(toml).unwrap(), "preset = \"harness\"\nskills.disabled = [\"gone\", \"mine\"]\n");
    // Bundled skills have a separate list in that file.
    home.switch("hello-world", DesiredState::Disabled, ConfigScope::User).unwrap();
    assert_eq!(home.text(yaml).unwrap(), "skills: {disabledBundled: [\"hello-world\"]}\n");
    assert_eq!(
        home.switch("mine", DesiredState::Enabled, ConfigScope::User).unwrap().status,
        Some("enabled")
    );
}

#[test]
fn all_disabling_entries_are_removed() {
    let home = SwitchTestHome::new();
    let text = "[skills]\nenabled-bundled = [\"gh\"]\ndisabled-bundled = [\"hello-world\"]\ndisabled = [\"hello-world\"]\n";
    home.write_file("home/.prowess/config.toml", text);
    let switched = home.switch("hello-world", DesiredState::Enabled, ConfigScope::User).unwrap();
    assert_eq!((switched.status, switched.changed_files.len()), (Some("enabled"), 1));
    let expected =
        "[skills]\nenabled-bundled = [\"gh\", \"hello-world\"]\ndisabled-bundled = []\ndisabled = []\n";
    assert_eq!(home.text("home/.prowess/config.toml").unwrap(), expected);
}

#[test]
fn a_project_cannot_extend_the_users_list() {
    let home = SwitchTestHome::new();
    home.write_file("home/.prowess/config.toml", "skills.enabled-bundled = [\"gh\"]\n");
    let error = home.switch("hello-world", DesiredState::Enabled, ConfigScope::Project).unwrap_err();
    let SwitchError::ProjectCannotEnable { location } = &error else { panic!("{error}") };
    assert_eq!(
        (location.line, location.layer, error.code()),
        (1, ConfigLayer::User, ErrorCode::AccessDenied)
    );
    assert_eq!(home.text("project/.prowess/config.toml"), None);
}

#[test]
fn without_a_configuration_file_there_is_an_error() {
    let home = SwitchTestHome::new();
    let mut inputs = home.inputs();
    inputs.host.project = home.path("home");
    let target = SwitchTarget::Skill("pdf".to_owned());
    let error = switch(&inputs, &[], &target, DesiredState::Disabled, ConfigScope::Project).unwrap_err();
    assert!(matches!(error, SwitchError::NoConfigFile { .. }), "{error}");
    inputs.host.home = None;
    let error = switch(&inputs, &[], &target, DesiredState::Disabled, ConfigScope::User).unwrap_err();
    assert!(matches!(error, SwitchError::NoHome), "{error}");
}

#[test]
fn explicit_roots_are_supported() {
    let home = SwitchTestHome::new();
    let roots = [home.path("home/.agent/skills")];
    let target = SwitchTarget::Skill("mine".to_owned());
    let switched =
        switch(&home.inputs(), &roots, &target, DesiredState::Disabled, ConfigScope::Project).unwrap();
    assert_eq!((switched.status, switched.obstacle), (Some("disabled"), None));
}
