//! Attacks on files: reading what is somebody else's, writing into the skill, being another file when it counts.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use prowess::ErrorCode;
use prowess_run::script::{Limit, Protection, RunError};
use world::{TIERS, World};

/// Tries each line and says which of them worked.
const TRY: &str = r#"#!/bin/sh
for file in "$@"; do
  if cat "$file" >/dev/null 2>&1; then echo "READ $file"; fi
  if (: >> "$file") 2>/dev/null; then echo "WROTE $file"; fi
done
echo done
"#;

#[test]
fn no_file_of_the_user_or_the_system_is_read() {
    let world = World::new();
    let secret = world.write("home/.ssh/id_rsa", "secret");
    let other = world.write("home/.prowess/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n");
    let project = world.write("project/notes.txt", "notes");
    for path in [&secret, &other, &project] {
        // Everybody may, but for the sandbox.
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    }
    let own = world.skill_folder().join("SKILL.md");
    let helper = world::helper_path().display().to_string();
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
        let ran = world.script("x.sh", TRY).args(&files).run_on(tier).unwrap();
        assert_eq!(ran.stdout_text(), "done\n", "{tier}: {}", ran.stderr_text());
    }
    // Without a sandbox it works: it is the sandbox that was tested.
    let ran =
        world.named("x.sh").args(&files).run_with(|options| options.protection = Protection::Unsafe).unwrap();
    assert!(
        ran.stdout_text().contains("READ /etc/passwd\n") && ran.stdout_text().contains("WROTE "),
        "{ran:?}"
    );
}

#[test]
fn the_home_is_a_scratch_folder_that_is_gone_afterwards() {
    let world = World::new();
    let text = r#"
import os
home = os.environ["HOME"]
os.makedirs(home + "/closed/inner"); os.fchmod(os.open(home + "/closed", os.O_RDONLY), 0)
os.chdir(home)
for n in range(2000):
    os.mkdir("deep" * 5); os.chdir("deep" * 5)
print(home, os.environ["TMPDIR"] == home)
"#;
    for tier in TIERS {
        let ran = world.script("x.py", text).run_on(tier).unwrap();
        assert_eq!(ran.exit_code, Some(0), "{tier}: {}", ran.stderr_text());
        let told = ran.stdout_text();
        let home = told.strip_suffix(" True\n").unwrap();
        let folder = home.strip_suffix("/scratch").unwrap();
        assert!(!std::path::Path::new(folder).exists(), "{folder}");
    }
}

#[test]
fn the_skill_cannot_be_written_into() {
    let world = World::new();
    let text = "#!/bin/sh\npwd; ls; cat data/a.txt\n(echo x > new) 2>/dev/null && echo WROTE\n(echo x >> SKILL.md) 2>/dev/null && \
                echo CHANGED\nrm -f SKILL.md 2>/dev/null; mv SKILL.md S 2>/dev/null; chmod 777 x.sh 2>/dev/null\nls\n";
    world.write("home/.prowess/skills/s/data/a.txt", "beside\n");
    let before = fs::read_to_string(world.skill_folder().join("SKILL.md")).unwrap();
    for tier in TIERS {
        let ran = world.script("x.sh", text).run_on(tier).unwrap();
        let out: Vec<_> = ran.stdout_text().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(out, ["SKILL.md", "data", "x.sh", "beside", "SKILL.md", "data", "x.sh"], "{tier}");
    }
    assert_eq!(fs::read_to_string(world.skill_folder().join("SKILL.md")).unwrap(), before);
    assert_eq!(fs::read_dir(world.skill_folder()).unwrap().count(), 3);
}

#[test]
fn a_link_is_no_script() {
    let world = World::new();
    let target = world.write("evil.sh", "#!/bin/sh\necho EVIL\n");
    symlink(&target, world.skill_folder().join("link.sh")).unwrap();
    symlink(target.parent().unwrap(), world.skill_folder().join("away")).unwrap();
    world.write("home/.prowess/skills/s/real.sh", "#!/bin/sh\necho real\n");
    symlink("real.sh", world.skill_folder().join("inner.sh")).unwrap();
    for name in ["link.sh", "away/evil.sh", "inner.sh", "../../../evil.sh", "/bin/sh", "a/../real.sh"] {
        let error = world.named(name).run().unwrap_err();
        assert_eq!(error.code(), ErrorCode::AccessDenied, "{name}: {error}");
    }
    assert_eq!(world.named("none.sh").run().unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(world.named(".").run().unwrap_err().code(), ErrorCode::IsDirectory);
    assert_eq!(world.named("SKILL.md").run().unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(world.named("real.sh").run().unwrap().stdout_text(), "real\n");
}

/// What was read and hashed is what runs: whatever the folder holds a moment later does not matter.
#[test]
fn replacing_itself_between_check_and_run_changes_nothing() {
    let world = World::new();
    let path = world.skill_folder().join("x.sh");
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
            match world.named("x.sh").run_on(TIERS[round % 2]) {
                Ok(ran) => {
                    let digest = prowess::digest(format!("#!/bin/sh\necho {}", ran.stdout_text()).as_bytes());
                    assert_eq!(ran.digest, digest);
                }
                // It was caught in between.
                Err(error) => assert!(matches!(error, RunError::Access(_)), "{error}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_file_of_a_hundred_mebibytes_is_not_written() {
    let world = World::new();
    let text = "#!/bin/sh\ndd if=/dev/zero of=\"$HOME/big\" bs=1048576 count=100 2>/dev/null; echo $?\nwc -c < \"$HOME/big\"\n";
    for tier in TIERS {
        let ran = world.script("x.sh", text).run_on(tier).unwrap();
        let out = ran.stdout_text();
        let lines: Vec<_> = out.lines().collect();
        assert_ne!(lines[0], "0", "{tier}");
        assert_eq!(lines[1].trim(), "67108864", "{tier}");
        assert_eq!(ran.limits_hit, [Limit::FileSize], "{tier}");
    }
}

#[test]
fn many_files_that_fill_the_disk_are_noticed() {
    let mut world = World::new();
    world.policy.run.limits.scratch_bytes = 8 * 1024 * 1024;
    let text = "#!/bin/sh\ni=0; while :; do head -c 1048576 /dev/zero > \"$HOME/f$i\"; i=$((i+1)); sleep 0.02; done\n";
    for tier in TIERS {
        let ran = world.script("x.sh", text).run_on(tier).unwrap();
        assert_eq!((ran.limits_hit.as_slice(), ran.signal), (&[Limit::Scratch][..], Some(9)), "{tier}");
    }
}

#[test]
fn once_more_as_an_ordinary_user() {
    world::once_more_as_an_ordinary_user("once_more_as_an_ordinary_user");
}
