//! Attacks on a script's environment, other than reading and writing files: modes and attributes of other files, uncounted
//! memory and files, descriptors, other runs, the terminal.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use prowess_sandbox::{Protection, RunLimit, SandboxTier};
use prowess_testing::script_env::{ScriptEnv, TIERS, helper};

/// The start of each script: `attempt` prints `DID` if something succeeded, `call` makes a system call by number.
const PRELUDE: &str = r#"
import os, sys, ctypes, fcntl, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, f):
    try:
        r = f(); print("DID", name, r)
    except (OSError, ValueError) as e:
        print(name, "denied")
def call(*args):
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in args]
    r = libc.syscall(*args)
    if r < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r
"#;

/// Returns the attempts that succeeded.
fn successes(output: &str) -> Vec<String> {
    output.lines().filter(|line| !line.ends_with(" denied")).map(str::to_owned).collect()
}

/// Landlock does not prevent any of these.
#[test]
fn modes_times_owners_and_attributes_of_other_files_cannot_be_changed() {
    let text = PRELUDE.to_owned()
        + r#"
directory, file = sys.argv[1], sys.argv[1] + "/id_rsa"
b = file.encode()
for f in (lambda: os.chmod(file, 0o777), lambda: os.chmod(directory, 0o777), lambda: call(452, -100, b, 0o777, 0),
          lambda: os.utime(file, (1, 1)), lambda: os.chown(file, -1, os.getgid()), lambda: os.lchown(file, -1, os.getgid()),
          lambda: os.setxattr(file, "user.x", b"1"), lambda: os.removexattr(file, "user.mine"),
          lambda: os.chmod("x.py", 0o777), lambda: os.chmod("/proc/self/fd/%d" % os.open(file, os.O_PATH), 0o777),
          lambda: os.fchmod(os.open(file, os.O_PATH), 0o777)):
    try: f()
    except OSError: pass
attempt("attributes", lambda: os.listxattr(file))
attempt("watch", lambda: call(254, call(253), directory.encode(), 0xfff))
"#;
    let env = ScriptEnv::new();
    let file = env.write("home/.ssh/id_rsa", "secret");
    let dir = file.parent().unwrap().to_owned();
    let read_metadata = || {
        [&file, &dir, &env.skill_dir()].map(|path| {
            let metadata = fs::metadata(path).unwrap();
            let attributes = rustix::fs::listxattr(path, &mut [0_u8; 256]).unwrap_or_default();
            (metadata.mode(), metadata.mtime(), metadata.gid(), attributes)
        })
    };
    let script = env.script("x.py", &text).args(&[&dir.display().to_string()]);
    let before = read_metadata();
    for tier in TIERS {
        let result = script.run_on(tier).unwrap();
        assert_eq!(successes(&result.stdout_text()), [""; 0], "{tier}: {}", result.stderr_text());
        assert_eq!(read_metadata(), before, "{tier}");
    }
    // Without a sandbox the attack works for the owner of the files, so the test is meaningful.
    script.run_with(|options| options.protection = Protection::Unsafe).unwrap();
    assert_eq!(read_metadata() == before, rustix::process::geteuid().is_root());
}

/// Programs that copy files set modes and times, which must not fail.
#[test]
fn files_can_be_copied_in_the_scratch_directory() {
    let text = "import shutil, os\nhome = os.environ['HOME']\nshutil.copy2('x.py', home + '/a'); shutil.copy(home + '/a', home + '/b')\n\
                shutil.copytree('.', home + '/all'); print([n for n in sorted(os.listdir(home)) if len(n) < 4])\n";
    let env = ScriptEnv::new().in_skill_dir();
    for tier in TIERS {
        let result = env.script("x.py", text).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "['a', 'all', 'b']\n", "{tier}: {}", result.stderr_text());
    }
}

/// A file in memory uses memory that belongs to no process, and a program started from it has no path.
#[test]
fn all_memory_is_counted() {
    let text = PRELUDE.to_owned()
        + r#"
attempt("memfd", lambda: call(319, b"x", 0))
attempt("memfd_secret", lambda: call(447, 0))
if sys.argv[1] != "tier1": attempt("shm", lambda: open("/dev/shm/x", "w"))
attempt("dev", lambda: open("/dev/x", "w"))
attempt("tmp", lambda: open("/var/tmp/x", "w"))
attempt("queue", lambda: call(240, b"x", 0o102, 0o600, 0))
"#;
    let env = ScriptEnv::new();
    for tier in TIERS {
        // In tier 1, /dev/shm belongs to the script and is measured.
        let result = env.script("x.py", &text).args(&[&tier.to_string()]).run_on(tier).unwrap();
        assert_eq!(successes(&result.stdout_text()), [""; 0], "{tier}: {}", result.stderr_text());
    }
}

