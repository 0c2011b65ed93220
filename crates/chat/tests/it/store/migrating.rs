//! Tables: made once, by whoever comes first, and never by an older program.

use prowess::ErrorCode;
use prowess_chat::store::StoreError;

use crate::store::child::{Job, Process};
use crate::store::world::{World, both};

both![many_processes_begin_at_once, a_newer_store_is_left_alone, opening_again_changes_nothing];

async fn many_processes_begin_at_once(world: &mut World) {
    world.options.busy = std::time::Duration::from_secs(60);
    let mut processes: Vec<_> = (0..4).map(|_| Process::start(world, Job::Open)).collect();
    let (one, other) = tokio::join!(world.try_open(), world.try_open());
    one.unwrap();
    other.unwrap().check().await.unwrap();
    for process in &mut processes {
        assert!(process.wait());
        assert_eq!(process.notes(), ["open"]);
    }
    assert_eq!(versions(world).await, [1]);
}

async fn versions(world: &World) -> Vec<i64> {
    let sql = "SELECT version FROM prowess_schema ORDER BY version";
    match &world.server {
        None => {
            let connection = rusqlite::Connection::open(world.file()).unwrap();
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

async fn change(world: &World, sql: &str) {
    match &world.server {
        None => rusqlite::Connection::open(world.file()).unwrap().execute_batch(sql).unwrap(),
        Some(server) => {
            let (client, connection) =
                tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
        }
    }
}

async fn a_newer_store_is_left_alone(world: &mut World) {
    drop(world.open().await);
    change(
        world,
        "INSERT INTO prowess_schema (version) VALUES (7); ALTER TABLE prowess_chats RENAME TO renamed",
    )
    .await;
    let refused = world.try_open().await.err().unwrap();
    assert_eq!(refused, StoreError::Newer { found: 7, known: 1 });
    assert_eq!(refused.code(), ErrorCode::Unavailable);
    assert_eq!(versions(world).await, [1, 7]);
}

async fn opening_again_changes_nothing(world: &mut World) {
    let (store, chat) = world.chat().await;
    let again = world.open().await;
    assert_eq!(again.chat(&chat.id).await.unwrap(), chat);
    drop((store, again));
    assert_eq!(world.open().await.chat(&chat.id).await.unwrap(), chat);
    assert_eq!(versions(world).await, [1]);
}
