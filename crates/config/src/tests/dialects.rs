//! The files of presets `harness` (document 002) and `chat` (document 004).

use super::TestProject;
use prowess::policy::{Policy, Preset};

fn harness(text: &str) -> TestProject {
    TestProject::new().preset(Preset::Harness).file("home/.agent/config.yaml", text)
}

fn chat(text: &str) -> TestProject {
    TestProject::new().preset(Preset::Chat).file("project/config.toml", text)
}

fn roots(setup: &TestProject) -> Vec<String> {
    setup.load().policy.scan.roots.iter().map(ToString::to_string).collect()
}

/// The example of the document, with non-default directories.
#[test]
fn s002_16_the_yaml_configuration_of_the_harness() {
    let setup = harness(
        "model: someone-elses\n\
         skills:\n  \
           plugins:\n    \
             - url: \"https://github.com/user/my-skill\"\n      \
               name: \"my-skill\"\n      \
               enabled: true\n      \
               installedAt: \"2024-01-05T10:30:00Z\"\n    \
             - url: \"https://github.com/user/another-skill\"\n      \
               ref: \"v1.0.0\"\n      \
               enabled: false\n      \
               installedAt: 2024-01-04T15:20:00Z\n  \
           pluginsDir: \"~/plugins\"\n  \
           userDir: /srv/skills\n  \
           disabledBundled:\n    - \"gh\"\n  \
           enabledBundled: []\n  \
           scriptTimeout: 30000\n",
    );
    assert_eq!(setup.report(), "");
    let configuration = setup.load();
    assert_eq!(
        roots(&setup),
        ["plugin:~/plugins", ".agent/skills", ".claude/skills", "/srv/skills", "bundled"]
    );
    assert_eq!(configuration.policy.selection.disabled, ["another-skill"]);
    assert_eq!(configuration.policy.selection.disabled_bundled, ["gh"]);
    assert_eq!(configuration.policy.selection.enabled_bundled, [""; 0]);
    assert_eq!(configuration.policy.run.limits.time, std::time::Duration::from_secs(30));
    assert_eq!(setup.value("run.script-timeout-ms"), "30000 (user file home/.agent/config.yaml:17)");
    assert_eq!(setup.value("skills.disabled"), "[\"another-skill\"] (user file home/.agent/config.yaml:10)");
    assert!(setup.value("scan.roots").ends_with("(user file home/.agent/config.yaml:13)"));
}

#[test]
fn s002_16_a_disabled_plugin_is_identified_by_name_or_url() {
    let setup = harness(
        "skills:\n  plugins:\n\
         \x20   - {url: 'https://h/u/a.git', enabled: false}\n\
         \x20   - {url: 'git@h:b.git', enabled: false}\n\
         \x20   - {url: 'https://h/u/c/', name: named, enabled: false}\n\
         \x20   - {url: 'https://h/u/d', enabled: true}\n\
         \x20   - {url: 'https://h/u/e'}\n\
         \x20   - {url: 'https://h/u/a', ref: 1.0, name: , enabled: false}\n",
    );
    assert_eq!(setup.report(), "");
    assert_eq!(setup.load().policy.selection.disabled, ["a", "b", "named"]);
}

/// `disabled` is an extension. Disabled plugins are added to it, regardless of the order in the file.
#[test]
fn skills_that_are_neither_bundled_nor_plugins_can_be_disabled() {
    let plugins = "  plugins:\n    - {url: 'https://h/u/a', enabled: false}\n";
    for text in
        [format!("skills:\n{plugins}  disabled: [b]\n"), format!("skills:\n  disabled: [b]\n{plugins}")]
    {
        let setup = harness(&text);
        assert_eq!(setup.report(), "");
        assert_eq!(setup.load().policy.selection.disabled, ["b", "a"]);
    }
}

