use std::fs;

use prowess::Surroundings;

use super::*;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.file("project/x", "");
        place.file("home/.agent/skills/mine/SKILL.md", "---\nname: mine\ndescription: Is mine.\n---\n");
        place.file("home/.agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\n");
        place
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn file(&self, inner: &str, text: &str) {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        fs::write(self.path(inner), text).unwrap();
    }

    fn text(&self, inner: &str) -> Option<String> {
        fs::read_to_string(self.path(inner)).ok()
    }

    fn inputs(&self) -> Inputs {
        let (project, home) = (self.path("project"), Some(self.path("home")));
        Inputs::new(Surroundings { project, home, path: Default::default() })
    }

    fn switch(&self, name: &str, to: To, whose: Whose) -> Result<Switched, SwitchError> {
        switch(&self.inputs(), &[], &Target::Skill(name.to_owned()), to, whose)
    }
}

/// A later file's list takes the place of an earlier one's: what is new goes to the list that counts.
#[test]
fn of_two_files_the_one_with_the_list_is_changed() {
    let place = Place::new();
    let (toml, yaml) = ("home/.prowess/config.toml", "home/.agent/config.yaml");
    place.file(toml, "preset = \"harness\"\nskills.disabled = [\"gone\"]\n");
    place.file(yaml, "skills: {}\n");
    let switched = place.switch("mine", To::Off, Whose::User).unwrap();
    assert_eq!((switched.status, switched.in_the_way), (Some("disabled"), None));
    assert_eq!(switched.changed, [place.path(toml)]);
    assert_eq!(place.text(toml).unwrap(), "preset = \"harness\"\nskills.disabled = [\"gone\", \"mine\"]\n");
    // Bundled skills have a list of their own there.
    place.switch("hello-world", To::Off, Whose::User).unwrap();
    assert_eq!(place.text(yaml).unwrap(), "skills: {disabledBundled: [\"hello-world\"]}\n");
    assert_eq!(place.switch("mine", To::On, Whose::User).unwrap().status, Some("enabled"));
}

#[test]
fn behind_one_reason_there_may_be_another() {
    let place = Place::new();
    let text = "[skills]\nenabled-bundled = [\"gh\"]\ndisabled-bundled = [\"hello-world\"]\ndisabled = [\"hello-world\"]\n";
    place.file("home/.prowess/config.toml", text);
    let switched = place.switch("hello-world", To::On, Whose::User).unwrap();
    assert_eq!((switched.status, switched.changed.len()), (Some("enabled"), 1));
    let expected =
        "[skills]\nenabled-bundled = [\"gh\", \"hello-world\"]\ndisabled-bundled = []\ndisabled = []\n";
    assert_eq!(place.text("home/.prowess/config.toml").unwrap(), expected);
}

#[test]
fn a_project_does_not_extend_what_the_user_picked() {
    let place = Place::new();
    place.file("home/.prowess/config.toml", "skills.enabled-bundled = [\"gh\"]\n");
    let error = place.switch("hello-world", To::On, Whose::Project).unwrap_err();
    let SwitchError::NotTheProjects { mention } = &error else { panic!("{error}") };
    assert_eq!((mention.line, mention.layer, error.code()), (1, Layer::User, ErrorCode::AccessDenied));
    assert_eq!(place.text("project/.prowess/config.toml"), None);
}

#[test]
fn where_nothing_can_be_kept() {
    let place = Place::new();
    let mut inputs = place.inputs();
    inputs.surroundings.project = place.path("home");
    let target = Target::Skill("pdf".to_owned());
    let error = switch(&inputs, &[], &target, To::Off, Whose::Project).unwrap_err();
    assert!(matches!(error, SwitchError::NoFile { .. }), "{error}");
    inputs.surroundings.home = None;
    let error = switch(&inputs, &[], &target, To::Off, Whose::User).unwrap_err();
    assert!(matches!(error, SwitchError::NoHome), "{error}");
}

#[test]
fn with_roots_of_ones_own() {
    let place = Place::new();
    let roots = [place.path("home/.agent/skills")];
    let target = Target::Skill("mine".to_owned());
    let switched = switch(&place.inputs(), &roots, &target, To::Off, Whose::Project).unwrap();
    assert_eq!((switched.status, switched.in_the_way), (Some("disabled"), None));
}
