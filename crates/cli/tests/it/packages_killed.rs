//! A command that is killed leaves the old or the new state, and the next run cleans up.
//!
//! `PROWESS_KILLS` is the number of kills, `PROWESS_KILL_SEED` the random seed, and with `PROWESS_KILL_CALLS=1` strace
//! kills at a system call that changes something. `scripts/kill-test` sets them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::install_fixture::{InstallFixture, Kind, Random, SKILLS, State, Version};

/// The killed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Command {
    Install,
    Overwrite,
    Update,
    Remove,
}

/// The system calls that change files or start a change.
const CALLS: &str = "/^(rename|unlink|mkdir|rmdir|open|write|fsync|flock|close|ftruncate|chmod|symlink)";

/// The event after which the command is killed: its start, the staging directory, or the first write of the lock file.
#[derive(Debug, Clone, Copy)]
enum Since {
    Start,
    Stage,
    Lock,
}

struct Killer {
    fixture: InstallFixture,
    random: Random,
    now: State,
    /// The last measured duration of each command after each event.
    lengths: HashMap<(Command, u8), Duration>,
    kills: u64,
    /// The number of kills with a staging directory, and with a pending change.
    hits: [u64; 2],
}

#[test]
fn a_killed_command_leaves_the_old_or_the_new_state() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (kills, seed) = (number("PROWESS_KILLS", 300), number("PROWESS_KILL_SEED", 1));
    let kinds = [Kind::Project, Kind::User, Kind::Harness];
    std::thread::scope(|scope| {
        for (at, kind) in (0..).zip(kinds) {
            scope.spawn(move || {
                let seed = seed + at;
                let mut killer = Killer::new(kind, seed);
                while killer.kills < kills.div_ceil(3) {
                    let round = killer.kills;
                    if let Err(error) = killer.round() {
                        panic!("{kind:?}, PROWESS_KILL_SEED={}, after {round} kills: {error}", seed - at);
                    }
                }
                let [staged, begun] = killer.hits;
                eprintln!("{kind:?}: {} kills, {staged} with a stage, {begun} while swapping", killer.kills);
            });
        }
    });
}

impl Killer {
    fn new(kind: Kind, seed: u64) -> Self {
        let fixture = InstallFixture::new(kind);
        fixture.use_claude_code();
        let lengths = HashMap::new();
        Self { fixture, random: Random::new(seed), now: [0; 3], lengths, kills: 0, hits: [0; 2] }
    }

    /// Kills a command, and checks the state afterwards and after the next command.
    fn round(&mut self) -> Result<(), String> {
        let before = self.now;
        let (command, goal) = self.choose();
        let args = command_args(command, before);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let call = self.fixture.call(&args);
        let (moment, killed) = match std::env::var_os("PROWESS_KILL_CALLS") {
            Some(_) => self.kill_at_call(&call),
            None => self.kill(command, &call),
        };
        let after = expected_state(command, before, goal);
        let context =
            |error: String| format!("{command:?} {before:?} → {after:?}, killed {killed} {moment}: {error}");
        self.kills += u64::from(killed);
        self.hits[0] +=
            u64::from(self.fixture.leftovers().iter().any(|path| path.contains(".prowess-staging-")));
        self.hits[1] +=
            u64::from(fs::read_to_string(self.fixture.lock()).is_ok_and(|lock| lock.contains("\"pending\"")));
        self.check_after_kill(before, after).map_err(context)?;
        let again = self.random.below(2) == 0;
        if again {
            // A completed removal cannot be repeated.
            self.fixture.env.run(&call);
        }
        self.now =
            self.fixture.verify_and_check().map_err(|error| context(format!("after {again}: {error}")))?;
        self.fixture.check_links().map_err(|error| context(format!("after {again}: {error}")))?;
        let is_expected = match command {
            _ if again || !killed => self.now == after,
            _ => self.now == before || self.now == after,
        };
        match is_expected {
            true => Ok(()),
            false => Err(context(format!("after {again} it is {:?}", self.now))),
        }
    }

    /// Returns a command that changes the current state, and the version it installs.
    fn choose(&mut self) -> (Command, Version) {
        let present: Vec<Version> = self.now.into_iter().filter(|version| *version > 0).collect();
        let command = match present.is_empty() {
            true => Command::Install,
            false => {
                self.random.pick(&[Command::Overwrite, Command::Update, Command::Update, Command::Remove])
            }
        };
        let goal = match present.first() {
            Some(version) => 3 - version,
            None => self.random.pick(&[1, 2]),
        };
        self.fixture.offer(goal);
        (command, goal)
    }

