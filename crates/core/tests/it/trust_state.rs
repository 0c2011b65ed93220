//! The file with the decisions: unreadable, missing, and written by several processes.

use std::fs;
use std::path::PathBuf;

use prowess::trust::{self, TrustError};
use prowess::{HostEnv, Preset};
use prowess_testing::registry_env::{RegistryEnv, names};

use crate::trust::env;

const STATE: &str = "~/.prowess/state/trust.json";

#[test]
fn an_unreadable_state_trusts_nothing_and_is_not_overwritten() {
    let far = "/".repeat(100);
    let huge = format!("{{\"schema\":1,\"folders\":[]{}}}", " ".repeat(17 << 20));
    let deep = format!("{{\"schema\":1,\"folders\":{}", "[".repeat(100_000));
    let everything = |schema: u32| {
        format!("{{\"schema\":{schema},\"folders\":[{{\"path\":\"{far}\",\"trusted\":true}}]}}").into_bytes()
    };
    for (bytes, reason) in [
        (b"".to_vec(), "EOF while parsing"),
        (b"{".to_vec(), "EOF while parsing"),
        (b"\0\xff\xfe".to_vec(), "expected value"),
        (b"null".to_vec(), "invalid type: null"),
        (b"{}".to_vec(), "missing field"),
        (everything(2), "written by a newer version"),
        (everything(4_000_000_000), "written by a newer version"),
        (huge.into_bytes(), "it is too large"),
        (deep.into_bytes(), ""),
        (br#"{"schema":1,"folders":[{"path":"/","trusted":"yes"}]}"#.to_vec(), "invalid type"),
    ] {
        let env = env();
        env.skill("~/.agents/skills/mine").file(STATE, &bytes);
        assert_eq!(names(&env.snapshot()), ["mine"]);
        let diagnostics = env.diagnostic_lines();
        let line = diagnostics.iter().find(|diagnostic| diagnostic.starts_with("SK096")).unwrap();
        assert!(line.starts_with("SK096 /home/.prowess/state/trust.json: cannot read the trust state ("));
        assert!(line.contains(reason) && line.ends_with("no project is trusted"), "{line}");
        let refused = trust::trust(&env.path(""), false, &env.policy, &env.host_env());
        assert!(matches!(refused, Err(TrustError::Unreadable(_))));
        assert!(matches!(trust::untrust(&env.path(""), &env.host_env()), Err(TrustError::Unreadable(_))));
        assert!(fs::read(env.path(STATE)).unwrap() == bytes, "the file is unchanged");
    }
}

#[test]
fn a_state_that_is_not_a_file_trusts_nothing_and_does_not_block() {
    type Make = fn(&std::path::Path);
    let makes: [(Make, &str); 4] = [
        (|path| fs::create_dir(path).unwrap(), "it is not a regular file"),
        (fifo, "it is not a regular file"),
        (|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(), "it is a symlink"),
        (|path| std::os::unix::fs::symlink("trust.json", path).unwrap(), "it is a symlink"),
    ];
    for (make, reason) in makes {
        let env = env();
        env.create_dir("~/.prowess/state");
        make(&env.path(STATE));
        assert_eq!(
            env.diagnostic_lines(),
            [format!(
                "SK096 /home/.prowess/state/trust.json: cannot read the trust state ({reason}); no project is trusted"
            )]
        );
        assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
        let refused = trust::trust(&env.path(""), false, &env.policy, &env.host_env());
        assert!(matches!(refused, Err(TrustError::Unreadable(_))));
    }
}

fn fifo(path: &std::path::Path) {
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

#[test]
fn a_file_lock_that_is_a_fifo_does_not_block() {
    let env = env();
    env.create_dir("~/.prowess/state");
    fifo(&env.path("~/.prowess/state/trust.lock"));
    let refused = trust::trust(&env.path(""), false, &env.policy, &env.host_env());
    assert!(matches!(refused, Err(TrustError::Write { .. })));
}

#[test]
fn without_a_home_directory_there_is_no_trust() {
    let env = env();
    let nowhere = HostEnv { home: None, ..env.host_env() };
    let refused = trust::trust(&env.path(""), false, &env.policy, &nowhere);
    assert!(matches!(refused, Err(TrustError::NoHome)));
    assert_eq!(trust::record_for(&env.path(""), &nowhere), None);
}

/// Otherwise a project could trust itself.
#[test]
fn a_state_directory_in_a_project_is_ignored() {
    let env = env();
    let everything = "{\"schema\":1,\"folders\":[{\"path\":\"/\",\"trusted\":true}]}";
    for dir in [".prowess/state", ".prowess", "state", ".agents/skills/.prowess/state", "home/.prowess/state"]
    {
        env.file(&format!("{dir}/trust.json"), everything);
    }
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
    assert_eq!(trust::record_for(&env.path(""), &env.host_env()), None);
}

#[test]
fn leftovers_of_a_killed_process_are_harmless() {
    let env = env();
    env.trust("/home");
    for name in ["trust.json.new", "trust.lock"] {
        env.file(&format!("~/.prowess/state/{name}"), "{\"schema\":1,\"folders\":[{\"path\":\"/\",\"trus");
    }
    env.file("~/.prowess/state/.trust.json.prowess-new", "half");
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
    env.trust("");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    assert!(trust::record_for(&env.path("/home"), &env.host_env()).is_some(), "nothing was lost");
    assert!(!env.path("~/.prowess/state/.trust.json.prowess-new").exists());
}

#[test]
fn concurrent_threads_lose_no_decision() {
    let env = RegistryEnv::new(Preset::Standard);
    for at in 0..40 {
        env.create_dir(&format!("/p{at}"));
    }
    std::thread::scope(|scope| {
        for part in 0..4 {
            let env = &env;
            scope.spawn(move || {
                for at in (part..40).step_by(4) {
                    env.trust(&format!("/p{at}"));
                }
                for at in (part..40).step_by(8) {
                    env.untrust(&format!("/p{at}"));
                }
            });
        }
    });
    let trusted = |at: usize| trust::record_for(&env.path(&format!("/p{at}")), &env.host_env()).is_some();
    let expected: Vec<_> = (0..40).filter(|at| at % 8 >= 4).collect();
    assert_eq!((0..40).filter(|at| trusted(*at)).collect::<Vec<_>>(), expected);
}

/// The same between processes: this test starts itself.
#[test]
fn concurrent_processes_lose_no_decision() {
    const NAME: &str = "trust_state::concurrent_processes_lose_no_decision";
    if let (Ok(top), Ok(part)) = (std::env::var("PROWESS_TEST_TOP"), std::env::var("PROWESS_TEST_PART")) {
        let top = PathBuf::from(top);
        let host_env = HostEnv { project: top.clone(), home: Some(top.join("home")), path: "".into() };
        for at in 0..10 {
            let dir = top.join(format!("p{part}-{at}"));
            fs::create_dir(&dir).unwrap();
            trust::trust(&dir, false, &prowess::Policy::default(), &host_env).unwrap();
        }
        return;
    }
    let env = RegistryEnv::new(Preset::Standard);
    let program = std::env::current_exe().unwrap();
    let start = |part: usize| {
        std::process::Command::new(&program)
            .args(["--exact", NAME])
            .env("PROWESS_TEST_TOP", env.path("/").canonicalize().unwrap())
            .env("PROWESS_TEST_PART", part.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let state: serde_json::Value = serde_json::from_slice(&fs::read(env.path(STATE)).unwrap()).unwrap();
    assert_eq!(state["folders"].as_array().unwrap().len(), 40);
}

/// Killing a process leaves either the old state or the new one.
#[test]
fn a_process_killed_while_trusting_leaves_a_valid_state() {
    const NAME: &str = "trust_state::a_process_killed_while_trusting_leaves_a_valid_state";
    if let Ok(top) = std::env::var("PROWESS_TEST_TOP") {
        let top = PathBuf::from(top);
        let host_env = HostEnv { project: top.clone(), home: Some(top.join("home")), path: "".into() };
        loop {
            trust::trust(&top.join("project"), false, &prowess::Policy::default(), &host_env).unwrap();
            trust::untrust(&top.join("project"), &host_env).unwrap();
        }
    }
    let env = env();
    env.trust("/home");
    for round in 0..20 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .env("PROWESS_TEST_TOP", env.path("/").canonicalize().unwrap())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30 + 3 * round));
        assert_eq!(child.try_wait().unwrap(), None, "it writes until it is killed");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!env.codes().contains(&"SK096"), "{:?}", env.diagnostic_lines());
        assert!(trust::record_for(&env.path("/home"), &env.host_env()).is_some());
    }
}
