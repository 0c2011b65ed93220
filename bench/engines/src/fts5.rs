//! SQLite FTS5: a contentless table with two columns, optimized, and read through a memory map.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::engine::{Engine, EngineError, SearchIndex, Skills};

pub(crate) struct Fts5;

impl Engine for Fts5 {
    fn name(&self) -> &'static str {
        "SQLite FTS5"
    }

    fn build(&self, dir: &Path, skills: &Skills<'_>) -> Result<(), EngineError> {
        let mut database = Connection::open(dir.join("index"))?;
        // Durability is not needed, and everything is one transaction.
        database.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
             CREATE VIRTUAL TABLE skills USING fts5(about, body, content = '');",
        )?;
        let transaction = database.transaction()?;
        {
            let mut insert =
                transaction.prepare("INSERT INTO skills (rowid, about, body) VALUES (?1, ?2, ?3)")?;
            for number in 0..skills.size {
                let texts = (skills.texts)(number);
                let about = texts.name + "\n" + &texts.about;
                insert.execute(params![i64::try_from(number)? + 1, about, texts.body])?;
            }
        }
        transaction.execute("INSERT INTO skills (skills) VALUES ('optimize')", [])?;
        Ok(transaction.commit()?)
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn SearchIndex>, EngineError> {
        let database = Connection::open(dir.join("index"))?;
        database.execute_batch("PRAGMA mmap_size = 1099511627776; PRAGMA cache_size = -65536;")?;
        // Reads the schema, which opening does not.
        database.prepare_cached(SEARCH)?;
        Ok(Box::new(database))
    }
}

const SEARCH: &str = "SELECT rowid FROM skills WHERE skills MATCH ?1 ORDER BY rank LIMIT ?2";

impl SearchIndex for Connection {
    fn search(&self, message: &str, k: usize) -> Result<Vec<usize>, EngineError> {
        let lower = message.to_lowercase();
        let mut words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        // Quoted, so that words such as OR are not operators.
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let mut search = self.prepare_cached(SEARCH)?;
        let rows =
            search.query_map(params![quoted.join(" OR "), i64::try_from(k)?], |row| row.get::<_, i64>(0))?;
        rows.map(|row| Ok(usize::try_from(row? - 1)?)).collect()
    }
}
