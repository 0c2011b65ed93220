//! Permissions of scripts: from the user, from the skill, and what is passed to the script.

#![cfg(target_os = "linux")]

use std::time::Duration;

use prowess::ErrorCode;
use prowess::policy::{Policy, Preset, ScriptPolicy};
use prowess_sandbox::{
    Consent, Protection, SandboxTier, ScriptInput, is_any_allowed, log, requested_variables,
};
use prowess_testing::script_env::{ScriptEnv, TIERS};

const HELLO: &str = "#!/bin/sh\necho hello\n";

#[test]
fn scripts_are_off_until_the_user_allows_them() {
    let mut env = ScriptEnv::new();
    env.policy.run.scripts = ScriptPolicy::Ask;
    let script = |env: &ScriptEnv| {
        env.script("x.sh", HELLO).run().map(|result| result.stdout_text()).map_err(|e| e.code())
    };
    assert_eq!(script(&env), Err(ErrorCode::AccessDenied));
    assert!(!is_any_allowed(&env.policy));
    let outcome = env.script_named("x.sh").run_with(|options| options.consent = Consent::Given);
    assert_eq!(outcome.unwrap().stdout_text(), "hello\n");
    env.policy.run.allowed_skills = vec!["other".to_owned()];
    assert_eq!(script(&env), Err(ErrorCode::AccessDenied));
    for entry in ["s".to_owned(), "~/.prowess/skills/s".to_owned(), env.skill_dir().display().to_string()] {
        env.policy.run.allowed_skills = vec![entry];
        assert_eq!(script(&env).as_deref(), Ok("hello\n"));
    }
    env.policy.run.scripts = ScriptPolicy::Never;
    assert_eq!(script(&env), Err(ErrorCode::AccessDenied));
    let outcome = env.script_named("x.sh").run_with(|options| options.consent = Consent::Given);
    assert_eq!(
        outcome.unwrap_err().hint().unwrap(),
        "run.scripts is \"never\"; set it to \"ask\" or \"allowed\" to allow scripts"
    );
}

/// A project's skill can have any name.
#[test]
fn a_name_does_not_allow_a_project_s_skill_of_that_name() {
    let mut env = ScriptEnv::new();
    env.policy = prowess::Policy::from_preset(Preset::Triggers);
    env.policy.run.allowed_skills = vec!["s".to_owned()];
    env.write("project/.agent/skills/s/SKILL.md", "---\nname: s\ndescription: Another.\n---\n");
    env.write("project/.agent/skills/s/x.sh", HELLO);
    assert_eq!(env.script_named("x.sh").run().unwrap_err().code(), ErrorCode::AccessDenied);
    env.policy.run.allowed_skills = vec![env.path("project/.agent/skills/s").display().to_string()];
    assert_eq!(env.script_named("x.sh").run().unwrap().stdout_text(), "hello\n");
}

#[test]
fn untrusted_disabled_and_modified_skills_do_not_run() {
    let mut env = ScriptEnv::new();
    env.script("x.sh", HELLO);
    env.policy.selection.disabled = vec!["s".to_owned()];
    assert_eq!(env.script_named("x.sh").run().unwrap_err().code(), ErrorCode::Disabled);
    env.policy.selection.disabled.clear();

    std::fs::rename(env.skill_dir(), env.path("s")).unwrap();
    let dir = env.path("project/.prowess/skills/s");
    std::fs::create_dir_all(dir.parent().unwrap()).unwrap();
    std::fs::rename(env.path("s"), &dir).unwrap();
    assert_eq!(env.script_named("x.sh").run().unwrap_err().code(), ErrorCode::Untrusted);
    let project = env.path("project");
    prowess::trust::trust(&project, true, &env.policy, &env.host_env()).unwrap();
    assert_eq!(env.script_named("x.sh").run().unwrap().exit_code, Some(0));

    // A trusted skill that changed: the content that is read is checked again.
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("s").unwrap();
    env.write("project/.prowess/skills/s/x.sh", "#!/bin/sh\necho evil\n");
    let error = env.script_named("x.sh").run_skill(skill, &registry, |_| {}).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Untrusted);
}

