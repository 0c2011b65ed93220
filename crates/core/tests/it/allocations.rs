//! The allocations of an activation: the file once, and the returned text once.

use prowess::Preset;
use prowess_testing::registry_env::RegistryEnv;

/// Much larger than anything else that activation allocates.
const BODY: usize = 150_000;

#[test]
fn a_body_is_copied_only_into_the_result() {
    for preset in [Preset::Standard, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat] {
        let mut env = RegistryEnv::new(preset);
        env.policy = env.policy.clone().with_roots([env.path("skills")]);
        let body = "Do $ARGUMENTS well. </skill_content> `$1` é\n".repeat(BODY / 45);
        env.file("skills/a/SKILL.md", format!("---\nname: a\ndescription: D.\n---\n{body}"));
        env.file("skills/a/scripts/x.py", "x");
        let registry = env.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.get("a").unwrap();

        let mut activated = None;
        let loading = allocation_counter::measure(|| {
            activated = prowess::activation::activate(skill, Some("it"), registry.policy()).ok();
        });
        let activated = activated.unwrap();
        let size = activated.source().len() as u64;
        assert!(loading.bytes_total < size + 100_000 && size > 100_000, "{preset}: {loading:?}");
        assert!(loading.bytes_max < 2 * size, "{preset}: {loading:?}");

        // The files are listed on the first call.
        assert_eq!(activated.resources(), ["scripts/x.py"]);
        let mut content = String::new();
        let rendering = allocation_counter::measure(|| content = activated.content());
        assert_eq!(rendering.count_total, 1, "{preset}");
        assert_eq!(rendering.bytes_total, content.len() as u64, "{preset}");
        assert_eq!(content.capacity(), content.len(), "{preset}");
        assert!(content.contains("Do it well."), "{preset}");
    }
}

/// A writer that discards everything.
struct Discard;

impl std::fmt::Write for Discard {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Ok(())
    }
}

#[test]
fn writing_allocates_nothing() {
    let env = RegistryEnv::new(Preset::Standard);
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("skills-system-validation").unwrap();
    let activated = prowess::activation::activate(skill, Some("a b"), registry.policy()).unwrap();
    assert!(!activated.resources().is_empty());
    let writing = allocation_counter::measure(|| activated.write_content(&mut Discard).unwrap());
    assert_eq!(writing.count_total, 0);
}
