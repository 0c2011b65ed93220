//! Workspaces: files of the user for a script, and files that it changes.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_sandbox::{InputFile, Protection, RunError, RunLimit, RunOptions, ScriptResult, Workspace};
use prowess_testing::script_env::{ScriptEnv, TIERS};

/// Copies the first file to the second, in upper case, and prints the current directory.
const UPPER: &str = "import os, sys\nprint(os.getcwd())\nos.makedirs(os.path.dirname(sys.argv[2]) or '.', exist_ok=True)\n\
                     open(sys.argv[2], 'w').write(open(sys.argv[1]).read().upper())\n";

fn in_dir(dir: PathBuf) -> impl Fn(&mut RunOptions<'_>) {
    move |options| options.workspace = Some(Workspace::Directory(dir.clone()))
}

fn artifact_paths(result: &ScriptResult) -> Vec<&str> {
    result.artifacts().iter().map(|artifact| artifact.path.as_str()).collect()
}

#[test]
fn relative_and_absolute_paths_into_a_workspace_work_unchanged() {
    let env = ScriptEnv::new();
    let input = env.write("work/in.txt", "text");
    let work = input.parent().unwrap().to_owned();
    fs::set_permissions(&input, fs::Permissions::from_mode(0o640)).unwrap();
    env.script("x.py", UPPER);
    for tier in TIERS {
        let absolute = [input.display().to_string(), work.join("a/out.txt").display().to_string()];
        for arguments in [["in.txt", "a/out.txt"], [&absolute[0], &absolute[1]]] {
            let _ = fs::remove_dir_all(work.join("a"));
            let result = env
                .script_named("x.py")
                .args(&arguments)
                .run_with(|options| {
                    options.protection = Protection::Only(tier);
                    in_dir(work.clone())(options);
                })
                .unwrap();
            assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
            assert_eq!(fs::read_to_string(work.join("a/out.txt")).unwrap(), "TEXT");
            assert_eq!(artifact_paths(&result), ["a/out.txt"]);
            let artifact = &result.artifacts()[0];
            assert_eq!((artifact.size, artifact.media_type), (4, "text/plain"));
            assert_eq!(artifact.digest, prowess_fs::digest(b"TEXT"));
        }
    }
    assert_eq!(fs::metadata(&input).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn changed_and_removed_files_are_applied_and_listed() {
    let env = ScriptEnv::new();
    let work = env.path("work");
    let text = "import os\nopen('a', 'a').write('+')\nos.remove('b')\nos.rename('c', 'd')\nos.makedirs('e/f')\nopen('run', 'w').write('#!')\n\
                os.fchmod(os.open('run', os.O_RDONLY), 0o755)\nassert open('same').read() == 'same'\n";
    env.script("x.py", text);
    for tier in TIERS {
        let _ = fs::remove_dir_all(&work);
        for name in ["a", "b", "c", "same"] {
            env.write(&format!("work/{name}"), name);
        }
        let result = env
            .script_named("x.py")
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                in_dir(work.clone())(options);
            })
            .unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        assert_eq!(artifact_paths(&result), ["a", "d", "run"], "{tier}");
        assert_eq!(result.removed(), ["b", "c"], "{tier}");
        assert_eq!(fs::read_to_string(work.join("a")).unwrap(), "a+");
        assert_eq!(fs::read_to_string(work.join("d")).unwrap(), "c");
        assert!(work.join("e/f").is_dir() && !work.join("b").exists() && !work.join("c").exists());
        let names = fs::read_dir(&work).unwrap().count();
        assert_eq!(names, 5, "nothing else is left");
    }
}

