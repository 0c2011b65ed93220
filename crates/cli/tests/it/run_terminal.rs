//! Scripts at a terminal: the question before one, output as it comes, and Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::world::World;
use crate::world::terminal::Dialogue;
use insta::{assert_snapshot, with_settings};
use rustix::process::{Pid, Signal, kill_process};

const STEADY: [(&str, &str); 3] = [
    (r"sandbox tier\d: (.*), \d+ ms", "sandbox [TIER]: $1, [N] ms"),
    (r"tier1 cannot be enforced: .*\n", ""),
    (r"\r", ""),
];

/// Tries to type for whoever sits there.
const TYPING: &str = "import fcntl, os\nprint('\\033]0;title\\007asked')\nfor name in (0, 1, 2, '/dev/tty'):\n    \
    try:\n        fd = name if isinstance(name, int) else os.open(name, os.O_RDWR)\n        \
    fcntl.ioctl(fd, 0x5412, b'y'); print('TYPED', name)\n    except OSError: pass\nprint(os.isatty(0), os.isatty(1))\n";

fn world() -> World {
    let world = World::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin").variable("NO_COLOR", "1");
    world.skill("~/.agents/skills/s").file("~/.agents/skills/s/typing.py", TYPING).file(
        "~/.agents/skills/s/linger.sh",
        "#!/bin/sh\ntrap '' INT TERM HUP\n(setsid sleep $1 &)\nsleep $1 &\necho \"$HOME\"\nwait\n",
    );
    world
}

#[test]
fn a_script_is_asked_about_and_runs_once() {
    let world = world();
    let ask = |arguments: &[&str], answer: &str| {
        Dialogue::start(&world, arguments).until("[y/N] ").answer(answer).whole()
    };
    let call = &["run", "s", "typing.py"];
    with_settings!({ filters => STEADY }, {
        let told = [ask(call, "y"), ask(call, "YES"), ask(call, ""), ask(call, "no"), ask(call, "yeah")];
        assert_snapshot!(told.join("\n"));
        assert_snapshot!("without_a_sandbox_the_question_says_so", ask(&["run", "s", "typing.py", "--unsafe-no-sandbox"], "n"));
    });
    // It was for that one run: the next one is asked about again, and nobody is asked without a terminal.
    assert_eq!(world.run(&["run", "s", "typing.py", "--json"]).error().0, "ACCESS_DENIED");
    assert_eq!(world.run_with(&["run", "s", "typing.py"], "y\n").code, 1);
    // Where nothing is to be asked, nothing is.
    world.file("~/.prowess/config.toml", "run.scripts = \"never\"\n");
    let (seen, code) = Dialogue::start(&world, call).end();
    assert!(code == 1 && !seen.contains("[y/N]"), "{seen}");
    world.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    let (seen, code) = Dialogue::start(&world, call).end();
    assert!(code == 0 && !seen.contains("[y/N]"), "{seen}");
}

/// Direction marks and other hidden characters of a script would let a line read as another one.
#[test]
fn hidden_characters_of_a_script_are_written_out() {
    let world = world();
    world.file(
        "~/.agents/skills/s/bidi.py",
        "print('a\\u202eb\\u200b\\u2066c tab \\U0001f469\\u200d\\U0001f527\\rx')\n",
    );
    world.file("~/.prowess/config.toml", "run.allowed-skills = [\"s\"]\n");
    let (seen, code) = Dialogue::start(&world, &["run", "s", "bidi.py"]).end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("a\\u{202e}b\\u{200b}\\u{2066}c tab 👩\u{200d}🔧x"), "{seen}");
    // Through a pipe it is the script's own output, byte by byte.
    let ran = world.run(&["run", "s", "bidi.py"]);
    assert!(ran.out.contains("a\u{202e}b\u{200b}"), "{}", ran.out);
}

#[test]
fn ctrl_c_at_the_question_runs_nothing() {
    let world = world();
    let mut dialogue = Dialogue::start(&world, &["run", "s", "linger.sh"]);
    dialogue.until("[y/N] ");
    kill_process(dialogue.id(), Signal::INT).unwrap();
    // Nobody answers: the signal ends it.
    assert_eq!(dialogue.end().1, -1);
    assert_eq!(world.run(&["run", "--log"]).err, "nothing was run yet\n");
}

/// What a script writes is seen while it runs, and nothing is left of it after Ctrl-C.
#[test]
fn output_comes_at_once_and_ctrl_c_ends_everything() {
    let long = long(1);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = world().variable("PROWESS_ALLOW_SCRIPTS", "1");
        let mut child = world
            .command(&["run", "s", "linger.sh", "--", &long])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut scratch = String::new();
        // The script still runs when this line comes: it waits far longer than any test.
        out.read_line(&mut scratch).unwrap();
        until_sleeping(&long, 2);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{err}");
        assert!(err.contains(": cancelled, "), "{err}");
        assert!(!std::path::Path::new(scratch.trim()).exists(), "{scratch}");
        assert_eq!(sleeping(&long), 0, "{signal:?}");
        let run = world.run(&["run", "--log", "--json"]).json()["runs"][0]["end"].clone();
        assert_eq!(run["signal"], 9, "{run}");
    }
}

/// Whoever kills Prowess itself leaves nothing behind either.
#[test]
fn a_script_does_not_outlive_a_prowess_that_is_killed() {
    let long = long(2);
    let world = world().variable("PROWESS_ALLOW_SCRIPTS", "1");
    let mut child = world
        .command(&["run", "s", "linger.sh", "--", &long])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    until_sleeping(&long, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    // Nobody is left who could be waited for.
    until_sleeping(&long, 0);
}

/// So many seconds that no other test waits as long.
fn long(one: u32) -> String {
    format!("{}.{one}", 1_000_000 + std::process::id())
}

/// Waits until as many are there.
fn until_sleeping(long: &str, count: usize) {
    for _ in 0..10_000 {
        if sleeping(long) == count {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("there were never {count}");
}

/// How many wait that long.
fn sleeping(long: &str) -> usize {
    let commands = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = commands.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| *command == format!("sleep\0{long}\0").into_bytes()).count()
}
