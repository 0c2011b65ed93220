//! Attacks on limits: processes, memory, output and descriptors.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use prowess_sandbox::{Protection, RunLimit, SandboxTier};
use prowess_testing::script_env::{ScriptEnv, TIERS, count_own_processes};

#[test]
fn a_fork_bomb_is_limited_and_ended() {
    let env = ScriptEnv::new();
    // Each generation leaves a process that stays, so that the number does not fall before it is measured.
    let text = "#!/bin/bash\nbomb() { sleep 30 & bomb | bomb & }; bomb; sleep 30\n";
    for tier in TIERS {
        let script = env.script("bomb.sh", text);
        let result = script
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.limits.time = Duration::from_secs(2);
                options.limits.processes = 64;
            })
            .unwrap();
        assert!(result.timed_out || result.exit_code.is_some(), "{tier}: {result:?}");
        // In tier 2, the kernel also counts other processes of an ordinary user, which may have increased since.
        let is_shared = tier == SandboxTier::Tier2 && !rustix::process::geteuid().is_root();
        assert!(
            is_shared || result.limits_hit.contains(&RunLimit::Processes),
            "{tier}: {:?}",
            result.limits_hit
        );
        assert_eq!(count_own_processes("bomb.sh"), 0, "{tier}");
    }
}

#[test]
fn three_gib_of_memory_cannot_be_allocated() {
    let env = ScriptEnv::new();
    let at_once =
        "try:\n    b = bytearray(3 << 30); print('GOT', len(b))\nexcept MemoryError: print('refused')\n";
    for tier in TIERS {
        let result = env.script("x.py", at_once).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "refused\n", "{tier}");
    }
    // Shared memory belongs to no single process, and many processes use much together.
    let mut env = ScriptEnv::new();
    env.policy.run.limits.memory_bytes = 256 * 1024 * 1024;
    let shared = "import mmap, time\nm = mmap.mmap(-1, 512 << 20)\nfor i in range(0, 512 << 20, 4096): m[i] = 1\nprint('GOT')\ntime.sleep(5)\n";
    let together = "import os, time\nfor n in range(4):\n    if os.fork() == 0:\n        b = bytearray(b'x') * (100 << 20); time.sleep(20); os._exit(0)\ntime.sleep(20); print('GOT')\n";
    for tier in TIERS {
        for text in [shared, together] {
            let result = env.script("x.py", text).run_on(tier).unwrap();
            assert_eq!(
                (result.limits_hit.as_slice(), result.signal),
                (&[RunLimit::Memory][..], Some(9)),
                "{tier}: {result:?}"
            );
        }
    }
}

/// Data in socket buffers is memory of no process.
#[test]
fn socket_and_pipe_buffers_count_as_memory() {
    let sockets = r#"
import os, socket, time
kept = []
for n in range(4):
    if os.fork() == 0: break
try:
    while True:
        for s in socket.socketpair():
            s.setblocking(False); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 23); kept.append(s)
            try:
                while True: s.send(b"x" * 65536)
            except BlockingIOError: pass
except OSError: pass
print(kept[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), flush=True)
time.sleep(20); print("GOT")
"#;
    let pipes = r#"
import ctypes, fcntl, os, time
r, w = os.pipe()
try: fcntl.fcntl(w, 1031, 1 << 20); print("LARGER")
except OSError: pass
data = ctypes.create_string_buffer(4096)
if ctypes.CDLL(None).vmsplice(w, ctypes.byref((ctypes.c_size_t * 2)(ctypes.addressof(data), 4096)), 1, 0) >= 0: print("LENT")
"#;
    let mut env = ScriptEnv::new();
    env.policy.run.limits.memory_bytes = 160 * 1024 * 1024;
    let default = std::fs::read_to_string("/proc/sys/net/core/wmem_default").unwrap();
    for tier in TIERS {
        let result = env.script("x.py", sockets).run_on(tier).unwrap();
        let hit = (result.limits_hit.as_slice(), result.signal);
        assert_eq!(hit, (&[RunLimit::Memory][..], Some(9)), "{tier}: {result:?}");
        assert!(result.stdout_text().lines().all(|size| size == default.trim()), "{tier}: {result:?}");
        let result = env.script("y.py", pipes).run_on(tier).unwrap();
        assert_eq!((result.exit_code, result.stdout_text().as_str()), (Some(0), ""), "{tier}: {result:?}");
    }
}

