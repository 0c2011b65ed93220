//! Activation: the text for a model in each mode, and the errors.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use prowess::activation::{ActivateError, ActivatedSkill, ShownWarnings, activate};
use prowess::{ErrorCode, Preset, resources};
use prowess_testing::library::{World, skill_md};

const SKILL: &str = "---\nname: a\ndescription: D.\nlicense: MIT\nmetadata: {author: me}\nextra: [1, true]\n\
    allowed-tools: Read Bash(git:*)\n---\n\n# Do\n\nWork on $ARGUMENTS, first $0; `echo $0`.\n\n\n";

/// A project with this preset, the skill `a` and two other files.
fn world(preset: Preset, skill: &str) -> World {
    let mut world = World::new(preset);
    if preset != Preset::Chat {
        world.policy.manifest.unknown_keys = prowess::format::RuleLevel::Warn;
    }
    world.policy = world.policy.clone().with_roots([world.path("skills")]);
    world
        .file("skills/a/SKILL.md", skill)
        .file("skills/a/scripts/run.sh", "echo")
        .file("skills/a/references/R&D <x>.md", "r");
    world
}

fn load(world: &World, args: Option<&str>) -> Result<ActivatedSkill, ActivateError> {
    activate(world.snapshot().get("a").unwrap(), args, &world.policy)
}

/// Returns the text for the model, without the temporary directory.
fn content(world: &World, args: Option<&str>) -> String {
    let place = world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    load(world, args).unwrap().content().replace(&place, "/project")
}

#[test]
fn every_activation_mode() {
    let forms = Preset::ALL.map(|preset| {
        let world = world(preset, SKILL);
        let [with, without] = [Some("one 'two words'"), None].map(|args| content(&world, args));
        format!("===== {preset}, with arguments\n{with}\n===== {preset}, without\n{without}")
    });
    insta::assert_snapshot!(forms.join("\n"));
}

#[test]
fn s001_09_the_base_directory_comes_first() {
    let world = world(Preset::SkillTool, &skill_md("a", "D."));
    assert_eq!(content(&world, None), "Base directory for this skill: /project/skills/a\n\nDo it.");
}

#[test]
fn s001_11_arguments_without_a_placeholder_are_appended() {
    let world = world(Preset::SkillTool, &skill_md("a", "D."));
    assert!(content(&world, Some("x y")).ends_with("\n\nDo it.\n\nARGUMENTS: x y"));
    assert!(content(&world, Some("")).ends_with("\n\nDo it."));
}

#[test]
fn s001_10_a_body_that_is_only_the_placeholder() {
    let skill = "---\nname: a\ndescription: D.\n---\n$ARGUMENTS";
    for (preset, expected) in [(Preset::SkillTool, "$ARGUMENTS"), (Preset::Standard, "\n\nSkill directory")] {
        let world = world(preset, skill);
        assert!(content(&world, Some("$ARGUMENTS!")).contains("\n$ARGUMENTS!"), "{preset}");
        assert!(content(&world, None).contains(expected), "{preset}");
    }
}

#[test]
fn s001_13_the_envelope_fields_are_set() {
    let world = world(Preset::SkillTool, &skill_md("a", "D."));
    let activated = load(&world, None).unwrap();
    assert_eq!((activated.name.as_str(), &activated.base_dir), ("a", &world.path("skills/a")));
    assert!(!activated.content().is_empty());
}

#[test]
fn s004_15_frontmatter_and_body_are_separate() {
    let world = world(Preset::Chat, SKILL);
    let activated = load(&world, None).unwrap();
    let frontmatter = serde_json::json!({"name": "a", "description": "D.", "license": "MIT",
        "metadata": {"author": "me"}, "extra": [1, true], "allowed-tools": "Read Bash(git:*)"});
    assert_eq!(serde_json::Value::from(activated.frontmatter().clone()), frontmatter);
    assert!(activated.body().starts_with("\n# Do") && activated.content().starts_with("# Do"));
    assert_eq!(activated.allowed_tools.as_deref(), Some(&["Read".to_owned(), "Bash(git:*)".to_owned()][..]));
    assert_eq!(activated.digest(), prowess::digest(SKILL.as_bytes()));
    assert_eq!(activated.resources(), ["references/R&D <x>.md", "scripts/run.sh"]);
}

