//! Attacks of a hostile program. None succeeds, and each is reported.

#![cfg(target_os = "linux")]

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::program_support::{ScriptEnv, TIERS, TestPrograms, count_processes, program_with_call, wait_for};
use prowess::ErrorCode;
use serde_json::json;

/// Returns a program whose tool tries `attempts` and answers with those that succeeded.
fn attempting_program(attempts: &str) -> String {
    program_with_call(&format!(
        "did = []\ndef attempt(name, f):\n    try:\n        f(); did.append(name)\n    except (OSError, ValueError) as e:\n        pass\n\
         a = call['arguments'].get('a', '')\n{attempts}\nanswer(call, ' '.join(did))"
    ))
}

#[test]
fn files_of_the_user_and_the_system_cannot_be_read_or_written() {
    let attempts = r#"
for path in a.split():
    attempt("READ " + path, lambda: open(path, "rb").read(1))
    attempt("WROTE " + path, lambda: open(path, "ab").close())
        # Without a namespace these calls report success without effect, so the files are compared afterwards.
    for change in [lambda: os.chmod(path, 0o600), lambda: os.utime(path, (1, 1))]:
        try: change()
        except OSError: pass
attempt("MADE", lambda: open("made", "w").close())
attempt("REMOVED", lambda: os.remove("SKILL.md"))
# The owner may change the mode of its copy; that does not make it writable.
try: os.chmod(__file__, 0o777)
except OSError: pass
attempt("WROTE ITSELF", lambda: open(__file__, "ab").close())
attempt("read", lambda: open("SKILL.md").read())
attempt("scratch", lambda: open(os.environ["HOME"] + "/x", "w").write("x"))
"#;
    for tier in TIERS {
        let fixture = TestPrograms::with_program(&attempting_program(attempts)).on(tier);
        let secret = fixture.env.write("home/.ssh/id_rsa", "secret");
        let other = fixture
            .env
            .write("home/.prowess/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n");
        let notes = fixture.env.write("project/notes.txt", "notes");
        let own = fixture.env.skill_dir().join("SKILL.md");
        for path in [&secret, &other, &notes, &own] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
        }
        let paths = [&secret, &other, &notes, &own].map(|path| path.display().to_string()).join(" ");
        let paths = format!("{paths} /etc/shadow /etc/passwd /etc/hostname /root/.bashrc /proc/1/environ");
        let states = || {
            [&secret, &other, &notes, &own].map(|path| {
                let file = std::fs::metadata(path).unwrap();
                (file.permissions().mode(), file.modified().unwrap())
            })
        };
        let before = states();
        let did = fixture.call(json!({"a": paths})).unwrap().output;
        assert_eq!(did, "read scratch", "{tier}");
        assert_eq!(states(), before, "{tier}");
    }
}

