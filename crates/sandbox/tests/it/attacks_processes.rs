//! Attacks through processes: inspecting or killing others, outliving the script.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use prowess_sandbox::{Cancel, OutputStream, Protection, RunLimit, SandboxTier};
use prowess_testing::script_env::{ScriptEnv, TIERS, count_own_processes, helper, is_alive};

#[test]
fn other_processes_can_be_neither_inspected_nor_signalled() {
    let text = r#"
import os, sys, ctypes, signal
host = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, f):
    try:
        r = f(); print("DID", name, r)
    except (OSError, ValueError) as e:
        print(name, "denied")
def call(*args):
    if libc.syscall(*args) < 0: raise OSError(ctypes.get_errno(), "")
parents = [os.getppid(), host]
for pid in parents:
    who = "host" if pid == host else "parent"
    attempt(who + " environ", lambda: open(f"/proc/{pid}/environ", "rb").read())
    attempt(who + " memory", lambda: open(f"/proc/{pid}/mem", "rb").read(1))
    attempt(who + " ptrace", lambda: call(101, 16, pid, 0, 0))
    attempt(who + " vm_read", lambda: call(310, pid, 0, 0, 0, 0, 0))
for sig in (0, 9, 15, 19):
    attempt(f"host signal {sig}", lambda: os.kill(host, sig))
attempt("user namespace", lambda: call(272, 0x10000000))
attempt("mount namespace", lambda: call(56, 0x00020000 | 17, 0, 0, 0, 0))
attempt("clone3", lambda: call(435, 0, 0))
attempt("mount", lambda: call(165, 0, 0, 0, 0, 0))
attempt("keyctl", lambda: call(250, 0, 0, 0, 0, 0))
attempt("bpf", lambda: call(321, 0, 0, 0))
attempt("perf", lambda: call(298, 0, 0, 0, 0, 0))
attempt("io_uring", lambda: call(425, 1, 0))
attempt("userfaultfd", lambda: call(323, 0))
attempt("shm", lambda: call(29, 1, 4096, 0o1600))
attempt("x32", lambda: call(0x40000000 + 39))
attempt("limits of others", lambda: call(302, host, 7, 0, 0))
attempt("setuid", lambda: os.setuid(0))
attempt("later calls", lambda: call(500))
"#;
    let env = ScriptEnv::new();
    let host = std::process::id().to_string();
    for tier in TIERS {
        let result = env.script("x.py", text).args(&[&host]).run_on(tier).unwrap();
        let did: Vec<_> = result
            .stdout_text()
            .lines()
            .filter(|line| !line.ends_with("denied"))
            .map(str::to_owned)
            .collect();
        assert_eq!((did, result.exit_code), (Vec::new(), Some(0)), "{tier}: {}", result.stderr_text());
    }
}

/// In tier 2, all processes are visible, but a script can only signal its own.
#[test]
fn killing_all_processes_affects_only_the_script() {
    let env = ScriptEnv::new();
    let mut bystander = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let text =
        "#!/bin/sh\nkill -9 -1 2>/dev/null; kill -9 $PPID 2>/dev/null; sleep 0.1 & kill $! && echo own\n";
    for tier in TIERS {
        let result = env.script("x.sh", text).run_on(tier).unwrap();
        assert!(result.exit_code == Some(0) || result.signal == Some(9), "{tier}: {result:?}");
        assert_eq!(bystander.try_wait().unwrap(), None, "{tier}");
    }
    // If Landlock is too old to confine signals, none can be sent.
    let mut helper = helper();
    helper.deny_signals = true;
    let result = env
        .script("y.sh", "#!/bin/sh\nsleep 1 & kill $! 2>/dev/null || echo denied\n")
        .run_with(|options| {
            options.helper = helper;
            options.protection = Protection::Only(SandboxTier::Tier2);
        })
        .unwrap();
    assert_eq!(result.stdout_text(), "denied\n");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn a_daemon_does_not_outlive_the_script() {
    let text = r#"
import os, sys, time
for n in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2): os.close(fd)
            while True:
                open(os.environ["HOME"] + f"/alive{n}", "w").write("x"); time.sleep(0.01)
        os._exit(0)
time.sleep(0.2)
print(os.listdir(os.environ["HOME"]))
"#;
    let env = ScriptEnv::new();
    for tier in TIERS {
        let result = env.script("alive.py", text).run_on(tier).unwrap();
        assert!(result.stdout_text().contains("alive2"), "{tier}: {result:?}");
        assert_eq!(
            (result.exit_code, result.left_behind),
            (Some(0), 3),
            "{tier}: left processes are reported"
        );
        assert_eq!(count_own_processes("alive.py"), 0, "{tier}");
    }
}