#[test]
fn a_temporary_workspace_has_inputs_and_keeps_artifacts_until_the_result_is_dropped() {
    let env = ScriptEnv::new();
    env.script("x.py", UPPER);
    for tier in TIERS {
        let result = env
            .script_named("x.py")
            .args(&["data/in.txt", "out/b.txt"])
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                let input = InputFile::new("data/in.txt", b"text".to_vec()).unwrap();
                options.workspace = Some(Workspace::Temporary(vec![input]));
            })
            .unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        assert_eq!(artifact_paths(&result), ["out/b.txt"]);
        let workspace = result.workspace.as_ref().unwrap();
        assert_eq!(workspace.read(&workspace.artifacts()[0]).unwrap(), b"TEXT");
        let target = env.path(&format!("kept-{tier}"));
        workspace.copy_artifacts(&target, &env.host_env()).unwrap();
        let tools = prowess::HostEnv { path: target.join("out").into(), ..env.host_env() };
        for (dir, host) in
            [(env.path("home"), env.host_env()), ("/etc".into(), env.host_env()), (target.clone(), tools)]
        {
            let error = workspace.copy_artifacts(&dir, &host).unwrap_err();
            assert_eq!(error.code(), ErrorCode::AccessDenied, "{error}");
        }
        assert_eq!(fs::read_to_string(target.join("out/b.txt")).unwrap(), "TEXT");
        assert!(!target.join("data").exists(), "inputs are not artifacts");
        let dir = PathBuf::from(result.stdout_text().trim());
        assert!(dir.exists(), "{}", dir.display());
        drop(result);
        assert!(!dir.exists(), "{}", dir.display());
    }
}

#[test]
fn granted_files_can_be_read_and_nothing_else() {
    let env = ScriptEnv::new();
    let file = env.write("data/one.txt", "one");
    let dir = env.write("data/dir/two.txt", "two").parent().unwrap().to_owned();
    let other = env.write("data/three.txt", "three");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let text = r#"
import sys
for path in sys.argv[1:]:
    try: print(open(path).read())
    except OSError as e: print("denied")
    try:
        open(path, "a").write("!"); print("WROTE", path)
    except OSError: pass
"#;
    env.script("x.py", text);
    let arguments = [&file, &dir.join("two.txt"), &other, &env.skill_dir().join("SKILL.md")]
        .map(|path| path.display().to_string());
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.push("data/one.txt");
    for tier in TIERS {
        let result = env
            .script_named("x.py")
            .args(&arguments)
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.read = vec![file.clone(), dir.clone()];
                options.current_dir = Some(env.path(""));
            })
            .unwrap();
        assert_eq!(
            result.stdout_text(),
            "one\ntwo\ndenied\ndenied\none\n",
            "{tier}: {}",
            result.stderr_text()
        );
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
    let error =
        env.script_named("x.py").run_with(|options| options.read = vec![env.path("absent")]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
}

