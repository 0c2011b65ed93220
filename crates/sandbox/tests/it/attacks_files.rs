//! Attacks on files: reading files outside the skill, writing into the skill, replacing files between check and use.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use prowess::ErrorCode;
use prowess_sandbox::{Protection, RunError, RunLimit, SandboxTier};
use prowess_testing::script_env::{ScriptEnv, TIERS};

/// Tries to read and write each file, and prints which attempts succeeded.
const TRY: &str = r#"#!/bin/sh
for file in "$@"; do
  if cat "$file" >/dev/null 2>&1; then echo "READ $file"; fi
  if (: >> "$file") 2>/dev/null; then echo "WROTE $file"; fi
done
echo done
"#;

#[test]
fn files_of_the_user_and_the_system_cannot_be_read() {
    let env = ScriptEnv::new();
    let secret = env.write("home/.ssh/id_rsa", "secret");
    let other = env.write("home/.prowess/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n");
    let project = env.write("project/notes.txt", "notes");
    for path in [&secret, &other, &project] {
        // Only the sandbox prevents access.
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    }
    let own = env.skill_dir().join("SKILL.md");
    let helper = prowess_testing::script_env::helper_path().display().to_string();
    let mut files: Vec<_> = [&secret, &other, &project, &own].map(|path| path.display().to_string()).to_vec();
    files.extend(
        [
            "/etc/shadow",
            "/etc/passwd",
            "/etc/hostname",
            "/root/.bashrc",
            "/proc/1/environ",
            "/proc/kcore",
            "/dev/shm",
            &helper,
        ]
        .map(str::to_owned),
    );
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for tier in TIERS {
        let result = env.script("x.sh", TRY).args(&files).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), "done\n", "{tier}: {}", result.stderr_text());
    }
    // Without a sandbox the attack works, so the test is meaningful.
    let result = env
        .script_named("x.sh")
        .args(&files)
        .run_with(|options| options.protection = Protection::Unsafe)
        .unwrap();
    assert!(
        result.stdout_text().contains("READ /etc/passwd\n") && result.stdout_text().contains("WROTE "),
        "{result:?}"
    );
}

#[test]
fn the_home_directory_is_a_scratch_directory_that_is_removed_afterwards() {
    let env = ScriptEnv::new();
    let text = r#"
import os, sys
home = os.environ["HOME"]
print(os.path.dirname(sys.argv[0]), os.environ["TMPDIR"] == home, flush=True)
os.makedirs(home + "/closed/inner"); os.fchmod(os.open(home + "/closed", os.O_RDONLY), 0)
os.chdir(home)
for n in range(2000):
    os.mkdir("deep" * 5); os.chdir("deep" * 5)
"#;
    for tier in TIERS {
        let result = env.script("x.py", text).run_on(tier).unwrap();
        // In tier 2, directories that cannot be walked count as too large.
        let is_over = tier == SandboxTier::Tier2 && result.limits_hit == [RunLimit::Scratch];
        assert!(result.exit_code == Some(0) || is_over, "{tier}: {result:?}");
        let output = result.stdout_text();
        let dir = output.strip_suffix("/skill True\n").unwrap();
        drop(result);
        assert!(!std::path::Path::new(dir).exists(), "{dir}");
    }
}

#[test]
fn the_skill_directory_is_read_only() {
    let env = ScriptEnv::new().in_skill_dir();
    let text = "#!/bin/sh\npwd; ls; cat data/a.txt\n(echo x > new) 2>/dev/null && echo WROTE\n(echo x >> SKILL.md) 2>/dev/null && \
                echo CHANGED\nrm -f SKILL.md 2>/dev/null; mv SKILL.md S 2>/dev/null; chmod 777 x.sh 2>/dev/null\nls\n";
    env.write("home/.prowess/skills/s/data/a.txt", "beside\n");
    let before = fs::read_to_string(env.skill_dir().join("SKILL.md")).unwrap();
    for tier in TIERS {
        let result = env.script("x.sh", text).run_on(tier).unwrap();
        let out: Vec<_> = result.stdout_text().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(out, ["SKILL.md", "data", "x.sh", "beside", "SKILL.md", "data", "x.sh"], "{tier}");
    }
    assert_eq!(fs::read_to_string(env.skill_dir().join("SKILL.md")).unwrap(), before);
    assert_eq!(fs::read_dir(env.skill_dir()).unwrap().count(), 3);
}

