//! Programs that belong to no skill: their files, their network, and their end.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use prowess::HostEnv;
use prowess_sandbox::sandbox::ProcessEvent;
use prowess_sandbox::{
    Cancel, InputFile, NetworkAccess, OutputStream, ProgramOptions, ProgramResult, ProgramTask, Protection,
    RunError, RunLimit, SandboxHelper, SandboxTier, ScriptInput, locate_program, run_program, start_program,
};
use prowess_testing::script_env::{TIERS, helper};

fn options(tier: SandboxTier) -> ProgramOptions<'static> {
    ProgramOptions { protection: Protection::Only(tier), helper: helper(), ..ProgramOptions::default() }
}

fn shell(script: &str) -> ProgramTask {
    let mut task = ProgramTask::new("/bin/sh");
    task.arguments = vec!["-c".to_owned(), script.to_owned()];
    task
}

fn python(script: &str) -> ProgramTask {
    let mut task = ProgramTask::new("/usr/bin/python3");
    task.arguments = vec!["-c".to_owned(), script.to_owned()];
    task
}

fn artifacts(result: &ProgramResult) -> Vec<(String, String)> {
    let workspace = result.workspace.as_ref().unwrap();
    let read = |artifact| String::from_utf8(workspace.read(artifact).unwrap()).unwrap();
    workspace.artifacts().iter().map(|artifact| (artifact.path.clone(), read(artifact))).collect()
}

#[test]
fn a_program_works_in_a_new_workspace_with_an_empty_home() {
    for tier in TIERS {
        let mut task = shell(
            "cat in/a.txt - >out.txt; in/tool >tool.txt; ls -A \"$HOME\" | grep -v prowess- >home.txt; \
             mkdir .github; echo w >.github/ci.yml; echo \"$EXTRA$SECRET\" >environment.txt; exit 3",
        );
        task.files = vec![
            InputFile::new("in/a.txt", b"a\n".to_vec()).unwrap(),
            InputFile::new("in/tool", b"#!/bin/sh\necho ran\n".to_vec()).unwrap().executable(),
        ];
        task.input = ScriptInput::Bytes(b"input\n".to_vec());
        task.environment = vec![("EXTRA".to_owned(), "extra".into())];
        let result = run_program(task, options(tier)).unwrap();
        let expected = [
            (".github/ci.yml", "w\n"),
            ("environment.txt", "extra\n"),
            ("home.txt", ".config\n"),
            ("out.txt", "a\ninput\n"),
            ("tool.txt", "ran\n"),
        ];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(artifacts(&result), expected, "{tier}: {}", String::from_utf8_lossy(&result.stderr));
        assert_eq!((result.exit_code, result.sandbox, result.cancelled), (Some(3), tier, false));
    }
}