#[test]
fn links_and_devices_in_a_workspace_reach_nothing_else() {
    let env = ScriptEnv::new();
    let secret = env.write("secret.txt", "secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o666)).unwrap();
    let granted = env.write("granted.txt", "granted");
    let text = r#"
import os, sys, socket
secret, granted, skill = sys.argv[1:]
os.symlink(secret, "link"); os.symlink("/etc/passwd", "passwd"); os.symlink(os.path.dirname(secret), "dir")
os.remove("in.txt"); os.symlink(secret, "in.txt")
os.mkfifo("fifo")
for name, f in {
    "hard": lambda: os.link(secret, "hard"), "grant": lambda: os.link(granted, "grant"), "skill": lambda: os.link(skill, "skill"),
    "null": lambda: os.mknod("null", 0o020666, os.makedev(1, 3)), "disk": lambda: os.mknod("disk", 0o060666, os.makedev(8, 0)),
    "read": lambda: open("link").read(), "write": lambda: open("link", "w"), "inner": lambda: open("dir/secret.txt").read(),
    "proc": lambda: open("/proc/self/root" + secret).read()}.items():
    try: print("DID", name, f())
    except OSError: pass
open("ok.txt", "w").write("ok"); os.link("ok.txt", "again.txt")
"#;
    env.script("x.py", text);
    for tier in TIERS {
        let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
        let skill = env.skill_dir().join("SKILL.md").display().to_string();
        let result = env
            .script_named("x.py")
            .args(&[&secret.display().to_string(), &granted.display().to_string(), &skill])
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.read = vec![granted.clone()];
                in_dir(work.clone())(options);
            })
            .unwrap();
        assert_eq!(result.stdout_text(), "", "{tier}: {}", result.stderr_text());
        assert_eq!(artifact_paths(&result), ["again.txt", "ok.txt"], "{tier}");
        assert!(result.remarks.iter().any(|remark| remark.contains("links or special files")), "{result:?}");
        let mut names: Vec<_> = fs::read_dir(&work)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["again.txt", "in.txt", "ok.txt"], "{tier}");
        assert_eq!(fs::read_to_string(work.join("in.txt")).unwrap(), "in", "a link does not replace a file");
        fs::remove_dir_all(work).unwrap();
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn quotas_of_bytes_and_files_end_the_script_and_keep_nothing() {
    let env = ScriptEnv::new();
    let fill =
        "import time\nfor n in range(4000):\n    open('f%d' % n, 'wb').write(b'x' * 10000)\ntime.sleep(20)\n";
    let many = "import os, time\nfor n in range(4000): os.mkdir('d%d' % n)\ntime.sleep(20)\n";
    let deleted = "import os, time\nfs = []\nfor n in range(100):\n    f = open('x', 'wb'); f.write(b'x' * 400000); f.flush(); os.remove('x'); \
                   fs.append(f)\ntime.sleep(20)\n";
    let late = "for n in range(900): open('f%d' % n, 'wb').write(b'x' * 10000)\n";
    for tier in TIERS {
        for (text, limit) in [
            (fill, RunLimit::Workspace),
            (many, RunLimit::Workspace),
            (deleted, RunLimit::Workspace),
            (late, RunLimit::Workspace),
        ] {
            let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
            env.script("x.py", text);
            let result = env
                .script_named("x.py")
                .run_with(|options| {
                    options.protection = Protection::Only(tier);
                    options.limits.workspace_bytes = 4_000_000;
                    options.limits.workspace_files = 1_000;
                    options.limits.scratch_bytes = 4_000_000;
                    in_dir(work.clone())(options);
                })
                .unwrap();
            // In tier 2, deleted files count as temporary files.
            let is_scratch = text == deleted && result.limits_hit == [RunLimit::Scratch];
            assert!(result.limits_hit.contains(&limit) || is_scratch, "{tier}: {text}: {result:?}");
            assert!(!result.is_success() || text == late, "{result:?}");
            assert!(result.artifacts().is_empty());
            assert_eq!(fs::read_dir(&work).unwrap().count(), 1, "{tier}");
        }
    }
    let work = env.path("work");
    for (path, limit) in [("work/big", 5_000_000), ("work/small", 10)] {
        let _ = fs::remove_file(env.path("work/big"));
        env.write(path, &"x".repeat(limit));
        let error = env
            .script_named("x.py")
            .run_with(|options| {
                (options.limits.workspace_bytes, options.limits.workspace_files) = (4_000_000, 1);
                in_dir(work.clone())(options);
            })
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::TooLarge, "{error}");
        assert!(error.hint().unwrap().contains("run.workspace-"), "{error}");
    }
}

#[test]
fn a_script_that_is_killed_changes_nothing() {
    let env = ScriptEnv::new();
    let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
    env.script("x.py", "import time\nopen('in.txt', 'w').write('half')\nopen('new', 'w')\ntime.sleep(60)\n");
    for tier in TIERS {
        let result = env
            .script_named("x.py")
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.limits.time = std::time::Duration::from_millis(700);
                in_dir(work.clone())(options);
            })
            .unwrap();
        assert!(result.timed_out && result.workspace.is_none(), "{result:?}");
        assert_eq!(fs::read_to_string(work.join("in.txt")).unwrap(), "in");
        assert!(!work.join("new").exists());
    }
}

