//! The precedence of layers and the selection of the preset.

use super::TestProject;
use crate::SettingOrigin;
use prowess::policy::{Policy, Preset, ProjectTrust, RefreshPolicy};

#[test]
fn without_files_the_preset_applies() {
    for preset in Preset::ALL {
        let configuration = TestProject::new().preset(preset).load();
        assert_eq!(configuration.policy, Policy::from_preset(preset));
        assert_eq!(configuration.diagnostics, []);
        let others = configuration.settings.iter().filter(|setting| setting.key != "preset");
        assert!(others.map(|setting| &setting.origin).all(|origin| *origin == SettingOrigin::Preset(preset)));
    }
}

#[test]
fn later_layers_win() {
    let setup = TestProject::new();
    assert_eq!(setup.value("catalog.budget-chars"), "\"none\" (preset standard)");
    let setup = setup.user("[catalog]\nbudget-chars = 4000");
    assert_eq!(setup.value("catalog.budget-chars"), "4000 (user file home/.prowess/config.toml:2)");
    let setup = setup.project("catalog.budget-chars = 3000");
    assert_eq!(setup.value("catalog.budget-chars"), "3000 (project file project/.prowess/config.toml:1)");
    let setup = setup.config_file("more.yml", "# mine\n\ncatalog:\n  budget-chars: 9000");
    assert_eq!(setup.value("catalog.budget-chars"), "9000 (given file more.yml:4)");
    let setup = setup.variable("SKILLS_PROMPT_CHAR_BUDGET", "5000");
    assert_eq!(setup.value("catalog.budget-chars"), "5000 (variable SKILLS_PROMPT_CHAR_BUDGET)");
    assert_eq!(setup.report(), "");
    let files: Vec<_> = setup.load().files.iter().map(|(path, read)| (setup.short(path), *read)).collect();
    assert_eq!(
        files,
        [
            ("home/.prowess/config.toml".to_owned(), true),
            ("project/.prowess/config.toml".to_owned(), true),
            ("more.yml".to_owned(), true)
        ]
    );
}

#[test]
fn the_preset_is_selected_first() {
    let setup = TestProject::new();
    assert_eq!(setup.value("preset"), "\"standard\" (preset standard)");
    let setup = setup.user("preset = \"app\"\nscan.depth = 3");
    assert_eq!(setup.value("preset"), "\"app\" (user file home/.prowess/config.toml:1)");
    assert_eq!(setup.load().policy.activation, Policy::from_preset(Preset::App).activation);
    assert_eq!(setup.value("scan.depth"), "3 (user file home/.prowess/config.toml:2)");
    let setup = setup.config_file("more.toml", "preset = \"triggers\"");
    assert_eq!(setup.value("preset"), "\"triggers\" (given file more.toml:1)");
    assert_eq!(setup.value("scan.depth"), "3 (user file home/.prowess/config.toml:2)");
    let setup = setup.variable("PROWESS_PRESET", "chat");
    assert_eq!(setup.value("preset"), "\"chat\" (variable PROWESS_PRESET)");
    let setup = setup.preset(Preset::SkillTool);
    assert_eq!(setup.value("preset"), "\"skill-tool\" (flag --preset)");
    assert_eq!(setup.value("refresh"), "\"directory-time\" (preset skill-tool)");
    assert_eq!(setup.report(), "");
}

#[test]
fn an_unknown_preset_is_reported_and_ignored() {
    let setup = TestProject::new()
        .user("preset = \"app\"")
        .config_file("more.toml", "preset = \"harnes\"")
        .variable("PROWESS_PRESET", "Chat");
    assert_eq!(setup.load().policy.preset, Preset::App);
    insta::assert_snapshot!(setup.report());
}

#[test]
fn the_file_that_selects_the_preset_harness_is_used() {
    let setup = TestProject::new()
        .user("preset = \"harness\"\nscan.depth = 4\nskills.disabled-bundled = [\"a\"]")
        .file("home/.agent/config.yaml", "skills:\n  disabledBundled: [gh]\n");
    assert_eq!(setup.value("preset"), "\"harness\" (user file home/.prowess/config.toml:1)");
    assert_eq!(setup.value("scan.depth"), "4 (user file home/.prowess/config.toml:2)");
    assert_eq!(setup.value("skills.disabled-bundled"), "[\"gh\"] (user file home/.agent/config.yaml:2)");
    // If the preset is selected elsewhere, the file of preset `harness` is the user's.
    let setup = setup.preset(Preset::Harness);
    assert_eq!(setup.value("scan.depth"), "1 (preset harness)");
}

#[test]
fn roots_from_the_command_line_have_a_flag_as_origin() {
    let setup = TestProject::new().user("scan.roots = [\"~/mine\"]");
    let configuration = setup.load().with_roots(["/opt/skills".into()]);
    assert_eq!(configuration.policy.trust, ProjectTrust::NotNeeded);
    let flagged: Vec<_> = configuration
        .settings
        .iter()
        .filter(|setting| matches!(setting.origin, SettingOrigin::Flag(_)))
        .map(|setting| format!("{} = {} ({})", setting.key, setting.value, setting.origin))
        .collect();
    assert_eq!(
        flagged,
        [
            "scan.roots = [\"project:/opt/skills\"] (flag --root)",
            "scan.ancestors = \"none\" (flag --root)",
            "trust.project = \"not-needed\" (flag --root)"
        ]
    );
}

