//! `prowess enable`, `prowess disable`, and the same under `prowess skill manage`.

use std::fs;

use crate::world::World;
use insta::assert_snapshot;

fn text(world: &World, inner: &str) -> String {
    fs::read_to_string(world.path(inner)).unwrap_or_else(|error| format!("[{}]", error.kind()))
}

/// The status of a skill.
fn status(world: &World, args: &[&str], name: &str) -> String {
    let answer = world.run(&[args, &["list", "--all", "--json"]].concat()).json();
    let skills = answer["skills"].as_array().unwrap();
    let skill = skills.iter().find(|skill| skill["name"] == name).unwrap();
    skill["status"].as_str().unwrap().to_owned()
}

#[test]
fn on_and_off_for_the_user() {
    let world = World::new();
    world.skill("~/.agents/skills/pdf").file("~/.prowess/config.toml", "# mine\nscan.depth = 3 # deep\n");
    assert_snapshot!(world.runs(&[
        &["disable", "pdf"],
        &["disable", "pdf"],
        &["enable", "pdf", "--json"],
        &["enable", "pdf", "--user"],
        &["disable", "pfd"],
        &["disable", "nothing-like-it", "--json"],
    ]));
    assert_eq!(
        text(&world, "~/.prowess/config.toml"),
        "# mine\nscan.depth = 3 # deep\n\n[skills]\ndisabled = []\n"
    );
}