#[test]
fn endless_output_is_truncated_and_ends_the_script() {
    let env = ScriptEnv::new();
    for tier in TIERS {
        for text in ["#!/bin/sh\nyes\n", "#!/bin/sh\nyes >&2\n", "#!/bin/sh\nyes & yes >&2\n"] {
            let received = Arc::new(AtomicUsize::new(0));
            let result = env
                .script("x.sh", text)
                .run_with(|options| {
                    options.protection = Protection::Only(tier);
                    let received = Arc::clone(&received);
                    options.on_output = Some(Box::new(move |_, bytes| {
                        received.fetch_add(bytes.len(), Relaxed);
                    }));
                })
                .unwrap();
            assert!(result.truncated && !result.timed_out, "{tier}");
            assert_eq!(
                (result.limits_hit.as_slice(), result.exit_code),
                (&[RunLimit::Output][..], None),
                "{tier}"
            );
            assert_eq!(result.stdout.len() + result.stderr.len(), 1024 * 1024, "{tier}");
            assert_eq!(received.load(Relaxed), 1024 * 1024, "{tier}");
            assert_eq!(result.describe_end(), "killed at the limit of output");
        }
    }
}

#[test]
fn descriptors_and_cores_are_bounded() {
    let env = ScriptEnv::new();
    let text = "#!/bin/sh\nulimit -n; ulimit -c; ulimit -Hn 100000 2>/dev/null && echo RAISED; exit 0\n";
    let open = "import os\nkept = []\ntry:\n    while True: kept.append(os.open('/dev/null', os.O_RDONLY))\n\
                except OSError as error: print(max(kept), error.strerror)\n";
    let crash = "import os, signal\nos.mkdir('d'); os.chdir('d')\nif os.fork() == 0: os.kill(os.getpid(), signal.SIGQUIT)\n\
                 print(os.WCOREDUMP(os.wait()[1]), os.listdir())\n";
    for tier in TIERS {
        assert_eq!(env.script("x.sh", text).run_on(tier).unwrap().stdout_text(), "256\n0\n", "{tier}");
        let result = env.script("x.py", open).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "255 Too many open files\n", "{tier}");
        let result = env.script("y.py", crash).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "False []\n", "{tier}");
    }
}

/// Uses as much memory, and as many files, as the limits allow.
const USE_MEMORY_AND_FILES: &str = r#"
import mmap, os, signal, sys
def memory(mebibytes):
    try:
        mmap.mmap(-1, mebibytes << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); return True
    except OSError: return False
def files():
    count = 3
    try:
        while True: count = os.open("/dev/null", os.O_RDONLY) + 1
    except OSError: return count
def file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd = os.open(os.environ["HOME"] + "/f", os.O_CREAT | os.O_WRONLY)
    try:
        while True: os.write(fd, bytes(1 << 16))
    except OSError: return os.fstat(fd).st_size
below, above = int(sys.argv[1]), int(sys.argv[2])
print(memory(below), memory(above), file(), files())
"#;

/// Starts as many processes as the limit allows. They stay within the default limit of memory together: a script that
/// exceeds it is killed as soon as that is noticed.
const USE_PROCESSES: &str = r#"
import os, signal
count = 1
try:
    while os.fork(): count += 1
    signal.pause()
except OSError: print(count)
"#;

#[test]
fn each_limit_has_its_exact_value() {
    let mut env = ScriptEnv::new();
    env.script("memory.py", USE_MEMORY_AND_FILES);
    env.script("processes.py", USE_PROCESSES);
    let run = |env: &ScriptEnv, name: &str, args: &[&str], tier: SandboxTier| {
        let result = env.script_named(name).args(args).run_on(tier).unwrap();
        let output = result.stdout_text();
        assert_ne!(output, "", "{tier}: {}, {}", result.describe_end(), result.stderr_text());
        output
    };
    for tier in TIERS {
        assert_eq!(run(&env, "memory.py", &["1900", "2100"], tier), "True False 67108864 256\n", "{tier}");
    }
    for processes in [64, 7] {
        env.policy.run.limits.processes = processes;
        for tier in TIERS {
            // In tier 2, all processes of an ordinary user count, and their number changes.
            if tier == SandboxTier::Tier1 || rustix::process::geteuid().is_root() {
                assert_eq!(run(&env, "processes.py", &[], tier), format!("{processes}\n"), "{tier}");
            }
        }
    }
    let limits = &mut env.policy.run.limits;
    (limits.memory_bytes, limits.processes, limits.file_bytes, limits.open_files) =
        (100 << 20, 64, 1 << 20, 32);
    for tier in TIERS {
        assert_eq!(run(&env, "memory.py", &["60", "110"], tier), "True False 1048576 32\n", "{tier}");
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
