//! The tables and their migrations: forward only, one version after the other, in one transaction.

use super::super::StoreError;
use super::{SqlDialect, SqlTransaction, search, values};

/// The statements of each version. A released version must never change.
pub(crate) const VERSIONS: [&[&str]; 5] = [TABLES, FILES, QUESTIONS, CACHE_WRITES, BRANCHES];

const TABLES: &[&str] = &[
    // `messages` is the number of messages and so the position of the next one; `seq` is the number of the last event;
    // `turn` is the message that is being written by the process `turn_owner`, with `turn_bytes` so far.
    "CREATE TABLE prowess_chats (
        id TEXT PRIMARY KEY NOT NULL,
        title TEXT NOT NULL,
        preset TEXT NOT NULL,
        created BIGINT NOT NULL,
        updated BIGINT NOT NULL,
        messages BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        skills TEXT NOT NULL,
        input BIGINT NOT NULL,
        output BIGINT NOT NULL,
        cached BIGINT NOT NULL,
        turn TEXT,
        turn_owner TEXT,
        turn_bytes BIGINT NOT NULL)",
    "CREATE INDEX prowess_chats_updated ON prowess_chats (updated, id)",
    "CREATE INDEX prowess_chats_turns ON prowess_chats (turn_owner) WHERE turn_owner IS NOT NULL",
    // `parts` is JSON. It is empty while the message is being written; the content is then in `prowess_events`.
    "CREATE TABLE prowess_messages (
        id TEXT PRIMARY KEY NOT NULL,
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        role TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT,
        input BIGINT,
        output BIGINT,
        cached BIGINT,
        at BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        parts TEXT NOT NULL,
        UNIQUE (chat, position))",
    // A batch of events that were written together: a JSON list with the numbers `first` to `last`.
    "CREATE TABLE prowess_events (
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        last BIGINT NOT NULL,
        first BIGINT NOT NULL,
        message TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (chat, last))",
    "CREATE TABLE prowess_uses (
        name TEXT PRIMARY KEY NOT NULL,
        count BIGINT NOT NULL,
        last BIGINT NOT NULL)",
    // Processes that write, and their last heartbeat. SQLite does not use this table: it detects processes by locks.
    "CREATE TABLE prowess_owners (
        id TEXT PRIMARY KEY NOT NULL,
        beat BIGINT NOT NULL)",
];

/// Version 2: the files of chats.
const FILES: &[&str] = &[
    "CREATE TABLE prowess_files (
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        size BIGINT NOT NULL,
        media_type TEXT NOT NULL,
        digest TEXT NOT NULL,
        origin TEXT NOT NULL,
        created BIGINT NOT NULL,
        changed BIGINT NOT NULL,
        PRIMARY KEY (chat, path))",
    // SQLite does not know the type BYTEA and stores the bytes as they are.
    "CREATE TABLE prowess_file_chunks (
        chat TEXT NOT NULL,
        path TEXT NOT NULL,
        position BIGINT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (chat, path, position),
        FOREIGN KEY (chat, path) REFERENCES prowess_files (chat, path) ON DELETE CASCADE)",
];

/// Version 3: the questions of turns about scripts.
const QUESTIONS: &[&str] = &[
    // The last question of each chat. It is open while it has no answer and `message` is the current turn.
    "CREATE TABLE prowess_questions (
        chat TEXT PRIMARY KEY NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        message TEXT NOT NULL,
        body TEXT NOT NULL,
        answer TEXT)",
];

/// Version 4: the input tokens that were written to the provider's cache.
const CACHE_WRITES: &[&str] = &[
    "ALTER TABLE prowess_chats ADD COLUMN cache_writes BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE prowess_messages ADD COLUMN cache_writes BIGINT",
];

/// Version 5: versions of messages, texts for the search, and how chats are listed.
const BRANCHES: &[&str] = &[
    "ALTER TABLE prowess_chats ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE prowess_chats ADD COLUMN archived BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX prowess_chats_listed ON prowess_chats (archived, pinned, updated, id)",
    // See `branches`. `number` orders the versions of a message; `skills` are the active ones while the branch is inactive.
    "CREATE TABLE prowess_branches (
        id TEXT PRIMARY KEY NOT NULL,
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        parent TEXT,
        number BIGINT NOT NULL,
        active BIGINT NOT NULL,
        skills TEXT NOT NULL)",
    "CREATE INDEX prowess_branches_chats ON prowess_branches (chat, position)",
    // `body` is a message as JSON.
    "CREATE TABLE prowess_branch_messages (
        branch TEXT NOT NULL REFERENCES prowess_branches (id) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (branch, position))",
];

