//! Trust: only the user decides, and nothing in a project can change that.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use prowess::trust::{self, ChangedSkills, TrustError};
use prowess::{HostEnv, Preset, resources};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

const STATE: &str = "~/.prowess/state/trust.json";

pub(crate) fn env() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill(".agents/skills/a").skill(".agents/skills/b");
    env
}

/// Returns the status of each skill, without its path.
fn statuses(env: &RegistryEnv) -> Vec<String> {
    let short = |lines: String| {
        let (skill, status) = lines.split_once(" is ").unwrap();
        format!("{} {status}", skill.split(' ').next().unwrap())
    };
    env.skill_lines().into_iter().map(short).collect()
}

/// Returns the changes in the project since it was trusted, with paths relative to the test directory.
fn changes(env: &RegistryEnv) -> ChangedSkills {
    let record = trust::record_for(&env.path(""), &env.host_env()).unwrap();
    let difference = trust::changes_since(&record, &env.policy, &env.host_env());
    let strip = |path: &PathBuf| PathBuf::from(env.strip_base(&path.display().to_string()));
    let short = |paths: Vec<PathBuf>| paths.iter().map(strip).collect();
    ChangedSkills {
        added: short(difference.added),
        removed: short(difference.removed),
        changed: short(difference.changed),
    }
}

#[test]
fn nothing_is_trusted_by_default() {
    let env = env();
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
    env.trust("");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    env.untrust("");
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
}

