//! Parses and validates the entries of a listing by the rules of the extension. Pure functions.
//!
//! An invalid entry is listed with the reason, but not used.

use std::collections::{BTreeMap, HashMap, HashSet};

use prowess::format::hidden;
use prowess::remote::{RemoteEntry, RemoteFile};
use serde_json::{Map, Value};

use super::uri::SkillUri;
use crate::extension::{BYTES_MAX, FILES_MAX};

/// The maximum length of displayed names and reasons, in characters.
const DISPLAY_MAX: usize = 200;

/// Parses all entries of a listing and gives them unique names.
pub(super) fn parse_entries(label: &str, entries: &[Value]) -> Vec<RemoteEntry> {
    let mut all: Vec<RemoteEntry> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let new = parse_entry(label, entry, index);
        let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
        let existing = if uri.is_empty() {
            None
        } else {
            positions.insert(uri, *positions.get(uri).unwrap_or(&all.len()))
        };
        match existing.and_then(|existing| all.get_mut(existing)) {
            None => all.push(new),
            // An identical duplicate is ignored: a listing may change between two pages.
            Some(existing) if *existing == new => {}
            Some(existing) => {
                existing.problem = Some("the server lists it twice with different contents".to_owned());
            }
        }
    }
    make_unique(&mut all);
    all
}

/// Appends a digest of the URI to names that several entries share.
fn make_unique(entries: &mut [RemoteEntry]) {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries.iter() {
        *names.entry(entry.name.clone()).or_default() += 1;
    }
    for entry in entries.iter_mut().filter(|entry| names.get(&entry.name).is_some_and(|count| *count > 1)) {
        let digest = prowess::digest(entry.uri.as_bytes());
        let suffix = digest.get(7..15).unwrap_or_default();
        entry.name = format!("{}@{suffix}", entry.name);
    }
}

/// Parses one entry. `index` is its index in the listing, from which an entry without a URI gets its name.
pub(super) fn parse_entry(label: &str, entry: &Value, index: usize) -> RemoteEntry {
    let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
    let frontmatter = entry.get("frontmatter").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let frontmatter_name = text("name").unwrap_or_default().to_owned();
    let unnamed = |problem: String| RemoteEntry {
        uri: uri.to_owned(),
        name: format!("{label}/entry-{}", index + 1),
        frontmatter_name: frontmatter_name.clone(),
        frontmatter: Map::new(),
        files: Vec::new(),
        problem: Some(problem),
    };
    let skill = match SkillUri::parse(uri) {
        Ok(skill) => skill,
        Err(reason) if uri.is_empty() => {
            return unnamed(format!(
                "the uri {}",
                if entry.get("uri").is_none() { "is missing" } else { reason }
            ));
        }
        Err(reason) => return unnamed(format!("the uri {reason}: {}", display_text(uri))),
    };
    let mut problem = None;
    let mut report = |reason: String| {
        problem.get_or_insert(reason);
    };
    if !entry.get("frontmatter").is_some_and(Value::is_object) {
        report("it has no frontmatter".to_owned());
    } else if let Some(key) = ["name", "description"].into_iter().find(|key| text(key).is_none()) {
        report(format!("its frontmatter has no {key}"));
    } else if frontmatter_name != skill.name() {
        let (name, last) = (display_text(&frontmatter_name), display_text(skill.name()));
        report(format!("its name is {name}, but the last segment of its uri is {last}"));
    }
    let files = match parse_files(entry.get("resources"), &skill) {
        Ok(files) => files,
        Err(reason) => {
            report(reason);
            Vec::new()
        }
    };
    RemoteEntry {
        name: format!("{label}/{}", skill.qualified_name()),
        frontmatter_name: skill.name().to_owned(),
        uri: uri.to_owned(),
        frontmatter,
        files,
        problem,
    }
}

fn parse_files(resources: Option<&Value>, skill: &SkillUri<'_>) -> Result<Vec<RemoteFile>, String> {
    let listed = match resources {
        None => return Err("it does not list its files".to_owned()),
        Some(Value::String(marker)) if marker == "dynamic" => {
            return Err("its files are dynamic and have no digests, so they cannot be verified".to_owned());
        }
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("its resources are neither a list nor \"dynamic\"".to_owned()),
    };
    // Both limits are checked before anything is fetched.
    if listed.len() > FILES_MAX {
        return Err(format!("it has {} files; the limit is {FILES_MAX}", listed.len()));
    }
    let mut files = Vec::with_capacity(listed.len());
    let (mut uris, mut paths, mut bytes) = (HashSet::new(), HashSet::new(), 0u64);
    for file in listed {
        let file = parse_file(file, skill)?;
        if !uris.insert(file.uri.clone()) || !paths.insert(file.path.clone()) {
            return Err(format!("it lists {} twice", display_text(&file.uri)));
        }
        bytes = bytes.saturating_add(file.size);
        files.push(file);
    }
    if bytes > BYTES_MAX {
        return Err(format!("its files have {bytes} bytes; the limit is {BYTES_MAX}"));
    }
    if !paths.contains("SKILL.md") {
        return Err("SKILL.md is not among its files".to_owned());
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn parse_file(value: &Value, skill: &SkillUri<'_>) -> Result<RemoteFile, String> {
    let uri = value.get("uri").and_then(Value::as_str).ok_or("a file has no uri")?;
    let path = skill
        .relative_path(uri)
        .ok_or_else(|| format!("{} is not in the directory of the skill", display_text(uri)))?;
    let digest = value.get("digest").and_then(Value::as_str).filter(|digest| is_digest(digest));
    let digest = digest.ok_or_else(|| format!("{} has no digest of the form sha256:…", display_text(uri)))?;
    let size = value
        .get("size")
        .and_then(Value::as_u64)
        .ok_or_else(|| format!("{} has no size", display_text(uri)))?;
    Ok(RemoteFile { path, uri: uri.to_owned(), digest: digest.to_owned(), size })
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Escapes and truncates untrusted text for messages.
pub(super) fn display_text(text: &str) -> String {
    let escaped = hidden::escape_for_display(text);
    match escaped.char_indices().nth(DISPLAY_MAX) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped.into_owned(),
    }
}

#[cfg(test)]
mod tests;
