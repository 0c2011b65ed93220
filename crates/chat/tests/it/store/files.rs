//! The files of chats.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_chat::Part;
use prowess_chat::store::transfer::{ExportSelection, export, import};
use prowess_chat::store::{
    ATTACHMENTS_MAX, ChatWorkspace, FileChanges, FileOrigin, NewFile, Store, StoreError, UserMessage,
};
use prowess_config::ChatFileLimits;
use prowess_tools::{WorkspaceChanges, WorkspaceFiles};

use crate::store::support::{TestStore, both, messages, new_chat};

both![
    files_are_stored_and_read_again,
    another_process_reads_the_files,
    deleting_a_chat_deletes_its_files,
    concurrent_changes_do_not_exceed_the_limits,
    refused_changes_change_nothing,
    a_message_names_its_files,
    scripts_read_and_change_files,
    files_are_exported_and_imported,
];

fn new_file(path: &str, content: &[u8]) -> NewFile {
    NewFile::new(path, content.to_vec(), FileOrigin::Uploaded).unwrap()
}

async fn add(store: &Arc<dyn Store>, chat: &str, path: &str, content: &[u8]) {
    let changes = FileChanges::add(new_file(path, content));
    store.change_files(chat, changes, ChatFileLimits::default()).await.unwrap();
}

async fn paths(store: &Arc<dyn Store>, chat: &str) -> Vec<String> {
    store.files(chat).await.unwrap().into_iter().map(|file| file.path).collect()
}

async fn files_are_stored_and_read_again(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    // More than two chunks, with all byte values.
    let large: Vec<u8> = (0..2_500_000_u32).map(|n| (n % 251) as u8).collect();
    add(&store, &chat.id, "large.bin", &large).await;
    add(&store, &chat.id, "data/Übersicht.csv", b"a,b").await;
    add(&store, &chat.id, "B.txt", b"").await;
    let files = store.files(&chat.id).await.unwrap();
    let found: Vec<_> =
        files.iter().map(|file| (file.path.as_str(), file.size, file.media_type.as_str())).collect();
    assert_eq!(
        found,
        [
            ("B.txt", 0, "text/plain"),
            ("data/Übersicht.csv", 3, "text/csv"),
            ("large.bin", 2_500_000, "application/octet-stream"),
        ]
    );
    drop(store);
    let store = fixture.open().await;
    let (file, content) = store.read_file(&chat.id, "large.bin").await.unwrap();
    assert!(content == large && file == files[2] && file.digest == prowess::digest(&large));
    assert_eq!(store.read_file(&chat.id, "B.txt").await.unwrap().1, b"");
    // A shorter content leaves nothing of the longer one.
    let changes = FileChanges::write(new_file("large.bin", b"short"));
    let written = store.change_files(&chat.id, changes, ChatFileLimits::default()).await.unwrap();
    assert_eq!(
        store.read_file(&chat.id, "large.bin").await.unwrap(),
        (written[0].clone(), b"short".to_vec())
    );
    assert_eq!(written[0].created, file.created);
    store.change_files(&chat.id, FileChanges::remove("B.txt"), ChatFileLimits::default()).await.unwrap();
    assert_eq!(paths(&store, &chat.id).await, ["data/Übersicht.csv", "large.bin"]);
    for missing in ["B.txt", "../large.bin", "/large.bin", "", "large.bin/"] {
        let error = store.read_file(&chat.id, missing).await.unwrap_err();
        assert!(matches!(error, StoreError::FileNotFound(_)), "{missing}: {error}");
        assert_eq!(store.file(&chat.id, missing).await.unwrap_err(), error);
    }
    for chat in ["unknown", "../x"] {
        assert_eq!(store.files(chat).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.file(chat, "a").await, Err(StoreError::ChatNotFound));
        let changes = FileChanges::write(new_file("a", b""));
        let changed = store.change_files(chat, changes, ChatFileLimits::default()).await;
        assert_eq!(changed, Err(StoreError::ChatNotFound));
    }
}

async fn another_process_reads_the_files(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    add(&store, &chat.id, "a.txt", b"from the first").await;
    assert_eq!(other.read_file(&chat.id, "a.txt").await.unwrap().1, b"from the first");
    add(&other, &chat.id, "b.txt", b"from the second").await;
    assert_eq!(paths(&store, &chat.id).await, ["a.txt", "b.txt"]);
}

async fn deleting_a_chat_deletes_its_files(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let secret = b"a secret that must not stay on the disk".repeat(2_000);
    add(&store, &chat.id, "a.txt", &secret).await;
    let kept = new_chat(&store).await;
    add(&store, &kept.id, "a.txt", b"kept").await;
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(store.files(&chat.id).await, Err(StoreError::ChatNotFound));
    assert_eq!(store.read_file(&kept.id, "a.txt").await.unwrap().1, b"kept");
    match &fixture.server {
        None => {
            for file in [fixture.file(), fixture.file().with_extension("sqlite3-wal")] {
                let bytes = std::fs::read(file).unwrap_or_default();
                assert!(!bytes.windows(20).any(|window| window == &secret[..20]));
            }
        }
        Some(server) => {
            let (client, connection) =
                tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let row = client.query_one("SELECT COUNT(*) FROM prowess_file_chunks", &[]).await.unwrap();
            assert_eq!(row.get::<_, i64>(0), 1);
        }
    }
}

