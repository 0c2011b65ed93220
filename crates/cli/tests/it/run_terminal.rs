//! Scripts on a terminal: confirmation, streamed output and Ctrl-C.

use std::io::{BufRead, BufReader, Read};

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;
use insta::{assert_snapshot, with_settings};
use prowess_testing::processes::count_processes;
use rustix::process::{Pid, Signal, kill_process};

const STEADY: [(&str, &str); 4] = [
    (r"sandbox tier\d: (.*), \d+ ms", "sandbox [TIER]: $1, [N] ms"),
    (r"tier1 cannot be enforced: .*\n", ""),
    (r"\r", ""),
    (r"tree-v1:[0-9a-f]+", "tree-v1:[HASH]"),
];

/// Tries to inject input into the terminal.
const TYPING: &str = "import fcntl, os\nprint('\\033]0;title\\007asked')\nfor name in (0, 1, 2, '/dev/tty'):\n    \
    try:\n        fd = name if isinstance(name, int) else os.open(name, os.O_RDWR)\n        \
    fcntl.ioctl(fd, 0x5412, b'y'); print('TYPED', name)\n    except OSError: pass\nprint(os.isatty(0), os.isatty(1))\n";

fn env() -> TestEnv {
    let env = TestEnv::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin").variable("NO_COLOR", "1");
    env.skill("~/.agents/skills/s").file("~/.agents/skills/s/typing.py", TYPING).file(
        "~/.agents/skills/s/linger.sh",
        "#!/bin/sh\ntrap '' INT TERM HUP\n(setsid sleep $1 &)\nsleep $1 &\npwd\nwait\n",
    );
    env
}

#[test]
fn a_confirmed_script_runs_once() {
    let env = env();
    let ask = |arguments: &[&str], json: &str| {
        TerminalSession::start(&env, arguments).until("not now: ").answer(json).transcript()
    };
    let call = &["run", "s", "typing.py"];
    with_settings!({ filters => STEADY }, {
        let result = [ask(call, "y"), ask(call, "YES"), ask(call, ""), ask(call, "no"), ask(call, "yeah")];
        assert_snapshot!(result.join("\n"));
        assert_snapshot!("without_a_sandbox_the_question_says_so", ask(&["run", "s", "typing.py", "--unsafe-no-sandbox"], "n"));
    });
    // The confirmation applies to one run: the next one asks again, and without a terminal there is no prompt.
    assert_eq!(env.run(&["run", "s", "typing.py", "--json"]).error().0, "ACCESS_DENIED");
    assert_eq!(env.run_with(&["run", "s", "typing.py"], "y\n").code, 1);
    // No prompt if the configuration allows scripts.
    env.file("~/.prowess/config.toml", "run.scripts = \"never\"\n");
    let (seen, code) = TerminalSession::start(&env, call).end();
    assert!(code == 1 && !seen.contains("Allow it?"), "{seen}");
    env.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    let (seen, code) = TerminalSession::start(&env, call).end();
    assert!(code == 0 && !seen.contains("Allow it?"), "{seen}");
}

/// Lines that were typed before the question, perhaps for another program, do not answer it.
#[test]
fn what_was_typed_before_the_question_is_not_an_answer() {
    let env = env();
    let mut session = TerminalSession::start_after_typing(&env, "y\na\n", &["run", "s", "typing.py"]);
    let (seen, code) = session.until("not now: ").answer("").end();
    assert!(code == 1 && !seen.contains("asked"), "{seen}");
}

