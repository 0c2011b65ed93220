//! An entry of a listing, judged by the rules of the extension. Pure.
//!
//! An entry that breaks one is not left out: it is shown with the reason, and nothing of it is used.

use std::collections::{BTreeMap, HashMap, HashSet};

use prowess::format::hidden;
use prowess::supply::{Offered, OfferedFile};
use serde_json::{Map, Value};

use super::uri::SkillUri;
use crate::extension::{BYTES_MAX, FILES_MAX};

/// The longest reason and name that is shown, in characters.
const SHOWN_MAX: usize = 200;

/// All entries of a listing, each with a name of its own.
pub(super) fn offered(label: &str, entries: &[Value]) -> Vec<Offered> {
    let mut all: Vec<Offered> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let new = judge(label, entry, at);
        let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
        let known =
            if uri.is_empty() { None } else { places.insert(uri, *places.get(uri).unwrap_or(&all.len())) };
        match known.and_then(|known| all.get_mut(known)) {
            None => all.push(new),
            // The same twice tells nothing new; a listing may change while it is paged through.
            Some(known) if *known == new => {}
            Some(known) => {
                known.problem = Some("the server lists it twice, and not the same".to_owned());
            }
        }
    }
    distinguish(&mut all);
    all
}

/// Two that would be called the same are told apart by their URIs. None of them keeps the name: which would it be?
fn distinguish(all: &mut [Offered]) {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for offered in all.iter() {
        *names.entry(offered.name.clone()).or_default() += 1;
    }
    for offered in all.iter_mut().filter(|offered| names.get(&offered.name).is_some_and(|count| *count > 1)) {
        let digest = prowess::digest(offered.uri.as_bytes());
        let mark = digest.get(7..15).unwrap_or_default();
        offered.name = format!("{}@{mark}", offered.name);
    }
}

/// One entry. `at` is its place in the listing, for one that has nothing else to be called by.
pub(super) fn judge(label: &str, entry: &Value, at: usize) -> Offered {
    let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
    let frontmatter = entry.get("frontmatter").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let own_name = text("name").unwrap_or_default().to_owned();
    let nameless = |problem: String| Offered {
        uri: uri.to_owned(),
        name: format!("{label}/entry-{}", at + 1),
        own_name: own_name.clone(),
        frontmatter: Map::new(),
        files: Vec::new(),
        problem: Some(problem),
    };
    let skill = match SkillUri::parse(uri) {
        Ok(skill) => skill,
        Err(why) if uri.is_empty() => {
            return nameless(format!(
                "its uri {}",
                if entry.get("uri").is_none() { "is missing" } else { why }
            ));
        }
        Err(why) => return nameless(format!("its uri {why}: {}", shown(uri))),
    };
    let mut problem = None;
    let mut say = |why: String| {
        problem.get_or_insert(why);
    };
    if !entry.get("frontmatter").is_some_and(Value::is_object) {
        say("it has no frontmatter".to_owned());
    } else if let Some(key) = ["name", "description"].into_iter().find(|key| text(key).is_none()) {
        say(format!("its frontmatter has no {key}"));
    } else if own_name != skill.name() {
        let (name, last) = (shown(&own_name), shown(skill.name()));
        say(format!("its name is {name}, and the last part of its uri is {last}"));
    }
    let files = match files(entry.get("resources"), &skill) {
        Ok(files) => files,
        Err(why) => {
            say(why);
            Vec::new()
        }
    };
    Offered {
        name: format!("{label}/{}", skill.called()),
        own_name: skill.name().to_owned(),
        uri: uri.to_owned(),
        frontmatter,
        files,
        problem,
    }
}

fn files(resources: Option<&Value>, skill: &SkillUri<'_>) -> Result<Vec<OfferedFile>, String> {
    let listed = match resources {
        None => return Err("it does not list its files".to_owned()),
        Some(Value::String(word)) if word == "dynamic" => {
            return Err(
                "its files are made on demand and have no digests, so nothing could be verified".to_owned()
            );
        }
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("its resources are neither a list nor \"dynamic\"".to_owned()),
    };
    // Both limits are known before anything is fetched.
    if listed.len() > FILES_MAX {
        return Err(format!("it has {} files; at most {FILES_MAX} are taken", listed.len()));
    }
    let mut files = Vec::with_capacity(listed.len());
    let (mut uris, mut paths, mut bytes) = (HashSet::new(), HashSet::new(), 0u64);
    for file in listed {
        let file = self::file(file, skill)?;
        if !uris.insert(file.uri.clone()) || !paths.insert(file.path.clone()) {
            return Err(format!("it lists {} twice", shown(&file.uri)));
        }
        bytes = bytes.saturating_add(file.size);
        files.push(file);
    }
    if bytes > BYTES_MAX {
        return Err(format!("its files have {bytes} bytes; at most {BYTES_MAX} are taken"));
    }
    if !paths.contains("SKILL.md") {
        return Err("SKILL.md is not among its files".to_owned());
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn file(value: &Value, skill: &SkillUri<'_>) -> Result<OfferedFile, String> {
    let uri = value.get("uri").and_then(Value::as_str).ok_or("a file has no uri")?;
    let path = skill.inner(uri).ok_or_else(|| format!("{} does not lie in its folder", shown(uri)))?;
    let digest = value.get("digest").and_then(Value::as_str).filter(|digest| is_digest(digest));
    let digest = digest.ok_or_else(|| format!("{} has no digest of the form sha256:…", shown(uri)))?;
    let size =
        value.get("size").and_then(Value::as_u64).ok_or_else(|| format!("{} has no size", shown(uri)))?;
    Ok(OfferedFile { path, uri: uri.to_owned(), digest: digest.to_owned(), size })
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Foreign text as it may stand in a message.
pub(super) fn shown(text: &str) -> String {
    let shown = hidden::shown(text);
    match shown.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests;
