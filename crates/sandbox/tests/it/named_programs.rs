//! Programs that a skill names, inside the sandbox.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use prowess::{HostEnv, Registry};
use prowess_sandbox::Protection;
use prowess_testing::script_env::{ScriptEnv, TIERS};

/// A package in `/opt`, which is removed on drop.
struct OptionalPackage(PathBuf);

impl OptionalPackage {
    /// Returns `None` if the user cannot write to `/opt`.
    fn create(name: &str) -> Option<Self> {
        let dir = Path::new("/opt").join(format!("prowess-{name}-{}", std::process::id()));
        fs::create_dir_all(dir.join("program")).ok()?;
        Some(Self(dir))
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.0.join("program").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Drop for OptionalPackage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A script in `/opt` that finds its own files, as `soffice` does.
#[test]
fn a_named_program_in_opt_works() {
    let Some(package) = OptionalPackage::create("office") else { return };
    package.program("prowess-office", "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")/../data\"\n");
    fs::write(package.0.join("data"), "converted\n").unwrap();
    for frontmatter in [
        "compatibility: Needs an office suite (prowess-office).\n",
        "metadata:\n  requires: prowess-office\n",
        "requires: [prowess-office]\n",
        "",
    ] {
        let env = ScriptEnv::with(frontmatter);
        let path = format!("{}:/usr/bin:/bin", package.0.join("program").display());
        for tier in TIERS {
            let script = env.script("x.sh", "#!/bin/sh\nprowess-office\n");
            let host = HostEnv { path: path.clone().into(), ..env.host_env() };
            let registry = Registry::open_in(env.policy.clone(), host, &Default::default());
            let snapshot = registry.snapshot();
            let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
            let result = script
                .run_skill(skill, &registry, |options| options.protection = Protection::Only(tier))
                .unwrap();
            let expected = if frontmatter.is_empty() { "" } else { "converted\n" };
            assert_eq!(result.stdout_text(), expected, "{frontmatter} {tier}: {}", result.stderr_text());
        }
    }
}

/// Settings of common tools can be read; users and secrets cannot.
#[test]
fn settings_of_common_tools_are_readable() {
    let env = ScriptEnv::new();
    let code = "import os\nfor path in ['/etc/os-release', '/etc/libreoffice', '/var/cache/fontconfig', '/etc/passwd', \
        '/etc/shadow', '/etc/hostname', '/etc/machine-id']:\n    \
        try:\n        os.listdir(path) if os.path.isdir(path) else open(path).read(1)\n        print(path)\n    \
        except OSError: pass\n";
    for tier in TIERS {
        let result = env.script("x.py", code).run_on(tier).unwrap();
        let expected: String = ["/etc/os-release", "/etc/libreoffice", "/var/cache/fontconfig"]
            .iter()
            .filter(|path| Path::new(path).exists())
            .map(|path| format!("{path}\n"))
            .collect();
        assert_eq!(result.stdout_text(), expected, "{tier}: {}", result.stderr_text());
    }
}