    /// Checks the state after a kill: every directory is old or new, lock file and configuration are valid, and existing
    /// skills can be used.
    fn check_after_kill(&mut self, before: State, after: State) -> Result<(), String> {
        let state = self.fixture.state()?;
        if (0..3).any(|index| state[index] != before[index] && state[index] != after[index]) {
            return Err(format!("neither old nor new: {state:?}"));
        }
        self.fixture.locked()?;
        if self.fixture.kind == Kind::Harness {
            self.fixture.check_config()?;
        }
        let present: Vec<usize> = (0..3).filter(|index| state[*index] > 0).collect();
        if present.is_empty() {
            return Ok(());
        }
        let (name, version) = (SKILLS[present[self.random.below(present.len() as u64) as usize]], state);
        let preset: &[&str] = if self.fixture.kind == Kind::Harness { &["--preset", "harness"] } else { &[] };
        let result = self.fixture.env.run(&[&["activate", name][..], preset].concat());
        match result.code {
            0 => Ok(()),
            _ => Err(format!("{name} cannot be used in {version:?}: {}", result.transcript())),
        }
    }

    /// Runs a command and kills it at one of its system calls.
    fn kill_at_call(&mut self, call: &[&str]) -> (String, bool) {
        let number = self.random.below(400) + 1;
        let run = self.fixture.env.command(call);
        let mut traced = std::process::Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={CALLS}")]);
        traced.args(["-e", &format!("inject={CALLS}:signal=SIGKILL:when={number}")]);
        traced.arg(run.get_program()).args(run.get_args()).current_dir(run.get_current_dir().unwrap());
        traced.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        traced.envs(
            run.get_envs()
                .filter(|(name, _)| *name != "PATH")
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let ended = traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        (format!("at call {number}"), ended.signal().is_some())
    }

    /// Runs a command and kills it after an event. Returns the time, and whether it was still running.
    fn kill(&mut self, command: Command, call: &[&str]) -> (String, bool) {
        let event = self.random.pick(&[Since::Start, Since::Stage, Since::Lock]);
        let permille = self.random.below(1_100);
        let length = self.lengths.get(&(command, event as u8)).copied().unwrap_or(Duration::from_millis(20));
        let delay = length * u32::try_from(permille).unwrap() / 1_000;
        let lock_stamp = |fixture: &InstallFixture| {
            fs::metadata(fixture.lock()).map(|lock| (lock.ino(), lock.mtime_nsec())).ok()
        };
        let old_stamp = lock_stamp(&self.fixture);
        let mut run = self.fixture.env.command(call);
        let begin = Instant::now();
        let mut child = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let root = self.fixture.root();
        match event {
            Since::Start => {}
            Since::Stage => wait(&mut child, || {
                let mut entries = fs::read_dir(&root).into_iter().flatten().flatten();
                entries.any(|entry| entry.file_name().to_string_lossy().starts_with(".prowess-staging-"))
            }),
            Since::Lock => wait(&mut child, || lock_stamp(&self.fixture) != old_stamp),
        }
        let event_delay = begin.elapsed();
        let event_time = Instant::now();
        while event_time.elapsed() < delay && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(50).min(delay));
        }
        let _ = child.kill();
        let killed = child.wait().unwrap().signal().is_some();
        let lasted = event_time.elapsed();
        // A completed run gives the duration; a killed one gives a lower bound.
        let measured = self.lengths.entry((command, event as u8)).or_insert(length);
        *measured = if killed { (*measured).max(lasted) } else { (*measured + lasted) / 2 };
        (format!("{delay:?} after {event:?} at {event_delay:?}"), killed)
    }
}

fn command_args(command: Command, before: State) -> Vec<String> {
    let split = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    match command {
        Command::Install => split("install ../source --all"),
        Command::Overwrite => split("install ../source --all --yes --on-conflict overwrite"),
        Command::Update => split("update --yes"),
        Command::Remove => {
            let present = SKILLS.iter().zip(before).filter(|(_, version)| *version > 0);
            split("remove --yes").into_iter().chain(present.map(|(name, _)| (*name).to_owned())).collect()
        }
    }
}

/// Returns the state after the command.
fn expected_state(command: Command, before: State, goal: Version) -> State {
    match command {
        Command::Install | Command::Overwrite => [goal; 3],
        Command::Update => before.map(|version| if version == 0 { 0 } else { goal }),
        Command::Remove => [0; 3],
    }
}

/// Waits for a condition while a process runs.
fn wait(child: &mut Child, happened: impl Fn() -> bool) {
    while !happened() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(20));
    }
}