async fn concurrent_changes_do_not_exceed_the_limits(fixture: &mut TestStore) {
    fixture.options.busy_timeout = std::time::Duration::from_secs(60);
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let limits = ChatFileLimits { workspace_files: 5, ..ChatFileLimits::default() };
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let (store, chat) = (if n % 2 == 0 { store.clone() } else { other.clone() }, chat.id.clone());
        let changes = FileChanges::add(new_file(&format!("f{n}"), b"x"));
        tasks.spawn(async move { store.change_files(&chat, changes, limits).await });
    }
    let results = tasks.join_all().await;
    let refused =
        results.iter().filter(|result| matches!(result, Err(StoreError::TooManyFiles { .. }))).count();
    assert_eq!((refused, results.iter().filter(|result| result.is_ok()).count()), (7, 5));
    assert_eq!(paths(&store, &chat.id).await.len(), 5);
}

async fn refused_changes_change_nothing(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    add(&store, &chat.id, "a.txt", b"old").await;
    let before = store.files(&chat.id).await.unwrap();
    let limits = ChatFileLimits { file_bytes: 10, ..ChatFileLimits::default() };
    let changes = FileChanges {
        written: vec![new_file("a.txt", b"new"), new_file("b.txt", b"too long for it")],
        removed: vec!["a.txt".to_owned()],
        strict: false,
    };
    let refused = store.change_files(&chat.id, changes, limits).await.unwrap_err();
    assert_eq!(refused, StoreError::TooLarge { subject: "the file", bytes: 15, max: 10 });
    assert_eq!(store.files(&chat.id).await.unwrap(), before);
    assert_eq!(store.read_file(&chat.id, "a.txt").await.unwrap().1, b"old");
}

async fn a_message_names_its_files(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    add(&store, &chat.id, "a.csv", b"a,b").await;
    let ask = async |files: &[&str]| {
        let files: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
        store.ask(&chat.id, UserMessage { text: "Sum it up.", files: &files }).await
    };
    assert!(matches!(ask(&["a.csv", "b.csv"]).await, Err(StoreError::FileNotFound(_))));
    assert!(matches!(ask(&["../a"]).await, Err(StoreError::FileName { .. })));
    assert_eq!(ask(&vec!["a.csv"; ATTACHMENTS_MAX + 1]).await.unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(messages(&store, &chat.id).await, []);
    let (message, _) = ask(&["a.csv", "a.csv"]).await.unwrap();
    let file = Part::File {
        path: "a.csv".into(),
        size: 3,
        media_type: "text/csv".into(),
        digest: prowess::digest(b"a,b"),
    };
    assert_eq!(message.parts, [Part::Text { text: "Sum it up.".into() }, file]);
    assert_eq!(messages(&store, &chat.id).await[0].parts, message.parts);
}

async fn scripts_read_and_change_files(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    add(&store, &chat.id, "in.csv", b"a,b").await;
    let limits = ChatFileLimits { workspace_bytes: 100, ..ChatFileLimits::default() };
    let workspace = ChatWorkspace::open(&store, &chat.id, limits);
    tokio::task::spawn_blocking(move || scripts_work(&*workspace)).await.unwrap();
    let files = store.files(&chat.id).await.unwrap();
    let found: Vec<_> =
        files.iter().map(|file| (file.path.as_str(), file.media_type.as_str(), file.origin)).collect();
    assert_eq!(
        found,
        [
            ("out/a.json", "application/x-report", FileOrigin::Script),
            ("out/b.txt", "text/plain", FileOrigin::Script)
        ]
    );
}

fn scripts_work(workspace: &dyn WorkspaceFiles) {
    assert_eq!(workspace.list().unwrap()[0].path, "in.csv");
    assert_eq!(workspace.read("in.csv").unwrap(), b"a,b");
    let mut changes = WorkspaceChanges::write("out/a.json", b"{}", "application/x-report");
    changes.written.extend(WorkspaceChanges::write("out/b.txt", b"x", "not a type\r\n").written);
    changes.removed = vec!["in.csv".to_owned(), "missing".to_owned()];
    workspace.apply(changes).unwrap();
    let refused = [
        workspace.read("in.csv").unwrap_err(),
        workspace.apply(WorkspaceChanges::write("../x", b"", "")).unwrap_err(),
        workspace.apply(WorkspaceChanges::write("big", &[0; 100], "")).unwrap_err(),
        workspace.apply(WorkspaceChanges::write("out", b"", "")).unwrap_err(),
    ];
    let lines: Vec<_> = refused.iter().map(|error| format!("{}: {error}", error.code())).collect();
    insta::allow_duplicates! { insta::assert_snapshot!(lines.join("\n"), @"
    NOT_FOUND: the workspace has no file in.csv
    INVALID_PARAM: the file name ../x is not allowed: it has a component “.” or “..”, or an empty one
    TOO_LARGE: the workspace of this chat has 103 bytes; the maximum is 100
    CONFLICT: out cannot be both a file and a directory of this chat
    "); }
}

async fn files_are_exported_and_imported(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    add(&store, &chat.id, "data/a.bin", &binary).await;
    add(&store, &chat.id, "b.txt", b"").await;
    let files = ["b.txt".to_owned()];
    store.ask(&chat.id, UserMessage { text: "x", files: &files }).await.unwrap();
    let before = store.files(&chat.id).await.unwrap();
    let mut out = Vec::new();
    export(&*store, ExportSelection::All, &mut out).await.unwrap();
    store.delete_chat(&chat.id).await.unwrap();
    // Into the other kind of store, and into this one twice.
    let other = TestStore::sqlite();
    let other = other.open().await;
    for target in [&store, &store, &other] {
        let imported = import(&**target, &out).await.unwrap();
        assert_eq!(target.files(&imported[0].to).await.unwrap(), before);
        assert_eq!(target.read_file(&imported[0].to, "data/a.bin").await.unwrap().1, binary);
        let attached = &messages(target, &imported[0].to).await[0].parts[1];
        assert!(matches!(attached, Part::File { path, .. } if path == "b.txt"));
    }
}
