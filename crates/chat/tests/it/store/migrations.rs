//! Migrations: run once, by the first process, and never by an older program.

use prowess::ErrorCode;
use prowess_chat::store::{FileChanges, FileOrigin, NewFile, StoreError};
use prowess_config::ChatFileLimits;

use crate::store::child::{Job, Process};
use crate::store::support::{TestStore, both, exchange, messages};

both![
    many_processes_open_at_once,
    a_newer_store_is_not_changed,
    reopening_changes_nothing,
    a_store_without_files_is_migrated,
];

async fn many_processes_open_at_once(fixture: &mut TestStore) {
    fixture.options.busy_timeout = std::time::Duration::from_secs(60);
    let mut processes: Vec<_> = (0..4).map(|_| Process::start(fixture, Job::Open)).collect();
    let (first, other) = tokio::join!(fixture.try_open(), fixture.try_open());
    first.unwrap();
    other.unwrap().check().await.unwrap();
    for process in &mut processes {
        assert!(process.wait());
        assert_eq!(process.notes(), ["open"]);
    }
    assert_eq!(versions(fixture).await, [1, 2, 3, 4, 5]);
}

async fn versions(fixture: &TestStore) -> Vec<i64> {
    let sql = "SELECT version FROM prowess_schema ORDER BY version";
    match &fixture.server {
        None => {
            let connection = rusqlite::Connection::open(fixture.file()).unwrap();
            let mut statement = connection.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        }
        Some(server) => {
            let (client, connection) =
                tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
        }
    }
}

async fn change(fixture: &TestStore, sql: &str) {
    match &fixture.server {
        None => rusqlite::Connection::open(fixture.file()).unwrap().execute_batch(sql).unwrap(),
        Some(server) => {
            let (client, connection) =
                tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
        }
    }
}

/// Leaves the store as version 4 did.
pub async fn forget_version_5(fixture: &TestStore) {
    let search = if fixture.server.is_none() { "DROP TABLE prowess_search;" } else { "" };
    let sql = "DROP TABLE prowess_texts; DROP TABLE prowess_branch_messages; DROP TABLE prowess_branches;
        DROP INDEX prowess_chats_listed; ALTER TABLE prowess_chats DROP COLUMN pinned;
        ALTER TABLE prowess_chats DROP COLUMN archived; DELETE FROM prowess_schema WHERE version > 4";
    change(fixture, &format!("{search}{sql}")).await;
}

async fn a_newer_store_is_not_changed(fixture: &mut TestStore) {
    drop(fixture.open().await);
    change(
        fixture,
        "INSERT INTO prowess_schema (version) VALUES (7); ALTER TABLE prowess_chats RENAME TO renamed",
    )
    .await;
    let refused = fixture.try_open().await.err().unwrap();
    assert_eq!(refused, StoreError::NewerVersion { version: 7, supported: 5 });
    assert_eq!(refused.code(), ErrorCode::Unavailable);
    assert_eq!(versions(fixture).await, [1, 2, 3, 4, 5, 7]);
}

async fn reopening_changes_nothing(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let reopened = fixture.open().await;
    assert_eq!(reopened.chat(&chat.id).await.unwrap(), chat);
    drop((store, reopened));
    assert_eq!(fixture.open().await.chat(&chat.id).await.unwrap(), chat);
    assert_eq!(versions(fixture).await, [1, 2, 3, 4, 5]);
}

async fn a_store_without_files_is_migrated(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "hello", "there").await;
    let before = messages(&store, &chat.id).await;
    drop(store);
    forget_version_5(fixture).await;
    // As version 1 left it.
    change(
        fixture,
        "ALTER TABLE prowess_chats DROP COLUMN cache_writes; ALTER TABLE prowess_messages DROP COLUMN cache_writes;
        DROP TABLE prowess_questions; DROP TABLE prowess_file_chunks; DROP TABLE prowess_files;
        DELETE FROM prowess_schema WHERE version > 1",
    )
    .await;
    let store = fixture.open().await;
    assert_eq!(versions(fixture).await, [1, 2, 3, 4, 5]);
    assert_eq!(messages(&store, &chat.id).await, before);
    assert_eq!(store.files(&chat.id).await.unwrap(), []);
    let file = NewFile::new("a.csv", b"a,b".to_vec(), FileOrigin::Uploaded).unwrap();
    store.change_files(&chat.id, FileChanges::add(file), ChatFileLimits::default()).await.unwrap();
    assert_eq!(store.read_file(&chat.id, "a.csv").await.unwrap().1, b"a,b");
}
