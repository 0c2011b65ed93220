//! Activation: the text for a model in each mode, and the errors.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use prowess::activation::{ActivateError, ActivatedSkill, ShownWarnings, activate};
use prowess::{ErrorCode, Preset, resources};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

const SKILL: &str = "---\nname: a\ndescription: D.\nlicense: MIT\nmetadata: {author: me}\nextra: [1, true]\n\
    allowed-tools: Read Bash(git:*)\n---\n\n# Do\n\nWork on $ARGUMENTS, first $0; `echo $0`.\n\n\n";

/// A project with this preset, the skill `a` and two other files.
fn env(preset: Preset, skill: &str) -> RegistryEnv {
    let mut env = RegistryEnv::new(preset);
    if preset != Preset::Chat {
        env.policy.manifest.unknown_keys = prowess::format::RuleLevel::Warn;
    }
    env.policy = env.policy.clone().with_roots([env.path("skills")]);
    env.file("skills/a/SKILL.md", skill)
        .file("skills/a/scripts/run.sh", "echo")
        .file("skills/a/references/R&D <x>.md", "r");
    env
}

fn load(env: &RegistryEnv, args: Option<&str>) -> Result<ActivatedSkill, ActivateError> {
    activate(env.snapshot().get("a").unwrap(), args, &env.policy)
}

/// Returns the text for the model, without the temporary directory.
fn content(env: &RegistryEnv, args: Option<&str>) -> String {
    let project = env.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    load(env, args).unwrap().content().replace(&project, "/project")
}

#[test]
fn every_activation_mode() {
    let forms = Preset::ALL.map(|preset| {
        let env = env(preset, SKILL);
        let [with, without] = [Some("one 'two words'"), None].map(|args| content(&env, args));
        format!("===== {preset}, with arguments\n{with}\n===== {preset}, without\n{without}")
    });
    insta::assert_snapshot!(forms.join("\n"));
}

#[test]
fn s001_09_the_base_directory_comes_first() {
    let env = env(Preset::SkillTool, &skill_md("a", "D."));
    assert_eq!(content(&env, None), "Base directory for this skill: /project/skills/a\n\nDo it.");
}

#[test]
fn s001_11_arguments_without_a_placeholder_are_appended() {
    let env = env(Preset::SkillTool, &skill_md("a", "D."));
    assert!(content(&env, Some("x y")).ends_with("\n\nDo it.\n\nARGUMENTS: x y"));
    assert!(content(&env, Some("")).ends_with("\n\nDo it."));
}

#[test]
fn s001_10_a_body_that_is_only_the_placeholder() {
    let skill = "---\nname: a\ndescription: D.\n---\n$ARGUMENTS";
    for (preset, expected) in [(Preset::SkillTool, "$ARGUMENTS"), (Preset::Standard, "\n\nSkill directory")] {
        let env = env(preset, skill);
        assert!(content(&env, Some("$ARGUMENTS!")).contains("\n$ARGUMENTS!"), "{preset}");
        assert!(content(&env, None).contains(expected), "{preset}");
    }
}

#[test]
fn s001_13_the_envelope_fields_are_set() {
    let env = env(Preset::SkillTool, &skill_md("a", "D."));
    let activated = load(&env, None).unwrap();
    assert_eq!((activated.name.as_str(), &activated.base_dir), ("a", &env.path("skills/a")));
    assert!(!activated.content().is_empty());
}

#[test]
fn s004_15_frontmatter_and_body_are_separate() {
    let env = env(Preset::Chat, SKILL);
    let activated = load(&env, None).unwrap();
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
    let mut env = env(Preset::Chat, &skill);
    env.policy.limits.skill_md_bytes = 41;
    let activated = load(&env, Some("args")).unwrap();
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
    env.policy.limits.skill_md_bytes = 5;
    let activated = load(&env, None).unwrap();
    assert_eq!(activated.content(), "\n\n[truncated: 5 of 232 bytes shown]");
    assert_eq!(activated.frontmatter()["name"], "a", "the frontmatter is still complete");
}

#[test]
fn bodies_arguments_and_names_cannot_close_the_tag() {
    let env =
        env(Preset::Standard, "---\nname: a\ndescription: D.\n---\n</skill_content> </skill_$ARGUMENTS>");
    env.file("skills/a/<\u{202e}\n>.md", "x");
    let text = content(&env, Some("content> </SKILL_CONTENT"));
    insta::assert_snapshot!(text);
    assert_eq!(text.to_lowercase().matches("</skill_content").count(), 1);
}

#[test]
fn terminal_escapes_do_not_reach_a_model_and_hidden_unicode_is_warned_about() {
    let env = env(
        Preset::Harness,
        "---\nname: a\ndescription: D.\n---\n\x1b[31mred\x1b[0m\0 \u{200b}\x1b]0;t\x07.\n",
    );
    let activated = load(&env, None).unwrap();
    assert_eq!(activated.body(), "red \u{200b}.\n");
    assert!(activated.content().starts_with("---\nname: a\ndescription: D.\n---\nred"));
    let codes: Vec<_> = activated.diagnostics().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert!(!codes.is_empty(), "the NUL and the hidden character");
}

#[test]
fn invalid_utf8_is_replaced() {
    let env = env(Preset::Chat, "");
    env.file("skills/a/SKILL.md", b"---\nname: a\ndescription: D.\n---\ncaf\xe9 x");
    assert_eq!(load(&env, None).unwrap().content(), "caf\u{fffd} x");
}

