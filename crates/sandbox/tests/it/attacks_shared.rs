//! Attacks on what processes share: files of other runs, UNIX sockets and shared memory.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use prowess_sandbox::{Cancel, Protection, RunLimit, SandboxTier, Workspace};
use prowess_testing::script_env::{ScriptEnv, TIERS};

/// Prints each attempt that succeeds.
const PRELUDE: &str = r#"
import array, ctypes, os, socket, sys, time
def attempt(name, f):
    try:
        r = f()
        if r is not False: print("DID", name, r, flush=True)
    except (OSError, ValueError): pass
"#;

/// Leaves a file everywhere it can, and prints its run directory and where it left them.
const LEAVE_FILES: &str = r#"
import os, sys, time
left = []
for directory in (os.environ["HOME"], "/tmp", os.getcwd(), "/dev/shm"):
    try:
        open(directory + "/mine", "w").write("secret"); left.append(directory)
    except OSError: pass
print(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))), *left, flush=True)
time.sleep(60)
"#;

/// Tries to find these files: in the same directories, by their paths on the host, and through processes.
const FIND_FILES: &str = r#"
run, pid = sys.argv[1], sys.argv[2]
for directory in (os.environ["HOME"], "/tmp", os.getcwd(), "/dev/shm"):
    attempt("same " + directory, lambda: "mine" in os.listdir(directory))
for inner in ("", "/scratch", "/workspace", "/skill", "/python"):
    path = run + inner
    attempt("list " + path, lambda: os.listdir(path))
    attempt("read " + path, lambda: open(path + "/mine").read())
    attempt("write " + path, lambda: open(path + "/mine", "r+"))
    attempt("create " + path, lambda: open(path + "/other", "w"))
    attempt("remove " + path, lambda: os.remove(path + "/mine"))
try: processes = [p for p in os.listdir("/proc") if p.isdigit()]
except OSError: processes = ["self", str(os.getppid())]
for process in processes + [pid]:
    attempt("command", lambda: b"first.py" in open(f"/proc/{process}/cmdline", "rb").read())
    attempt("environment", lambda: run.encode() in open(f"/proc/{process}/environ", "rb").read())
    for link in ("root/tmp", "cwd"):
        attempt(link, lambda: "mine" in os.listdir(f"/proc/{process}/{link}"))
attempt("signal", lambda: os.kill(int(pid), 0))
"#;

/// Returns the process on this machine that runs a script of a run.
fn find_process(run_dir: &str, script: &str) -> String {
    let script = format!("{run_dir}/skill/{script}");
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let has_script = |pid: &String| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|argument| argument == script.as_bytes())
    };
    pids.filter(has_script).last().unwrap()
}

/// Concurrent runs do not see each other's files and processes, although in tier 1 both have the same paths.
#[test]
fn concurrent_runs_are_isolated() {
    let env = ScriptEnv::new();
    env.script("first.py", LEAVE_FILES);
    env.script("second.py", &[PRELUDE, FIND_FILES].concat());
    for tier in TIERS {
        let cancel = Cancel::default();
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let running = cancel.clone();
            let env = &env;
            let first = scope.spawn(move || {
                env.script_named("first.py").run_with(|options| {
                    options.protection = Protection::Only(tier);
                    options.cancel = running;
                    options.on_output = Some(Box::new(move |_, bytes| sender.send(bytes.to_vec()).unwrap()));
                })
            });
            let line = String::from_utf8(receiver.recv().unwrap()).unwrap();
            let mut words = line.split_whitespace();
            let run_dir = words.next().unwrap();
            let left: Vec<&str> = words.collect();
            let workspace = format!("{run_dir}/workspace");
            match tier {
                SandboxTier::Tier1 => assert_eq!(left, ["/tmp", "/tmp", &workspace, "/dev/shm"]),
                _ => assert_eq!(left, [&format!("{run_dir}/scratch"), &workspace]),
            }
            // The file is there, for those who may see it.
            assert_eq!(fs::read_to_string(format!("{workspace}/mine")).unwrap(), "secret");
            let pid = find_process(run_dir, "first.py");
            let result = env.script_named("second.py").args(&[run_dir, &pid]).run_on(tier).unwrap();
            assert_eq!(
                (result.exit_code, result.stdout_text().as_str()),
                (Some(0), ""),
                "{tier}: {}",
                result.stderr_text()
            );
            assert_eq!(fs::read_to_string(format!("{workspace}/mine")).unwrap(), "secret");
            cancel.cancel();
            assert!(first.join().unwrap().unwrap().cancelled, "{tier}");
        });
    }
}

const TRY_SOCKETS: &str = r#"
names = sys.argv[1:]
def sending(s, path):
    s.setblocking(False); s.sendto(b"x", path)
