//! `prowess show` and `prowess skill show`, in the layout of document 002.

use crate::support::{TestEnv, needing};
use insta::assert_snapshot;

fn sources() -> TestEnv {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    env.file(
        "~/.agent/config.yaml",
        "skills:\n  enabledBundled: [hello-world, gh]\n  disabledBundled: [hello-world]\n",
    )
    .skill("~/.agent/plugins/from-git")
    .skill("~/.agent/skills/mine")
    .skill(".claude/skills/theirs")
    .skill(".agent/skills/ours")
    .file(".agent/skills/deploy/SKILL.md", needing("deploy", "docker kubectl"))
    .skill(".claude/skills/ours");
    env
}

#[test]
fn s002_12_skill_show_lists_every_source() {
    let env = sources();
    let result = env.run(&["skill", "show"]);
    assert_eq!(result.out, env.run(&["show"]).out);
    let groups: Vec<_> = result.out.lines().filter(|line| line.starts_with('[')).collect();
    let named =
        ["[Bundled Skills]", "[User Skills]", "[Claude Skills]", "[Project Skills]", "[Plugin Skills]"];
    assert_eq!(groups, named);
    let own = result.out.split_once("[User Skills]").unwrap().1;
    assert_snapshot!(format!("[User Skills]{own}"));
}

/// The example of the document, line by line: two spaces, the symbol, the name; six spaces, the description and the
/// status; six spaces, the reason.
#[test]
fn s002_19_symbols_and_layout() {
    let env = TestEnv::new();
    env.skill_with_description(".agents/skills/hello-world", "A simple greeting skill")
        .file(".agents/skills/gh/SKILL.md", needing("gh", "gh").replace("Needs things.", "Expert guidance"))
        .skill(".agents/skills/off")
        .file("off.toml", "skills.disabled = [\"off\"]\n");
    let root = ["--root", ".agents/skills", "--config", "off.toml"];
    let result = env.run(&[root[0], root[1], root[2], root[3], "skill", "show"]);
    let expected = "\
[Project Skills]
  ✗ gh
      Expert guidance (unavailable)
      missing commands: gh
  ✓ hello-world
      A simple greeting skill (enabled)
  ○ off
      Does off. (disabled)
      turned off in the configuration
";
    assert_eq!(result.out, expected);
    assert_eq!((result.err.as_str(), result.code), ("", 0));
}

#[test]
fn s002_19_the_bundled_skills_of_the_document() {
    let result = TestEnv::new().run(&["--preset", "harness", "skill", "show"]);
    let bundled = |name: &str| {
        let mut lines = result.out.lines().skip_while(|line| !line.ends_with(&format!(" {name}")));
        [lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap()].map(ToOwned::to_owned)
    };
    assert!(result.out.starts_with("[Bundled Skills]\n"));
    let [title, shown_hello, _] = bundled("hello-world");
    assert_eq!(title, "  ✓ hello-world");
    assert!(shown_hello.starts_with("      A simple greeting skill") && shown_hello.ends_with(" (enabled)"));
    let [title, shown_gh, reason] = bundled("gh");
    assert_eq!(title, "  ✗ gh");
    assert!(shown_gh.starts_with("      Expert guidance for using the GitHub CLI"), "{shown_gh}");
    assert!(shown_gh.ends_with(" (unavailable)") && !shown_gh.contains('…'), "{shown_gh}");
    assert_eq!(reason, "      missing commands: gh");
}

#[test]
fn installed_skills_are_available() {
    let env = TestEnv::new();
    env.program("gh");
    let result = env.run(&["--preset", "harness", "skill", "show"]);
    assert!(result.out.contains("  ✓ gh\n"), "{}", result.out);
}

#[test]
fn nothing_found() {
    let env = TestEnv::bare();
    assert_snapshot!(env.runs(&[&["show"], &["show", "--json"], &["--preset", "chat", "show"]]));
}

#[test]
fn as_json() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill(".claude/skills/pdf");
    assert_snapshot!(env.run(&["show", "--json"]).transcript());
}

#[test]
fn roots_with_the_same_title_show_their_path() {
    let env = TestEnv::new();
    env.skill("~/.agents/skills/one").skill("~/.claude/skills/two");
    let result = env.run(&["show"]);
    assert_snapshot!(format!("[User Skills]{}", result.out.split_once("[User Skills]").unwrap().1));
}
