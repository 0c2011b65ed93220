//! `prowess pack` and `prowess index`.

use std::path::Path;

use prowess_package::pack;
use serde_json::json;

use super::super::{Outcome, YES};
use super::failure;
use crate::args::packages::{Index, Pack};
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, clean_path, counted};

pub(in crate::commands) fn pack(call: &Pack, output: &mut Output) -> Outcome {
    let to = call.output.clone().unwrap_or_else(|| ".".into());
    require(&call.folder)?;
    let packed = pack::pack(&call.folder, &to).map_err(|error| failure(error.into()))?;
    if output.json() {
        output.answer(&json!({
            "schema": 1, "name": packed.name, "path": packed.path, "digest": packed.digest,
            "bytes": packed.bytes, "files": packed.files,
        }))?;
        return Ok(YES);
    }
    let mark = output.tone(Tone::Good, "✓");
    let files = counted(packed.files, "file");
    output.line(format!("{mark} packed {} into {}", clean(&packed.name), clean_path(&packed.path)))?;
    output.line(format!("    {files}, {} bytes, {}", packed.bytes, packed.digest))?;
    Ok(YES)
}

pub(in crate::commands) fn index(call: &Index, output: &mut Output) -> Outcome {
    require(&call.folder)?;
    let published = pack::publish(&call.folder, &call.output).map_err(|error| failure(error.into()))?;
    if output.json() {
        let skills: Vec<_> = published
            .skills
            .iter()
            .map(|skill| json!({"name": skill.name, "type": skill.kind, "url": skill.url, "digest": skill.digest}))
            .collect();
        output.answer(&json!({"schema": 1, "index": published.index, "skills": skills}))?;
        return Ok(YES);
    }
    let mark = output.tone(Tone::Good, "✓");
    let skills = counted(published.skills.len(), "skill");
    output.line(format!("{mark} {skills} in {}", clean_path(&published.index)))?;
    output.remark("serve that folder over https; prowess install https://YOUR-SITE reads it");
    Ok(YES)
}

/// Fails where a folder of the call does not exist.
fn require(folder: &Path) -> Result<(), Failure> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::missing_path(format!("{} does not exist", clean_path(folder))))
        }
        _ => Ok(()),
    }
}
