//! Stores that are locked, full, damaged, foreign, or not there.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use insta::assert_snapshot;
use prowess_testing::postgres;

use crate::chat::talking::{steady, words};

#[test]
fn what_is_told() {
    let _steady = steady();
    let (_server, world) = words("Fine.");
    world.file("text", "This is not a database, and longer than one could be taken for. ".repeat(20));
    std::fs::create_dir_all(world.path("folder")).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let away = format!("postgresql://ann@127.0.0.1:{port}/prowess");
    let foreign = rusqlite::Connection::open(world.path("foreign")).unwrap();
    foreign.execute_batch("CREATE TABLE theirs (x)").unwrap();
    let mut told = vec![];
    for store in ["text", "folder", "foreign", &away, "postgresql://h/db?sslmode=on", "sqlite:"] {
        told.push(world.run(&["chat", "hello", "--store", store]).whole());
    }
    assert_snapshot!(told.join("\n"));
    assert!(world.text("text").starts_with("This is not"));
}

#[test]
fn a_store_that_another_program_holds() {
    let (server, world) = words("Fine.");
    assert_eq!(world.run(&["chat", "hello"]).code, 0);
    let holder = rusqlite::Connection::open(world.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = world.run(&["chat", "--continue", "hello"]);
    assert_eq!(told.code, 1, "{}", told.whole());
    assert!(told.err.starts_with("error: the store is locked by another program"), "{}", told.err);
    assert!(
        told.err.ends_with("hint: try again in a moment, or end the program that holds it\n"),
        "{}",
        told.err
    );
    // Talking goes on once it is given back.
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.run(&["chat", "--continue", "hello"]).out, "Fine.\n");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn postgresql_with_several_programs() {
    let database = postgres::Server::start();
    let (_server, world) = words("Fine.");
    let world = world.variable("PROWESS_STORE", &database.url());
    std::thread::scope(|scope| {
        for n in 0..3 {
            let world = &world;
            scope.spawn(move || {
                let told = world.run(&["chat", &format!("number {n}")]);
                assert_eq!((told.out.as_str(), told.code), ("Fine.\n", 0), "{}", told.whole());
            });
        }
    });
    assert_eq!(world.run(&["chats"]).out.lines().count(), 3);
    assert!(!world.path("~/.prowess/state/chats.sqlite3").exists());
}

/// Fills the disk of the state, says something long, makes room, and says something. `$BIN` is the program.
const FILL: &str = r#"
mount -t tmpfs -o size=2m tmpfs ../home/.prowess/state || exit 90
"$BIN" chat before </dev/null || exit 91
dd if=/dev/zero of=../home/.prowess/state/fill bs=1k 2>/dev/null
truncate -s -300k ../home/.prowess/state/fill
"$BIN" chat --continue <long; echo "exit $?"
"$BIN" chats show "$("$BIN" chats list -n 1 | cut -d ' ' -f 1)" | grep -c '^you'
rm ../home/.prowess/state/fill
"$BIN" chat --continue after </dev/null"#;

/// The same where no disk can be made: a limit on the size of files stands for it, which is another error in the same places.
const LIMITED: &str = r#"
"$BIN" chat before </dev/null || exit 91
(trap '' XFSZ; exec prlimit --fsize=65536 -- "$BIN" chat --continue <long); echo "exit $?"
"$BIN" chats show "$("$BIN" chats list -n 1 | cut -d ' ' -f 1)" | grep -c '^you'
"$BIN" chat --continue after </dev/null"#;

#[test]
fn a_full_disk() {
    let (server, world) = words("Fine.");
    world.file("long", "x ".repeat(400_000)).file("~/.prowess/state/.keep", "");
    let mounts = "mount -t tmpfs -o size=64k tmpfs /mnt";
    let can_mount = Command::new("unshare").args(["-rm", "sh", "-c", mounts]).output();
    let (mut command, script, about) = match can_mount.is_ok_and(|output| output.status.success()) {
        true => {
            let mut command = Command::new("unshare");
            command.args(["-rm", "sh"]);
            (command, FILL, "the disk of the store is full")
        }
        false => (Command::new("sh"), LIMITED, "the disk of "),
    };
    let inner = world.command(&[]);
    command.args(["-c", script]).current_dir(world.path("")).env_clear().env("BIN", inner.get_program());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    // What was kept is safe, and with room the chat goes on.
    assert_eq!(out, "Fine.\nexit 1\n1\nFine.\n", "{err}");
    assert!(err.contains(about) && err.contains("hint: "), "{err}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_folder_that_nobody_may_write_to() {
    let (_server, world) = words("Fine.");
    let state = world.path("~/.prowess/state");
    std::fs::create_dir_all(&state).unwrap();
    // Root may write anywhere: then there is nothing to see.
    std::fs::set_permissions(&state, Permissions::from_mode(0o500)).unwrap();
    let may = std::fs::write(state.join("probe"), "").is_ok();
    let told = world.run(&["chat", "hello"]);
    std::fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();
    match may {
        true => assert_eq!(told.out, "Fine.\n"),
        false => assert!(told.code != 0 && told.err.contains("hint: "), "{}", told.whole()),
    }
}