/// A permission by name is not for skills of projects, which choose their names; a prohibition is for all of them.
#[test]
fn a_denied_skill_never_runs() {
    let mut env = ScriptEnv::new();
    env.script("x.sh", HELLO);
    let unusual = format!("t@sha256-tree-v1:{}", "0".repeat(64));
    for name in ["s", unusual.as_str()] {
        let dir = env.path("project/.prowess/skills").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for file in ["SKILL.md", "x.sh"] {
            std::fs::copy(env.skill_dir().join(file), dir.join(file)).unwrap();
        }
        prowess::trust::trust(&env.path("project"), false, &env.policy, &env.host_env()).unwrap();
        let run = |env: &ScriptEnv| {
            let registry = env.registry();
            let snapshot = registry.snapshot();
            let skill = snapshot.all().iter().find(|skill| skill.dir() == dir).unwrap();
            let script = env.script_named("x.sh");
            let result = script.run_skill(skill, &registry, |options| options.consent = Consent::Given);
            result.map(|result| result.stdout_text()).map_err(|error| error.code())
        };
        assert_eq!(run(&env), Ok("hello\n".to_owned()), "{name}");
        for entry in ["s".to_owned(), dir.display().to_string()] {
            env.policy.run.denied_skills = vec![entry.clone()];
            assert_eq!(run(&env), Err(ErrorCode::AccessDenied), "{name}: {entry}");
        }
        env.policy.run.denied_skills.clear();
        std::fs::remove_dir_all(dir).unwrap();
    }
}

/// Access that is bound to the files of a skill is granted for the files that run.
#[test]
fn network_access_ends_when_the_files_change() {
    let mut env = ScriptEnv::new();
    env.script("x.py", "import socket\ntry: socket.socket(); print('on')\nexcept OSError: print('off')\n");
    let tree = env.script_named("x.py").run().unwrap().tree;
    env.policy.run.network = vec![format!("s@{tree}")];
    assert_eq!(env.script_named("x.py").run().unwrap().stdout_text(), "on\n");
    env.write("home/.prowess/skills/s/other", "");
    assert_eq!(env.script_named("x.py").run().unwrap().stdout_text(), "off\n");
}

#[test]
fn a_locked_skill_runs_only_as_it_was_installed() {
    let env = ScriptEnv::new().in_skill_dir();
    env.script("x.sh", "#!/bin/sh\n. ./lib.sh\n");
    let lib = env.write("home/.prowess/skills/s/lib.sh", "echo hello\n");
    let tree = prowess::HashedTree::from_dir(&env.skill_dir()).unwrap();
    let files: serde_json::Map<_, _> =
        tree.files().iter().map(|file| (file.path.clone(), file.digest().into())).collect();
    let lock = serde_json::json!({"schema": 1, "skills": [{
        "name": "s", "folder": "~/.prowess/skills/s", "source": "x", "tree": tree.hash(), "files": files,
    }]});
    env.write("home/.prowess/state/installed.json", &lock.to_string());
    assert_eq!(env.script_named("x.sh").run().unwrap().stdout_text(), "hello\n");
    // Not the script, but a file that it reads.
    std::fs::write(lib, "echo evil\n").unwrap();
    let error = env.script_named("x.sh").run().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Untrusted);
    assert!(error.to_string().contains("changed lib.sh"), "{error}");
}

#[test]
fn s004_23_allowed_tools_only_narrow() {
    let run = |frontmatter: &str| {
        let mut env = ScriptEnv::with(frontmatter);
        env.policy.run.allowed_tools = Policy::from_preset(Preset::Chat).run.allowed_tools;
        let allowed = env.script("scripts/x.sh", HELLO).run().map_err(|error| error.code());
        env.policy.run.scripts = ScriptPolicy::Ask;
        // allowed-tools do not replace the user's permission.
        assert_eq!(env.script_named("scripts/x.sh").run().unwrap_err().code(), ErrorCode::AccessDenied);
        allowed.map(|result| result.stdout_text())
    };
    for tools in [
        "",
        "allowed-tools: Bash(scripts/x.sh:*) Read\n",
        "allowed-tools: Bash(sh:*)\n",
        "allowed-tools: skills.run\n",
    ] {
        assert_eq!(run(tools).as_deref(), Ok("hello\n"), "{tools}");
    }
    for tools in ["allowed-tools: Read\n", "allowed-tools: Bash(git:*)\n", "allowed-tools: Bash(python3:*)\n"]
    {
        assert_eq!(run(tools), Err(ErrorCode::AccessDenied), "{tools}");
    }
}