/// The index of texts: the words of titles, whose message is empty, and of messages.
const SEARCH_SQLITE: &[&str] = &[
    "CREATE TABLE prowess_texts (
        number INTEGER PRIMARY KEY,
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        message TEXT NOT NULL,
        words TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE prowess_search
        USING fts5(words, content='prowess_texts', content_rowid='number', tokenize='unicode61 remove_diacritics 0')",
    // Deleted words are overwritten, as everywhere in the file.
    "INSERT INTO prowess_search (prowess_search, rank) VALUES ('secure-delete', 1)",
    "CREATE TRIGGER prowess_texts_added AFTER INSERT ON prowess_texts BEGIN
        INSERT INTO prowess_search (rowid, words) VALUES (new.number, new.words); END",
    "CREATE TRIGGER prowess_texts_deleted AFTER DELETE ON prowess_texts BEGIN
        INSERT INTO prowess_search (prowess_search, rowid, words) VALUES ('delete', old.number, old.words); END",
];

const SEARCH_POSTGRES: &[&str] = &[
    "CREATE TABLE prowess_texts (
        number BIGSERIAL PRIMARY KEY,
        chat TEXT NOT NULL REFERENCES prowess_chats (id) ON DELETE CASCADE,
        message TEXT NOT NULL,
        words TEXT NOT NULL)",
    "CREATE INDEX prowess_texts_words ON prowess_texts USING GIN (to_tsvector('simple', words))",
];

/// The indexes of both databases.
const SEARCH_INDEXES: &[&str] = &[
    "CREATE INDEX prowess_texts_chats ON prowess_texts (chat)",
    "CREATE INDEX prowess_texts_messages ON prowess_texts (message)",
];

/// The version whose tables the search needs.
const SEARCH_VERSION: u64 = 5;

async fn create_search(tx: &mut dyn SqlTransaction) -> Result<(), StoreError> {
    let statements = match tx.dialect() {
        SqlDialect::Sqlite => SEARCH_SQLITE,
        SqlDialect::Postgres => SEARCH_POSTGRES,
    };
    for statement in statements.iter().chain(SEARCH_INDEXES) {
        tx.execute(statement, vec![]).await?;
    }
    search::index_all(tx).await
}

/// Migrates the tables. The caller holds an exclusive lock, and the version table exists.
pub(crate) async fn migrate(tx: &mut dyn SqlTransaction) -> Result<(), StoreError> {
    let current = version(tx).await?;
    let latest = VERSIONS.len() as u64;
    if current > latest {
        return Err(StoreError::NewerVersion { version: current, supported: latest });
    }
    for (number, statements) in (1..).zip(VERSIONS).skip(usize::try_from(current).unwrap_or(usize::MAX)) {
        for statement in statements {
            tx.execute(statement, vec![]).await?;
        }
        if number == SEARCH_VERSION {
            create_search(tx).await?;
        }
        tx.execute("INSERT INTO prowess_schema (version) VALUES ($1)", values![number]).await?;
    }
    Ok(())
}

/// Returns the version of the tables, 0 if there are none.
pub(crate) async fn version(tx: &mut dyn SqlTransaction) -> Result<u64, StoreError> {
    let rows = tx.query("SELECT COALESCE(MAX(version), 0) FROM prowess_schema", vec![]).await?;
    rows.into_iter().next().map_or(Ok(0), |mut row| row.int())
}

/// Creates the version table, which both databases need first.
pub(crate) const VERSION_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS prowess_schema (version BIGINT PRIMARY KEY NOT NULL)";

#[cfg(test)]
mod tests {
    use super::*;

    /// Changing a released version would create two kinds of stores with the same version. Add a new version instead.
    #[test]
    fn a_version_is_never_changed() {
        let digests: Vec<_> = VERSIONS
            .iter()
            .chain(&[SEARCH_SQLITE, SEARCH_POSTGRES, SEARCH_INDEXES])
            .map(|statements| prowess::digest(statements.join(";").as_bytes()))
            .collect();
        insta::assert_snapshot!(digests.join("\n"));
    }
}
