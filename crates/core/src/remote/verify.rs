//! Verifies that fetched files match the listing. Files that do not match are never used.
//!
//! The digests come from the same server as the files. A match proves that the two belong together, not that
//! the server is trustworthy.

use prowess_format::fence::{self, Extent, FenceSearch};
use prowess_format::hidden::escape_and_truncate;
use prowess_format::yaml::{self, YamlBudget};
use prowess_format::{Value as Yaml, repair};
use serde_json::{Map, Value};

use super::error::RemoteFileError;
use super::{FetchError, RemoteEntry, RemoteSource};
use prowess_fs::digest;

/// Fetches and verifies a file. A path that was not listed is not requested.
pub(crate) fn fetch(
    source: &dyn RemoteSource,
    entry: &RemoteEntry,
    path: &str,
) -> Result<Vec<u8>, RemoteFileError> {
    let name = escape_and_truncate(&entry.name);
    let Some(file) = entry.file(path) else {
        return Err(RemoteFileError::Unlisted { name, path: escape_and_truncate(path) });
    };
    let bytes = source.read_file(entry, file).map_err(|error| {
        // If the server no longer has the file, the skill has changed.
        if matches!(error, FetchError::Refused(_)) {
            source.refresh_entry(entry);
        }
        let (path, origin) = (escape_and_truncate(path), source.title());
        RemoteFileError::Fetch { name: name.clone(), path, origin, error }
    })?;
    let size = bytes.len() as u64;
    let difference = if size != file.size {
        format!("it has {size} bytes instead of the listed {}", file.size)
    } else if digest(&bytes) != file.digest {
        "its digest differs from the listed one".to_owned()
    } else {
        return Ok(bytes);
    };
    source.refresh_entry(entry);
    Err(RemoteFileError::Changed { name, path: escape_and_truncate(path), difference })
}

/// Fetches `SKILL.md` and verifies its frontmatter, too.
pub(crate) fn fetch_skill_md(
    source: &dyn RemoteSource,
    entry: &RemoteEntry,
) -> Result<Vec<u8>, RemoteFileError> {
    let bytes = fetch(source, entry, "SKILL.md")?;
    match frontmatter_difference(&bytes, &entry.frontmatter) {
        None => Ok(bytes),
        Some(field) => Err(RemoteFileError::Frontmatter {
            name: escape_and_truncate(&entry.name),
            field: escape_and_truncate(&field),
        }),
    }
}

/// Returns the first field in which the frontmatter of a `SKILL.md` differs from the listed one.
pub fn frontmatter_difference(source: &[u8], listed: &Map<String, Value>) -> Option<String> {
    let FenceSearch::Found(fences) = fence::find_fences(source, Extent::Whole) else {
        return Some("there is no frontmatter".to_owned());
    };
    let text = source.get(fences.yaml).and_then(|yaml| std::str::from_utf8(yaml).ok()).unwrap_or_default();
    let parse = |text: &str| Some(yaml::parse(text, YamlBudget::DEFAULT).ok()??.value());
    match parse(text).or_else(|| parse(&repair::repair_yaml(text)?.text)) {
        Some(Yaml::Map(entries)) => object_differs(&entries, listed),
        Some(_) | None => Some("the frontmatter cannot be read".to_owned()),
    }
}

fn object_differs(entries: &[(Box<str>, Yaml)], listed: &Map<String, Value>) -> Option<String> {
    // The last of duplicate keys counts, as in the manifest parser.
    let last =
        |key: &str| entries.iter().rev().find(|(entry_key, _)| **entry_key == *key).map(|(_, value)| value);
    let unlisted = entries.iter().map(|(key, _)| &**key).find(|key| !listed.contains_key(*key));
    let differs =
        |(key, value): &(&String, &Value)| !last(key).is_some_and(|yaml| is_same_value(yaml, value));
    unlisted.or_else(|| listed.iter().find(differs).map(|(key, _)| key.as_str())).map(str::to_owned)
}