#[test]
fn on_and_off_in_the_project() {
    let world = World::new();
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(world.runs(&[
        &["disable", "pdf", "--project"],
        // The user cannot see it from the user's own file.
        &["enable", "pdf"],
        &["enable", "pdf", "--project"],
        &["disable", "pdf"],
        // What the user switched off, a project cannot switch on.
        &["enable", "pdf", "--project"],
        &["enable", "pdf", "--project", "--json"],
    ]));
    assert_eq!(text(&world, ".prowess/config.toml"), "[skills]\ndisabled = []\n");
    assert_eq!(text(&world, "~/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
}

#[test]
fn the_scope_and_the_project_are_told_apart() {
    let world = World::new();
    world.skill("~/.agents/skills/pdf").file("other/x", "").file("third/x", "");
    assert_eq!(world.run(&["--project", "other", "disable", "pdf", "--project"]).code, 0);
    assert_eq!(text(&world, "other/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
    assert_eq!(world.run(&["skill", "manage", "disable", "pdf", "--project", "--project=third"]).code, 0);
    assert_eq!(text(&world, "third/.prowess/config.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
    assert!(!world.path(".prowess").exists() && !world.path("~/.prowess/config.toml").exists());
}

/// The three lines of the document: a bundled skill off and on again.
#[test]
fn s002_12_manage_switches_bundled_skills_in_the_harness() {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    let before =
        "model: x # theirs\nskills:\n  # Disable bundled skills by name\n  disabledBundled:\n    - \"gh\"\n";
    world.file("~/.agent/config.yaml", before);
    assert_eq!(world.run(&["skill", "manage", "disable", "hello-world"]).code, 0);
    assert_eq!(text(&world, "~/.agent/config.yaml"), format!("{before}    - \"hello-world\"\n"));
    assert_eq!(status(&world, &[], "hello-world"), "disabled");
    assert_eq!(world.run(&["skill", "manage", "enable", "hello-world"]).code, 0);
    assert_eq!(text(&world, "~/.agent/config.yaml"), before);
    assert_eq!(status(&world, &[], "hello-world"), "enabled");
}

#[test]
fn s002_16_a_whitelist_of_bundled_skills_is_extended() {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    world.file("~/.agent/config.yaml", "skills:\n  enabledBundled: [code-review]\n");
    let told = world.run(&["enable", "hello-world"]);
    assert_eq!(told.out, "✓ hello-world is enabled: ~/.agent/config.yaml\n");
    assert_eq!(
        text(&world, "~/.agent/config.yaml"),
        "skills:\n  enabledBundled: [code-review, hello-world]\n"
    );
    // One that is on its list and off as well is off.
    world.run(&["disable", "hello-world"]);
    assert_eq!(status(&world, &[], "hello-world"), "disabled");
    assert_eq!(status(&world, &[], "code-review"), "enabled");
}

#[test]
fn s002_16_a_plugin_is_switched_where_it_is_tracked() {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    let tracked = "skills:\n  plugins:\n    - url: \"https://h/u/from-git\"\n      enabled: true\n";
    world
        .file("~/.agent/config.yaml", tracked)
        .skill("~/.agent/plugins/from-git")
        .skill("~/.agent/skills/mine");
    assert_eq!(world.run(&["disable", "from-git"]).code, 0);
    assert_eq!(text(&world, "~/.agent/config.yaml"), tracked.replace("true", "false"));
    assert_eq!(status(&world, &[], "from-git"), "disabled");
    assert_eq!(world.run(&["disable", "mine"]).code, 0);
    assert_eq!(status(&world, &[], "mine"), "disabled");
    assert_eq!(status(&world, &[], "from-git"), "disabled");
    assert_eq!(world.run(&["enable", "from-git"]).code, 0);
    assert_eq!(world.run(&["enable", "mine"]).code, 0);
    assert_eq!(text(&world, "~/.agent/config.yaml"), format!("{tracked}  disabled: []\n"));
    assert_eq!(
        (status(&world, &[], "mine"), status(&world, &[], "from-git")),
        ("enabled".into(), "enabled".into())
    );
}

#[test]
fn in_every_preset() {
    for (preset, folder) in [
        ("standard", "~/.agents/skills"),
        ("app", ".agents/skills"),
        ("skill-tool", "skills"),
        ("harness", "~/.agent/skills"),
        ("triggers", "~/.agent/skills"),
        ("chat", "~/.agents/skills"),
    ] {
        let world = World::new().variable("PROWESS_SKILLS_ENABLED", "true");
        world.skill(&format!("{folder}/pdf"));
        let args = ["--preset", preset];
        for (to, expected) in [("disable", "disabled"), ("enable", "enabled")] {
            let told = world.run(&[args[0], args[1], to, "pdf"]);
            assert_eq!((told.code, told.err.as_str()), (0, ""), "{preset}: {}", told.whole());
            assert_eq!(status(&world, &args, "pdf"), expected, "{preset}");
        }
        let told = world.run(&[args[0], args[1], "disable", "pdf", "--project", "--json"]);
        match preset {
            "chat" => assert_eq!((told.error().0.as_str(), told.code), ("INVALID_PARAM", 2)),
            _ => assert_eq!((told.code, status(&world, &args, "pdf").as_str()), (0, "disabled"), "{preset}"),
        }
    }
}

#[test]
fn whole_sources() {
    let world = World::new();
    world.skill("~/.claude/skills/pdf").skill("~/.agents/skills/csv");
    assert_snapshot!(world.runs(&[
        &["disable", "--source", "~/.claude/skills"],
        &["disable", "--source", "~/.claude/skills/"],
        &["enable", "pdf"],
        &["disable", "--source", "~/.claude/skils"],
        &["enable", "--source", ".claude/skills", "--project"],
        &["enable", "--source", ".claude/skills"],
        &["enable", "--source", ".claude/skills"],
        &["disable", "--source", "bundled", "--json"],
    ]));
    assert_eq!(text(&world, "~/.prowess/config.toml"), "[skills]\ndisabled = [\"source:bundled:\"]\n");
    assert_eq!(status(&world, &[], "hello-world"), "disabled");
}

#[test]
fn what_is_off_by_default_is_switched_on() {
    let world = World::new();
    let off = "---\nname: extra\ndescription: Is extra.\ndefault_enabled: false\n---\n\nDo it.\n";
    let roots = "scan.roots = [\"bundled:~/shipped\"]\n";
    world.file("~/shipped/extra/SKILL.md", off).file("~/.prowess/config.toml", roots);
    assert_eq!(status(&world, &[], "extra"), "disabled");
    assert_eq!(world.run(&["enable", "extra", "--project"]).code, 0);
    assert_eq!(text(&world, ".prowess/config.toml"), "[skills]\nenabled = [\"extra\"]\n");
    assert_eq!(status(&world, &[], "extra"), "enabled");
    assert_eq!(world.run(&["disable", "extra"]).code, 0);
    // What was switched on where it is off by default is listed twice now, and off.
    assert_eq!(status(&world, &[], "extra"), "disabled");
    assert_eq!(world.run(&["enable", "extra"]).code, 0);
    assert_eq!(status(&world, &[], "extra"), "enabled");
}

#[test]
fn what_is_in_the_way_is_said_with_its_line() {
    let world = World::new();
    world
        .skill("~/.agents/skills/pdf")
        .file("given.toml", "# c\nskills.disabled = [\"csv\"]\n")
        .file("given.yaml", "skills:\n  disabled:\n    - pdf\n");
    assert_snapshot!(world.runs(&[
        &["--config", "given.toml", "disable", "pdf"],
        &["--config", "given.yaml", "enable", "pdf"],
        &["--config", "given.yaml", "enable", "pdf", "--json"],
        &["--config", "given.yaml", "enable", "pdf", "--project"],
    ]));
}

#[test]
fn files_that_cannot_be_changed_are_not() {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    let alias = "a: &a [gh]\nskills:\n  disabledBundled: *a\n";
    world.file("~/.agent/config.yaml", alias);
    let told = world.run(&["disable", "hello-world", "--json"]);
    let (code, message) = told.error();
    assert_eq!((code.as_str(), told.code), ("CONFLICT", 1));
    assert!(
        message.starts_with("[HOME]/.agent/config.yaml: line 3: disabledBundled is an alias"),
        "{message}"
    );
    assert_eq!(text(&world, "~/.agent/config.yaml"), alias);
}

#[test]
fn a_skill_that_is_on_and_not_available_says_so() {
    let world = World::new();
    world.file("~/.agents/skills/k8s/SKILL.md", crate::world::needing("k8s", "kubectl"));
    assert_eq!(world.run(&["disable", "k8s"]).code, 0);
    let told = world.run(&["enable", "k8s"]);
    assert_eq!(told.out, "✓ k8s is enabled: ~/.prowess/config.toml\n");
    assert_eq!((told.err.as_str(), told.code), ("it is unavailable: missing commands: kubectl\n", 0));
}

#[test]
fn a_name_that_is_left_over_can_be_taken_out() {
    let world = World::new();
    world.file("~/.prowess/config.toml", "skills.disabled = [\"gone\"]\n");
    assert_eq!(world.run(&["enable", "gone"]).code, 0);
    assert_eq!(text(&world, "~/.prowess/config.toml"), "skills.disabled = []\n");
    assert_eq!(world.run(&["enable", "gone"]).code, 1);
}

#[test]
fn the_link_of_a_dotfiles_folder_stays() {
    let world = World::new();
    world.skill("~/.agents/skills/pdf").file("~/dotfiles/prowess.toml", "").file("~/.prowess/x", "");
    std::os::unix::fs::symlink("../dotfiles/prowess.toml", world.path("~/.prowess/config.toml")).unwrap();
    assert_eq!(world.run(&["disable", "pdf"]).code, 0);
    assert!(world.path("~/.prowess/config.toml").is_symlink());
    assert_eq!(text(&world, "~/dotfiles/prowess.toml"), "[skills]\ndisabled = [\"pdf\"]\n");
}