#[test]
fn unlinked_files_are_counted() {
    let mut env = ScriptEnv::new();
    env.policy.run.limits.scratch_bytes = 8 * 1024 * 1024;
    let text = "import os, time\nkept = []\nfor n in range(40):\n    path = os.environ['HOME'] + '/f'\n    f = open(path, 'wb'); os.unlink(path)\n    \
                f.write(b'x' * (1 << 20)); f.flush(); kept.append(f); time.sleep(0.02)\ntime.sleep(20)\nprint('GOT')\n";
    for tier in TIERS {
        let result = env.script("x.py", text).run_on(tier).unwrap();
        assert_eq!(
            (result.limits_hit.as_slice(), result.signal),
            (&[RunLimit::Scratch][..], Some(9)),
            "{tier}: {result:?}"
        );
    }
}

/// Standard input is memory that no limit counts.
#[test]
fn standard_input_is_read_only() {
    let text = PRELUDE.to_owned()
        + r#"
attempt("write", lambda: os.write(0, b"x"))
attempt("grow", lambda: os.ftruncate(0, 1 << 30))
attempt("shrink", lambda: os.ftruncate(0, 0))
attempt("allocate", lambda: os.posix_fallocate(0, 0, 1 << 20))
attempt("open again", lambda: os.write(os.open("/proc/self/fd/0", os.O_RDWR), b"x"))
attempt("unseal", lambda: fcntl.fcntl(0, 1033, 0))
print(sys.stdin.read(), "denied")
"#;
    let env = ScriptEnv::new();
    for tier in TIERS {
        let result = env
            .script("x.py", &text)
            .run_with(|options| {
                options.protection = Protection::Only(tier);
                options.input = prowess_sandbox::ScriptInput::Bytes(b"{}".to_vec());
            })
            .unwrap();
        assert_eq!(successes(&result.stdout_text()), [""; 0], "{tier}: {}", result.stderr_text());
        assert!(result.stdout_text().ends_with("{} denied\n"), "{tier}: {}", result.stdout_text());
    }
}

/// In tier 2, a script shares `/proc` with other processes and may only read about itself.
#[test]
fn connections_mounts_and_cgroups_of_the_machine_cannot_be_read() {
    let text = PRELUDE.to_owned()
        + r#"
for name in ("net/tcp", "net/unix", "net/arp", "net/route", "mountinfo", "mounts", "mountstats", "cgroup", "cpuset"):
    for directory in ("/proc/self/", "/proc/thread-self/", f"/proc/self/task/{os.getpid()}/"):
        attempt(directory + name, lambda: open(directory + name).read())
attempt("net", lambda: open("/proc/net/tcp").read())
attempt("mounts", lambda: open("/proc/mounts").read())
for name in ("status", "stat", "statm", "maps", "cmdline", "limits"):
    if not open("/proc/self/" + name).read(): print(name)
if not os.listdir("/proc/self/fd") or not os.listdir("/proc/self/task"): print("lists")
"#;
    let env = ScriptEnv::new();
    let result = env.script("x.py", &text).run_on(SandboxTier::Tier2).unwrap();
    assert_eq!(successes(&result.stdout_text()), [""; 0], "{}", result.stderr_text());
    assert_eq!(result.exit_code, Some(0), "{}", result.stderr_text());
}

/// Links and renames cannot move anything in or out.
#[test]
fn links_renames_and_mounts_do_not_escape() {
    let text = PRELUDE.to_owned()
        + r#"
secret, home, own = sys.argv[1], os.environ["HOME"], os.path.dirname(os.path.abspath(sys.argv[0]))
def through():
    os.symlink(secret, home + "/s"); return open(home + "/s").read()
attempt("symlink", through)
attempt("hard link", lambda: os.link(secret, home + "/h"))
attempt("hard link to itself", lambda: os.link(own + "/x.py", home + "/h"))
attempt("rename in", lambda: os.rename(secret, home + "/r"))
attempt("rename out", lambda: (open(home + "/o", "w").close(), os.rename(home + "/o", os.path.dirname(secret) + "/o")))
attempt("rename the skill", lambda: os.rename(own, home + "/k"))
attempt("rename the scratch directory", lambda: os.rename(home, home + "2"))
attempt("bind mount", lambda: call(165, b"/etc", home.encode(), b"", 4096, 0))
attempt("chroot", lambda: os.chroot(home))
attempt("device", lambda: os.mknod(home + "/d", 0o60600, os.makedev(8, 0)))
attempt("above", lambda: os.listdir("/"))
attempt("root", lambda: os.listdir("/proc/self/root/etc"))
attempt("own memory", lambda: open("/proc/self/mem", "r+b"))
attempt("handle", lambda: call(303, -100, b"/", 0, 0, 0))
"#;
    let env = ScriptEnv::new();
    let secret = env.write("home/secret", "secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(secret.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    for tier in TIERS {
        let result = env.script("x.py", &text).args(&[&secret.display().to_string()]).run_on(tier).unwrap();
        assert_eq!(successes(&result.stdout_text()), [""; 0], "{tier}: {}", result.stderr_text());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret", "{tier}");
        assert!(!secret.with_file_name("o").exists(), "{tier}");
    }
}

