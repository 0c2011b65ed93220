//! `prowess show` and `prowess skill show`, laid out as document 002 has it.

use crate::world::{World, needing};
use insta::assert_snapshot;

fn sources() -> World {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    world
        .file(
            "~/.agent/config.yaml",
            "skills:\n  enabledBundled: [hello-world, gh]\n  disabledBundled: [hello-world]\n",
        )
        .skill("~/.agent/plugins/from-git")
        .skill("~/.agent/skills/mine")
        .skill(".claude/skills/theirs")
        .skill(".agent/skills/ours")
        .file(".agent/skills/deploy/SKILL.md", needing("deploy", "docker kubectl"))
        .skill(".claude/skills/ours");
    world
}

#[test]
fn s002_12_skill_show_lists_every_source() {
    let world = sources();
    let told = world.run(&["skill", "show"]);
    assert_eq!(told.out, world.run(&["show"]).out);
    let groups: Vec<_> = told.out.lines().filter(|line| line.starts_with('[')).collect();
    let named =
        ["[Bundled Skills]", "[User Skills]", "[Claude Skills]", "[Project Skills]", "[Plugin Skills]"];
    assert_eq!(groups, named);
    let own = told.out.split_once("[User Skills]").unwrap().1;
    assert_snapshot!(format!("[User Skills]{own}"));
}

/// The example of the document, line by line: two spaces, the symbol, the name; six spaces, the description and the
/// status; six spaces, the reason.
#[test]
fn s002_19_symbols_and_layout() {
    let world = World::new();
    world
        .described(".agents/skills/hello-world", "A simple greeting skill")
        .file(".agents/skills/gh/SKILL.md", needing("gh", "gh").replace("Needs things.", "Expert guidance"))
        .skill(".agents/skills/off")
        .file("off.toml", "skills.disabled = [\"off\"]\n");
    let root = ["--root", ".agents/skills", "--config", "off.toml"];
    let told = world.run(&[root[0], root[1], root[2], root[3], "skill", "show"]);
    let expected = "\
[Project Skills]
  ✗ gh
      Expert guidance (unavailable)
      missing commands: gh
  ✓ hello-world
      A simple greeting skill (enabled)
  ○ off
      Does off. (disabled)
      switched off in the configuration
";
    assert_eq!(told.out, expected);
    assert_eq!((told.err.as_str(), told.code), ("", 0));
}

#[test]
fn s002_19_the_bundled_skills_of_the_document() {
    let told = World::new().run(&["--preset", "harness", "skill", "show"]);
    let bundled = |name: &str| {
        let mut lines = told.out.lines().skip_while(|line| !line.ends_with(&format!(" {name}")));
        [lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap()].map(ToOwned::to_owned)
    };
    assert!(told.out.starts_with("[Bundled Skills]\n"));
    let [title, told_hello, _] = bundled("hello-world");
    assert_eq!(title, "  ✓ hello-world");
    assert!(told_hello.starts_with("      A simple greeting skill") && told_hello.ends_with(" (enabled)"));
    let [title, told_gh, reason] = bundled("gh");
    assert_eq!(title, "  ✗ gh");
    assert!(told_gh.starts_with("      Expert guidance for using the GitHub CLI"), "{told_gh}");
    assert!(told_gh.ends_with("… (unavailable)"), "{told_gh}");
    assert_eq!(reason, "      missing commands: gh");
}

#[test]
fn what_is_installed_is_available() {
    let world = World::new();
    world.program("gh");
    let told = world.run(&["--preset", "harness", "skill", "show"]);
    assert!(told.out.contains("  ✓ gh\n"), "{}", told.out);
}

#[test]
fn nothing_found() {
    let world = World::bare();
    assert_snapshot!(world.runs(&[&["show"], &["show", "--json"], &["--preset", "chat", "show"]]));
}

#[test]
fn as_json() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf").skill(".claude/skills/pdf");
    assert_snapshot!(world.run(&["show", "--json"]).whole());
}

#[test]
fn roots_with_the_same_title_show_their_path() {
    let world = World::new();
    world.skill("~/.agents/skills/one").skill("~/.claude/skills/two");
    let told = world.run(&["show"]);
    assert_snapshot!(format!("[User Skills]{}", told.out.split_once("[User Skills]").unwrap().1));
}
