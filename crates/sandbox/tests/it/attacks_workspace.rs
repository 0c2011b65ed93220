//! Attacks on workspaces: quotas, names, and other processes that change the same files.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use prowess::ErrorCode;
use prowess_sandbox::{Protection, RunError, RunLimit, SandboxTier, ScriptResult, Workspace};
use prowess_testing::script_env::{ScriptEnv, TIERS};

fn run_in(env: &ScriptEnv, dir: &Path, tier: SandboxTier) -> Result<ScriptResult, RunError> {
    env.script_named("x.py").run_with(|options| {
        options.protection = Protection::Only(tier);
        options.workspace = Some(Workspace::Directory(dir.to_owned()));
    })
}

/// Returns the paths and contents of all files below a directory.
fn contents(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(contents(&entry.path())),
            kind if kind.is_symlink() => found.push((entry.path(), "link".to_owned())),
            _ => found.push((entry.path(), fs::read_to_string(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

/// A file with holes needs no space in the sandbox, but its copy does.
#[test]
fn holes_in_files_count_towards_the_quota() {
    let env = ScriptEnv::new();
    let text = "import time\nfor n in range(20):\n    with open('f%d' % n, 'wb') as f: f.truncate(1 << 20)\n";
    for tier in TIERS {
        for end in ["", "time.sleep(20)\n"] {
            env.script("x.py", &format!("{text}{end}"));
            let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
            let result = env
                .script_named("x.py")
                .run_with(|options| {
                    options.protection = Protection::Only(tier);
                    options.limits.workspace_bytes = 8 << 20;
                    options.workspace = Some(Workspace::Directory(work.clone()));
                })
                .unwrap();
            assert!(result.limits_hit.contains(&RunLimit::Workspace), "{tier}: {result:?}");
            assert!(result.artifacts().is_empty(), "{tier}: {result:?}");
            assert_eq!(fs::read_dir(&work).unwrap().count(), 1, "{tier}");
        }
    }
}

/// Programs that the user starts by name, and names that are ours.
#[test]
fn programs_in_the_path_of_the_user_are_not_replaced() {
    let env = ScriptEnv::new();
    let text = "import os\nfor name in ['tools/ls', 'tools/deep/x', '.prowess-staging-1/x', '.venv/bin/python', 'ok.txt']:\n    \
                os.makedirs(os.path.dirname(name) or '.', exist_ok=True); open(name, 'w').write('evil')\n\
                os.remove('tools/git')\n";
    env.script("x.py", text);
    for tier in TIERS {
        let tool = env.write("work/tools/git", "mine");
        let work = env.path("work");
        let path = format!("{}:/usr/bin:/bin", tool.parent().unwrap().display());
        let host = prowess::HostEnv { path: path.into(), ..env.host_env() };
        let registry = prowess::Registry::open_in(env.policy.clone(), host, &Default::default());
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        let result = env
            .script_named("x.py")
            .run_skill(skill, &registry, |options| {
                options.protection = Protection::Only(tier);
                options.workspace = Some(Workspace::Directory(work.clone()));
            })
            .unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        let paths: Vec<_> = result.artifacts().iter().map(|artifact| artifact.path.as_str()).collect();
        assert_eq!((paths, result.removed().len()), (vec!["ok.txt"], 0), "{tier}");
        let files: Vec<_> = contents(&work).into_iter().map(|(path, _)| path).collect();
        assert_eq!(files, [work.join("ok.txt"), tool], "{tier}");
        fs::remove_dir_all(&work).unwrap();
    }
}

/// Modes of files and directories that a script sets do not hide them, and special bits are not kept.
#[test]
fn modes_hide_nothing_and_special_bits_are_not_kept() {
    let env = ScriptEnv::new();
    let special = "import os\nf = os.open('run', os.O_CREAT | os.O_WRONLY); os.write(f, b'#!/bin/sh\\n'); os.fchmod(f, 0o6777)\n\
                   os.mkdir('dir'); os.fchmod(os.open('dir', os.O_RDONLY), 0o7777); open('dir/x', 'w')\n";
    let closed = "import os\nos.mkdir('dir'); open('dir/x', 'w').write('x'); os.fchmod(os.open('dir', os.O_RDONLY), 0)\n\
                  f = os.open('in.txt', os.O_WRONLY); os.fchmod(f, 0)\n";
    for tier in TIERS {
        let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
        env.script("x.py", special);
        run_in(&env, &work, tier).unwrap();
        let mode = |path: &str| fs::metadata(work.join(path)).unwrap().mode() & 0o7000;
        assert_eq!([mode("run"), mode("dir"), mode("dir/x")], [0; 3], "{tier}");
        fs::remove_dir_all(&work).unwrap();
        env.write("work/in.txt", "in");
        env.script("x.py", closed);
        // Root reads everything. Another user cannot, which is an error or a limit, but never a change.
        match run_in(&env, &work, tier) {
            Ok(result) if result.workspace.is_some() => {
                assert!(rustix::process::geteuid().is_root(), "{tier}: {result:?}");
            }
            Ok(result) => assert!(result.limits_hit.contains(&RunLimit::Workspace), "{tier}: {result:?}"),
            Err(error) => assert!(matches!(error, RunError::Io { .. }), "{tier}: {error}"),
        }
        assert_eq!(fs::read_to_string(work.join("in.txt")).unwrap(), "in", "{tier}");
        fs::remove_dir_all(&work).unwrap();
    }
}

/// Two runs in the same directory: each sees a complete state, and no change is lost silently.
#[test]
fn concurrent_runs_in_one_workspace_do_not_lose_changes() {
    let env = ScriptEnv::new();
    let text = "n = int(open('count').read())\nassert open('copy').read() == str(n), 'half applied'\n\
                open('count', 'w').write(str(n + 1)); open('copy', 'w').write(str(n + 1))\n";
    env.script("x.py", text);
    env.write("work/count", "0");
    let work = env.write("work/copy", "0").parent().unwrap().to_owned();
    let (env, work) = (&env, &work);
    let done: usize = std::thread::scope(|scope| {
        let runs = [0, 1, 2].map(|number| {
            scope.spawn(move || {
                let attempts = (0..4).map(|_| run_in(env, work, TIERS[number % 2]));
                attempts
                    .filter(|result| match result {
                        Ok(result) => {
                            assert_eq!(result.exit_code, Some(0), "{}", result.stderr_text());
                            true
                        }
                        Err(error) => {
                            assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
                            false
                        }
                    })
                    .count()
            })
        });
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    let count = done.to_string();
    assert!(done > 0);
    assert_eq!(contents(work), [(work.join("copy"), count.clone()), (work.join("count"), count)]);
}

/// Another process replaces files and directories by symlinks, while they are copied, and while changes are applied.
#[test]
fn swaps_by_another_process_reach_nothing_outside() {
    let env = ScriptEnv::new();
    for name in ["a.txt", "dir/b.txt", "b.txt", "new/c.txt", "c.txt"] {
        env.write(&format!("outside/{name}"), "outside");
    }
    for name in ["a.txt", "dir/b.txt"] {
        env.write(&format!("work/{name}"), "inside");
    }
    let links = [("work/a.txt", "a", "outside/a.txt"), ("work/dir", "dir", "outside/dir")];
    fs::create_dir(env.path("links")).unwrap();
    for (_, link, target) in links {
        symlink(env.path(target), env.path("links").join(link)).unwrap();
    }
    // Prints whatever it can read, and changes everything.
    let text = "import os\nfor name in ['a.txt', 'dir/b.txt', 'b.txt', 'new/c.txt']:\n    \
                try: print(open(name).read())\n    except OSError: pass\n    \
                os.makedirs(os.path.dirname(name) or '.', exist_ok=True)\n    open(name, 'w').write('script')\n";
    env.script("x.py", text);
    let outside = contents(&env.path("outside"));
    let stop = AtomicBool::new(false);
    let mut output: Vec<String> = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                for (path, link, _) in links {
                    let (path, link) = (env.path(path), env.path("links").join(link));
                    // Twice, so that everything is in its place again, unless a change was applied in between.
                    let _ = prowess_fs::exchange(&path, &link);
                    std::thread::yield_now();
                    let _ = prowess_fs::exchange(&path, &link);
                }
            }
        });
        for round in 0..16 {
            output
                .extend(run_in(&env, &env.path("work"), TIERS[round % 2]).map(|result| result.stdout_text()));
        }
        stop.store(true, Relaxed);
    });
    assert!(!output.iter().any(|text| text.contains("outside")), "{output:?}");
    assert_eq!(contents(&env.path("outside")), outside);
}

/// The directory of another user: root creates nothing outside of it, whatever that user does meanwhile.
#[test]
fn root_writes_nothing_outside_of_a_directory_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let env = ScriptEnv::new();
    let work = env.write("work/in.txt", "in").parent().unwrap().to_owned();
    for path in [&work, &work.join("in.txt")] {
        std::os::unix::fs::chown(path, Some(61_234), Some(61_234)).unwrap();
    }
    env.script("x.py", "import os\nos.makedirs('a/b'); open('a/b/c', 'w').write('c'); open('in.txt', 'w').write('changed')\n");
    for tier in TIERS {
        let result = run_in(&env, &work, tier).unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        for path in ["a", "a/b", "a/b/c", "in.txt"] {
            let metadata = fs::metadata(work.join(path)).unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (61_234, 61_234), "{tier}: {path}");
        }
        assert_eq!(fs::metadata(&work).unwrap().permissions().mode() & 0o7777, 0o755);
        fs::remove_dir_all(work.join("a")).unwrap();
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
