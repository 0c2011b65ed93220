//! Preset `triggers`: the rules of document 003 for discovery.

use prowess::Preset;
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

#[test]
fn s003_01_the_fields_of_a_manifest() {
    let env = RegistryEnv::new(Preset::Triggers);
    env.file(
        ".agent/skills/hello-extended/SKILL.md",
        "---\nname: hello-extended\ndescription: Extended greeting capabilities. And more.\nversion: 1.0.0\n\
         toolsets:\n  - \"toolsets/index:HelloToolset\"     # path:Class format\nscripts: [run.py]\n\
         triggers:\n  keywords: [\"hello\", \"greet\"]\n  verbs: [\"say\", \"wave\"]\n  patterns: [\"greet\\\\s+\\\\w+\"]\n\
         default_enabled: true\n---\n\n# Hello\n",
    );
    let snapshot = env.snapshot();
    let manifest = snapshot.get("hello-extended").unwrap().manifest().unwrap();
    assert_eq!(manifest.version(), Some("1.0.0"));
    assert_eq!(manifest.toolsets(), ["toolsets/index:HelloToolset".into()]);
    assert_eq!(manifest.scripts().len(), 1);
    let triggers = manifest.triggers().unwrap();
    assert_eq!(triggers.keywords, ["hello".into(), "greet".into()]);
    assert_eq!(triggers.verbs, ["say".into(), "wave".into()]);
    assert_eq!(triggers.patterns, ["greet\\s+\\w+".into()]);
    assert_eq!(manifest.brief_description(), "Extended greeting capabilities.");
    assert!(manifest.default_enabled());
    assert_eq!(env.codes(), [] as [&str; 0]);
}

#[test]
fn s003_01_the_limits_of_a_manifest() {
    let env = RegistryEnv::new(Preset::Triggers);
    env.file(".agent/skills/a/SKILL.md", skill_md("a", &"d".repeat(500)));
    env.file(".agent/skills/b/SKILL.md", skill_md("b", &"d".repeat(501)));
    env.file(".agent/skills/Upper1/SKILL.md", skill_md("Upper1", "x"));
    env.file(".agent/skills/under_score/SKILL.md", skill_md("under_score", "x"));
    let long = "n".repeat(65);
    env.file(&format!(".agent/skills/{long}/SKILL.md"), skill_md(&long, "x"));
    env.file(".agent/skills/v/SKILL.md", "---\nname: v\ndescription: x\nversion: one\nmodel: y\n---\nB");
    assert_eq!(names(&env.snapshot()), ["Upper1", "a", "v"]);
    let mut codes = env.codes();
    codes.sort_unstable();
    assert_eq!(codes, ["SK033", "SK034", "SK043", "SK051", "SK054"]);
}

#[test]
fn s003_07_three_sources() {
    let env = RegistryEnv::new(Preset::Triggers);
    env.skill(".agent/skills/project")
        .skill("~/.agent/skills/user")
        .skill(".claude/skills/no")
        .skill("~/.agent/plugins/no");
    assert_eq!(names(&env.snapshot()), ["project", "user"]);
    assert!(env.snapshot().get("hello-world").is_some());
}
