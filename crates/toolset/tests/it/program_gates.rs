//! Permissions of programs: those of scripts, checked whenever a program is started or called.

#![cfg(target_os = "linux")]

use crate::program_support::{ScriptEnv, TestPrograms, program_with_call};
use prowess::ErrorCode;
use prowess::policy::{AllowedTools, ScriptPolicy};
use serde_json::json;

#[test]
fn a_replaced_program_is_checked_again() {
    let fixture = TestPrograms::with_call("answer(call, 'good')");
    assert_eq!(fixture.output(), "good");
    let path = fixture.env.skill_dir().join("toolsets/tools.py");
    let elsewhere = fixture.env.write("elsewhere.py", &program_with_call("answer(call, 'BAD')"));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(fixture.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
}

#[test]
fn programs_need_the_permissions_of_scripts() {
    let mut fixture = TestPrograms::with_call("answer(call, 'x')");
    // The user's permission.
    fixture.env.policy.run.scripts = ScriptPolicy::Ask;
    let error = fixture.tools().unwrap_err();
    assert_eq!(error.to_string(), "cannot run toolsets/tools.py: scripts of s are not allowed to run");
    assert_eq!(
        (error.code(), error.hint().unwrap()),
        (
            ErrorCode::AccessDenied,
            "to allow them, set PROWESS_ALLOW_SCRIPTS=1 for one call, or add to ~/.prowess/config.toml: run.allowed-skills = [\"s\"]"
        )
    );
    fixture.env.policy.run.allowed_skills = vec!["s".to_owned()];
    assert_eq!(fixture.output(), "x");
    // The permission is checked each time, even if a process is running.
    fixture.env.policy.run.scripts = ScriptPolicy::Never;
    assert_eq!(fixture.call(json!({})).unwrap_err().code(), ErrorCode::AccessDenied);
    // Disabled skills.
    fixture.env.policy.run.scripts = ScriptPolicy::Allowed;
    fixture.env.policy.selection.disabled = vec!["s".to_owned()];
    assert_eq!(fixture.call(json!({})).unwrap_err().code(), ErrorCode::Disabled);
    // The skill's allowed-tools.
    for (tools, runs) in
        [("Read", false), ("Bash(git:*)", false), ("Bash(toolsets/tools.py:*)", true), ("skills.run", true)]
    {
        let mut env = ScriptEnv::with(&format!("toolsets: [toolsets/tools.py]\nallowed-tools: {tools}\n"));
        env.policy.run.allowed_tools = AllowedTools::Required;
        env.write("home/.prowess/skills/s/toolsets/tools.py", &program_with_call("answer(call, 'x')"));
        let fixture = TestPrograms::with_project(env);
        let loaded = fixture.tools().unwrap();
        assert_eq!(loaded.tools.is_empty(), !runs, "{tools}");
        if !runs {
            let expected = format!(
                "cannot run toolsets/tools.py: skill s does not allow running toolsets/tools.py: its allowed-tools are {tools}"
            );
            assert_eq!(loaded.failures[0].to_string(), expected);
        }
        assert_eq!(fixture.log().len(), usize::from(runs));
    }
}

#[test]
fn untrusted_and_modified_skills_do_not_run_and_are_stopped() {
    let fixture = TestPrograms::with_call("answer(call, 'x')");
    let env = &fixture.env;
    env.write("home/.prowess/skills/s/toolsets/beside.py", "good");
    // A locked skill.
    let tree = prowess::HashedTree::from_dir(&env.skill_dir()).unwrap();
    let files: serde_json::Map<_, _> =
        tree.files().iter().map(|file| (file.path.clone(), file.digest().into())).collect();
    let lock = json!({"schema": 1, "skills": [{
        "name": "s", "folder": "~/.prowess/skills/s", "source": "x", "tree": tree.hash(), "files": files,
    }]});
    let lock = env.write("home/.prowess/state/installed.json", &lock.to_string());
    assert_eq!((fixture.output().as_str(), fixture.programs.running()), ("x", 1));
    env.write("home/.prowess/skills/s/toolsets/beside.py", "evil");
    let error = fixture.call(json!({})).unwrap_err();
    assert_eq!((error.code(), fixture.programs.running()), (ErrorCode::Untrusted, 0));
    assert!(error.to_string().contains("changed toolsets/beside.py"), "{error}");
    std::fs::remove_file(lock).unwrap();
    // A project skill: untrusted, then trusted, then changed after it was trusted.
    let dir = env.path("project/.prowess/skills/s");
    std::fs::create_dir_all(dir.parent().unwrap()).unwrap();
    std::fs::rename(env.skill_dir(), &dir).unwrap();
    assert_eq!(fixture.call(json!({})).unwrap_err().code(), ErrorCode::Untrusted);
    prowess::trust::trust(&env.path("project"), true, &env.policy, &env.host_env()).unwrap();
    assert_eq!((fixture.output().as_str(), fixture.programs.running()), ("x", 1));
    env.write("project/.prowess/skills/s/toolsets/beside.py", "worse");
    assert_eq!(fixture.call(json!({})).unwrap_err().code(), ErrorCode::Untrusted);
    assert_eq!(fixture.programs.running(), 0);
}

#[test]
fn without_a_sandbox_nothing_runs() {
    // No tier can be enforced, because there is no helper.
    let fixture = TestPrograms::with_call("answer(call, 'x')");
    let registry = fixture.env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("s").unwrap();
    let mut options = prowess_sandbox::RunOptions::from_registry(&registry);
    options.helper = prowess_sandbox::SandboxHelper::from_path("/nonexistent/helper");
    let loaded = fixture.programs.tools(skill, &fixture.conversation, &options).unwrap();
    assert_eq!((loaded.tools.len(), loaded.failures[0].code()), (0, ErrorCode::SandboxUnavailable));
    let end = fixture.log()[0].end.clone().unwrap();
    assert!(end.error.unwrap().starts_with("no sandbox can be enforced, so the script was not run"));
}

#[test]
fn rerun_as_unprivileged_user() {
    crate::program_support::rerun_as_unprivileged_user(module_path!());
}
