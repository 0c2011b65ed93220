//! `prowess test` that is killed and started again.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::TestEnv;
use crate::test_command::{env, server};

const STATE: &str = "~/.prowess/state/tests";

/// Enough for all runs and some that are lost.
const CAP: u64 = 100;

const TEST: [&str; 10] =
    ["test", "totals", "--runs", "3", "--jobs", "2", "--judge", "judge-model", "--max-requests", "100"];

/// Returns the keys of the stored results, which must be complete.
fn stored_results(env: &TestEnv) -> Vec<String> {
    let mut keys = Vec::new();
    for entry in fs::read_dir(env.path(&format!("{STATE}/results"))).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with('.') {
            continue;
        }
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_else(|_| panic!("{name}/{file}"));
        let record: Value = serde_json::from_slice(&read("record.json")).unwrap();
        assert!(record["outcome"].is_object(), "{record}");
        let files: Vec<String> = serde_json::from_slice(&read("files.json")).unwrap();
        files.iter().enumerate().for_each(|(index, _)| assert!(!read(&format!("file-{index}")).is_empty()));
        keys.push(name);
    }
    keys.sort();
    keys
}

/// Returns the number of requests that count as spent.
fn spent_requests(env: &TestEnv) -> Option<u64> {
    let unfinished = env.path(&format!("{STATE}/unfinished"));
    let files: Vec<_> = fs::read_dir(unfinished).into_iter().flatten().flatten().collect();
    let file = files.iter().find(|file| file.path().extension().is_some_and(|ext| ext == "json"))?;
    let spending: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
    spending["requests"].as_u64()
}

#[test]
fn a_killed_test_continues_without_repeating_or_exceeding_anything() {
    let server = server();
    let env = env(&server);
    let mut before: Vec<String> = Vec::new();
    // Each session is killed after some more requests, and at another moment of what follows.
    for round in 1..=4_u64 {
        let sent = server.requests().len();
        let mut command = env.command(&TEST);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while server.requests().len() < sent + 6 {
            assert!(child.try_wait().unwrap().is_none(), "the test ended in round {round}");
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let stored = stored_results(&env);
        assert!(before.iter().all(|key| stored.contains(key)), "a result is lost in round {round}");
        before = stored;
        let spent = spent_requests(&env).unwrap();
        assert!((server.requests().len() as u64) <= spent && spent <= CAP, "{spent} in round {round}");
        assert!(env.tree(&format!("{STATE}/reports")).is_empty());
    }
    // As a process that was killed while it stored a result.
    let stale = format!("{STATE}/results/.prowess-staging-{}-x", exited_process());
    env.file(&format!("{stale}/new/record.json"), "{");
    assert!(!before.is_empty());
    let (sent, spent) = (server.requests().len() as u64, spent_requests(&env).unwrap());
    let last = env.run(&[&TEST[..], &["-v"]].concat());
    let expected = format!("continuing an interrupted test: {spent} requests");
    assert!(last.err.contains(&expected), "{}", last.transcript());
    // Finished runs are not repeated.
    let lines = |suffix: &str, prefix: &str| {
        last.err.lines().filter(|line| line.starts_with(prefix) && line.ends_with(suffix)).count()
    };
    assert_eq!(lines("(stored)", "finished "), before.len(), "{}", last.transcript());
    assert_eq!(lines("", "started ") + before.len(), 21, "{}", last.transcript());
    assert!(!last.out.contains("incomplete"), "{}", last.transcript());
    // The rest is sent, and counts together with what was spent before.
    let now = server.requests().len() as u64;
    assert!(now > sent && now <= CAP);
    let total = spent + now - sent;
    assert!(last.err.contains(&format!("spent: {total} requests")), "{total}: {}", last.transcript());
    // A finished test leaves only results and a report.
    assert_eq!((stored_results(&env).len(), spent_requests(&env)), (21, None));
    assert!(!env.path(&stale).exists());
    assert_eq!(env.run(&TEST).out, last.out);
    assert_eq!(server.requests().len() as u64, now);
}

/// A limit that the lost requests reach ends the test, in as many sessions as it takes.
#[test]
fn killed_tests_share_one_limit() {
    let server = server();
    let env = env(&server);
    let limited = [&TEST[..8], &["--max-requests", "7"]].concat();
    for _ in 0..6 {
        let sent = server.requests().len();
        let mut command = env.command(&limited);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while server.requests().len() < sent + 2 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(100));
        }
        let _ = child.kill();
        child.wait().unwrap();
        assert!(server.requests().len() <= 7);
    }
    let last = env.run(&limited);
    assert!(last.out.contains("incomplete: the limit of 7 requests is reached"), "{}", last.transcript());
    assert_eq!(last.code, 1);
    assert!(server.requests().len() <= 7);
}

/// Returns the id of a process that has exited.
fn exited_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}