#[test]
fn s002_16_problems_are_reported() {
    let setup = harness(
        "skils: {}\n\
         skills:\n\
         \x20 pluginDir: ~/x\n\
         \x20 userDir: relative\n\
         \x20 pluginsDir: [a]\n\
         \x20 disabledBundled: gh\n\
         \x20 enabledBundled: [1]\n\
         \x20 scriptTimeout: 30s\n\
         \x20 colour: red\n\
         \x20 plugins:\n\
         \x20   - just text\n\
         \x20   - {name: lost, enabled: false, refs: x}\n\
         \x20   - {url: 7, enabled: no}\n",
    );
    // A plugin with other problems is still disabled.
    assert_eq!(setup.load().policy.selection.disabled, ["lost"]);
    insta::assert_snapshot!(setup.report());
    assert_eq!(harness("skills: [a]").report().lines().count(), 2);
    for nothing in ["", "# nothing\n", "skills:\n", "skills: {plugins: }\n", "other: 1\n", "- a\n"] {
        assert_eq!(
            (harness(nothing).report().as_str(), harness(nothing).load().policy),
            ("", Policy::from_preset(Preset::Harness))
        );
    }
}

#[test]
fn s004_02_the_toml_configuration_of_the_chat() {
    let setup = chat("[app.skills]\n");
    assert_eq!(setup.load().policy, Policy::from_preset(Preset::Chat));
    let setup = chat(
        "[providers.x]\nanything = { goes = true }\n\
         [app]\nname = \"chat\"\n\
         [app.skills]\n\
         enabled = true\n\
         directories = [\"./.skills\", \"/srv/skills\", \"~/.remcochat/skills\"]\n\
         max_skills = 300\n\
         max_skill_md_bytes = 400000\n\
         max_resource_bytes = 5000000\n",
    );
    assert_eq!(setup.report(), "");
    let policy = setup.load().policy;
    assert!(policy.enabled);
    assert_eq!(policy.scan.max_skills, Some(300));
    assert_eq!((policy.limits.skill_md_bytes, policy.limits.resource_bytes), (400_000, 5_000_000));
    assert_eq!(setup.value("enabled"), "true (project file project/config.toml:6)");
    assert_eq!(setup.value("scan.max-skills"), "300 (project file project/config.toml:8)");
    // The variable overrides the file.
    assert!(!setup.variable("PROWESS_SKILLS_ENABLED", "false").load().policy.enabled);
}

#[test]
fn s004_03_directories_are_absolute_relative_or_below_the_home() {
    let setup = chat(
        "[app.skills]\ndirectories = [\"./.skills\", \"/srv/skills\", \"~/.remcochat/skills\", \"../x\"]",
    );
    assert_eq!(roots(&setup), [".skills", "/srv/skills", "~/.remcochat/skills", "../x"]);
}

#[test]
fn s004_02_problems_are_reported() {
    let setup = chat(
        "[app.skills]\nenable = true\nenabled = \"yes\"\nmax_skils = 1\n\
         max_skills = -1\ndirectories = \".skills\"\n\
         [app.skill]\nnot = \"ours\"\n",
    );
    insta::assert_snapshot!(setup.report());
    assert_eq!(chat("[app]\nskills = 3").report().lines().count(), 2);
    assert_eq!(chat("app = 3").report(), "");
}

#[test]
fn each_preset_has_its_own_files() {
    let everything = |preset| {
        TestProject::new()
            .preset(preset)
            .user("scan.depth = 2")
            .project("scan.depth = 1")
            .file("home/.agent/config.yaml", "skills: {scriptTimeout: 5}")
            .file("project/config.toml", "app.skills.max_skills = 5")
    };
    for preset in Preset::ALL {
        let setup = everything(preset);
        let files: Vec<_> = setup.load().files.iter().map(|(path, _)| setup.short(path)).collect();
        let expected = match preset {
            Preset::Harness => ["home/.agent/config.yaml", "project/.prowess/config.toml"],
            Preset::Chat => ["home/.prowess/config.toml", "project/config.toml"],
            _ => ["home/.prowess/config.toml", "project/.prowess/config.toml"],
        };
        assert_eq!((files, setup.report().as_str()), (expected.map(ToOwned::to_owned).to_vec(), ""));
    }
}

#[test]
fn an_operators_file_may_be_a_symlink() {
    let setup =
        TestProject::new().preset(Preset::Chat).file("data/config.toml", "[app.skills]\nenabled = true\n");
    std::os::unix::fs::symlink("../data/config.toml", setup.path("project/config.toml")).unwrap();
    assert!(setup.load().policy.enabled);
}