/// A lasting answer is written into the configuration, and ends when the files of the skill change.
#[test]
fn a_lasting_answer_is_saved_and_ends_with_a_change() {
    let env = env();
    env.file("data.txt", "data");
    env.file("~/.prowess/config.toml", "# mine\nrun.denied-skills = [\"other\"]\n");
    let call = &["run", "s", "typing.py", "--read", "data.txt"];
    let ask = |answer: &str| TerminalSession::start(&env, call).until("not now: ").answer(answer).end();
    let config = || env.text("~/.prowess/config.toml");
    with_settings!({ filters => STEADY }, {
        let transcript = TerminalSession::start(&env, call).until("not now: ").answer("a").transcript();
        assert_snapshot!("always", format!("{transcript}\n{}", config()));
    });
    // The same files: no question, also without a terminal.
    assert_eq!(env.run(&["run", "s", "typing.py"]).code, 0);
    env.file("~/.agents/skills/s/other.txt", "changed");
    assert_eq!(env.run(&["run", "s", "typing.py", "--json"]).error().0, "ACCESS_DENIED");
    // The entry for the new files replaces the old one.
    assert_eq!(ask("always").1, 0);
    assert_eq!(config().matches("sha256-tree-v1:").count(), 1, "{}", config());
    env.file("~/.agents/skills/s/other.txt", "changed again");
    with_settings!({ filters => STEADY }, {
        let transcript = TerminalSession::start(&env, call).until("not now: ").answer("never").transcript();
        assert_snapshot!("never", format!("{transcript}\n{}", config()));
    });
    let error = env.run(&["run", "s", "typing.py", "--json"]).error();
    assert_eq!((error.0.as_str(), error.1.contains("denied")), ("ACCESS_DENIED", true), "{error:?}");
    let env = env.variable("PROWESS_ALLOW_SCRIPTS", "1");
    assert_eq!(env.run(&["run", "s", "typing.py"]).code, 1, "a denied skill stays denied");
}

/// Hidden characters in the output of a script could make a line read differently.
#[test]
fn hidden_characters_in_script_output_are_escaped() {
    let env = env();
    env.file(
        "~/.agents/skills/s/bidi.py",
        "print('a\\u202eb\\u200b\\u2066c tab \\U0001f469\\u200d\\U0001f527\\rx')\n",
    );
    env.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    let (seen, code) = TerminalSession::start(&env, &["run", "s", "bidi.py"]).end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("a\\u{202e}b\\u{200b}\\u{2066}c tab 👩\u{200d}🔧x"), "{seen}");
    // In a pipe, the output is unchanged.
    let result = env.run(&["run", "s", "bidi.py"]);
    assert!(result.out.contains("a\u{202e}b\u{200b}"), "{}", result.out);
}

#[test]
fn ctrl_c_at_the_prompt_runs_nothing() {
    let env = env();
    let mut session = TerminalSession::start(&env, &["run", "s", "linger.sh"]);
    session.until("not now: ");
    kill_process(session.id(), Signal::INT).unwrap();
    // The signal ends the prompt.
    assert_eq!(session.end().1, -1);
    assert_eq!(env.run(&["run", "--log"]).err, "no runs recorded\n");
}

/// The output of a script is shown while it runs, and Ctrl-C stops all of its processes.
#[test]
fn output_is_streamed_and_ctrl_c_stops_the_script() {
    let long = long(1);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let env = env().variable("PROWESS_ALLOW_SCRIPTS", "1");
        let mut child = env.spawn(&["run", "s", "linger.sh", "--", &long]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut scratch = String::new();
        // The script still runs when this line is printed.
        out.read_line(&mut scratch).unwrap();
        until_sleeping(&long, 2);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal.as_raw()), "{err}");
        assert!(err.contains(": cancelled, "), "{err}");
        assert!(!std::path::Path::new(scratch.trim()).exists(), "{scratch}");
        assert_eq!(sleeping(&long), 0, "{signal:?}");
        let run = env.run(&["run", "--log", "--json"]).json()["runs"][0]["end"].clone();
        assert_eq!(run["signal"], 9, "{run}");
    }
}

#[test]
fn killing_prowess_stops_the_script() {
    let long = long(2);
    let env = env().variable("PROWESS_ALLOW_SCRIPTS", "1");
    let mut child = env.spawn(&["run", "s", "linger.sh", "--", &long]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    until_sleeping(&long, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    // There is no process left to wait for.
    until_sleeping(&long, 0);
}

/// A number of seconds that no other test uses.
fn long(one: u32) -> String {
    format!("{}.{one}", 1_000_000 + std::process::id())
}

/// Waits until there are `count` such processes.
fn until_sleeping(long: &str, count: usize) {
    for _ in 0..10_000 {
        if sleeping(long) == count {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("there were never {count}");
}

/// Returns the number of such processes.
fn sleeping(seconds: &str) -> usize {
    count_processes(&format!("sleep\0{seconds}\0"))
}
