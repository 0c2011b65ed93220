//! Later over earlier, and the preset first of all.

use super::World;
use crate::Origin;
use prowess::policy::{Policy, Preset, ProjectTrust, Refresh};

#[test]
fn without_files_it_is_the_preset() {
    for preset in Preset::ALL {
        let configuration = World::new().preset(preset).load();
        assert_eq!(configuration.policy, Policy::preset(preset));
        assert_eq!(configuration.diagnostics, []);
        let others = configuration.settings.iter().filter(|setting| setting.key != "preset");
        assert!(others.map(|setting| &setting.origin).all(|origin| *origin == Origin::Preset(preset)));
    }
}

#[test]
fn later_layers_win() {
    let world = World::new();
    assert_eq!(world.value("catalog.budget-chars"), "\"none\" (preset standard)");
    let world = world.user("[catalog]\nbudget-chars = 4000");
    assert_eq!(world.value("catalog.budget-chars"), "4000 (user file home/.prowess/config.toml:2)");
    let world = world.project("catalog.budget-chars = 3000");
    assert_eq!(world.value("catalog.budget-chars"), "3000 (project file project/.prowess/config.toml:1)");
    let world = world.given("more.yml", "# mine\n\ncatalog:\n  budget-chars: 9000");
    assert_eq!(world.value("catalog.budget-chars"), "9000 (given file more.yml:4)");
    let world = world.variable("SKILLS_PROMPT_CHAR_BUDGET", "5000");
    assert_eq!(world.value("catalog.budget-chars"), "5000 (variable SKILLS_PROMPT_CHAR_BUDGET)");
    assert_eq!(world.said(), "");
    let files: Vec<_> = world.load().files.iter().map(|(path, read)| (world.short(path), *read)).collect();
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
fn the_preset_is_decided_first() {
    let world = World::new();
    assert_eq!(world.value("preset"), "\"standard\" (preset standard)");
    let world = world.user("preset = \"app\"\nscan.depth = 3");
    assert_eq!(world.value("preset"), "\"app\" (user file home/.prowess/config.toml:1)");
    assert_eq!(world.load().policy.activation, Policy::preset(Preset::App).activation);
    assert_eq!(world.value("scan.depth"), "3 (user file home/.prowess/config.toml:2)");
    let world = world.given("more.toml", "preset = \"triggers\"");
    assert_eq!(world.value("preset"), "\"triggers\" (given file more.toml:1)");
    assert_eq!(world.value("scan.depth"), "3 (user file home/.prowess/config.toml:2)");
    let world = world.variable("PROWESS_PRESET", "chat");
    assert_eq!(world.value("preset"), "\"chat\" (variable PROWESS_PRESET)");
    let world = world.preset(Preset::SkillTool);
    assert_eq!(world.value("preset"), "\"skill-tool\" (flag --preset)");
    assert_eq!(world.value("refresh"), "\"directory-time\" (preset skill-tool)");
    assert_eq!(world.said(), "");
}

#[test]
fn a_preset_that_does_not_exist_is_said_and_passed_over() {
    let world = World::new()
        .user("preset = \"app\"")
        .given("more.toml", "preset = \"harnes\"")
        .variable("PROWESS_PRESET", "Chat");
    assert_eq!(world.load().policy.preset, Preset::App);
    insta::assert_snapshot!(world.said());
}

#[test]
fn the_file_that_names_the_preset_harness_counts_in_it() {
    let world = World::new()
        .user("preset = \"harness\"\nscan.depth = 4\nskills.disabled-bundled = [\"a\"]")
        .file("home/.agent/config.yaml", "skills:\n  disabledBundled: [gh]\n");
    assert_eq!(world.value("preset"), "\"harness\" (user file home/.prowess/config.toml:1)");
    assert_eq!(world.value("scan.depth"), "4 (user file home/.prowess/config.toml:2)");
    assert_eq!(world.value("skills.disabled-bundled"), "[\"gh\"] (user file home/.agent/config.yaml:2)");
    // Asked for by somebody else, document 002's own file is the user's.
    let world = world.preset(Preset::Harness);
    assert_eq!(world.value("scan.depth"), "1 (preset harness)");
}

#[test]
fn roots_of_the_command_line_are_a_flag() {
    let world = World::new().user("scan.roots = [\"~/mine\"]");
    let configuration = world.load().with_roots(["/opt/skills".into()]);
    assert_eq!(configuration.policy.trust, ProjectTrust::NotNeeded);
    let flagged: Vec<_> = configuration
        .settings
        .iter()
        .filter(|setting| matches!(setting.origin, Origin::Flag(_)))
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
fn variables_switch_skills_on_and_off() {
    for (value, enabled) in [("true", true), ("1", true), ("false", false), ("0", false)] {
        let world = World::new().preset(Preset::Chat).variable("PROWESS_SKILLS_ENABLED", value);
        assert_eq!((world.load().policy.enabled, world.said().as_str()), (enabled, ""));
    }
    // An empty variable is as good as none.
    let world = World::new().variable("PROWESS_SKILLS_ENABLED", "").variable("PROWESS_PRESET", "");
    assert_eq!((world.load().policy, world.said().as_str()), (Policy::default(), ""));
}

#[test]
fn s001_15_the_character_budget_is_a_variable() {
    let world = World::new().preset(Preset::SkillTool);
    assert_eq!(world.value("catalog.budget-chars"), "12000 (preset skill-tool)");
    let world = world.variable("SKILLS_PROMPT_CHAR_BUDGET", "800");
    assert_eq!(world.load().policy.catalog.budget_chars, Some(800));
}

#[test]
fn s001_18_refreshing_on_each_call_is_a_variable() {
    let refresh = |world: &World| world.load().policy.refresh;
    let world = World::new().preset(Preset::SkillTool);
    assert_eq!(refresh(&world), Refresh::DirectoryTime);
    let world = world.variable("SKILLS_REFRESH_ON_CALL", "true");
    assert_eq!(refresh(&world), Refresh::DirectoryTime);
    let world = world.user("refresh = \"at-start\"");
    assert_eq!(refresh(&world), Refresh::DirectoryTime);
    let world = world.variable("SKILLS_REFRESH_ON_CALL", "false");
    assert_eq!(world.value("refresh"), "\"at-start\" (variable SKILLS_REFRESH_ON_CALL)");
    // The flag decides the preset, whatever the variable says of it.
    let world = World::new().preset(Preset::SkillTool).variable("PROWESS_PRESET", "app");
    assert_eq!(refresh(&world.variable("SKILLS_REFRESH_ON_CALL", "false")), Refresh::AtStart);
    let world = World::new().variable("SKILLS_REFRESH_ON_CALL", "false");
    assert_eq!(refresh(&world), Refresh::Fingerprint);
}

#[test]
fn wrong_variables_are_errors_that_name_them() {
    let world = World::new()
        .variable("PROWESS_PRESET", "standart")
        .variable("PROWESS_SKILLS_ENABLED", "maybe")
        .variable("SKILLS_PROMPT_CHAR_BUDGET", "12k\u{1b}[31m")
        .variable("SKILLS_REFRESH_ON_CALL", "often");
    assert_eq!(world.load().policy, Policy::default());
    insta::assert_snapshot!(world.said());
}

#[test]
fn a_file_counts_once_where_it_counts_most() {
    // In the home itself, the project's file is the user's.
    let mut world = World::new().user("preset = \"app\"\nscan.links = [\"~/skills\"]");
    world.inputs.surroundings.project = world.path("home");
    assert_eq!(world.said(), "");
    assert_eq!(world.load().files.len(), 1);
    // A project's file that the user gives is the user's word.
    let mut world = World::new().project("scan.links = [\"/opt\"]");
    world.inputs.file = Some(world.path("project/.prowess/config.toml"));
    assert_eq!(world.said(), "");
    assert_eq!(world.value("scan.links"), "[\"/opt\"] (given file project/.prowess/config.toml:1)");
}

#[test]
fn the_given_file_can_be_named_by_a_variable() {
    let world = World::new().file("g.toml", "scan.depth = 2");
    let path = world.path("g.toml").display().to_string();
    assert_eq!(world.variable("PROWESS_CONFIG", &path).value("scan.depth"), "2 (given file g.toml:1)");
}

#[test]
fn activation_does_not_depend_on_the_order_of_keys() {
    use prowess::policy::Activation::Pushed;
    let world =
        World::new().user("activation.max-pushed = 5").given("g.toml", "activation.form = \"pushed\"");
    assert_eq!(world.load().policy.activation, Pushed { max: 5 });
    let world =
        World::new().user("activation.form = \"pushed\"").given("g.toml", "activation.max-pushed = 1");
    assert_eq!(world.load().policy.activation, Pushed { max: 1 });
    assert_eq!(World::new().preset(Preset::Triggers).load().policy.activation, Pushed { max: 3 });
}

#[test]
fn paths_below_the_home_are_spelled_out() {
    let world = World::new().user("scan.links = [\"~/stow\", \"~\", \"/nix/store\"]");
    let home = world.path("home");
    assert_eq!(world.load().policy.scan.links, [home.join("stow"), home.clone(), "/nix/store".into()]);
    let names = r#"["source:~/.claude/skills", "source:.agents/skills", "~"]"#;
    let world = World::new().user(&format!("skills.disabled = {names}"));
    let source = format!("source:{}", world.path("home/.claude/skills").display());
    assert_eq!(world.load().policy.selection.disabled, [source.as_str(), "source:.agents/skills", "~"]);
}
