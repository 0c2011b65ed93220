//! Files that are not stores, disks that are full, others who hold the lock.

use std::fs;
use std::process::Command;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::store::StoreError;

use crate::store::child::{Job, Process};
use crate::store::world::{World, exchange, messages};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_process_holds() {
    let world = World::sqlite();
    let (store, chat) = world.chat().await;
    let mut process = Process::start(&world, Job::Lock);
    process.noted(1).await;
    let refused = store.say(&chat.id, "x").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Timeout);
    let told = refused.to_string().replace(&world.address(), "FILE");
    insta::assert_snapshot!(told, @"the store is locked by another program: waited 500 ms for FILE");
    // Reading does not wait for those who write.
    assert_eq!(store.messages(&chat.id, None, 10).await.unwrap().messages, []);
    assert!(matches!(world.try_open().await.err(), Some(StoreError::Busy(_))));
    process.kill();
    store.say(&chat.id, "x").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_that_somebody_else_has_locked() {
    let mut world = World::postgres();
    world.options.call = Duration::from_secs(1);
    let (store, chat) = world.chat().await;
    let (mut client, connection) =
        tokio_postgres::connect(&world.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let held = client.transaction().await.unwrap();
    held.batch_execute("LOCK TABLE prowess_chats IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert_eq!(store.say(&chat.id, "x").await.unwrap_err().code(), ErrorCode::Timeout);
    held.rollback().await.unwrap();
    store.say(&chat.id, "x").await.unwrap();
    assert_eq!(messages(&store, &chat.id).await.len(), 1);
}

fn damaged(world: &World) -> StoreError {
    StoreError::Damaged(world.address())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_database() {
    let world = World::sqlite();
    fs::create_dir_all(world.file().parent().unwrap()).unwrap();
    for bytes in
        [&b"what is this"[..], &[0xff; 8192][..], b"SQLite format 3\0 and then nothing of the kind, for long"]
    {
        fs::write(world.file(), bytes).unwrap();
        assert_eq!(world.try_open().await.err(), Some(damaged(&world)));
        assert_eq!(fs::read(world.file()).unwrap(), bytes, "it is left as it was");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_damaged_pages() {
    let world = World::sqlite();
    let (store, chat) = world.chat().await;
    for n in 0..50 {
        exchange(&store, &chat.id, &n.to_string(), &"words ".repeat(500)).await;
    }
    drop(store);
    // The threads close the file in their own time, and whether the last of them takes the log along is SQLite's affair.
    let written = rusqlite::Connection::open(world.file()).unwrap();
    written.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(written);
    let _ = fs::remove_file(world.file().with_file_name("chats.sqlite3-wal"));
    let _ = fs::remove_file(world.file().with_file_name("chats.sqlite3-shm"));
    let mut bytes = fs::read(world.file()).unwrap();
    let length = bytes.len();
    bytes[4096 * 2..length].fill(0xa5);
    fs::write(world.file(), bytes).unwrap();
    let failed = match world.try_open().await {
        Err(error) => error,
        Ok(store) => store.messages(&chat.id, None, 1_000).await.unwrap_err(),
    };
    assert_eq!(failed, damaged(&world));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_somebody_else() {
    let world = World::sqlite();
    fs::create_dir_all(world.file().parent().unwrap()).unwrap();
    rusqlite::Connection::open(world.file())
        .unwrap()
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    let before = fs::read(world.file()).unwrap();
    assert_eq!(world.try_open().await.err(), Some(StoreError::Foreign(world.address())));
    assert_eq!(fs::read(world.file()).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_where_no_file_can_be() {
    let world = World::sqlite();
    fs::create_dir_all(world.file()).unwrap();
    assert_eq!(world.try_open().await.err().map(|error| error.code()), Some(ErrorCode::PermissionDenied));
    let below = prowess_chat::store::Address::File("/dev/null/chats.sqlite3".into());
    let refused = prowess_chat::store::open(&below).await.err().unwrap();
    assert_eq!(refused.code(), ErrorCode::PermissionDenied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_are_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::sqlite();
    let (_store, _) = world.chat().await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(world.file().parent().unwrap()), 0o700);
    for file in ["chats.sqlite3", "chats.sqlite3-wal", "chats.sqlite3-shm"] {
        assert_eq!(mode(&world.file().with_file_name(file)), 0o600, "{file}");
    }
}

/// A small disk in a namespace of its own; where none can be made, the limit of the next test stands for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full() {
    let can_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    match can_mount.is_ok_and(|output| output.status.success()) {
        true => {
            let mounted = r#"mount -t tmpfs -o size=6m tmpfs "$FOLDER" && exec "$0" "$@""#;
            let ready = filled("unshare", &["-rm", "sh", "-c", mounted]);
            assert_eq!(ready, "UNAVAILABLE", "a store on a full disk is not ready");
        }
        false => drop(filled("sh", &LIMITED)),
    }
}

/// 600 KB a file, until the process itself raises the limit.
const LIMITED: [&str; 2] = ["-c", r#"trap '' XFSZ; ulimit -S -f 1200; exec "$0" "$@""#];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_may_not_grow() {
    filled("sh", &LIMITED);
}

/// Returns what the store's own check said while the disk was full.
fn filled(program: &str, arguments: &[&str]) -> String {
    let world = World::sqlite();
    let folder = world.file().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env("FOLDER", &folder).arg(std::env::current_exe().unwrap());
    let mut process = Process::start_in(&world, Job::Fill, command);
    let fine = process.wait();
    let notes = process.notes();
    assert!(fine, "{notes:?}");
    let (end, codes) = notes.split_last().unwrap();
    assert_eq!(
        (codes[0].as_str(), codes[1].as_str(), end.as_str()),
        ("UNAVAILABLE", "1", "before 1000000"),
        "{notes:?}"
    );
    codes[2].clone()
}

/// The error that PostgreSQL gives when its disk is full, raised where it would be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_whose_disk_is_full() {
    let world = World::postgres();
    let (store, chat) = world.chat().await;
    store.say(&chat.id, "before").await.unwrap();
    let (client, connection) =
        tokio_postgres::connect(&world.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON prowess_messages EXECUTE FUNCTION full_disk();
        CREATE TRIGGER full_disk BEFORE UPDATE ON prowess_schema EXECUTE FUNCTION full_disk()";
    client.batch_execute(full).await.unwrap();
    store.check().await.expect("nothing was refused yet");
    assert_eq!(store.say(&chat.id, "x").await, Err(StoreError::Full));
    assert_eq!(store.check().await, Err(StoreError::Full), "that it can be read is not enough to be ready");
    assert_eq!(store.ask(&chat.id, "x").await.unwrap_err(), StoreError::Full);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 1);
    client.batch_execute("DROP TRIGGER full_disk ON prowess_schema").await.unwrap();
    store.check().await.expect("there is room for something again");
    client.batch_execute("DROP TRIGGER full_disk ON prowess_messages").await.unwrap();
    store.say(&chat.id, "after").await.unwrap();
}