#[test]
fn names_that_break_terminals_and_pages_and_trusted_files_are_not_kept() {
    let env = ScriptEnv::new();
    let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
    let text = r#"
import os
for name in ["a\x1b[2J.txt", "\u202egnp.exe", "b\n.txt", "C:evil", "back\\slash", b"\xff.txt"]:
    open(name, "w").write("x")
os.makedirs(".git/hooks"); open(".git/hooks/post-checkout", "w").write("evil")
os.makedirs("sub/.VSCode"); open("sub/.VSCode/tasks.json", "w").write("evil"); open(".envrc", "w").write("evil")
open("<img src=x>.txt", "w").write("x"); open("ok.txt", "w").write("x")
"#;
    env.script("x.py", text);
    for tier in TIERS {
        let result = env
            .script_named("x.py")
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                in_dir(work.clone())(options);
            })
            .unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        assert_eq!(artifact_paths(&result), ["<img src=x>.txt", "ok.txt"]);
        insta::allow_duplicates! { insta::assert_snapshot!(result.remarks.join("\n"), @r"
        6 files are not kept: the name contains characters that are not allowed
        6 changes are not kept: other programs run or trust files such as .envrc
        "); }
        assert!(
            !work.join(".git").exists()
                && !work.join(".envrc").exists()
                && !work.join("sub/.VSCode").exists()
        );
    }
}

#[test]
fn scripts_import_modules_of_their_skill() {
    let env = ScriptEnv::new();
    env.write("home/.prowess/skills/s/scripts/helper.py", "VALUE = 'helper'\n");
    env.write("home/.prowess/skills/s/scripts/__init__.py", "");
    env.write(
        "home/.prowess/skills/s/scripts/tool.py",
        "from scripts.helper import VALUE\nprint('tool', VALUE)\n",
    );
    env.write("work/helper.py", "raise SystemExit('a file of the workspace was imported')\n");
    let text = "import subprocess, sys\nimport helper\nfrom scripts.helper import VALUE\nprint(VALUE, helper.VALUE, flush=True)\n\
                subprocess.run([sys.executable, '-m', 'scripts.tool'], check=True)\n";
    env.script("scripts/x.py", text);
    for tier in TIERS {
        let result = env
            .script_named("scripts/x.py")
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                in_dir(env.path("work"))(options);
            })
            .unwrap();
        assert_eq!(result.stdout_text(), "helper helper\ntool helper\n", "{tier}: {}", result.stderr_text());
        assert!(result.artifacts().is_empty(), "no compiled modules: {result:?}");
    }
}

#[test]
fn tmp_is_private_and_writable_in_tier_1() {
    let env = ScriptEnv::new();
    let text = "#!/bin/sh\necho $HOME $TMPDIR; echo x > /tmp/private && cat /tmp/private; ls /tmp | grep -v prowess\n";
    let result = env.script("x.sh", text).run_on(TIERS[0]).unwrap();
    assert_eq!(result.stdout_text(), "/tmp /tmp\nx\nprivate\n", "{}", result.stderr_text());
    assert!(!std::path::Path::new("/tmp/private").exists());
}

#[test]
fn a_workspace_that_does_not_exist_is_an_error() {
    let env = ScriptEnv::new();
    env.script("x.sh", "#!/bin/sh\n");
    let errors: Vec<String> = [env.path("absent"), env.path("home"), "/etc".into(), env.skill_dir()]
        .into_iter()
        .map(|dir| {
            let error: RunError = env.script_named("x.sh").run_with(in_dir(dir)).unwrap_err();
            let text = error.to_string().replace(&env.path("").display().to_string(), "TEMP/");
            format!("{} {text}", error.code())
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    NOT_FOUND cannot read TEMP/absent: No such file or directory (os error 2)
    ACCESS_DENIED cannot use TEMP/home as a workspace: it contains your home directory
    ACCESS_DENIED cannot use /etc as a workspace: it is a system directory
    ACCESS_DENIED cannot use TEMP/home/.prowess/skills/s as a workspace: it is in a hidden directory of your home directory, which holds settings of programs
    ");
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