def passing(s):
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
for name in names:
    address = "\0" + name[1:] if name.startswith("@") else name
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        attempt(f"connect {name}", lambda: socket.socket(socket.AF_UNIX, kind).connect(address))
        attempt(f"send to {name}", lambda: sending(socket.socket(socket.AF_UNIX, kind), address))
    attempt(f"connect a pair {name}", lambda: socket.socketpair()[0].connect(address))
    attempt(f"send from a pair {name}", lambda: sending(socket.socketpair()[0], address))
a, b = socket.socketpair()
attempt("pass a descriptor", lambda: passing(a))
attempt("urgent data", lambda: a.send(b"x", socket.MSG_OOB))
attempt("filter", lambda: a.setsockopt(socket.SOL_SOCKET, 26, bytes(16)))
attempt("bpf", lambda: a.setsockopt(socket.SOL_SOCKET, 50, bytes(4)))
# One's own sockets: nothing inside can connect to them, either.
def connect_own(address):
    s = socket.socket(socket.AF_UNIX); s.bind(address); s.listen()
    socket.socket(socket.AF_UNIX).connect(address)
attempt("own by path", lambda: connect_own(os.environ["HOME"] + "/own.sock"))
attempt("own by name", lambda: connect_own("\0own"))
attempt("own in the workspace", lambda: connect_own("own.sock"))
for directory in ("/", "/usr", "/dev", "/proc", os.path.dirname(sys.argv[0])):
    attempt("bind in " + directory, lambda: socket.socket(socket.AF_UNIX).bind(directory + "/x.sock"))
"#;