/// Files that other programs run or trust can be read, but not copied to a directory of the user.
#[test]
fn protected_files_are_not_copied_to_a_directory() {
    let task = shell("mkdir .husky; echo x >.husky/pre-commit; echo a >a.txt");
    let result = run_program(task, options(SandboxTier::Tier1)).unwrap();
    assert_eq!(artifacts(&result).len(), 2);
    let target = tempfile::tempdir().unwrap();
    let env = HostEnv { project: target.path().into(), home: None, path: Default::default() };
    result.workspace.unwrap().copy_artifacts(&target.path().join("copy"), &env).unwrap();
    let copied: Vec<_> =
        fs::read_dir(target.path().join("copy")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(copied, ["a.txt"]);
}

#[test]
fn files_are_kept_when_the_time_is_over_or_the_run_is_cancelled() {
    for tier in TIERS {
        let mut task = shell("echo partial >a.txt; echo shown; sleep 60 & sleep 60");
        task.limits.time = Duration::from_secs(2);
        let result = run_program(task, options(tier)).unwrap();
        assert_eq!(result.limits_hit, [RunLimit::Time], "{tier}");
        assert_eq!(artifacts(&result), [("a.txt".to_owned(), "partial\n".to_owned())]);
        assert_eq!(result.stdout, b"shown\n");

        let cancel = Cancel::default();
        let on_output = {
            let cancel = cancel.clone();
            move |_: OutputStream, _: &[u8]| cancel.cancel()
        };
        let options = ProgramOptions { cancel, on_output: Some(Box::new(on_output)), ..options(tier) };
        let result = run_program(shell("echo partial >a.txt; echo shown; sleep 60"), options).unwrap();
        assert!(result.cancelled, "{tier}");
        assert_eq!(artifacts(&result).len(), 1);
    }
}

#[test]
fn without_a_sandbox_no_program_runs() {
    let marker = tempfile::tempdir().unwrap();
    let task = shell(&format!("echo ran >{}/ran", marker.path().display()));
    let broken = ProgramOptions { helper: SandboxHelper::from_path("/bin/false"), ..Default::default() };
    let error = run_program(task, broken).unwrap_err();
    assert!(matches!(error, RunError::Sandbox(_)), "{error}");
    assert_eq!(fs::read_dir(marker.path()).unwrap().count(), 0);
}

const CONNECT: &str = r#"
import socket, sys
gateway, other = 0, 0
def attempt(name, f):
    try: print(name, f())
    except OSError as e: print(name, "refused")
def ask(host, port):
    s = socket.create_connection((host, port), 3); s.sendall(b"hi"); s.shutdown(socket.SHUT_WR)
    return s.recv(10).decode()
def listen():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
    c = socket.create_connection(s.getsockname(), 3); return "listens"
gateway, other = map(int, sys.argv[1:])
attempt("gateway", lambda: ask("127.0.0.1", gateway))
attempt("again", lambda: ask("127.0.0.1", gateway))
attempt("other port", lambda: ask("127.0.0.1", other))
attempt("other host", lambda: ask("192.0.2.1", other))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("own port", listen)
try: routes = [line.split()[0] for line in open("/proc/net/route").read().splitlines()[1:]]
except OSError: routes = "hidden"
print("routes", routes)
"#;

fn answer_connections(listener: TcpListener) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = String::new();
            let _ = stream.read_to_string(&mut text);
            let _ = stream.write_all(format!("{text} back").as_bytes());
        }
    });
}

#[test]
fn only_the_gateway_is_reachable() {
    let (gateway, other) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = [&gateway, &other].map(|listener| listener.local_addr().unwrap().port());
    answer_connections(gateway);
    answer_connections(other);
    for tier in TIERS {
        let mut task = python(CONNECT);
        task.arguments.extend(ports.map(|port| port.to_string()));
        task.network = NetworkAccess::Gateway(ports[0]);
        let result = run_program(task, options(tier)).unwrap();
        // In tier 1, the network of the program has no other hosts and no routes to them.
        let (own_port, routes) = match tier {
            SandboxTier::Tier1 => ("listens", "[]"),
            _ => ("refused", "hidden"),
        };
        let expected = format!(
            "gateway hi back\nagain hi back\nother port refused\nother host refused\nunix refused\nown port {own_port}\n\
             routes {routes}\n"
        );
        let stdout = String::from_utf8_lossy(&result.stdout);
        assert_eq!(stdout, expected, "{tier}: {}", String::from_utf8_lossy(&result.stderr));
    }
}

/// Two programs with gateways at the same time have separate networks and files.
#[test]
fn parallel_programs_do_not_see_each_other() {
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gateway.local_addr().unwrap().port();
    answer_connections(gateway);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|number| {
                scope.spawn(move || {
                    let mut task =
                        shell(&format!("ls -A; ls -A /tmp | wc -l; echo {number} >n; sleep 0.3; cat n"));
                    task.network = NetworkAccess::Gateway(port);
                    let result = run_program(task, options(SandboxTier::Tier1)).unwrap();
                    (number, String::from_utf8(result.stdout).unwrap())
                })
            })
            .collect();
        for run in runs {
            let (number, stdout) = run.join().unwrap();
            // The home directory has the directory of settings and the one that contains the workspace.
            assert_eq!(stdout, format!("2\n{number}\n"));
        }
    });
}

#[test]
fn a_started_program_exchanges_messages() {
    for tier in TIERS {
        let task = shell("while read -r line; do echo \"got $line\" >>log.txt; echo \"got $line\"; done");
        let mut running = start_program(task, &options(tier)).unwrap();
        assert!(running.limits_exceeded().is_empty());
        for number in 0..3 {
            running.process.send(format!("{number}\n").as_bytes());
            let mut received = Vec::new();
            while !received.ends_with(b"\n") {
                for event in running.process.next_events(Duration::from_secs(10)).unwrap() {
                    if let ProcessEvent::Output(OutputStream::Out, bytes) = event {
                        received.extend(bytes);
                    }
                }
            }
            assert_eq!(received, format!("got {number}\n").as_bytes(), "{tier}");
        }
        let (workspace, _) = running.finish();
        let workspace = workspace.unwrap();
        assert_eq!(workspace.read(&workspace.artifacts()[0]).unwrap(), b"got 0\ngot 1\ngot 2\n");
    }
}