#[test]
fn the_network_is_unreachable() {
    let attempts = r#"
import socket
tcp, udp, path, name = a.split()
attempt("TCP", lambda: socket.create_connection(("127.0.0.1", int(tcp)), 2).send(b"x"))
attempt("TCP6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
attempt("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(udp))))
attempt("UNIX", lambda: socket.socket(socket.AF_UNIX).connect(path))
attempt("ABSTRACT", lambda: socket.socket(socket.AF_UNIX).connect("\0" + name))
attempt("BIND", lambda: socket.socket().bind(("127.0.0.1", 0)))
did.append("done")
"#;
    for tier in TIERS {
        let fixture = TestPrograms::with_program(&attempting_program(attempts)).on(tier);
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let path = fixture.env.path("service.sock");
        let _unix = UnixListener::bind(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        let name = format!("prowess-program-{}-{tier}", std::process::id());
        let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let ports = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let arguments = format!("{} {} {} {name}", ports.0, ports.1, path.display());
        assert_eq!(fixture.call(json!({"a": arguments})).unwrap().output, "done", "{tier}");
    }
}

#[test]
fn the_environment_and_other_processes_are_hidden() {
    let attempts = r#"
host = int(a)
did.append(",".join(sorted(k for k in os.environ if k not in ("LC_CTYPE", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "XDG_CONFIG_HOME"))))
attempt("ENVIRON", lambda: open(f"/proc/{host}/environ", "rb").read())
attempt("MEMORY", lambda: open(f"/proc/{host}/mem", "rb").read(1))
attempt("SIGNAL", lambda: os.kill(host, 0))
attempt("PARENT", lambda: open(f"/proc/{os.getppid()}/environ", "rb").read())
"#;
    for tier in TIERS {
        let fixture = TestPrograms::with_program(&attempting_program(attempts)).on(tier);
        let did = fixture.call(json!({"a": std::process::id().to_string()})).unwrap().output;
        assert_eq!(did, "HOME,LANG,PATH,TMPDIR", "{tier}");
    }
    // Only variables that the skill requests and the user grants.
    let mut env = ScriptEnv::with("toolsets: [toolsets/tools.py]\nmetadata:\n  env: GIVEN SECRET\n");
    env.write(
        "home/.prowess/skills/s/toolsets/tools.py",
        &program_with_call("answer(call, str([os.environ.get('GIVEN'), os.environ.get('SECRET')]))"),
    );
    env.policy.run.env = vec!["s:GIVEN".to_owned()];
    let fixture = TestPrograms::with_project(env);
    assert_eq!(
        (fixture.output().as_str(), &fixture.log()[0].env[..]),
        ("['given', None]", &["GIVEN".to_owned()][..])
    );
}

#[test]
fn a_daemon_does_not_outlive_its_program() {
    let body = "for n in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            \
                for fd in (0, 1, 2): os.close(fd)\n            while True: time.sleep(0.01)\n        os._exit(0)\n\
                answer(call, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))))";
    for tier in TIERS {
        let fixture = TestPrograms::with_call(body).on(tier);
        let run_dir = fixture.output();
        assert!(wait_for(|| count_processes(&run_dir) >= 4), "{tier}");
        fixture.programs.keep_only(&fixture.conversation, &[]);
        assert!(wait_for(|| count_processes(&run_dir) == 0), "{tier}");
    }
}

#[test]
fn a_fork_bomb_is_limited_and_ended() {
    let body = "answer_to = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))))\nopen(os.environ['HOME'] + '/x', 'w').write('x')\n\
                while True:\n    try: os.fork()\n    except OSError: time.sleep(0.01)";
    for tier in TIERS {
        let fixture = TestPrograms::with_call(body).on(tier).timeout_ms(1500);
        assert_eq!(
            fixture.error(),
            "toolsets/tools.py did not answer within 1.5 s and was stopped",
            "{tier}"
        );
        let own = format!("/prowess-{:x}-", std::process::id());
        assert!(wait_for(|| count_processes(&own) == 0), "{tier}");
    }
}

#[test]
fn an_endless_program_that_ignores_signals_is_killed_in_time() {
    let body = "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: pass";
    for tier in TIERS {
        let fixture = TestPrograms::with_call(body).on(tier).timeout_ms(500);
        let error = fixture.call(json!({})).unwrap_err();
        assert_eq!((error.code(), fixture.programs.running()), (ErrorCode::Timeout, 0), "{tier}");
        let end = fixture.log()[0].end.clone().unwrap();
        assert_eq!(
            (end.signal, end.timed_out, &end.limits_hit[..]),
            (Some(9), true, &["time".to_owned()][..])
        );
    }
}

#[test]
fn memory_and_files_are_limited_during_and_between_calls() {
    let shared = "import mmap\nm = mmap.mmap(-1, 400 << 20)\nfor i in range(0, 400 << 20, 4096): m[i] = 1\ntime.sleep(20)";
    let scratch = "for n in range(99):\n    open(os.environ['HOME'] + f'/{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(20)";
    // After the answer, while the program is idle.
    let resting = "answer(call, 'x')\nimport mmap\nm = mmap.mmap(-1, 400 << 20)\nfor i in range(0, 400 << 20, 4096): m[i] = 1\ntime.sleep(20)";
    for tier in TIERS {
        let fixture = |body: &str| {
            let mut fixture = TestPrograms::with_call(body).on(tier);
            fixture.env.policy.run.limits.memory_bytes = 256 << 20;
            fixture.env.policy.run.limits.scratch_bytes = 32 << 20;
            fixture
        };
        assert_eq!(fixture(shared).error(), "toolsets/tools.py was stopped at the limit of memory", "{tier}");
        let full = fixture(scratch);
        assert_eq!(full.error(), "toolsets/tools.py was stopped at the limit of scratch", "{tier}");
        assert_eq!(full.log()[0].end.as_ref().unwrap().limits_hit, ["scratch"]);
        let fixture = fixture(resting);
        assert_eq!(fixture.output(), "x");
        assert!(wait_for(|| fixture.programs.running() == 0), "{tier}");
        assert_eq!(fixture.error(), "toolsets/tools.py was stopped at the limit of memory", "{tier}");
    }
    let at_once =
        "try:\n    bytearray(3 << 30); answer(call, 'GOT')\nexcept MemoryError: answer(call, 'refused')";
    for tier in TIERS {
        assert_eq!(TestPrograms::with_call(at_once).on(tier).output(), "refused", "{tier}");
    }
}

#[test]
fn endless_output_ends_the_program() {
    for tier in TIERS {
        for body in ["os.system('yes')", "os.system('yes >&2')", "while True: sys.stdout.write('{')"] {
            let fixture = TestPrograms::with_call(body).on(tier);
            // The error names the output, so the output limit ended it, not the time limit.
            let message = fixture.error();
            assert!(
                message.contains("wrote more than") || message.contains("wrote a line"),
                "{tier}: {message}"
            );
        }
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    crate::program_support::rerun_as_unprivileged_user(module_path!());
}