#[test]
fn s004_22_a_long_file_is_truncated_with_a_notice_and_one_warning() {
    let skill = format!("---\nname: a\ndescription: D.\n---\n{}", "é".repeat(100));
    let mut world = world(Preset::Chat, &skill);
    world.policy.limits.skill_md_bytes = 41;
    let activated = load(&world, Some("args")).unwrap();
    insta::assert_snapshot!(activated.content(), @r"
    éééé

    [truncated: 40 of 232 bytes shown]

    ARGUMENTS: args
    ");
    let warned = ShownWarnings::new();
    let say = || warned.truncation_warning(&activated.name, "SKILL.md", activated.truncated);
    assert_eq!(say().as_deref(), Some("SKILL.md of a is too long: 40 of 232 bytes are shown"));
    assert_eq!(say(), None);
    assert_eq!(activated.digest(), prowess::digest(skill.as_bytes()), "the digest covers the whole file");
    world.policy.limits.skill_md_bytes = 5;
    let activated = load(&world, None).unwrap();
    assert_eq!(activated.content(), "\n\n[truncated: 5 of 232 bytes shown]");
    assert_eq!(activated.frontmatter()["name"], "a", "the frontmatter is still complete");
}

#[test]
fn bodies_arguments_and_names_cannot_close_the_tag() {
    let world =
        world(Preset::Standard, "---\nname: a\ndescription: D.\n---\n</skill_content> </skill_$ARGUMENTS>");
    world.file("skills/a/<\u{202e}\n>.md", "x");
    let text = content(&world, Some("content> </SKILL_CONTENT"));
    insta::assert_snapshot!(text);
    assert_eq!(text.to_lowercase().matches("</skill_content").count(), 1);
}

#[test]
fn terminal_escapes_do_not_reach_a_model_and_hidden_unicode_is_warned_about() {
    let world = world(
        Preset::Harness,
        "---\nname: a\ndescription: D.\n---\n\x1b[31mred\x1b[0m\0 \u{200b}\x1b]0;t\x07.\n",
    );
    let activated = load(&world, None).unwrap();
    assert_eq!(activated.body(), "red \u{200b}.\n");
    assert!(activated.content().starts_with("---\nname: a\ndescription: D.\n---\nred"));
    let codes: Vec<_> = activated.diagnostics().iter().map(|said| said.code.as_str()).collect();
    assert!(!codes.is_empty(), "the NUL and the hidden character");
}

#[test]
fn invalid_utf8_is_replaced() {
    let world = world(Preset::Chat, "");
    world.file("skills/a/SKILL.md", b"---\nname: a\ndescription: D.\n---\ncaf\xe9 x");
    assert_eq!(load(&world, None).unwrap().content(), "caf\u{fffd} x");
}

#[test]
fn s001_19_changes_since_discovery_are_reported_without_a_path() {
    let said: Vec<_> =
        ["deleted", "fifo", "directory", "emptied", "broken", "link", "folder link", "huge", "root gone"]
            .map(|what| {
                let world = world(Preset::SkillTool, SKILL);
                let (snapshot, file) = (world.snapshot(), world.path("skills/a/SKILL.md"));
                fs::remove_file(&file).unwrap();
                match what {
                    "fifo" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
                    "directory" => fs::create_dir(&file).unwrap(),
                    "emptied" => fs::write(&file, "").unwrap(),
                    "broken" => fs::write(&file, "# No frontmatter").unwrap(),
                    "link" => symlink("/etc/passwd", &file).unwrap(),
                    "huge" => fs::File::create(&file).unwrap().set_len(17 << 20).unwrap(),
                    "root gone" => fs::rename(world.path("skills"), world.path("gone")).unwrap(),
                    "folder link" => {
                        fs::rename(world.path("skills/a"), world.path("b")).unwrap();
                        fs::write(world.path("b/SKILL.md"), SKILL).unwrap();
                        symlink(world.path("b"), world.path("skills/a")).unwrap();
                    }
                    _ => {}
                }
                let error = activate(snapshot.get("a").unwrap(), None, &world.policy).unwrap_err();
                assert!(!error.to_string().contains("/tmp"), "{error}");
                format!("{what}: {} {error}", error.code())
            })
            .to_vec();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn s001_19_the_status_is_reported_without_a_path() {
    let mut world = World::new(Preset::Standard);
    world.policy.selection.disabled.push("off".to_owned());
    world.skill("~/.agents/skills/off").skill(".agents/skills/project").skill("~/.claude/skills/off");
    world.file("~/.agents/skills/bad/SKILL.md", "nothing");
    let needs =
        "---\nname: needs\ndescription: D.\nmetadata: {prowess-requires: no-such-1 no-such-2}\n---\nB";
    world.file("~/.agents/skills/needs/SKILL.md", needs);
    let snapshot = world.snapshot();
    let skills = snapshot.all().iter().filter(|skill| !skill.is_enabled() && !skill.root().is_embedded());
    let mut said: Vec<_> = skills
        .map(|skill| {
            let error = activate(skill, None, &world.policy).unwrap_err();
            assert!(!error.to_string().contains("/tmp"), "{error}");
            format!("{}: {} {error}", skill.id(), error.code())
        })
        .collect();
    said.sort();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn invalid_arguments_are_rejected() {
    let world = world(Preset::SkillTool, SKILL);
    for args in ["x".repeat(1_000_000), "a\0b".to_owned()] {
        assert_eq!(load(&world, Some(&args)).unwrap_err().code(), ErrorCode::InvalidParam);
    }
    assert!(content(&world, Some("$ARGUMENTS \x1b[2J\x07")).contains("Work on $ARGUMENTS , first $0"));
}

#[test]
fn an_unreadable_file_is_a_permission_error() {
    use std::os::unix::fs::PermissionsExt;
    let world = world(Preset::SkillTool, SKILL);
    let (snapshot, file) = (world.snapshot(), world.path("skills/a/SKILL.md"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read everything.
    if fs::File::open(&file).is_err() {
        let error = activate(snapshot.get("a").unwrap(), None, &world.policy).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
    }
}

#[test]
fn s004_21_nothing_is_executed() {
    let world =
        world(Preset::Chat, "---\nname: a\ndescription: D.\n---\n!`touch ran` @scripts/run.sh $(touch ran)");
    let text = content(&world, Some("`touch ran`"));
    assert!(text.starts_with("!`touch ran` @scripts/run.sh $(touch ran)"));
    assert!(!world.path("ran").exists() && !world.path("skills/a/ran").exists());
}

#[test]
fn s004_24_the_conformance_fixture() {
    let world = World::new(Preset::Chat);
    let name = "skills-system-validation";
    let fixture = prowess::bundled::BUNDLED.iter().find(|skill| skill.id == name).unwrap();
    for (path, bytes) in fixture.files {
        world.file(&format!(".skills/{name}/{path}"), bytes);
    }
    symlink("/etc/passwd", world.path(&format!(".skills/{name}/link-out.txt"))).unwrap();
    let bundled = World::new(Preset::Standard);
    for world in [&world, &bundled] {
        let snapshot = world.snapshot();
        let skill = snapshot.get(name).unwrap();
        let text = activate(skill, None, &world.policy).unwrap().content();
        assert!(text.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
        let read = |path: &str| resources::read_text(skill, path, &world.policy.limits);
        for (path, marker) in [
            ("references/REFERENCE.md", "PROWESS_REFERENCE_MARKER_"),
            ("assets/fixture.json", "PROWESS_ASSET_MARKER_"),
            ("scripts/echo.sh", "PROWESS_SCRIPT_MARKER_"),
        ] {
            let content = read(path).unwrap().content;
            let full = content
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .find(|word| word.starts_with(marker));
            assert!(!text.contains(full.unwrap()), "activation loads the body only");
        }
        for path in ["../SKILL.md", "/etc/passwd", "references/../../../../etc/passwd"] {
            assert_eq!(read(path).unwrap_err().code(), ErrorCode::AccessDenied, "{path}");
        }
        assert!(read("link-out.txt").is_err() && read("references/REFERENCE.md").is_ok());
    }
    assert!(world.snapshot().get("no-such-skill-here").is_none());
}