/// Sockets of the host in every directory that a script sees, and by abstract name. In tier 1, a script may create and
/// bind sockets, but not connect them.
#[test]
fn sockets_of_the_host_cannot_be_reached() {
    let env = ScriptEnv::with("compatibility: Needs prowess-socket-tool.\n");
    env.script("x.py", &[PRELUDE, TRY_SOCKETS].concat());
    let mut dirs: Vec<PathBuf> = [
        env.write("work/in.txt", "in"),
        env.write("read/in.txt", "in"),
        env.write("tools/versions/1/lib/x", ""),
        env.write("home/x", ""),
    ]
    .iter()
    .map(|file| file.parent().unwrap().to_owned())
    .collect();
    let program = env.write("tools/versions/1/bin/prowess-socket-tool", "\x7fELF");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // Only root can put one there.
    let system = PathBuf::from(format!("/usr/local/prowess-test-{}", std::process::id()));
    if fs::create_dir(&system).is_ok() {
        dirs.push(system.clone());
    }
    let paths: Vec<PathBuf> = dirs.iter().map(|dir| dir.join("service.sock")).collect();
    let mut listeners: Vec<UnixListener> =
        paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
    for path in &paths {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let name = format!("prowess-shared-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    listeners.push(UnixListener::bind_addr(&address).unwrap());
    let mut names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.push(format!("@{name}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for tier in TIERS {
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        let host = prowess::HostEnv { path: path.into(), ..env.host_env() };
        let registry = prowess::Registry::open_in(env.policy.clone(), host, &Default::default());
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        let result = env
            .script_named("x.py")
            .args(&names)
            .run_skill(skill, &registry, |options| {
                options.protection = Protection::Only(tier);
                options.workspace = Some(Workspace::Directory(dirs[0].clone()));
                options.read = vec![dirs[1].clone()];
            })
            .unwrap();
        assert_eq!(
            (result.exit_code, result.stdout_text().as_str()),
            (Some(0), ""),
            "{tier}: {}",
            result.stderr_text()
        );
        for listener in &listeners {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "{tier}");
        }
        assert!(!dirs[0].join("own.sock").exists(), "{tier}: sockets are not kept");
    }
    let _ = fs::remove_dir_all(system);
}

/// Sockets that are created, bound and listened to, and pairs that are filled: all of them count as memory.
#[test]
fn many_sockets_count_as_memory() {
    let fill = r#"
kept = []
def fill(make):
    while True:
        for s in make():
            s.setblocking(False); kept.append(s)
            try:
                while True: s.send(b"x" * 65536)
            except OSError: pass
def listener():
    s = socket.socket(socket.AF_UNIX); s.bind(f"{os.environ['HOME']}/{os.getpid()}-{len(kept)}"); s.listen(4096)
    return [s]
makers = {"pair": socket.socketpair, "socket": lambda: [socket.socket(socket.AF_UNIX)], "listener": listener}
for n in range(4):
    if os.fork() == 0: break
try: fill(makers[sys.argv[1]])
except OSError: pass
time.sleep(20); print("GOT")
"#;
    let mut env = ScriptEnv::new();
    env.policy.run.limits.memory_bytes = 160 * 1024 * 1024;
    env.script("x.py", &[PRELUDE, fill].concat());
    for kind in ["pair", "socket", "listener"] {
        let result = env.script_named("x.py").args(&[kind]).run_on(SandboxTier::Tier1).unwrap();
        let hit = (result.limits_hit.as_slice(), result.signal);
        assert_eq!(hit, (&[RunLimit::Memory][..], Some(9)), "{kind}: {result:?}");
    }
}

/// A file in the shared memory of this machine, which is removed on drop.
struct SharedFile(PathBuf);

impl SharedFile {
    fn create(name: &str) -> Self {
        let path = Path::new("/dev/shm").join(format!("{name}-{}", std::process::id()));
        fs::write(&path, "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        Self(path)
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Programs of several processes work in tier 1, with shared memory of their own.
#[test]
fn several_processes_share_memory_and_semaphores() {
    let text = r#"
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory
def square(n): return n * n
def fill(name):
    memory = shared_memory.SharedMemory(name=name); memory.buf[0] = 7; memory.close()
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool: print(pool.map(square, range(5)))
    with ProcessPoolExecutor(2, mp_context=context) as executor: print(list(executor.map(square, range(3))))
    memory = shared_memory.SharedMemory(create=True, size=4096)
    process = context.Process(target=fill, args=(memory.name,)); process.start(); process.join()
    print(memory.buf[0], len(os.listdir("/dev/shm"))); memory.close(); memory.unlink()
    print(os.listdir("/dev/shm"))
"#;
    let env = ScriptEnv::new();
    let result = env.script("x.py", text).run_on(SandboxTier::Tier1).unwrap();
    assert_eq!(
        result.stdout_text(),
        "[0, 1, 4, 9, 16]\n[0, 1, 4]\n7 1\n[]\n",
        "{:?}: {}",
        result.limits_hit,
        result.stderr_text()
    );
    assert!(result.is_success(), "{result:?}");
}

/// The shared memory of the machine is not visible, and that of a script counts towards its limits.
#[test]
fn shared_memory_is_private_and_counted() {
    let host = SharedFile::create("prowess-host");
    let look = r#"
path = sys.argv[1]
attempt("list", lambda: os.path.basename(path) in os.listdir("/dev/shm"))
attempt("read", lambda: open(path).read())
attempt("write", lambda: open(path, "r+").write("x"))
if not os.path.exists("/dev/shm/prowess"): attempt("execute", lambda: os.mknod("/dev/shm/null", 0o020666, os.makedev(1, 3)))
try: open("/dev/shm/left", "w").write("x")
except OSError: pass
"#;
    let mut env = ScriptEnv::new();
    let path = host.0.display().to_string();
    for tier in TIERS {
        let result = env.script("x.py", &[PRELUDE, look].concat()).args(&[&path]).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "", "{tier}: {}", result.stderr_text());
        assert!(!Path::new("/dev/shm/left").exists(), "{tier}");
    }
    assert_eq!(fs::read_to_string(&host.0).unwrap(), "secret");
    env.policy.run.limits.scratch_bytes = 8 * 1024 * 1024;
    let visible =
        "for n in range(40): open(f'/dev/shm/{n}', 'wb').write(b'x' * (1 << 20)); time.sleep(0.02)\n";
    let deleted = "kept = []\nfor n in range(40):\n    f = open('/dev/shm/f', 'wb'); os.unlink('/dev/shm/f'); f.write(b'x' * (1 << 20)); \
                   f.flush(); kept.append(f); time.sleep(0.02)\n";
    let both = "for n in range(7): open(f'/dev/shm/{n}', 'wb').write(b'x' * (1 << 20)); open(f'/tmp/{n}', 'wb').write(b'x' * (1 << 20))\n";
    for text in [visible, deleted, both] {
        let text = [PRELUDE, text, "time.sleep(20); print('GOT')\n"].concat();
        let result = env.script("x.py", &text).run_on(SandboxTier::Tier1).unwrap();
        let hit = (result.limits_hit.as_slice(), result.signal);
        assert_eq!(hit, (&[RunLimit::Scratch][..], Some(9)), "{text}: {result:?}");
    }
    // It is memory, and a single file has a limit.
    let mut env = ScriptEnv::new();
    env.policy.run.limits.memory_bytes = 100 * 1024 * 1024;
    let text = "for n in range(3): open(f'/dev/shm/{n}', 'wb').write(b'x' * (50 << 20))\ntime.sleep(20); print('GOT')\n";
    let result = env.script("x.py", &[PRELUDE, text].concat()).run_on(SandboxTier::Tier1).unwrap();
    assert_eq!(result.limits_hit, [RunLimit::Memory], "{result:?}");
    let text =
        "f = os.open('/dev/shm/f', os.O_CREAT | os.O_WRONLY)\nwhile True: os.write(f, bytes(1 << 20))\n";
    let env = ScriptEnv::new();
    let result = env.script("x.py", &[PRELUDE, text].concat()).run_on(SandboxTier::Tier1).unwrap();
    assert_eq!(result.limits_hit, [RunLimit::FileSize], "{result:?}");
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