/// According to the specification, the list only pre-approves tools. The example is from the specification.
#[test]
fn allowed_tools_do_not_stop_scripts_in_preset_standard() {
    for tools in ["Bash(git:*) Bash(jq:*) Read", "Read"] {
        let mut env = ScriptEnv::with(&format!("allowed-tools: {tools}\n"));
        let result = env.script("scripts/x.sh", HELLO).run().unwrap();
        assert_eq!(result.stdout_text(), "hello\n", "{tools}");
        // It does not grant permission either.
        env.policy.run.scripts = ScriptPolicy::Ask;
        assert_eq!(env.script_named("scripts/x.sh").run().unwrap_err().code(), ErrorCode::AccessDenied);
    }
}

#[test]
fn s003_11_s002_21_arguments_time_output_and_directory() {
    let env = ScriptEnv::new().in_skill_dir();
    let limits = &env.policy.run.limits;
    assert_eq!((limits.time, limits.output_bytes), (Duration::from_secs(60), 1024 * 1024));
    let script = env.script("scripts/x.sh", "#!/bin/sh\necho $#; echo \"$1\" | wc -c; ls\n");
    let hundred = vec!["a"; 100];
    assert!(script.args(&hundred).run().unwrap().stdout_text().starts_with("100\n"));
    let long = "x".repeat(4_096);
    let result = env.script_named("scripts/x.sh").args(&[&long]).run().unwrap();
    assert_eq!(result.stdout_text(), "1\n4097\nSKILL.md\nscripts\n");
    let refused = |arguments: &[&str]| {
        let error = env.script_named("scripts/x.sh").args(arguments).run().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam);
        error.to_string()
    };
    assert_eq!(refused(&vec!["a"; 101]), "too many arguments: 101; the maximum is 100");
    assert_eq!(refused(&[&long, "x"]), "the arguments have 4097 bytes; the maximum is 4096");
    assert_eq!(refused(&["a", "b\0c"]), "argument 2 contains a NUL byte");
    let result =
        env.script("y.sh", "#!/bin/sh\nprintf '%s|' \"$@\"\n").args(&["$(id)", "; ls", "-x", "", "*"]).run();
    assert_eq!(result.unwrap().stdout_text(), "$(id)|; ls|-x||*|");
}

/// Only variables that the skill requests and the user grants are passed.
#[test]
fn variables_are_passed_only_if_requested_and_granted() {
    let mut env = ScriptEnv::with("metadata:\n  env: TOKEN OTHER_KEY PATH LD_PRELOAD bad-name\n");
    let environment: Vec<(std::ffi::OsString, std::ffi::OsString)> =
        [("TOKEN", "t"), ("OTHER_KEY", "o"), ("AWS_SECRET", "a"), ("PATH", "/evil")]
            .map(|(n, v)| (n.into(), v.into()))
            .to_vec();
    let names = |env: &ScriptEnv, tier: SandboxTier| {
        let result = env.script("x.sh", "#!/bin/sh\nenv | sort\n").run_with(|options| {
            options.protection = Protection::Only(tier);
            options.environment = environment.clone();
        });
        let text = result.unwrap().stdout_text();
        assert!(text.contains("\nPATH=/usr/local/bin:/usr/bin:/bin\n"), "{text}");
        let names = text.lines().map(|line| line.split('=').next().unwrap().to_owned());
        names.filter(|name| !name.starts_with("PYTHON") && name != "XDG_CONFIG_HOME").collect::<Vec<_>>()
    };
    for tier in TIERS {
        env.policy.run.env = vec![];
        assert_eq!(names(&env, tier), ["HOME", "LANG", "PATH", "PWD", "TMPDIR"]);
        env.policy.run.env = ["TOKEN", "other:OTHER_KEY", "AWS_SECRET", "PATH"].map(str::to_owned).to_vec();
        assert_eq!(names(&env, tier), ["HOME", "LANG", "PATH", "PWD", "TMPDIR", "TOKEN"]);
        env.policy.run.env = vec!["s:OTHER_KEY".to_owned()];
        assert_eq!(names(&env, tier), ["HOME", "LANG", "OTHER_KEY", "PATH", "PWD", "TMPDIR"]);
    }
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let needed = requested_variables(snapshot.get("s").unwrap(), &env.policy, &env.host_env(), &environment);
    let actual: Vec<_> =
        needed.iter().map(|variable| (variable.name.as_str(), variable.granted, variable.is_set)).collect();
    assert_eq!(actual, [("TOKEN", false, true), ("OTHER_KEY", true, true), ("LD_PRELOAD", false, false)]);
}