/// Open descriptors, the terminal and the processors of the parent program are not accessible.
#[test]
fn descriptors_the_terminal_and_the_scheduling_of_other_processes_are_inaccessible() {
    let text = PRELUDE.to_owned()
        + r#"
host = int(sys.argv[1])
# One is the directory itself while it is read.
attempt("descriptors", lambda: None if len(os.listdir("/proc/self/fd")) > 4 else fcntl.ioctl(9, 0))
attempt("those of the parent", lambda: os.listdir(f"/proc/{os.getppid()}/fd"))
attempt("terminal", lambda: open("/dev/tty"))
attempt("console", lambda: open("/dev/console"))
for fd in (0, 1, 2):
    attempt("typing", lambda: fcntl.ioctl(fd, 0x5412, b"x"))
    attempt("typing with more bits", lambda: call(16, fd, 0x5412 | 1 << 40, 0))
attempt("affinity", lambda: os.sched_setaffinity(host, {0}))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, host, 19))
attempt("out of memory", lambda: open("/proc/self/oom_score_adj", "w").write("-10"))
attempt("settings", lambda: open("/proc/sys/kernel/core_pattern", "w"))
attempt("cgroups", lambda: os.mkdir("/sys/fs/cgroup/x"))
attempt("kernel log", lambda: open("/dev/kmsg"))
"#;
    let env = ScriptEnv::new();
    // Inherited by every program that is started from here.
    let secret = fs::File::open(env.write("secret", "secret")).unwrap();
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let host = std::process::id().to_string();
    for tier in TIERS {
        let result = env.script("x.py", &text).args(&[&host]).run_on(tier).unwrap();
        assert_eq!(successes(&result.stdout_text()), [""; 0], "{tier}: {}", result.stderr_text());
    }
    let result = env
        .script("y.sh", "#!/bin/sh\n[ -e /proc/self/fd/$1 ] && echo OPEN\n")
        .args(&[&secret.as_raw_fd().to_string()]);
    let bare = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("[ -e /proc/self/fd/{} ] && echo OPEN", secret.as_raw_fd())])
        .output()
        .unwrap();
    assert_eq!(bare.stdout, b"OPEN\n", "it would be inherited without the helper");
    for tier in TIERS {
        assert_eq!(result.run_on(tier).unwrap().stdout_text(), "", "{tier}");
    }
}

/// If signals cannot be confined and are denied, there is no other way to send one.
#[test]
fn file_descriptors_cannot_signal_other_processes() {
    let text = PRELUDE.to_owned()
        + r#"
host = int(sys.argv[1])
r, w = os.pipe()
attempt("owner", lambda: fcntl.fcntl(r, fcntl.F_SETOWN, host))
attempt("owner by structure", lambda: fcntl.fcntl(r, 15, bytes(8)))
attempt("owner by ioctl", lambda: fcntl.ioctl(r, 0x8901, host.to_bytes(4, "little")))
attempt("signal", lambda: os.kill(os.getpid(), 0))
"#;
    let env = ScriptEnv::new();
    let mut helper = helper();
    helper.deny_signals = true;
    let result = env
        .script("x.py", &text)
        .args(&[&std::process::id().to_string()])
        .run_with(|options| {
            options.helper = helper;
            options.protection = Protection::Only(SandboxTier::Tier2);
        })
        .unwrap();
    assert_eq!(successes(&result.stdout_text()), [""; 0], "{}", result.stderr_text());
    // If Landlock confines signals, the kernel checks it when a signal is sent, so no other process is killed.
    let text = "import os, sys, fcntl, time\nr, w = os.pipe()\n\
        try:\n    fcntl.fcntl(r, fcntl.F_SETOWN, int(sys.argv[1])); fcntl.fcntl(r, 10, 9)\n    \
        fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b'x')\nexcept OSError: pass\ntime.sleep(0.05)\n";
    for tier in TIERS {
        let mut bystander = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let result = env.script("y.py", text).args(&[&bystander.id().to_string()]).run_on(tier).unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        assert_eq!(bystander.try_wait().unwrap(), None, "{tier}");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}

/// Removing a scratch directory does not follow symlinks of the script.
#[test]
fn a_symlink_in_place_of_the_scratch_directory_removes_nothing_else() {
    let env = ScriptEnv::new();
    let precious = env.write("home/precious/file", "kept");
    symlink(precious.parent().unwrap(), env.path("home/link")).unwrap();
    let text = "import os, sys\nhome = os.environ['HOME']\nos.makedirs(home + '/a/b')\nos.symlink(sys.argv[1], home + '/a/b/c')\n\
                os.symlink('/', home + '/root')\nos.fchmod(os.open(home + '/a', os.O_RDONLY), 0)\n";
    for tier in TIERS {
        let dir = precious.parent().unwrap().display().to_string();
        let result = env.script("x.py", text).args(&[&dir]).run_on(tier).unwrap();
        assert_eq!(result.exit_code, Some(0), "{tier}: {}", result.stderr_text());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept", "{tier}");
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
