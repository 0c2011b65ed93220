//! `prowess pack` and `prowess index`: create archives and indexes of skills.

use std::path::Path;

use prowess_package::pack;
use serde_json::json;

use super::super::{CommandResult, SUCCESS};
use super::failure;
use crate::args::packages::{IndexArgs, PackArgs};
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path, pluralize};

pub(in crate::commands) fn pack(args: &PackArgs, output: &mut Output) -> CommandResult {
    let destination = args.output.clone().unwrap_or_else(|| ".".into());
    require_dir(&args.dir)?;
    let packed = pack::pack_skill(&args.dir, &destination).map_err(|error| failure(error.into()))?;
    if output.json() {
        output.write_json(&json!({
            "schema": 1, "kind": packed.kind.as_str(), "name": packed.name, "path": packed.path, "digest": packed.digest,
            "bytes": packed.bytes, "files": packed.files,
        }))?;
        return Ok(SUCCESS);
    }
    let mark = output.styled_text(TextStyle::Good, "✓");
    let files = pluralize(packed.files, "file");
    let kind = if packed.kind == pack::PackedKind::Plugin { "plugin " } else { "" };
    output.line(format!("{mark} packed {kind}{} into {}", clean(&packed.name), clean_path(&packed.path)))?;
    output.line(format!("    {files}, {} bytes, {}", packed.bytes, packed.digest))?;
    Ok(SUCCESS)
}

pub(in crate::commands) fn index(args: &IndexArgs, output: &mut Output) -> CommandResult {
    require_dir(&args.dir)?;
    let published = pack::publish_site(&args.dir, &args.output).map_err(|error| failure(error.into()))?;
    if output.json() {
        let skills: Vec<_> = published
            .skills
            .iter()
            .map(|skill| json!({"name": skill.name, "type": skill.kind, "url": skill.url, "digest": skill.digest}))
            .collect();
        output.write_json(&json!({"schema": 1, "index": published.index, "skills": skills}))?;
        return Ok(SUCCESS);
    }
    let mark = output.styled_text(TextStyle::Good, "✓");
    let skills = pluralize(published.skills.len(), "skill");
    output.line(format!("{mark} indexed {skills} in {}", clean_path(&published.index)))?;
    output.note("serve that directory over HTTPS; to install from it: prowess install https://YOUR-SITE");
    Ok(SUCCESS)
}

/// Fails if a directory does not exist.
fn require_dir(dir: &Path) -> Result<(), Failure> {
    match dir.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::missing_path(format!("{} does not exist", clean_path(dir))))
        }
        _ => Ok(()),
    }
}
