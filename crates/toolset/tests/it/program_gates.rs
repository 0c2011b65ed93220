//! Who lets a program run: the gates of scripts, each time it is started and each time it is asked.

#![cfg(target_os = "linux")]

use crate::program_world::{Scene, World, doing};
use prowess::ErrorCode;
use prowess::policy::{AllowedTools, Scripts};
use serde_json::json;

#[test]
fn a_program_replaced_after_it_was_judged_is_judged_again() {
    let scene = Scene::doing("answer(call, 'good')");
    assert_eq!(scene.output(), "good");
    let path = scene.world.skill_folder().join("toolsets/tools.py");
    let elsewhere = scene.world.write("elsewhere.py", &doing("answer(call, 'BAD')"));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
}

#[test]
fn the_gates_of_scripts_are_those_of_programs() {
    let mut scene = Scene::doing("answer(call, 'x')");
    // The user's word.
    scene.world.policy.run.scripts = Scripts::Ask;
    let error = scene.tools().unwrap_err();
    assert_eq!(error.to_string(), "toolsets/tools.py does not run: the scripts of s are not allowed to run");
    assert_eq!(
        (error.code(), error.hint().unwrap()),
        (
            ErrorCode::AccessDenied,
            "the user can allow them: PROWESS_ALLOW_SCRIPTS=1 for one call, or in ~/.prowess/config.toml run.allowed-skills = [\"s\"]"
        )
    );
    scene.world.policy.run.allowed_skills = vec!["s".to_owned()];
    assert_eq!(scene.output(), "x");
    // …which is asked for each time, even while a process is there.
    scene.world.policy.run.scripts = Scripts::Never;
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
    // Switched off.
    scene.world.policy.run.scripts = Scripts::Allowed;
    scene.world.policy.selection.disabled = vec!["s".to_owned()];
    assert_eq!(scene.call(json!({})).unwrap_err().code(), ErrorCode::Disabled);
    // Its own word.
    for (tools, runs) in
        [("Read", false), ("Bash(git:*)", false), ("Bash(toolsets/tools.py:*)", true), ("skills.run", true)]
    {
        let mut world = World::with(&format!("toolsets: [toolsets/tools.py]\nallowed-tools: {tools}\n"));
        world.policy.run.allowed_tools = AllowedTools::Required;
        world.write("home/.prowess/skills/s/toolsets/tools.py", &doing("answer(call, 'x')"));
        let scene = Scene::over(world);
        let loaded = scene.tools().unwrap();
        assert_eq!(loaded.tools.is_empty(), !runs, "{tools}");
        if !runs {
            let told = format!(
                "toolsets/tools.py does not run: the skill s does not allow itself to run toolsets/tools.py: its allowed-tools are {tools}"
            );
            assert_eq!(loaded.failures[0].to_string(), told);
        }
        assert_eq!(scene.log().len(), usize::from(runs));
    }
}

#[test]
fn untrusted_and_modified_skills_do_not_run_and_do_not_run_on() {
    let scene = Scene::doing("answer(call, 'x')");
    let world = &scene.world;
    world.write("home/.prowess/skills/s/toolsets/beside.py", "good");
    // Locked.
    let tree = prowess::HashedTree::of(&world.skill_folder()).unwrap();
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
    // A project's, without the user's word; then with it; then changed since, where the word was for these bytes.
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
    // Tier 3: neither of the two can be enforced, because there is no helper to enforce them.
    let scene = Scene::doing("answer(call, 'x')");
    let registry = scene.world.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("s").unwrap();
    let mut options = prowess_sandbox::Options::of(&registry);
    options.helper = prowess_sandbox::Helper::at("/nonexistent/helper");
    let loaded = scene.programs.tools(skill, &scene.conversation, &options).unwrap();
    assert_eq!((loaded.tools.len(), loaded.failures[0].code()), (0, ErrorCode::SandboxUnavailable));
    let end = scene.log()[0].end.clone().unwrap();
    assert!(end.error.unwrap().starts_with("no sandbox can be enforced here, so nothing runs"));
}

#[test]
fn once_more_as_an_ordinary_user() {
    crate::program_world::once_more_as_an_ordinary_user(module_path!());
}
