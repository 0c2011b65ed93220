//! Terminals, pipes and colours.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::support::{TestEnv, needing};
use insta::assert_snapshot;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Returns the output on a terminal of this width.
fn on_terminal(env: &TestEnv, columns: u16, args: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(path.to_str().unwrap()).unwrap();
    let mut child = env.command(args).stdout(slave).stderr(Stdio::null()).spawn().unwrap();
    let mut seen = Vec::new();
    // On Linux, reading fails when the other side is closed.
    let _ = File::from(master).read_to_end(&mut seen);
    child.wait().unwrap();
    env.redact(&String::from_utf8(seen).unwrap().replace("\r\n", "\n"))
}

fn sample_env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill_with_description(
        "~/.agents/skills/pdf",
        "Fills PDF forms, reads them, and makes new ones where none are there.",
    )
    .skill_with_description("~/.agents/skills/日本語", &"日本語の説明文です。".repeat(5))
    .skill_with_description("~/.agents/skills/a-name-that-takes-more-than-half", "Is short.")
    .file(
        "~/.agents/skills/needy/SKILL.md",
        needing("needy", "frobnicate gizmo widget thingamajig contraption"),
    );
    env
}

#[test]
fn the_list_fits_the_terminal() {
    let env = sample_env();
    let mut result = String::new();
    for columns in [40, 60, 100] {
        let seen = on_terminal(&env, columns, &["list", "--all", "--color", "never"]);
        for line in seen.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= usize::from(columns), "{columns}: {line}");
        }
        result += &format!("{columns} columns\n{seen}\n");
    }
    assert_snapshot!(result);
}

#[test]
fn without_arguments_an_overview_is_shown() {
    let env = sample_env();
    let overview = on_terminal(&env, 80, &[]);
    assert!(overview.contains("3 skills are available\n"), "{overview}");
    assert!(
        overview.contains("1 skill is not available; run `prowess list --all` to see why\n"),
        "{overview}"
    );
    assert!(overview.contains("  prowess list "), "{overview}");
    let overview = on_terminal(&TestEnv::bare(), 80, &[]);
    assert!(overview.contains("  prowess new NAME --description TEXT  Create a skill\n"), "{overview}");
    let result = env.run(&[]);
    assert!(result.code == 2 && result.err.contains("Usage: prowess"), "{}", result.transcript());
}

#[test]
fn show_fits_the_terminal() {
    assert_snapshot!(on_terminal(&sample_env(), 50, &["show", "--color", "never"]));
}

#[test]
fn the_default_width_is_eighty_columns() {
    let env = sample_env();
    assert_eq!(on_terminal(&env, 0, &["list"]), on_terminal(&env, 80, &["list"]));
}

#[test]
fn colour_depends_on_terminal_and_options() {
    let coloured = |text: &str| text.contains('\u{1b}');
    assert!(coloured(&on_terminal(&sample_env(), 80, &["list"])));
    assert!(!coloured(&on_terminal(&sample_env(), 80, &["list", "--color", "never"])));
    assert!(!coloured(&on_terminal(&sample_env(), 80, &["list", "--json"])));
    let plain = sample_env().variable("NO_COLOR", "1");
    assert!(!coloured(&on_terminal(&plain, 80, &["list"])));
    assert!(coloured(&on_terminal(&plain, 80, &["list", "--color", "always"])));
    let empty = sample_env().variable("NO_COLOR", "");
    assert!(coloured(&on_terminal(&empty, 80, &["list"])));
    assert!(!coloured(&sample_env().run(&["list"]).out));
}

#[test]
fn hidden_characters_are_escaped_on_a_terminal() {
    let env = TestEnv::bare();
    let text = "---\nname: a\ndescription: d\n---\n\tx \u{202e}y\u{e0041}\r\nlast";
    env.file("~/.agents/skills/a/SKILL.md", text).file("~/.agents/skills/a/r.md", "z\u{202e}");
    let seen = on_terminal(&env, 80, &["activate", "a"]);
    assert!(seen.contains("\tx \\u{202e}y\\u{e0041}\nlast\n"), "{seen}");
    assert_eq!(on_terminal(&env, 80, &["read", "a", "r.md"]), "z\\u{202e}\n");
    assert_eq!(env.run(&["read", "a", "r.md"]).out, "z\u{202e}", "unchanged in a pipe");
}

#[test]
fn colour_on_request() {
    let env = sample_env();
    env.file("~/.prowess/config.toml", "skills.disabled = [\"pdf\"]\n");
    let calls: [&[&str]; 5] = [
        &["list", "--all", "--color", "always"],
        &["show", "--color", "always"],
        &["why", "pdf", "--color", "always"],
        &["info", "missing", "--color", "always"],
        &["list", "--color", "always", "--json"],
    ];
    assert_snapshot!(env.runs(&calls).replace('\u{1b}', "␛"));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let env = TestEnv::bare();
    for number in 0..2000 {
        env.skill_with_description(
            &format!("~/.agents/skills/skill-{number:04}"),
            &"Does many things. ".repeat(10),
        );
    }
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show"],
        &["check", "--json", "../home"],
        &["completions", "zsh"],
        &["prompt", "--quiet"],
        &["prompt", "--format", "tiers", "--quiet"],
        &["match", "many things", "-k", "1000"],
        &["tools", "--json"],
    ] {
        let mut child = env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = [0; 16];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut line).unwrap();
        drop(out);
        let mut message = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_to_string(&mut message).unwrap();
        assert_eq!((message.as_str(), child.wait().unwrap().code()), ("", Some(0)), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let env = sample_env();
    let mut child = env.command(&["list"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let message = BufReader::new(child.stderr.take().unwrap()).lines().last().unwrap().unwrap();
    assert!(message.starts_with("error: "), "{message}");
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn ctrl_c_ends_commands_without_scripts() {
    use std::os::unix::process::ExitStatusExt;
    let env = TestEnv::bare();
    for number in 0..200 {
        env.skill_with_description(&format!("~/.agents/skills/s{number}"), &"Fills forms. ".repeat(70));
    }
    let cases: Vec<String> = (0..400)
        .map(|n| format!("{{\"query\":\"fill {}\",\"skills\":[\"s{n}\"]}}\n", "x".repeat(200)))
        .collect();
    env.file("queries.jsonl", cases.concat());
    for args in [
        &["prompt", "--budget-chars", "1000000"] as &[&str],
        &["match", "fills forms", "-k", "200", "--json"],
        &["tools", "--json"],
        &["lint", "--routing", "--json"],
        &["eval", "queries.jsonl", "--json"],
    ] {
        // The pipe is full and has no reader, so the command blocks on its write.
        let (reader, writer) = std::io::pipe().unwrap();
        let mut fill = writer.try_clone().unwrap();
        rustix::io::ioctl_fionbio(&fill, true).unwrap();
        while std::io::Write::write(&mut fill, &[b' '; 4096]).is_ok() {}
        rustix::io::ioctl_fionbio(&fill, false).unwrap();
        drop(fill);
        let mut child = env.command(args).stdout(writer).stderr(Stdio::null()).spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let waits = || {
            let at = std::fs::read_to_string(format!("/proc/{}/syscall", pid.as_raw_nonzero())).unwrap();
            // write(1, …)
            at.starts_with("1 0x1 ")
        };
        while !waits() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(2), "{args:?}");
        drop(reader);
    }
}
