//! Locked, full, damaged, foreign and missing stores.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use insta::assert_snapshot;
use prowess_testing::postgres;

use crate::chat::support::{bind_filters, model_answering};

#[test]
fn store_errors() {
    let _steady = bind_filters();
    let (_server, env) = model_answering("Fine.");
    env.file("text", "This is not a database, and longer than one could be taken for. ".repeat(20));
    std::fs::create_dir_all(env.path("folder")).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let away = format!("postgresql://ann@127.0.0.1:{port}/prowess");
    let foreign = rusqlite::Connection::open(env.path("foreign")).unwrap();
    foreign.execute_batch("CREATE TABLE theirs (x)").unwrap();
    let mut result = vec![];
    for store in ["text", "folder", "foreign", &away, "postgresql://h/db?sslmode=on", "sqlite:"] {
        result.push(env.run(&["chat", "hello", "--store", store]).transcript());
    }
    assert_snapshot!(result.join("\n"));
    assert!(env.text("text").starts_with("This is not"));
}

#[test]
fn a_locked_store() {
    let (server, env) = model_answering("Fine.");
    assert_eq!(env.run(&["chat", "hello"]).code, 0);
    let holder = rusqlite::Connection::open(env.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let result = env.run(&["chat", "--continue", "hello"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    assert!(result.err.starts_with("error: the store is locked by another process"), "{}", result.err);
    assert!(
        result.err.ends_with("hint: try again later, or stop the program that uses it\n"),
        "{}",
        result.err
    );
    // The chat continues when the store is unlocked.
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(env.run(&["chat", "--continue", "hello"]).out, "Fine.\n");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn postgresql_with_several_processes() {
    let database = postgres::PostgresServer::start();
    let (_server, env) = model_answering("Fine.");
    let env = env.variable("PROWESS_STORE", &database.url());
    std::thread::scope(|scope| {
        for n in 0..3 {
            let env = &env;
            scope.spawn(move || {
                let result = env.run(&["chat", &format!("number {n}")]);
                assert_eq!((result.out.as_str(), result.code), ("Fine.\n", 0), "{}", result.transcript());
            });
        }
    });
    assert_eq!(env.run(&["chats"]).out.lines().count(), 3);
    assert!(!env.path("~/.prowess/state/chats.sqlite3").exists());
}

/// Fills the disk of the state directory, sends a long message, frees space, and sends another. `$BIN` is the binary.
const FILL: &str = r#"
mount -t tmpfs -o size=2m tmpfs ../home/.prowess/state || exit 90
"$BIN" chat before </dev/null || exit 91
dd if=/dev/zero of=../home/.prowess/state/fill bs=1k 2>/dev/null
truncate -s -300k ../home/.prowess/state/fill
"$BIN" chat --continue <long; echo "exit $?"
"$BIN" chats show "$("$BIN" chats list -n 1 | cut -d ' ' -f 1)" | grep -c '^you'
rm ../home/.prowess/state/fill
"$BIN" chat --continue after </dev/null"#;

/// On machines without namespaces, a file size limit replaces the full disk. The error differs.
const LIMITED: &str = r#"
"$BIN" chat before </dev/null || exit 91
(trap '' XFSZ; exec prlimit --fsize=65536 -- "$BIN" chat --continue <long); echo "exit $?"
"$BIN" chats show "$("$BIN" chats list -n 1 | cut -d ' ' -f 1)" | grep -c '^you'
"$BIN" chat --continue after </dev/null"#;

#[test]
fn a_full_disk() {
    let (server, env) = model_answering("Fine.");
    env.file("long", "x ".repeat(400_000)).file("~/.prowess/state/.keep", "");
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
    let inner = env.command(&[]);
    command.args(["-c", script]).current_dir(env.path("")).env_clear().env("BIN", inner.get_program());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    // The stored messages are intact, and the chat continues.
    assert_eq!(out, "Fine.\nexit 1\n1\nFine.\n", "{err}");
    assert!(err.contains(about) && err.contains("hint: "), "{err}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_unwritable_directory() {
    let (_server, env) = model_answering("Fine.");
    let state = env.path("~/.prowess/state");
    std::fs::create_dir_all(&state).unwrap();
    // Does not apply to root.
    std::fs::set_permissions(&state, Permissions::from_mode(0o500)).unwrap();
    let may = std::fs::write(state.join("probe"), "").is_ok();
    let result = env.run(&["chat", "hello"]);
    std::fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();
    match may {
        true => assert_eq!(result.out, "Fine.\n"),
        false => assert!(result.code != 0 && result.err.contains("hint: "), "{}", result.transcript()),
    }
}