fn is_same_value(yaml: &Yaml, json: &Value) -> bool {
    match (yaml, json) {
        (Yaml::Null, Value::Null) => true,
        (Yaml::Bool(yaml), Value::Bool(json)) => yaml == json,
        (Yaml::Number(yaml), Value::Number(json)) => is_same_number(yaml, json),
        // A number that JSON cannot represent exactly, such as 1.10, may be listed as a string.
        (Yaml::Number(yaml), Value::String(json)) => **yaml == **json,
        (Yaml::Text(yaml), Value::String(json)) => **yaml == **json,
        (Yaml::List(yaml), Value::Array(json)) => {
            yaml.len() == json.len() && yaml.iter().zip(json).all(|(yaml, json)| is_same_value(yaml, json))
        }
        (Yaml::Map(yaml), Value::Object(json)) => object_differs(yaml, json).is_none(),
        _ => false,
    }
}

fn is_same_number(yaml: &str, json: &serde_json::Number) -> bool {
    let integer = |text: &str| match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(hex), _) => i128::from_str_radix(hex, 16).ok(),
        (_, Some(octal)) => i128::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    };
    match (integer(yaml), integer(&json.to_string())) {
        (Some(yaml), Some(json)) => yaml == json,
        _ => yaml.parse::<f64>().ok().zip(json.as_f64()).is_some_and(|(yaml, json)| yaml == json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn differs_from(yaml: &str, listed: Value) -> Option<String> {
        let Value::Object(listed) = listed else { panic!("an object") };
        frontmatter_difference(format!("---\n{yaml}---\nBody\n").as_bytes(), &listed)
    }

    #[test]
    fn every_field_is_compared() {
        let yaml = "name: a\ndescription: D.\nmetadata: {v: 1.10, n: 3, t: 'x'}\nl: [1, yes]\nz: ~\n";
        let listed = json!({
            "name": "a", "description": "D.", "metadata": {"v": 1.1, "n": 3, "t": "x"}, "l": [1, "yes"], "z": null
        });
        assert_eq!(differs_from(yaml, listed.clone()), None);
        for (field, value) in [
            ("name", json!("b")),
            ("description", json!("D")),
            ("metadata", json!({"v": 1.1, "n": 3})),
            ("metadata", json!({"v": 1.1, "n": 4, "t": "x"})),
            ("l", json!([1])),
            ("z", json!("")),
        ] {
            let mut other = listed.clone();
            other[field] = value;
            assert_eq!(differs_from(yaml, other).as_deref(), Some(field));
        }
        let mut more = listed.clone();
        more["allowed-tools"] = json!("Bash");
        assert_eq!(differs_from(yaml, more).as_deref(), Some("allowed-tools"));
        let mut less = listed;
        less.as_object_mut().unwrap().remove("l");
        assert_eq!(differs_from(yaml, less).as_deref(), Some("l"));
    }

    #[test]
    fn a_number_may_be_listed_as_a_string() {
        assert_eq!(differs_from("v: 1.10\n", json!({"v": "1.10"})), None);
        assert_eq!(differs_from("v: '1.10'\n", json!({"v": 1.1})).as_deref(), Some("v"));
        assert_eq!(differs_from("v: 0x1F\n", json!({"v": 31})), None);
        assert_eq!(
            differs_from("v: 9007199254740993\n", json!({"v": 9_007_199_254_740_992u64})).as_deref(),
            Some("v")
        );
    }

    #[test]
    fn a_file_without_frontmatter_differs() {
        assert!(frontmatter_difference(b"Body", &Map::new()).is_some());
        assert!(frontmatter_difference(b"", &Map::new()).is_some());
        assert!(frontmatter_difference(b"---\n- a\n---\n", &Map::new()).is_some());
    }

    proptest! {
        #[test]
        fn json_frontmatter_equals_its_listing(entries in prop::collection::btree_map("[a-z]{1,8}", "[ -~]{0,20}", 1..6)) {
            let listed: Map<String, Value> = entries.into_iter().map(|(key, value)| (key, value.into())).collect();
            let yaml = format!("{}\n", Value::Object(listed.clone()));
            prop_assert_eq!(differs_from(&yaml, Value::Object(listed)), None);
        }
    }
}
