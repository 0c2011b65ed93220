//! `prowess enable` and `prowess disable`, also with `prowess skill manage`.

use std::fs;

use crate::support::TestEnv;
use insta::assert_snapshot;

fn text(env: &TestEnv, inner: &str) -> String {
    fs::read_to_string(env.path(inner)).unwrap_or_else(|error| format!("[{}]", error.kind()))
}

/// Returns the status of a skill.
fn status(env: &TestEnv, args: &[&str], name: &str) -> String {
    let json = env.run(&[args, &["list", "--all", "--json"]].concat()).json();
    let skills = json["skills"].as_array().unwrap();
    let skill = skills.iter().find(|skill| skill["name"] == name).unwrap();
    skill["status"].as_str().unwrap().to_owned()
}

#[test]
fn enable_and_disable_for_the_user() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/pdf").file("~/.prowess/config.toml", "# mine\nscan.depth = 3 # deep\n");
    assert_snapshot!(env.runs(&[
        &["disable", "pdf"],
        &["disable", "pdf"],
        &["enable", "pdf", "--json"],
        &["enable", "pdf", "--user"],
        &["disable", "pfd"],
        &["disable", "nothing-like-it", "--json"],
    ]));
    assert_eq!(
        text(&env, "~/.prowess/config.toml"),
        "# mine\nscan.depth = 3 # deep\n\n[skills]\ndisabled = []\n"
    );
}

#[test]
fn enable_and_disable_in_the_project() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(env.runs(&[
        &["disable", "pdf", "--project"],
        // The obstacle is not in the user's own file.
        &["enable", "pdf"],
        &["enable", "pdf", "--project"],
        &["disable", "pdf"],
        // A project cannot enable what the user disabled.
        &["enable", "pdf", "--project"],
        &["enable", "pdf", "--project", "--json"],
    ]));
    assert_eq!(text(&env, ".prowess/config.toml"), "[skills]\ndisabled = []\n");
    assert_eq!(text(&env, "~/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
}

#[test]
fn scope_and_project_directory_are_distinguished() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/pdf").file("other/x", "").file("third/x", "");
    assert_eq!(env.run(&["--project", "other", "disable", "pdf", "--project"]).code, 0);
    assert_eq!(text(&env, "other/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
    assert_eq!(env.run(&["skill", "manage", "disable", "pdf", "--project", "--project=third"]).code, 0);
    assert_eq!(text(&env, "third/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
    assert!(!env.path(".prowess").exists() && !env.path("~/.prowess/config.toml").exists());
}

/// The example of the document: disable and enable a bundled skill.
#[test]
fn s002_12_manage_switches_bundled_skills_in_the_harness() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    let before =
        "model: x # theirs\nskills:\n  # Disable bundled skills by name\n  disabledBundled:\n    - \"gh\"\n";
    env.file("~/.agent/config.yaml", before);
    assert_eq!(env.run(&["skill", "manage", "disable", "hello-world"]).code, 0);
    assert_eq!(text(&env, "~/.agent/config.yaml"), format!("{before}    - \"hello-world\"\n"));
    assert_eq!(status(&env, &[], "hello-world"), "disabled");
    assert_eq!(env.run(&["skill", "manage", "enable", "hello-world"]).code, 0);
    assert_eq!(text(&env, "~/.agent/config.yaml"), before);
    assert_eq!(status(&env, &[], "hello-world"), "enabled");
}

#[test]
fn s002_16_a_whitelist_of_bundled_skills_is_extended() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    env.file("~/.agent/config.yaml", "skills:\n  enabledBundled: [code-review]\n");
    let result = env.run(&["enable", "hello-world"]);
    assert_eq!(result.out, "✓ hello-world is enabled: ~/.agent/config.yaml\n");
    assert_eq!(text(&env, "~/.agent/config.yaml"), "skills:\n  enabledBundled: [code-review, hello-world]\n");
    // A skill that is both listed and disabled is disabled.
    env.run(&["disable", "hello-world"]);
    assert_eq!(status(&env, &[], "hello-world"), "disabled");
    assert_eq!(status(&env, &[], "code-review"), "enabled");
}

#[test]
fn s002_16_a_plugin_is_switched_in_its_configuration_entry() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    let tracked = "skills:\n  plugins:\n    - url: \"https://h/u/from-git\"\n      enabled: true\n";
    env.file("~/.agent/config.yaml", tracked)
        .skill("~/.agent/plugins/from-git")
        .skill("~/.agent/skills/mine");
    assert_eq!(env.run(&["disable", "from-git"]).code, 0);
    assert_eq!(text(&env, "~/.agent/config.yaml"), tracked.replace("true", "false"));
    assert_eq!(status(&env, &[], "from-git"), "disabled");
    assert_eq!(env.run(&["disable", "mine"]).code, 0);
    assert_eq!(status(&env, &[], "mine"), "disabled");
    assert_eq!(status(&env, &[], "from-git"), "disabled");
    assert_eq!(env.run(&["enable", "from-git"]).code, 0);
    assert_eq!(env.run(&["enable", "mine"]).code, 0);
    assert_eq!(text(&env, "~/.agent/config.yaml"), format!("{tracked}  disabled: []\n"));
    assert_eq!(
        (status(&env, &[], "mine"), status(&env, &[], "from-git")),
        ("enabled".into(), "enabled".into())
    );
}

#[test]
fn enable_and_disable_in_every_preset() {
    for (preset, dir) in [
        ("standard", "~/.agents/skills"),
        ("app", ".agents/skills"),
        ("skill-tool", "skills"),
        ("harness", "~/.agent/skills"),
        ("triggers", "~/.agent/skills"),
        ("chat", "~/.agents/skills"),
    ] {
        let env = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true");
        env.skill(&format!("{dir}/pdf"));
        let args = ["--preset", preset];
        for (to, expected) in [("disable", "disabled"), ("enable", "enabled")] {
            let result = env.run(&[args[0], args[1], to, "pdf"]);
            assert_eq!((result.code, result.err.as_str()), (0, ""), "{preset}: {}", result.transcript());
            assert_eq!(status(&env, &args, "pdf"), expected, "{preset}");
        }
        let result = env.run(&[args[0], args[1], "disable", "pdf", "--project", "--json"]);
        match preset {
            "chat" => assert_eq!((result.error().0.as_str(), result.code), ("INVALID_PARAM", 2)),
            _ => assert_eq!((result.code, status(&env, &args, "pdf").as_str()), (0, "disabled"), "{preset}"),
        }
    }
}

#[test]
fn enable_and_disable_sources() {
    let env = TestEnv::new();
    env.skill("~/.claude/skills/pdf").skill("~/.agents/skills/csv");
    assert_snapshot!(env.runs(&[
        &["disable", "--source", "~/.claude/skills"],
        &["disable", "--source", "~/.claude/skills/"],
        &["enable", "pdf"],
        &["disable", "--source", "~/.claude/skils"],
        &["enable", "--source", ".claude/skills", "--project"],
        &["enable", "--source", ".claude/skills"],
        &["enable", "--source", ".claude/skills"],
        &["disable", "--source", "bundled", "--json"],
    ]));
    assert_eq!(text(&env, "~/.prowess/config.toml"), "[skills]\ndisabled = [\"source:bundled:\"]\n");
    assert_eq!(status(&env, &[], "hello-world"), "disabled");
}

#[test]
fn skills_disabled_by_default_can_be_enabled() {
    let env = TestEnv::new();
    let off = "---\nname: extra\ndescription: Is extra.\ndefault_enabled: false\n---\n\nDo it.\n";
    let roots = "scan.roots = [\"bundled:~/shipped\"]\n";
    env.file("~/shipped/extra/SKILL.md", off).file("~/.prowess/config.toml", roots);
    assert_eq!(status(&env, &[], "extra"), "disabled");
    assert_eq!(env.run(&["enable", "extra", "--project"]).code, 0);
    assert_eq!(text(&env, ".prowess/config.toml"), "[skills]\nenabled = [\"extra\"]\n");
    assert_eq!(status(&env, &[], "extra"), "enabled");
    assert_eq!(env.run(&["disable", "extra"]).code, 0);
    // A skill that is disabled by default and was enabled is now listed twice, and disabled.
    assert_eq!(status(&env, &[], "extra"), "disabled");
    assert_eq!(env.run(&["enable", "extra"]).code, 0);
    assert_eq!(status(&env, &[], "extra"), "enabled");
}

#[test]
fn obstacles_are_reported_with_their_line() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/pdf")
        .file("given.toml", "# c\nskills.disabled = [\"csv\"]\n")
        .file("given.yaml", "skills:\n  disabled:\n    - pdf\n");
    assert_snapshot!(env.runs(&[
        &["--config", "given.toml", "disable", "pdf"],
        &["--config", "given.yaml", "enable", "pdf"],
        &["--config", "given.yaml", "enable", "pdf", "--json"],
        &["--config", "given.yaml", "enable", "pdf", "--project"],
    ]));
}

