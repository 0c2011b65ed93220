//! How often skills are used.

use super::super::chat::SkillUse;
use super::super::{StoreError, limits};
use super::{Tx, values};

/// The most skills that are counted, as in the library; the ones used longest ago are forgotten first.
const MOST: u64 = prowess::usage::NAMES_MAX as u64;

/// Names in one order, so that two processes that count wait for each other and not for ever.
pub(super) async fn note(tx: &mut dyn Tx, mut names: Vec<String>) -> Result<(), StoreError> {
    names.sort();
    let at = limits::now();
    for name in names {
        let sql = "INSERT INTO prowess_uses (name, count, last) VALUES ($1, 1, $2)
            ON CONFLICT (name) DO UPDATE SET count = prowess_uses.count + 1, last = excluded.last";
        tx.execute(sql, values![name, at]).await?;
    }
    let sql = "DELETE FROM prowess_uses WHERE name IN (
        SELECT name FROM prowess_uses ORDER BY last DESC, name LIMIT 1000 OFFSET $1)";
    tx.execute(sql, values![MOST]).await.map(drop)
}

pub(super) async fn all(tx: &mut dyn Tx) -> Result<Vec<SkillUse>, StoreError> {
    let sql = "SELECT name, count, last FROM prowess_uses ORDER BY last DESC, name LIMIT $1";
    let rows = tx.query(sql, values![MOST]).await?;
    rows.into_iter()
        .map(|mut row| Ok(SkillUse { name: row.text()?, count: row.int()?, last: row.int()? }))
        .collect()
}
