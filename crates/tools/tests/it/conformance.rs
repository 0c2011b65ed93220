//! The procedure of the conformance fixture, through the tools.

use std::os::unix::fs::symlink;

use crate::support::{CallTools, TestEnv, checked, error};
use prowess::Preset;
use prowess_tools::{Session, system_prompt};
use serde_json::json;

const NAME: &str = "skills-system-validation";

const FILES: [(&str, &str); 3] = [
    ("references/REFERENCE.md", "PROWESS_REFERENCE_MARKER_C25E08B4"),
    ("assets/fixture.json", "PROWESS_ASSET_MARKER_4B6D17E9"),
    ("scripts/echo.sh", "PROWESS_SCRIPT_MARKER_E9810C5F"),
];

fn fixture(preset: Preset) -> TestEnv {
    let project = TestEnv::new(preset);
    project.fixture();
    symlink("/etc/passwd", project.path(&format!("{}/{NAME}/link-out.txt", project.root()))).unwrap();
    project
}

#[test]
fn s004_24_the_procedure_through_the_tools() {
    for preset in [Preset::Chat, Preset::Standard, Preset::Harness, Preset::Triggers] {
        let project = fixture(preset);
        let toolbox = project.toolbox();
        let mut session = Session::default();
        let prompt = system_prompt(&toolbox, &session, None);
        assert!(prompt.contains(NAME) && !prompt.contains("_MARKER_"), "{preset}: metadata only");
        let mut call = |tool: &str, params| checked(toolbox.call(&mut session, tool, params));

        let active = call("skills.activate", json!({"name": NAME}));
        assert!(active.text.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
        assert!(FILES.iter().all(|(_, marker)| !active.text.contains(marker)), "{preset}: the body only");
        assert_eq!(error(&call("skills.activate", json!({"name": "no-such-skill-here"}))).0, "NOT_FOUND");

        let mut read = |path: &str| call("skills.readResource", json!({"name": NAME, "path": path}));
        for (path, marker) in FILES {
            let envelope = read(path);
            assert_eq!(envelope.text.matches("_MARKER_").count(), 1, "{path}");
            assert!(envelope.text.contains(marker), "{path}");
        }
        for path in ["../SKILL.md", "/etc/passwd", "references/../../../../etc/passwd", "link-out.txt"] {
            let envelope = read(path);
            assert_eq!(error(&envelope).0, "ACCESS_DENIED", "{preset} {path}");
            assert!(!envelope.text.contains("root:") && !project.is_named_in(&envelope.text));
        }
        assert!(read("references/REFERENCE.md").error.is_none(), "a rejected call breaks nothing");
    }
}

#[test]
fn s004_24_the_procedure_through_read_file_and_skill() {
    let project = fixture(Preset::App);
    let read =
        |path: &str| project.call("ReadFile", json!({"path": format!(".agents/skills/{NAME}/{path}")}));
    assert!(read("SKILL.md").text.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
    for (path, marker) in FILES {
        // Shell scripts do not have an allowed extension.
        assert_eq!(read(path).text.contains(marker), !path.ends_with(".sh"), "{path}");
    }
    for path in ["../../../../etc/passwd", "link-out.txt"] {
        assert_eq!(error(&read(path)).0, "ACCESS_DENIED", "{path}");
    }
    let project = fixture(Preset::SkillTool);
    let active = project.call("Skill", json!({"name": NAME}));
    assert!(active.text.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
    assert!(FILES.iter().all(|(_, marker)| !active.text.contains(marker)));
}