#[test]
fn a_record_has_the_decision_its_time_and_the_skills() {
    let env = env();
    let (record, before) = trust::trust(&env.path(""), false, &env.policy, &env.host_env()).unwrap();
    assert_eq!(before, None);
    assert_eq!((record.path.as_path(), record.trusted, record.pinned), (&*env.path(""), true, false));
    assert!(record.at > 1_700_000_000);
    let skills: Vec<_> = record.skills.keys().map(|path| env.strip_base(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/a", "/project/.agents/skills/b"]);
    assert!(
        record
            .skills
            .values()
            .flat_map(|hashes| hashes.as_slice())
            .all(|hash| hash.starts_with("sha256-tree-v1:"))
    );
    assert_eq!(trust::record_for(&env.path(".agents"), &env.host_env()), Some(record.clone()));
    let (_, before) = trust::trust(&env.path(""), true, &env.policy, &env.host_env()).unwrap();
    assert_eq!(before, Some(record));
    let mode = fs::metadata(env.path(STATE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "other users cannot read the trust state");
}

#[test]
fn trust_covers_subdirectories_but_not_siblings() {
    let env = env();
    env.skill("/projector/.agents/skills/p").trust("/project");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    let host_env = HostEnv { project: env.path("/projector"), ..env.host_env() };
    let registry = prowess::Registry::open_in(env.policy.clone(), host_env, &Default::default());
    assert_eq!(
        names(&registry.snapshot()),
        [] as [&str; 0],
        "a path with the same prefix is another directory"
    );
    env.untrust("/project").trust("/");
    assert_eq!(names(&env.snapshot()), ["a", "b"], "from a parent directory, too");
}

#[test]
fn the_nearest_decision_wins() {
    let env = env();
    env.trust("/").untrust("/project");
    assert_eq!(names(&env.snapshot()), [] as [&str; 0], "excluded");
    env.trust("/project");
    assert_eq!(names(&env.snapshot()), ["a", "b"], "and trusted again");
    env.untrust("/");
    assert_eq!(names(&env.snapshot()), ["a", "b"], "regardless of the parent directory");
    env.untrust("/project/.agents/skills/b");
    assert_eq!(
        statuses(&env),
        [
            "a enabled",
            "b untrusted: the project is not trusted; to trust it: prowess trust /project/.agents/skills/b"
        ],
        "down to a single skill"
    );
    env.untrust("/project").trust("/project/.agents/skills/a");
    assert_eq!(names(&env.snapshot()), ["a"]);
}

#[test]
fn trust_ends_at_a_nested_git_repository() {
    let env = env();
    env.skill("vendor/evil/.agents/skills/nested").skill(".agents/skills/cloned").trust("");
    fs::create_dir_all(env.path(".git")).unwrap();
    fs::create_dir_all(env.path("vendor/evil/.git")).unwrap();
    // In a worktree or a submodule, `.git` is a file.
    fs::write(env.path(".agents/skills/cloned/.git"), "gitdir: /elsewhere").unwrap();
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    let snapshot = env.snapshot();
    let cloned = snapshot.all().iter().find(|skill| skill.name() == "cloned").unwrap();
    let reason = env.strip_base(&cloned.reason().unwrap());
    assert_eq!(
        reason,
        "its git repository is not trusted; to trust it: prowess trust /project/.agents/skills/cloned"
    );

    let inside = HostEnv { project: env.path("vendor/evil"), ..env.host_env() };
    let open = || prowess::Registry::open_in(env.policy.clone(), inside.clone(), &Default::default());
    assert_eq!(names(&open().snapshot()), [] as [&str; 0], "cloned into a trusted project");
    assert_eq!(trust::record_for(&inside.project, &inside), None);
    env.trust("vendor/evil").trust(".agents/skills/cloned");
    assert_eq!(names(&open().snapshot()), ["nested"]);
    assert_eq!(names(&env.snapshot()), ["a", "b", "cloned"]);
}

#[test]
fn untrusting_returns_the_previous_decision() {
    let env = env();
    let untrust = |path: &str| trust::untrust(&env.path(path), &env.host_env()).unwrap();
    assert_eq!(untrust(""), None);
    env.trust("/");
    assert_eq!(
        untrust("").unwrap().path,
        env.path("/").components().collect::<PathBuf>(),
        "from the parent directory"
    );
    assert_eq!(untrust(""), None, "it is already excluded");
    env.trust("");
    assert_eq!(untrust("").unwrap().path, env.path("").components().collect::<PathBuf>());
}

#[test]
fn trust_in_a_deleted_directory_can_be_revoked() {
    let env = env();
    env.create_dir("/gone/deep").symlink("/alias", "/gone").trust("/alias/deep");
    fs::remove_dir(env.path("/gone/deep")).unwrap();
    let forgotten = trust::untrust(&env.path("/alias/deep"), &env.host_env()).unwrap();
    assert_eq!(forgotten.unwrap().path, env.path("/gone/deep"));
    assert!(matches!(
        trust::trust(&env.path("/gone/deep"), false, &env.policy, &env.host_env()),
        Err(TrustError::Missing(_))
    ));
}

#[test]
fn trust_is_bound_to_the_directory_and_not_to_a_symlink() {
    let env = env();
    env.symlink("/alias", "/project").trust("/alias");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    let host_env = HostEnv { project: env.path("/alias"), ..env.host_env() };
    let open = || prowess::Registry::open_in(env.policy.clone(), host_env.clone(), &Default::default());
    assert_eq!(names(&open().snapshot()), ["a", "b"]);
    // Redirecting the symlink does not move trust.
    env.skill("/evil/.agents/skills/evil");
    fs::remove_file(env.path("/alias")).unwrap();
    env.symlink("/alias", "/evil");
    assert_eq!(names(&open().snapshot()), [] as [&str; 0]);
}

#[test]
fn edits_keep_trust_and_are_reported() {
    let env = env();
    env.trust("");
    assert_eq!(changes(&env), ChangedSkills::default());
    env.file(".agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    env.file(".agents/skills/b/scripts/run.sh", "echo").skill(".agents/skills/c");
    assert_eq!(names(&env.snapshot()), ["a", "b", "c"]);
    assert_eq!(
        changes(&env),
        ChangedSkills {
            added: vec!["/project/.agents/skills/c".into()],
            removed: vec![],
            changed: vec!["/project/.agents/skills/a".into(), "/project/.agents/skills/b".into()],
        }
    );
    fs::remove_dir_all(env.path(".agents/skills/a")).unwrap();
    assert_eq!(changes(&env).removed, [PathBuf::from("/project/.agents/skills/a")]);
}

#[test]
fn pinned_trust_ends_for_changed_and_added_skills_only() {
    let env = env();
    env.skill(".agents/skills/c").skill(".agents/skills/d").trust_pinned("");
    assert_eq!(names(&env.snapshot()), ["a", "b", "c", "d"]);
    fs::remove_dir_all(env.path(".agents/skills/d")).unwrap();
    env.file(".agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    env.file(".agents/skills/b/scripts/run.sh", "echo").skill(".agents/skills/e");
    let again = "to trust it again: prowess trust --pinned /project";
    assert_eq!(
        statuses(&env),
        [
            format!("a untrusted: changed since it was trusted; {again}"),
            format!("b untrusted: changed since it was trusted; {again}"),
            "c enabled".to_owned(),
            "e untrusted: added after the project was trusted; to trust it: prowess trust --pinned /project"
                .to_owned(),
        ]
    );
    env.trust_pinned("");
    assert_eq!(names(&env.snapshot()), ["a", "b", "c", "e"]);
}

/// Asserts that no way of using a skill's files works.
fn assert_unusable(env: &RegistryEnv, skill: &prowess::Skill) {
    let codes = [
        prowess::activation::activate(skill, None, &env.policy).unwrap_err().code(),
        resources::read_bytes(skill, "notes.txt").unwrap_err().code(),
        resources::read_skill_files(skill).unwrap_err().code(),
    ];
    assert_eq!(codes, [prowess::ErrorCode::Untrusted; 3]);
}

#[test]
fn files_are_not_used_after_trust_was_revoked_or_became_unreadable() {
    for revoke in [false, true] {
        let env = env();
        env.file(".agents/skills/a/notes.txt", "Notes.").trust("");
        let snapshot = env.snapshot();
        let skill = snapshot.get("a").unwrap();
        assert!(resources::read_bytes(skill, "notes.txt").is_ok());
        if revoke {
            trust::untrust(&env.path(""), &env.host_env()).unwrap();
        } else {
            fs::write(env.path(STATE), "{").unwrap();
        }
        assert_unusable(&env, skill);
    }
}

#[test]
fn files_are_not_used_after_a_pinned_skill_changed() {
    let env = env();
    env.file(".agents/skills/a/notes.txt", "Notes.").trust_pinned("");
    let snapshot = env.snapshot();
    assert!(resources::read_bytes(snapshot.get("a").unwrap(), "notes.txt").is_ok());
    env.file(".agents/skills/a/run.sh", "echo");
    assert_unusable(&env, snapshot.get("a").unwrap());
}

/// Returns a project with pinned trust, and a policy that needs no trust.
fn pinned_without_need() -> RegistryEnv {
    let mut env = env();
    env.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    env.trust_pinned("");
    env
}

#[test]
fn a_pin_holds_for_running_files_even_if_the_policy_needs_no_trust() {
    let env = pinned_without_need();
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    assert!(resources::read_skill_files(skill).is_ok());
    env.file(".agents/skills/a/run.sh", "echo");
    assert_eq!(resources::read_skill_files(skill).unwrap_err().code(), prowess::ErrorCode::Untrusted);
    assert!(prowess::activation::activate(skill, None, &env.policy).is_ok());
}

#[test]
fn files_do_not_run_if_pins_cannot_be_read() {
    let env = pinned_without_need();
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    env.file(STATE, "{");
    assert_eq!(resources::read_skill_files(skill).unwrap_err().code(), prowess::ErrorCode::Untrusted);
    assert!(prowess::activation::activate(skill, None, &env.policy).is_ok());
}

#[test]
fn files_behind_a_symlink_are_not_used_after_trust_was_revoked() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/dotfiles/a")
        .file("/dotfiles/a/notes.txt", "Notes.")
        .symlink("~/.agents/skills/a", "/dotfiles/a");
    env.trust("/dotfiles");
    let snapshot = env.snapshot();
    assert!(resources::read_bytes(snapshot.get("a").unwrap(), "notes.txt").is_ok());
    trust::untrust(&env.path("/dotfiles"), &env.host_env()).unwrap();
    assert_unusable(&env, snapshot.get("a").unwrap());
}

#[test]
fn files_are_not_used_after_a_git_repository_appeared() {
    let env = env();
    env.file(".agents/skills/a/notes.txt", "Notes.").trust("");
    let snapshot = env.snapshot();
    fs::create_dir(env.path(".agents/skills/a/.git")).unwrap();
    assert_unusable(&env, snapshot.get("a").unwrap());
}

#[test]
fn pinned_trust_covers_every_byte_mode_and_name() {
    for change in ["chmod", "rename", "add", "link", "fifo"] {
        let env = env();
        env.file(".agents/skills/a/run.sh", "echo").trust_pinned("");
        let file = env.path(".agents/skills/a/run.sh");
        match change {
            "chmod" => fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap(),
            "rename" => fs::rename(&file, file.with_file_name("run2.sh")).unwrap(),
            "add" => fs::write(file.with_file_name("empty"), "").unwrap(),
            "link" => std::os::unix::fs::symlink("run.sh", file.with_file_name("link")).unwrap(),
            _ => rustix::fs::mknodat(
                rustix::fs::CWD,
                file.with_file_name("fifo"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .unwrap(),
        }
        assert_eq!(names(&env.snapshot()), ["b"], "{change}");
    }
}

/// A hash over only some of the directories would allow changes to the others.
#[test]
fn a_directory_too_large_to_hash_is_not_trusted_when_pinned() {
    let env = RegistryEnv::large(Preset::Standard);
    env.skill(".agents/skills/a");
    for at in 0..8_200 {
        env.create_dir(&format!(".agents/skills/a/f{at}"));
    }
    env.trust_pinned("");
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
    assert!(prowess::tree_hash(&env.path(".agents/skills/a")).is_err());
}

#[test]
fn pinned_trust_covers_targets_of_symlinks() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/dotfiles/x").symlink("~/.agents/skills/x", "/dotfiles/x").trust_pinned("/dotfiles");
    assert_eq!(statuses(&env), ["x enabled"]);
    env.file("/dotfiles/x/run.sh", "echo");
    assert_eq!(
        statuses(&env),
        ["x untrusted: changed since it was trusted; to trust it again: prowess trust --pinned /dotfiles"]
    );
    env.trust_pinned("/dotfiles");
    assert_eq!(statuses(&env), ["x enabled"]);
}

#[test]
fn user_skills_need_no_trust() {
    let env = env();
    env.skill("~/.agents/skills/mine").trust_pinned("/home").skill("~/.agents/skills/new");
    assert_eq!(names(&env.snapshot()), ["mine", "new"]);
    env.untrust("/home");
    assert_eq!(names(&env.snapshot()), ["mine", "new"]);
}

/// Trusting a project must not read gigabytes behind its symlinks.
#[test]
fn trusting_reads_nothing_behind_symlinks_to_outside() {
    let env = env();
    env.file("/elsewhere/x/SKILL.md", skill_md("x", "X."));
    env.symlink(".agents/skills/x", "/elsewhere/x").symlink_to(".agents/skills/root", "/");
    let (record, _) = trust::trust(&env.path(""), true, &env.policy, &env.host_env()).unwrap();
    let skills: Vec<_> = record.skills.keys().map(|path| env.strip_base(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/a", "/project/.agents/skills/b"]);
}

#[test]
fn a_path_that_is_not_unicode_does_not_prevent_trust() {
    use std::os::unix::ffi::OsStrExt;
    let env = env();
    let odd = env.path(".agents/skills").join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), skill_md("odd", "Odd.")).unwrap();
    env.trust("");
    assert_eq!(names(&env.snapshot()), ["a", "b", "odd"]);
    env.trust_pinned("");
    assert_eq!(names(&env.snapshot()), ["a", "b"], "a path that is not Unicode has no stored hash");
}

#[test]
fn trusting_from_a_subdirectory_covers_the_whole_directory() {
    let env = RegistryEnv::new(Preset::Standard);
    env.create_dir(".git")
        .skill(".agents/skills/top")
        .skill("sub/.agents/skills/inner")
        .symlink("/alias", "/project");
    let sub = HostEnv { project: env.path("/alias/sub"), ..env.host_env() };
    let (record, _) = trust::trust(&env.path("/project"), true, &env.policy, &sub).unwrap();
    let skills: Vec<_> = record.skills.keys().map(|path| env.strip_base(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/top", "/project/sub/.agents/skills/inner"]);
    // From the top, the inner skill is not discovered, which is not a change.
    assert_eq!(changes(&env), ChangedSkills::default());
}

#[test]
fn presets_without_trust_ask_for_none() {
    let env = RegistryEnv::new(Preset::Harness);
    env.skill(".agent/skills/x").untrust("");
    assert_eq!(names(&env.snapshot()), ["x"]);
}