#[test]
fn variables_enable_and_disable_skills() {
    for (value, enabled) in [("true", true), ("1", true), ("false", false), ("0", false)] {
        let setup = TestProject::new().preset(Preset::Chat).variable("PROWESS_SKILLS_ENABLED", value);
        assert_eq!((setup.load().policy.enabled, setup.report().as_str()), (enabled, ""));
    }
    // An empty variable is ignored.
    let setup = TestProject::new().variable("PROWESS_SKILLS_ENABLED", "").variable("PROWESS_PRESET", "");
    assert_eq!((setup.load().policy, setup.report().as_str()), (Policy::default(), ""));
}

#[test]
fn s001_15_the_character_budget_is_a_variable() {
    let setup = TestProject::new().preset(Preset::SkillTool);
    assert_eq!(setup.value("catalog.budget-chars"), "12000 (preset skill-tool)");
    let setup = setup.variable("SKILLS_PROMPT_CHAR_BUDGET", "800");
    assert_eq!(setup.load().policy.catalog.budget_chars, Some(800));
}

#[test]
fn s001_18_refreshing_on_each_call_is_a_variable() {
    let refresh = |setup: &TestProject| setup.load().policy.refresh;
    let setup = TestProject::new().preset(Preset::SkillTool);
    assert_eq!(refresh(&setup), RefreshPolicy::DirectoryTime);
    let setup = setup.variable("SKILLS_REFRESH_ON_CALL", "true");
    assert_eq!(refresh(&setup), RefreshPolicy::DirectoryTime);
    let setup = setup.user("refresh = \"at-start\"");
    assert_eq!(refresh(&setup), RefreshPolicy::DirectoryTime);
    let setup = setup.variable("SKILLS_REFRESH_ON_CALL", "false");
    assert_eq!(setup.value("refresh"), "\"at-start\" (variable SKILLS_REFRESH_ON_CALL)");
    // The flag selects the preset, regardless of the variable.
    let setup = TestProject::new().preset(Preset::SkillTool).variable("PROWESS_PRESET", "app");
    assert_eq!(refresh(&setup.variable("SKILLS_REFRESH_ON_CALL", "false")), RefreshPolicy::AtStart);
    let setup = TestProject::new().variable("SKILLS_REFRESH_ON_CALL", "false");
    assert_eq!(refresh(&setup), RefreshPolicy::Fingerprint);
}

#[test]
fn invalid_variables_are_reported_as_errors() {
    let setup = TestProject::new()
        .variable("PROWESS_PRESET", "standart")
        .variable("PROWESS_SKILLS_ENABLED", "maybe")
        .variable("SKILLS_PROMPT_CHAR_BUDGET", "12k\u{1b}[31m")
        .variable("SKILLS_REFRESH_ON_CALL", "often");
    assert_eq!(setup.load().policy, Policy::default());
    insta::assert_snapshot!(setup.report());
}

#[test]
fn a_file_is_used_once_with_the_highest_precedence() {
    // In the home directory, the project's file is the user's.
    let mut setup = TestProject::new().user("preset = \"app\"\nscan.links = [\"~/skills\"]");
    setup.inputs.host.project = setup.path("home");
    assert_eq!(setup.report(), "");
    assert_eq!(setup.load().files.len(), 1);
    // A project's file that is passed explicitly is trusted.
    let mut setup = TestProject::new().project("scan.links = [\"/opt\"]");
    setup.inputs.file = Some(setup.path("project/.prowess/config.toml"));
    assert_eq!(setup.report(), "");
    assert_eq!(setup.value("scan.links"), "[\"/opt\"] (given file project/.prowess/config.toml:1)");
}

#[test]
fn the_explicit_file_can_be_set_by_a_variable() {
    let setup = TestProject::new().file("g.toml", "scan.depth = 2");
    let path = setup.path("g.toml").display().to_string();
    assert_eq!(setup.variable("PROWESS_CONFIG", &path).value("scan.depth"), "2 (given file g.toml:1)");
}

#[test]
fn activation_does_not_depend_on_the_order_of_keys() {
    use prowess::policy::ActivationMode::Pushed;
    let setup = TestProject::new()
        .user("activation.max-pushed = 5")
        .config_file("g.toml", "activation.form = \"pushed\"");
    assert_eq!(setup.load().policy.activation, Pushed { max: 5 });
    let setup = TestProject::new()
        .user("activation.form = \"pushed\"")
        .config_file("g.toml", "activation.max-pushed = 1");
    assert_eq!(setup.load().policy.activation, Pushed { max: 1 });
    assert_eq!(TestProject::new().preset(Preset::Triggers).load().policy.activation, Pushed { max: 3 });
}

#[test]
fn paths_below_the_home_directory_are_expanded() {
    let setup = TestProject::new().user("scan.links = [\"~/stow\", \"~\", \"/nix/store\"]");
    let home = setup.path("home");
    assert_eq!(setup.load().policy.scan.links, [home.join("stow"), home.clone(), "/nix/store".into()]);
    let names = r#"["source:~/.claude/skills", "source:.agents/skills", "~"]"#;
    let setup = TestProject::new().user(&format!("skills.disabled = {names}"));
    let source = format!("source:{}", setup.path("home/.claude/skills").display());
    assert_eq!(setup.load().policy.selection.disabled, [source.as_str(), "source:.agents/skills", "~"]);
}