#[test]
fn unwritable_files_are_not_changed() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    let alias = "a: &a [gh]\nskills:\n  disabledBundled: *a\n";
    env.file("~/.agent/config.yaml", alias);
    let result = env.run(&["disable", "hello-world", "--json"]);
    let (code, message) = result.error();
    assert_eq!((code.as_str(), result.code), ("CONFLICT", 1));
    assert!(
        message.starts_with("[HOME]/.agent/config.yaml: line 3: disabledBundled is a YAML alias"),
        "{message}"
    );
    assert_eq!(text(&env, "~/.agent/config.yaml"), alias);
}

#[test]
fn enabling_an_unavailable_skill_reports_the_reason() {
    let env = TestEnv::new();
    env.file("~/.agents/skills/k8s/SKILL.md", crate::support::needing("k8s", "kubectl"));
    assert_eq!(env.run(&["disable", "k8s"]).code, 0);
    let result = env.run(&["enable", "k8s"]);
    assert_eq!(result.out, "✓ k8s is enabled: ~/.prowess/config.toml\n");
    assert_eq!((result.err.as_str(), result.code), ("it is unavailable: missing commands: kubectl\n", 0));
}

#[test]
fn names_of_missing_skills_can_be_removed() {
    let env = TestEnv::new();
    env.file("~/.prowess/config.toml", "skills.disabled = [\"gone\"]\n");
    assert_eq!(env.run(&["enable", "gone"]).code, 0);
    assert_eq!(text(&env, "~/.prowess/config.toml"), "skills.disabled = []\n");
    assert_eq!(env.run(&["enable", "gone"]).code, 1);
}

#[test]
fn symlinked_configuration_files_stay_symlinks() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/pdf").file("~/dotfiles/prowess.toml", "").file("~/.prowess/x", "");
    std::os::unix::fs::symlink("../dotfiles/prowess.toml", env.path("~/.prowess/config.toml")).unwrap();
    assert_eq!(env.run(&["disable", "pdf"]).code, 0);
    assert!(env.path("~/.prowess/config.toml").is_symlink());
    assert_eq!(text(&env, "~/dotfiles/prowess.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
}