#[test]
fn a_symlink_is_not_a_script() {
    let env = ScriptEnv::new();
    let target = env.write("evil.sh", "#!/bin/sh\necho EVIL\n");
    symlink(&target, env.skill_dir().join("link.sh")).unwrap();
    symlink(target.parent().unwrap(), env.skill_dir().join("away")).unwrap();
    env.write("home/.prowess/skills/s/real.sh", "#!/bin/sh\necho real\n");
    symlink("real.sh", env.skill_dir().join("inner.sh")).unwrap();
    for name in ["link.sh", "away/evil.sh", "inner.sh", "../../../evil.sh", "/bin/sh", "a/../real.sh"] {
        let error = env.script_named(name).run().unwrap_err();
        assert_eq!(error.code(), ErrorCode::AccessDenied, "{name}: {error}");
    }
    assert_eq!(env.script_named("none.sh").run().unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(env.script_named(".").run().unwrap_err().code(), ErrorCode::IsDirectory);
    assert_eq!(env.script_named("SKILL.md").run().unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(env.script_named("real.sh").run().unwrap().stdout_text(), "real\n");
}

/// The bytes that were read and hashed are the bytes that run, even if the directory changes afterwards.
#[test]
fn a_script_replaced_after_the_check_is_not_run() {
    let env = ScriptEnv::new();
    let path = env.skill_dir().join("x.sh");
    let good = "#!/bin/sh\necho good\n";
    fs::write(&path, good).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = path.with_extension("tmp");
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for text in ["#!/bin/sh\necho evil\n", good] {
                    fs::write(&other, text).unwrap();
                    fs::rename(&other, &path).unwrap();
                }
            }
        });
        for round in 0..12 {
            match env.script_named("x.sh").run_on(TIERS[round % 2]) {
                Ok(result) => {
                    let digest =
                        prowess::digest(format!("#!/bin/sh\necho {}", result.stdout_text()).as_bytes());
                    assert_eq!(result.digest, digest);
                }
                // The change was detected.
                Err(error) => assert!(matches!(error, RunError::Access(_)), "{error}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_file_of_100_mib_is_not_written() {
    let env = ScriptEnv::new();
    let text = "#!/bin/sh\ndd if=/dev/zero of=\"$HOME/big\" bs=1048576 count=100 2>/dev/null; echo $?\nwc -c < \"$HOME/big\"\n";
    for tier in TIERS {
        let result = env.script("x.sh", text).run_on(tier).unwrap();
        let out = result.stdout_text();
        let lines: Vec<_> = out.lines().collect();
        assert_ne!(lines[0], "0", "{tier}");
        assert_eq!(lines[1].trim(), "67108864", "{tier}");
        assert_eq!(result.limits_hit, [RunLimit::FileSize], "{tier}");
    }
}

#[test]
fn many_files_exceed_the_disk_limit() {
    let mut env = ScriptEnv::new();
    env.policy.run.limits.scratch_bytes = 8 * 1024 * 1024;
    let text = "#!/bin/sh\ni=0; while :; do head -c 1048576 /dev/zero > \"$HOME/f$i\"; i=$((i+1)); sleep 0.02; done\n";
    for tier in TIERS {
        let result = env.script("x.sh", text).run_on(tier).unwrap();
        assert_eq!(
            (result.limits_hit.as_slice(), result.signal),
            (&[RunLimit::Scratch][..], Some(9)),
            "{tier}"
        );
    }
}

/// Writes a mebibyte at a time with `write(bytes, n)`, more than the limit, and waits to be killed.
const FILL: &str = r#"
for n in range(40):
    write(b"x" * (1 << 20), n); time.sleep(0.02)
time.sleep(20); print("GOT")
"#;

const HOME: &str = "import ctypes, mmap, os, shutil, sys, time\nos.chdir(os.environ['HOME'])\n";

/// Files that cannot be measured count as exceeding the limit.
#[test]
fn hidden_files_count_towards_the_limit() {
    let mut env = ScriptEnv::new();
    env.policy.run.limits.scratch_bytes = 8 * 1024 * 1024;
    let attacks = [
        ("directories nested deeper than a path can be", "
for n in range(300): os.mkdir('deep' * 5); os.chdir('deep' * 5)
def write(bytes, n): open(str(n), 'wb').write(bytes)
"),
        ("a directory that cannot be listed", "
os.mkdir('closed'); os.fchmod(os.open('closed', os.O_RDONLY), 0o300); os.chdir('closed')
def write(bytes, n): open(str(n), 'wb').write(bytes)
"),
        ("files without a name of a process that hides them", "
assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == -1 or sys.exit('HIDDEN')
kept = []
def write(bytes, n):
    f = open('f', 'wb'); os.unlink('f'); f.write(bytes); f.flush(); kept.append(f)
"),
        ("files without a name of a program that nobody may read", "
fd = os.open('sleep', os.O_CREAT | os.O_WRONLY, 0o111); os.write(fd, open('/bin/sleep', 'rb').read()); os.close(fd)
def write(bytes, n):
    f = os.open('f', os.O_CREAT | os.O_WRONLY); os.unlink('f'); os.set_inheritable(f, True)
    for _ in range(16): os.write(f, bytes)
    os.execv('./sleep', ['sleep', '20'])
"),
        ("files without a name that are mapped and not open", "
kept = []
def write(bytes, n):
    f = os.open('f', os.O_CREAT | os.O_RDWR); os.unlink('f'); os.write(f, bytes)
    libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
    kept.append(libc.mmap(None, 4096, 1, 1, f, 0)); os.close(f)
"),
    ];
    for tier in TIERS {
        for (name, text) in attacks {
            let result = env.script("x.py", &[HOME, text, FILL].concat()).run_on(tier).unwrap();
            assert!(result.limits_hit.contains(&RunLimit::Scratch), "{tier}: {name}: {result:?}");
            assert_eq!(
                (result.signal, result.stdout_text().as_str()),
                (Some(9), ""),
                "{tier}: {name}: {result:?}"
            );
        }
    }
}

/// In tier 1, the kernel limits the size to 64 MiB above the limit, however fast files are written.
#[test]
fn the_kernel_limits_the_size_of_a_scratch_directory_in_memory() {
    let mut env = ScriptEnv::new();
    env.policy.run.limits.scratch_bytes = 4 * 1024 * 1024;
    let text = "import os\nfor n in range(5):\n    f = os.open(os.environ['HOME'] + '/' + str(n), os.O_CREAT | os.O_WRONLY)\n    \
                try: os.posix_fallocate(f, 0, 30 << 20); print('GOT', flush=True)\n    except OSError: pass\n";
    let result = env.script("x.py", text).run_on(SandboxTier::Tier1).unwrap();
    assert!(result.limits_hit.contains(&RunLimit::Scratch), "{result:?}");
    assert!(result.stdout_text().lines().count() <= 2, "{result:?}");
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