#[test]
fn json_on_standard_input_and_nothing_otherwise() {
    let env = ScriptEnv::new();
    let script = env.script("x.sh", "#!/bin/sh\ncat; echo end\n");
    for tier in TIERS {
        assert_eq!(script.run_on(tier).unwrap().stdout_text(), "end\n");
        let result = script.run_with(|options| {
            options.protection = Protection::Only(tier);
            options.input = ScriptInput::Bytes(b"{\"a\":1}\n".to_vec());
        });
        assert_eq!(result.unwrap().stdout_text(), "{\"a\":1}\nend\n");
    }
}

#[test]
fn a_missing_interpreter_is_named_with_what_to_install() {
    let env = ScriptEnv::new();
    let error = env.script("x.frob", "#!/usr/bin/env frobnicate\n").run().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unavailable);
    assert_eq!(error.to_string(), "x.frob needs frobnicate, which is not in PATH");
    assert_eq!(error.hint().unwrap(), "install it; on Debian, run: apt-get install frobnicate");
}

#[test]
fn every_run_is_recorded() {
    let mut env = ScriptEnv::new();
    env.script("x.sh", "#!/bin/sh\nexit 3\n").args(&["secret"]).run().unwrap();
    env.policy.run.limits.time = Duration::from_millis(200);
    env.script("y.sh", "#!/bin/sh\nsleep 9\n").run().unwrap();
    let path = log::path(&env.host_env()).unwrap();
    let records = log::read_records(&path, 10);
    let actual: Vec<_> = records
        .iter()
        .map(|record| {
            let end = record.end.as_ref().unwrap();
            (record.skill.as_str(), record.script.as_str(), end.exit_code, end.limits_hit.join(","))
        })
        .collect();
    assert_eq!(actual, [("s", "y.sh", None, "time".to_owned()), ("s", "x.sh", Some(3), String::new())]);
    assert_eq!(records[1].digest, prowess::digest(b"#!/bin/sh\nexit 3\n"));
    assert!(records.iter().all(|record| record.sandbox.is_some()));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));
    // A run that cannot be recorded does not start.
    let error =
        env.script_named("x.sh").run_with(|options| options.log = Some("/proc/none/runs.jsonl".into()));
    assert_eq!(error.unwrap_err().code(), ErrorCode::PermissionDenied);
}

#[test]
fn s004_21_what_cannot_be_confined_does_not_run() {
    let env = ScriptEnv::new();
    let script = env.script("x.sh", HELLO);
    let error = script
        .run_with(|options| options.helper = prowess_sandbox::SandboxHelper::from_path("/bin/false"))
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxUnavailable);
    // A program that does not call helper_main is not started as the helper.
    let error = script
        .run_with(|options| options.helper = prowess_sandbox::SandboxHelper::current_exe())
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxUnavailable);
    assert!(error.to_string().contains("helper_main"), "{error}");
}

/// Limits and cleanup apply without a sandbox, too, and root is dropped.
#[test]
fn scripts_run_without_a_sandbox_only_if_the_caller_requests_it() {
    let env = ScriptEnv::new();
    let result = env
        .script("x.sh", "#!/bin/sh\nid -u; ulimit -n; cat /etc/hostname >/dev/null && echo read\n")
        .run_with(|options| options.protection = Protection::Unsafe)
        .unwrap();
    assert_eq!(result.sandbox, SandboxTier::None);
    assert!(
        result.stdout_text().ends_with("\n256\nread\n") && !result.stdout_text().starts_with("0\n"),
        "{result:?}"
    );
}

#[test]
fn s003_10_siblings_are_there_and_both_streams_and_signals_are_told() {
    let env = ScriptEnv::new().in_skill_dir();
    env.write("home/.prowess/skills/s/scripts/helper.py", "def value():\n    return 42\n");
    let python = "import helper, sys, os\nprint(helper.value()); print('e', file=sys.stderr)\nos.kill(os.getpid(), 11)\n";
    for tier in TIERS {
        let result = env.script("scripts/x.py", python).run_on(tier).unwrap();
        // Python was killed before it flushed its output.
        assert_eq!((result.exit_code, result.signal, result.sandbox), (None, Some(11), tier));
        assert_eq!(result.stderr_text(), "e\n");
        let result = env
            .script("x.js", "console.log(require('fs').readdirSync('.').join()); process.exit(4)")
            .run_on(tier);
        let result = result.unwrap();
        assert_eq!(
            (result.exit_code, result.stdout_text().as_str()),
            (Some(4), "SKILL.md,scripts,x.js\n"),
            "{}",
            result.stderr_text()
        );
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
