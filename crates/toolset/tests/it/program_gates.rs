//! Permissions of programs: those of scripts, checked whenever a program is started or called.

#![cfg(target_os = "linux")]

use crate::program_world::{TestPrograms, World, program_with_call};
use prowess::ErrorCode;
use prowess::policy::{AllowedTools, ScriptPolicy};
use serde_json::json;

#[test]
fn a_replaced_program_is_checked_again() {
    let scene = TestPrograms::with_call("answer(call, 'good')");
    assert_eq!(scene.output(), "good");
    let path = scene.world.skill_folder().join("toolsets/tools.py");
    let elsewhere = scene.world.write("elsewhere.py", &program_with_call("answer(call, 'BAD')"));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
}

#[test]
fn programs_need_the_permissions_of_scripts() {
    let mut scene = TestPrograms::with_call("answer(call, 'x')");
    // The user's permission.
    scene.world.policy.run.scripts = ScriptPolicy::Ask;
    let error = scene.tools().unwrap_err();
    assert_eq!(error.to_string(), "cannot run toolsets/tools.py: scripts of s are not allowed to run");
    assert_eq!(
        (error.code(), error.hint().unwrap()),
        (
            ErrorCode::AccessDenied,
            "to allow them, set PROWESS_ALLOW_SCRIPTS=1 for one call, or add to ~/.prowess/config.toml: run.allowed-skills = [\"s\"]"
        )
    );
    scene.world.policy.run.allowed_skills = vec!["s".to_owned()];
    assert_eq!(scene.output(), "x");
    // The permission is checked each time, even if a process is running.
    scene.world.policy.run.scripts = ScriptPolicy::Never;
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
    // Disabled skills.
    scene.world.policy.run.scripts = ScriptPolicy::Allowed;
    scene.world.policy.selection.disabled = vec!["s".to_owned()];
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::Disabled);
    // The skill's allowed-tools.
    for (tools, runs) in
        [("Read", false), ("Bash(git:*)", false), ("Bash(toolsets/tools.py:*)", true), ("skills.run", true)]
    {
        let mut world = World::with(&format!("toolsets: [toolsets/tools.py]\nallowed-tools: {tools}\n"));
        world.policy.run.allowed_tools = AllowedTools::Required;
        world.write("home/.prowess/skills/s/toolsets/tools.py", &program_with_call("answer(call, 'x')"));
        let scene = TestPrograms::with_project(world);
        let loaded = scene.tools().unwrap();
        assert_eq!(loaded.tools.is_empty(), !runs, "{tools}");
        if !runs {
            let expected = format!(
                "cannot run toolsets/tools.py: skill s does not allow running toolsets/tools.py: its allowed-tools are {tools}"
            );
            assert_eq!(loaded.failures[0].to_string(), expected);
        }
        assert_eq!(scene.log().len(), usize::from(runs));
    }
}

#[test]
fn untrusted_and_modified_skills_do_not_run_and_are_stopped() {
    let scene = TestPrograms::with_call("answer(call, 'x')");
    let world = &scene.world;
    world.write("home/.prowess/skills/s/toolsets/beside.py", "good");
    // A locked skill.
    let tree = prowess::HashedTree::from_dir(&world.skill_folder()).unwrap();
    let files: serde_json::Map<_, _> =
        tree.files().iter().map(|file| (file.path.clone(), file.digest().into())).collect();
    let lock = json!({"schema": 1, "skills": [{
        "name": "s", "folder": "~/.prowess/skills/s", "source": "x", "tree": tree.hash(), "files": files,
    }]});
    let lock = world.write("home/.prowess/state/installed.json", &lock.to_string());
    assert_eq!((scene.output().as_str(), scene.programs.running()), ("x", 1));
    world.write("home/.prowess/skills/s/toolsets/beside.py", "evil");
    let error = scene.call(json!({})).unwrap_err();
    assert_eq!((error.code(), scene.programs.running()), (ErrorCode::Untrusted, 0));
    assert!(error.to_string().contains("changed toolsets/beside.py"), "{error}");
    std::fs::remove_file(lock).unwrap();
    // A project skill: untrusted, then trusted, then changed after it was trusted.
    let folder = world.path("project/.prowess/skills/s");
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::rename(world.skill_folder(), &folder).unwrap();
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::Untrusted);
    prowess::trust::trust(&world.path("project"), true, &world.policy, &world.surroundings()).unwrap();
    assert_eq!((scene.output().as_str(), scene.programs.running()), ("x", 1));
    world.write("project/.prowess/skills/s/toolsets/beside.py", "worse");
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::Untrusted);
    assert_eq!(scene.programs.running(), 0);
}

#[test]
fn without_a_sandbox_nothing_runs() {
    // No tier can be enforced, because there is no helper.
    let scene = TestPrograms::with_call("answer(call, 'x')");
    let registry = scene.world.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("s").unwrap();
    let mut options = prowess_sandbox::RunOptions::from_registry(&registry);
    options.helper = prowess_sandbox::SandboxHelper::from_path("/nonexistent/helper");
    let loaded = scene.programs.tools(skill, &scene.conversation, &options).unwrap();
    assert_eq!((loaded.tools.len(), loaded.failures[0].code()), (0, ErrorCode::SandboxUnavailable));
    let end = scene.log()[0].end.clone().unwrap();
    assert!(end.error.unwrap().starts_with("no sandbox can be enforced, so the script was not run"));
}

#[test]
fn once_more_as_an_ordinary_user() {
    crate::program_world::once_more_as_an_ordinary_user(module_path!());
}