fn write_program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program of npm consists of several packages, and needs Node.js.
#[test]
fn a_program_of_npm_runs_with_its_packages() {
    let temp = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let root = temp.path().canonicalize().unwrap();
    let modules = root.join("lib/node_modules");
    write_program(
        &modules.join("@me/agent/cli.js"),
        "#!/usr/bin/env node\nconsole.log(require('helper').text, process.argv.slice(2).join(' '));\n",
    );
    fs::create_dir_all(modules.join("helper")).unwrap();
    fs::write(modules.join("helper/index.js"), "exports.text = 'helped';\n").unwrap();
    fs::write(root.join("secret.txt"), "secret").unwrap();
    fs::create_dir_all(root.join("bin")).unwrap();
    std::os::unix::fs::symlink("../lib/node_modules/@me/agent/cli.js", root.join("bin/agent")).unwrap();
    let path = std::env::join_paths([root.join("bin"), "/usr/local/bin".into(), "/usr/bin".into()]).unwrap();
    let env = HostEnv { project: root.clone(), home: Some(root.clone()), path };
    let located = locate_program("agent", &env).unwrap();
    assert_eq!(located.arguments, [modules.join("@me/agent/cli.js").display().to_string()]);
    assert_eq!(located.readable.first(), Some(&modules));
    assert_eq!(locate_program("./bin/agent", &env).unwrap(), located);
    for tier in TIERS {
        let mut task = ProgramTask::new(&located.program);
        task.arguments = located.arguments.clone();
        task.arguments.push("argument".to_owned());
        task.readable = located.readable.clone();
        task.environment = vec![("PATH".to_owned(), located.path.clone())];
        let result = run_program(task, options(tier)).unwrap();
        let stderr = String::from_utf8_lossy(&result.stderr);
        assert_eq!(String::from_utf8_lossy(&result.stdout), "helped argument\n", "{tier}: {stderr}");
    }
}

#[test]
fn what_a_program_needs_is_found() {
    let temp = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let root = temp.path().canonicalize().unwrap();
    let python = root.join("tools/agent/bin/python");
    write_program(&root.join("bin/script"), "#!/bin/sh -e\n");
    write_program(&root.join("bin/alone"), "\u{7f}ELF");
    write_program(&root.join("bin/lost"), "#!/usr/bin/env prowess-absent\n");
    write_program(&root.join("tools/agent/bin/agent"), &format!("#!{}\n", python.display()));
    fs::write(root.join("tools/agent/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    std::os::unix::fs::symlink("/usr/bin/python3", &python).unwrap();
    fs::write(root.join("bin/data"), "").unwrap();
    let path = std::env::join_paths([root.join("bin"), root.join("tools/agent/bin")]).unwrap();
    let env = HostEnv {
        project: root.clone(),
        home: Some(root.clone()),
        path: [path.to_str().unwrap(), "/usr/bin", "/bin"].join(":").into(),
    };
    let show = |name: &str| {
        let text = match locate_program(name, &env) {
            Ok(located) => format!(
                "{} {:?} {:?} {}",
                located.program.display(),
                located.arguments,
                located.readable,
                located.path.display()
            ),
            Err(error) => error.to_string(),
        };
        format!("{name}: {}", text.replace(&root.display().to_string(), "ROOT"))
    };
    let shown = ["script", "alone", "agent", "lost", "absent", "./bin/data"].map(show).join("\n");
    insta::assert_snapshot!(shown, @r#"
    script: /usr/bin/sh ["-e", "ROOT/bin/script"] ["ROOT/bin/script"] /usr/local/bin:/usr/bin:/bin
    alone: ROOT/bin/alone [] ["ROOT/bin/alone"] ROOT/bin:/usr/local/bin:/usr/bin:/bin
    agent: ROOT/tools/agent/bin/python ["ROOT/tools/agent/bin/agent"] ["ROOT/tools/agent/bin/agent", "ROOT/tools/agent"] ROOT/tools/agent/bin:/usr/local/bin:/usr/bin:/bin
    lost: lost needs prowess-absent, which is not in PATH
    absent: absent is not in PATH
    ./bin/data: ./bin/data is not an executable file
    "#);
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
