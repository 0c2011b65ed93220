//! Concurrent processes in one install target: the second process gets an error, and the final state is
//! equivalent to some sequential order of the commands.

use std::process::{Child, Output, Stdio};

use crate::install_fixture::{InstallFixture, Kind, Random, SKILLS, State};

/// The arguments of `prowess`.
type Args = Vec<String>;

fn args(text: &str) -> Args {
    text.split(' ').map(str::to_owned).collect()
}

fn start(fixture: &InstallFixture, args: &Args) -> Child {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = fixture.env.command(&[&fixture.call(&args)[..], &["--json"]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs all commands concurrently and returns their exit codes. Failures must report the other process.
fn run_concurrently(fixture: &InstallFixture, calls: &[Args]) -> Vec<i32> {
    let children: Vec<Child> = calls.iter().map(|args| start(fixture, args)).collect();
    let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
    ended.zip(calls).map(|(output, args)| exit_code(&output, args)).collect()
}

fn exit_code(output: &Output, args: &Args) -> i32 {
    let message = String::from_utf8_lossy(&output.stdout);
    let code = output.status.code().unwrap();
    let second = ["CONFLICT", "NOT_FOUND"].iter().any(|word| message.contains(word));
    assert!(code == 0 || (code == 1 && second), "{args:?}: {code} {message} {:?}", output.stderr);
    code
}

fn assert_consistent(fixture: &InstallFixture, calls: &[Args]) -> State {
    // `verify` has nothing to clean up.
    let state = fixture.check().unwrap_or_else(|error| panic!("{calls:?}: {error}"));
    assert_eq!(fixture.verify_and_check(), Ok(state), "{calls:?}");
    state
}

#[test]
fn different_skills_are_all_installed() {
    for kind in [Kind::Project, Kind::User, Kind::Harness] {
        let fixture = InstallFixture::new(kind);
        fixture.offer(1);
        let calls = SKILLS.map(|name| args(&format!("install ../source --skill {name}")));
        assert_eq!(run_concurrently(&fixture, &calls), [0; 3], "{kind:?}");
        assert_eq!(assert_consistent(&fixture, &calls), [1; 3], "{kind:?}");
        let calls = SKILLS.map(|name| args(&format!("remove {name}")));
        assert_eq!(run_concurrently(&fixture, &calls), [0; 3], "{kind:?}");
        assert_eq!(assert_consistent(&fixture, &calls), [0; 3], "{kind:?}");
    }
}

#[test]
fn only_one_process_installs_a_skill() {
    for kind in [Kind::Project, Kind::User, Kind::Harness] {
        let fixture = InstallFixture::new(kind);
        let calls: Vec<Args> =
            (0..8).map(|index| args(&format!("install ../v{} --skill alpha", index % 2 + 1))).collect();
        let codes = run_concurrently(&fixture, &calls);
        let winners: Vec<usize> = (0..8).filter(|index| codes[*index] == 0).collect();
        // Installing an identical skill succeeds without changes.
        assert!(
            !winners.is_empty() && winners.iter().all(|index| index % 2 == winners[0] % 2),
            "{kind:?}: {codes:?}"
        );
        let version = u8::try_from(winners[0] % 2 + 1).unwrap();
        assert_eq!(assert_consistent(&fixture, &calls), [version, 0, 0], "{kind:?}");
    }
}

#[test]
fn the_lock_file_is_consistent_after_concurrent_commands() {
    for (seed, kind) in (1..).zip([Kind::Project, Kind::User, Kind::Harness]) {
        let mut random = Random::new(seed);
        let fixture = InstallFixture::new(kind);
        for _ in 0..8 {
            let number = 2 + random.below(7);
            let calls: Vec<Args> = (0..number).map(|_| any_call(&mut random)).collect();
            run_concurrently(&fixture, &calls);
            assert_consistent(&fixture, &calls);
        }
    }
}

fn any_call(random: &mut Random) -> Args {
    let (name, version) = (random.pick(&SKILLS), random.pick(&[1, 2]));
    args(&match random.below(5) {
        0 => format!("install ../v{version} --skill {name}"),
        1 => format!("install ../v{version} --skill {name} --yes --on-conflict overwrite"),
        2 => format!("install ../v{version} --all --yes --on-conflict overwrite"),
        3 => "update --yes".to_owned(),
        _ => format!("remove --yes {name}"),
    })
}
