//! Invalid files, full disks and locks of other processes.

use std::fs;
use std::process::Command;
use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::store::StoreError;

use crate::store::child::{Job, Process};
use crate::store::support::{TestStore, exchange, messages};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_locked_by_another_process() {
    let fixture = TestStore::sqlite();
    let (store, chat) = fixture.chat().await;
    let mut process = Process::start(&fixture, Job::Lock);
    process.wait_for_notes(1).await;
    let refused = store.add_user_message(&chat.id, "x").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Timeout);
    let message = refused.to_string().replace(&fixture.address(), "FILE");
    insta::assert_snapshot!(message, @"the store is locked by another process: waited 500 ms for FILE");
    // Readers do not wait for writers.
    assert_eq!(store.messages(&chat.id, None, 10).await.unwrap().messages, []);
    assert!(matches!(fixture.try_open().await.err(), Some(StoreError::Busy(_))));
    process.kill();
    store.add_user_message(&chat.id, "x").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_locked_by_another_client() {
    let mut fixture = TestStore::postgres();
    fixture.options.call_timeout = Duration::from_secs(1);
    let (store, chat) = fixture.chat().await;
    let (mut client, connection) =
        tokio_postgres::connect(&fixture.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute("LOCK TABLE prowess_chats IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert_eq!(store.add_user_message(&chat.id, "x").await.unwrap_err().code(), ErrorCode::Timeout);
    transaction.rollback().await.unwrap();
    store.add_user_message(&chat.id, "x").await.unwrap();
    assert_eq!(messages(&store, &chat.id).await.len(), 1);
}

fn damaged(fixture: &TestStore) -> StoreError {
    StoreError::Damaged(fixture.address())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_a_database() {
    let fixture = TestStore::sqlite();
    fs::create_dir_all(fixture.file().parent().unwrap()).unwrap();
    for bytes in
        [&b"what is this"[..], &[0xff; 8192][..], b"SQLite format 3\0 and then nothing of the kind, for long"]
    {
        fs::write(fixture.file(), bytes).unwrap();
        assert_eq!(fixture.try_open().await.err(), Some(damaged(&fixture)));
        assert_eq!(fs::read(fixture.file()).unwrap(), bytes, "the file is unchanged");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_damaged_pages() {
    let fixture = TestStore::sqlite();
    let (store, chat) = fixture.chat().await;
    for n in 0..50 {
        exchange(&store, &chat.id, &n.to_string(), &"words ".repeat(500)).await;
    }
    drop(store);
    // The threads close the file asynchronously, and SQLite may or may not remove the log.
    let connection = rusqlite::Connection::open(fixture.file()).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(connection);
    let _ = fs::remove_file(fixture.file().with_file_name("chats.sqlite3-wal"));
    let _ = fs::remove_file(fixture.file().with_file_name("chats.sqlite3-shm"));
    let mut bytes = fs::read(fixture.file()).unwrap();
    let length = bytes.len();
    bytes[4096 * 2..length].fill(0xa5);
    fs::write(fixture.file(), bytes).unwrap();
    let failed = match fixture.try_open().await {
        Err(error) => error,
        Ok(store) => store.messages(&chat.id, None, 1_000).await.unwrap_err(),
    };
    assert_eq!(failed, damaged(&fixture));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_another_program() {
    let fixture = TestStore::sqlite();
    fs::create_dir_all(fixture.file().parent().unwrap()).unwrap();
    rusqlite::Connection::open(fixture.file())
        .unwrap()
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    let before = fs::read(fixture.file()).unwrap();
    assert_eq!(fixture.try_open().await.err(), Some(StoreError::NotAStore(fixture.address())));
    assert_eq!(fs::read(fixture.file()).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_that_cannot_be_a_file() {
    let fixture = TestStore::sqlite();
    fs::create_dir_all(fixture.file()).unwrap();
    assert_eq!(fixture.try_open().await.err().map(|error| error.code()), Some(ErrorCode::PermissionDenied));
    let below = prowess_chat::store::StoreAddress::File("/dev/null/chats.sqlite3".into());
    let refused = prowess_chat::store::open(&below).await.err().unwrap();
    assert_eq!(refused.code(), ErrorCode::PermissionDenied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_are_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = TestStore::sqlite();
    let (_store, _) = fixture.chat().await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(fixture.file().parent().unwrap()), 0o700);
    for file in ["chats.sqlite3", "chats.sqlite3-wal", "chats.sqlite3-shm"] {
        assert_eq!(mode(&fixture.file().with_file_name(file)), 0o600, "{file}");
    }
}

/// A small disk in its own mount namespace. Where none can be created, a file size limit is used instead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk() {
    let can_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    match can_mount.is_ok_and(|output| output.status.success()) {
        true => {
            let mounted = r#"mount -t tmpfs -o size=6m tmpfs "$FOLDER" && exec "$0" "$@""#;
            let ready = fill_disk("unshare", &["-rm", "sh", "-c", mounted]);
            assert_eq!(ready, "UNAVAILABLE", "a store on a full disk is not ready");
        }
        false => drop(fill_disk("sh", &LIMITED)),
    }
}

/// 600 KB per file, until the process raises the limit.
const LIMITED: [&str; 2] = ["-c", r#"trap '' XFSZ; ulimit -S -f 1200; exec "$0" "$@""#];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_size_limit() {
    fill_disk("sh", &LIMITED);
}

/// Fills the disk and returns the result of the store's check.
fn fill_disk(program: &str, arguments: &[&str]) -> String {
    let fixture = TestStore::sqlite();
    let dir = fixture.file().parent().unwrap().to_owned();
    fs::create_dir_all(&dir).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env("FOLDER", &dir).arg(std::env::current_exe().unwrap());
    let mut process = Process::start_in(&fixture, Job::Fill, command);
    let success = process.wait();
    let notes = process.notes();
    assert!(success, "{notes:?}");
    let (end, codes) = notes.split_last().unwrap();
    assert_eq!(
        (codes[0].as_str(), codes[1].as_str(), end.as_str()),
        ("UNAVAILABLE", "1", "before 1000000"),
        "{notes:?}"
    );
    codes[2].clone()
}

/// Raises the error that PostgreSQL reports if its disk is full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_with_a_full_disk() {
    let fixture = TestStore::postgres();
    let (store, chat) = fixture.chat().await;
    store.add_user_message(&chat.id, "before").await.unwrap();
    let (client, connection) =
        tokio_postgres::connect(&fixture.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON prowess_messages EXECUTE FUNCTION full_disk();
        CREATE TRIGGER full_disk BEFORE UPDATE ON prowess_schema EXECUTE FUNCTION full_disk()";
    client.batch_execute(full).await.unwrap();
    store.check().await.expect("no write has failed yet");
    assert_eq!(store.add_user_message(&chat.id, "x").await, Err(StoreError::Full));
    assert_eq!(store.check().await, Err(StoreError::Full), "a read-only store is not ready");
    assert_eq!(store.ask(&chat.id, "x".into()).await.unwrap_err(), StoreError::Full);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 1);
    client.batch_execute("DROP TRIGGER full_disk ON prowess_schema").await.unwrap();
    store.check().await.expect("the disk has room again");
    client.batch_execute("DROP TRIGGER full_disk ON prowess_messages").await.unwrap();
    store.add_user_message(&chat.id, "after").await.unwrap();
}