/// A daemon that constantly forks and changes its process id.
#[test]
fn a_daemon_that_keeps_changing_its_pid_does_not_outlive_the_script() {
    let text = r#"
import os, sys, time
for n in range(3):
    if os.fork() == 0:
        for fd in (0, 1, 2): os.close(fd)
        while True:
            try:
                if os.fork(): os._exit(0)
                os.setsid()
            except OSError: time.sleep(0.001)
time.sleep(0.2)
print("left")
"#;
    let env = ScriptEnv::new();
    for tier in TIERS {
        let result = env.script("hopping.py", text).run_on(tier).unwrap();
        assert_eq!(
            (result.exit_code, result.stdout_text().as_str()),
            (Some(0), "left\n"),
            "{tier}: {result:?}"
        );
        assert_eq!(count_own_processes("hopping.py"), 0, "{tier}");
    }
}

#[test]
fn an_endless_script_that_ignores_sigterm_is_killed_in_time() {
    let env = ScriptEnv::new();
    let text = "#!/bin/bash\ntrap '' TERM INT HUP QUIT\necho begun\n(trap '' TERM; sleep 100) &\nwhile :; do :; done\n";
    for tier in TIERS {
        let result = env
            .script("stubborn.sh", text)
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.limits.time = Duration::from_millis(400);
            })
            .unwrap();
        assert!(result.timed_out, "{tier}");
        assert_eq!(
            (result.exit_code, result.signal, result.stdout_text().as_str()),
            (None, Some(9), "begun\n"),
            "{tier}"
        );
        assert_eq!(result.limits_hit, [RunLimit::Time]);
        assert_eq!(count_own_processes("stubborn.sh"), 0, "{tier}");
    }
}

/// The watching process is not stopped with the script, and the time limit applies.
#[test]
fn a_script_that_stops_itself_and_its_parent_is_killed_in_time() {
    let env = ScriptEnv::new();
    let text = "#!/bin/sh\nkill -STOP $PPID 2>/dev/null; kill -STOP 0\n";
    for tier in TIERS {
        let result = env
            .script("stopped.sh", text)
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.limits.time = Duration::from_millis(400);
            })
            .unwrap();
        assert_eq!((result.limits_hit.as_slice(), result.signal), (&[RunLimit::Time][..], Some(9)), "{tier}");
        assert_eq!(count_own_processes("stopped.sh"), 0, "{tier}");
    }
}

#[test]
fn cancelling_ends_all_processes_and_output_is_streamed() {
    let env = ScriptEnv::new();
    for tier in TIERS {
        let cancel = Cancel::default();
        let received = Arc::new(AtomicUsize::new(0));
        let result = env
            .script("x.sh", "#!/bin/sh\nsleep 50 &\necho $$; echo no >&2; sleep 60\n")
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                let stop = cancel.clone();
                options.cancel = cancel.clone();
                let received = Arc::clone(&received);
                options.on_output = Some(Box::new(move |stream, _| {
                    received.fetch_add(usize::from(stream == OutputStream::Out), Relaxed);
                    stop.cancel();
                }));
            })
            .unwrap();
        assert!(result.cancelled && !result.timed_out && result.signal == Some(9), "{tier}");
        assert!(received.load(Relaxed) > 0, "{tier}");
        if tier == SandboxTier::Tier2 {
            assert!(!is_alive(&result.stdout_text()));
        }
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
