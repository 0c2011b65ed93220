//! Counts of skill uses.

use super::super::chat::SkillUse;
use super::super::{StoreError, limits};
use super::{SqlTransaction, values};

/// The maximum number of counted skills, as in the library; the least recently used are removed first.
const SKILLS_MAX: u64 = prowess::usage::NAMES_MAX as u64;

/// Counts a use of each skill, in a fixed order so that two processes do not deadlock.
pub(super) async fn record(tx: &mut dyn SqlTransaction, mut names: Vec<String>) -> Result<(), StoreError> {
    names.sort();
    let now = limits::now_millis();
    for name in names {
        let sql = "INSERT INTO prowess_uses (name, count, last) VALUES ($1, 1, $2)
            ON CONFLICT (name) DO UPDATE SET count = prowess_uses.count + 1, last = excluded.last";
        tx.execute(sql, values![name, now]).await?;
    }
    let sql = "DELETE FROM prowess_uses WHERE name IN (
        SELECT name FROM prowess_uses ORDER BY last DESC, name LIMIT 1000 OFFSET $1)";
    tx.execute(sql, values![SKILLS_MAX]).await.map(drop)
}

pub(super) async fn all(tx: &mut dyn SqlTransaction) -> Result<Vec<SkillUse>, StoreError> {
    let sql = "SELECT name, count, last FROM prowess_uses ORDER BY last DESC, name LIMIT $1";
    let rows = tx.query(sql, values![SKILLS_MAX]).await?;
    rows.into_iter()
        .map(|mut row| Ok(SkillUse { name: row.text()?, count: row.int()?, last: row.int()? }))
        .collect()
}