#[test]
fn s001_19_changes_since_discovery_are_reported_without_a_path() {
    let diagnostics: Vec<_> = [
        "deleted",
        "fifo",
        "directory",
        "emptied",
        "broken",
        "symlink",
        "directory symlink",
        "huge",
        "root gone",
    ]
    .map(|case| {
        let env = env(Preset::SkillTool, SKILL);
        let (snapshot, file) = (env.snapshot(), env.path("skills/a/SKILL.md"));
        fs::remove_file(&file).unwrap();
        match case {
            "fifo" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            "directory" => fs::create_dir(&file).unwrap(),
            "emptied" => fs::write(&file, "").unwrap(),
            "broken" => fs::write(&file, "# No frontmatter").unwrap(),
            "symlink" => symlink("/etc/passwd", &file).unwrap(),
            "huge" => fs::File::create(&file).unwrap().set_len(17 << 20).unwrap(),
            "root gone" => fs::rename(env.path("skills"), env.path("gone")).unwrap(),
            "directory symlink" => {
                fs::rename(env.path("skills/a"), env.path("b")).unwrap();
                fs::write(env.path("b/SKILL.md"), SKILL).unwrap();
                symlink(env.path("b"), env.path("skills/a")).unwrap();
            }
            _ => {}
        }
        let error = activate(snapshot.get("a").unwrap(), None, &env.policy).unwrap_err();
        assert!(!error.to_string().contains("/tmp"), "{error}");
        format!("{case}: {} {error}", error.code())
    })
    .to_vec();
    insta::assert_snapshot!(diagnostics.join("\n"));
}

#[test]
fn s001_19_the_status_is_reported_without_a_path() {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.policy.selection.disabled.push("off".to_owned());
    env.skill("~/.agents/skills/off").skill(".agents/skills/project").skill("~/.claude/skills/off");
    env.file("~/.agents/skills/bad/SKILL.md", "nothing");
    let needs =
        "---\nname: needs\ndescription: D.\nmetadata: {prowess-requires: no-such-1 no-such-2}\n---\nB";
    env.file("~/.agents/skills/needs/SKILL.md", needs);
    let snapshot = env.snapshot();
    let skills = snapshot.all().iter().filter(|skill| !skill.is_enabled() && !skill.root().is_embedded());
    let mut diagnostics: Vec<_> = skills
        .map(|skill| {
            let error = activate(skill, None, &env.policy).unwrap_err();
            assert!(!error.to_string().contains("/tmp"), "{error}");
            format!("{}: {} {error}", skill.id(), error.code())
        })
        .collect();
    diagnostics.sort();
    insta::assert_snapshot!(diagnostics.join("\n"));
}

#[test]
fn invalid_arguments_are_rejected() {
    let env = env(Preset::SkillTool, SKILL);
    for args in ["x".repeat(1_000_000), "a\0b".to_owned()] {
        assert_eq!(load(&env, Some(&args)).unwrap_err().code(), ErrorCode::InvalidParam);
    }
    assert!(content(&env, Some("$ARGUMENTS \x1b[2J\x07")).contains("Work on $ARGUMENTS , first $0"));
}

#[test]
fn an_unreadable_file_is_a_permission_error() {
    use std::os::unix::fs::PermissionsExt;
    let env = env(Preset::SkillTool, SKILL);
    let (snapshot, file) = (env.snapshot(), env.path("skills/a/SKILL.md"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read everything.
    if fs::File::open(&file).is_err() {
        let error = activate(snapshot.get("a").unwrap(), None, &env.policy).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
    }
}

#[test]
fn s004_21_nothing_is_executed() {
    let env =
        env(Preset::Chat, "---\nname: a\ndescription: D.\n---\n!`touch ran` @scripts/run.sh $(touch ran)");
    let text = content(&env, Some("`touch ran`"));
    assert!(text.starts_with("!`touch ran` @scripts/run.sh $(touch ran)"));
    assert!(!env.path("ran").exists() && !env.path("skills/a/ran").exists());
}

#[test]
fn s004_24_the_conformance_fixture() {
    let env = RegistryEnv::new(Preset::Chat);
    let name = "skills-system-validation";
    let fixture = prowess::bundled::BundledSkill::find(name).unwrap();
    for (path, bytes) in fixture.files {
        env.file(&format!(".skills/{name}/{path}"), bytes);
    }
    symlink("/etc/passwd", env.path(&format!(".skills/{name}/link-out.txt"))).unwrap();
    let bundled = RegistryEnv::new(Preset::Standard);
    for env in [&env, &bundled] {
        let snapshot = env.snapshot();
        let skill = snapshot.get(name).unwrap();
        let text = activate(skill, None, &env.policy).unwrap().content();
        assert!(text.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
        let read = |path: &str| resources::read_text(skill, path, &env.policy.limits);
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
    assert!(env.snapshot().get("no-such-skill-here").is_none());
}

#[test]
fn names_directories_and_commands_in_a_body() {
    let env = RegistryEnv::new(Preset::Standard);
    let body =
        "Read $file, then run `${CLAUDE_SKILL_DIR}/run.sh $mode` in ${CLAUDE_PROJECT_DIR}.\n\n!`git status`";
    let fields = "name: a\ndescription: A.\narguments: [file, mode]";
    env.file("~/.agents/skills/a/SKILL.md", format!("---\n{fields}\n---\n{body}\n"));
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    assert_eq!(skill.manifest().unwrap().argument_hint(), Some("[file] [mode]"));
    let content = activate(skill, Some("'${CLAUDE_PROJECT_DIR} $mode' fast"), &env.policy).unwrap().content();
    insta::assert_snapshot!(env.strip_base(&content));
}
