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

/// Copies a program of the system to a path in the test's directory.
fn copy_program(env: &ScriptEnv, inner: &str) -> PathBuf {
    let path = env.write(inner, "");
    fs::copy("/bin/cat", &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A word in the description of a skill opens a program and the libraries of its version, and nothing else of the user. The
/// user sees these programs before a script runs.
#[test]
fn a_named_program_opens_nothing_else_of_the_user() {
    let env = ScriptEnv::with("compatibility: Works with prowess-one, prowess-two, prowess-three and sh.\n");
    let programs = [
        copy_program(&env, "home/tools/versions/1.2/bin/prowess-one"),
        copy_program(&env, "home/.local/bin/prowess-two"),
        copy_program(&env, "home/bin/prowess-three"),
    ];
    let path = programs
        .iter()
        .map(|program| program.parent().unwrap().to_owned())
        .chain(["/usr/bin".into(), "/bin".into()]);
    let host = HostEnv { path: std::env::join_paths(path).unwrap(), ..env.host_env() };
    let library = env.write("home/tools/versions/1.2/lib/data", "library");
    let others = [
        "home/secret",
        "home/tools/secret",
        "home/tools/versions/1.2/secret",
        "home/tools/versions/1.2/bin/secret",
        "home/.local/lib/secret",
        "home/.local/bin/secret",
        "home/lib/secret",
        "home/bin/secret",
    ]
    .map(|inner| env.write(inner, "secret").display().to_string());
    let text = "#!/bin/sh\nfor program in prowess-one prowess-two prowess-three; do $program \"$1\"; done; shift\n\
                for file in \"$@\"; do cat \"$file\" 2>/dev/null && echo \" $file\"; ls \"$(dirname \"$file\")\" 2>/dev/null | grep secret; done; true\n";
    env.script("x.sh", text);
    let registry = Registry::open_in(env.policy.clone(), host, &Default::default());
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
    let library = library.display().to_string();
    let arguments: Vec<&str> =
        [library.as_str()].into_iter().chain(others.iter().map(String::as_str)).collect();
    for tier in TIERS {
        let result = env
            .script_named("x.sh")
            .args(&arguments)
            .run_skill(skill, &registry, |options| options.protection = Protection::Only(tier))
            .unwrap();
        assert_eq!(result.stdout_text(), "library".repeat(3), "{tier}: {}", result.stderr_text());
    }
    let files = prowess::resources::read_skill_files(skill).unwrap();
    let options = prowess_sandbox::RunOptions::from_registry(&registry);
    let access = prowess_sandbox::AccessSummary::new(skill, &files, "x.sh", &options);
    assert_eq!(access.tree, files.tree);
    let rows: Vec<String> = access.rows.iter().map(|(title, text)| format!("{title}: {text}")).collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    reads: the skill, system files
    writes: a temporary workspace
    network: no access
    programs: prowess-one (~/tools/versions/1.2/bin/prowess-one), prowess-three (~/bin/prowess-three), prowess-two (~/.local/bin/prowess-two)
    ");
}

/// Whatever is in `/opt` is a package only if root installed it, and never a home directory.
#[test]
fn a_home_directory_in_opt_is_not_a_package() {
    let Some(package) = OptionalPackage::create("home") else { return };
    fs::write(package.0.join("secret"), "secret ").unwrap();
    package.program("prowess-tool", "#!/bin/sh\necho ran\n");
    let env = ScriptEnv::with("compatibility: prowess-tool\n");
    env.script("x.sh", "#!/bin/sh\ncat \"$1\" 2>/dev/null; prowess-tool 2>/dev/null; true\n");
    let secret = package.0.join("secret").display().to_string();
    let run = |home: PathBuf| {
        let path = format!("{}:/usr/bin:/bin", package.0.join("program").display());
        let host = HostEnv { path: path.into(), home: Some(home), ..env.host_env() };
        let registry = Registry::open_in(env.policy.clone(), host, &Default::default());
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        let script = env.script_named("x.sh").args(&[&secret]);
        TIERS.map(|tier| {
            let result =
                script.run_skill(skill, &registry, |options| options.protection = Protection::Only(tier));
            result.unwrap().stdout_text()
        })
    };
    assert_eq!(run(env.path("home")), ["secret ran\n"; 2]);
    let skill = package.0.join(".prowess/skills/s");
    fs::create_dir_all(&skill).unwrap();
    for name in ["SKILL.md", "x.sh"] {
        fs::copy(env.skill_dir().join(name), skill.join(name)).unwrap();
    }
    assert_eq!(run(package.0.clone()), [""; 2]);
    // A directory of an ordinary user is not an installed package.
    std::os::unix::fs::chown(&package.0, Some(61_234), Some(61_234)).unwrap();
    assert_eq!(run(env.path("home")), [""; 2]);
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

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
