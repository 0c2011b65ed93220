//! Whether what came from a supply is what the skill was listed with. Nothing is used that is not.
//!
//! Digests come from the same server as the bytes: that they match says that the two belong together, not that either is
//! good.

use prowess_format::fence::{self, Extent, Split};
use prowess_format::hidden::brief;
use prowess_format::yaml::{self, Budget};
use prowess_format::{Value as Yaml, repair};
use serde_json::{Map, Value};

use super::error::Unverified;
use super::{Offered, Supply, SupplyError};
use prowess_fs::digest;

/// Fetches a file and verifies it. A path that was not listed is not asked for.
pub(crate) fn fetch(supply: &dyn Supply, offered: &Offered, path: &str) -> Result<Vec<u8>, Unverified> {
    let name = brief(&offered.name);
    let Some(file) = offered.file(path) else {
        return Err(Unverified::Unlisted { name, path: brief(path) });
    };
    let bytes = supply.read(offered, file).map_err(|why| {
        // A file that the server no longer has is a skill that has changed.
        if matches!(why, SupplyError::Refused(_)) {
            supply.doubt(offered);
        }
        let (path, origin) = (brief(path), supply.title());
        Unverified::Supply { name: name.clone(), path, origin, why }
    })?;
    let size = bytes.len() as u64;
    let what = if size != file.size {
        format!("it has {size} bytes and was listed with {}", file.size)
    } else if digest(&bytes) != file.digest {
        "its digest is not the one it was listed with".to_owned()
    } else {
        return Ok(bytes);
    };
    supply.doubt(offered);
    Err(Unverified::Changed { name, path: brief(path), what })
}

/// Fetches `SKILL.md`, and verifies its frontmatter besides.
pub(crate) fn fetch_skill_md(supply: &dyn Supply, offered: &Offered) -> Result<Vec<u8>, Unverified> {
    let bytes = fetch(supply, offered, "SKILL.md")?;
    match differs(&bytes, &offered.frontmatter) {
        None => Ok(bytes),
        Some(what) => Err(Unverified::Frontmatter { name: brief(&offered.name), what: brief(&what) }),
    }
}

/// The first field in which the frontmatter of a `SKILL.md` differs from the one that was listed.
pub fn differs(source: &[u8], listed: &Map<String, Value>) -> Option<String> {
    let Split::Found(fences) = fence::split(source, Extent::Whole) else {
        return Some("there is no frontmatter".to_owned());
    };
    let text = source.get(fences.yaml).and_then(|yaml| std::str::from_utf8(yaml).ok()).unwrap_or_default();
    let parse = |text: &str| Some(yaml::parse(text, Budget::DEFAULT).ok()??.value());
    match parse(text).or_else(|| parse(&repair::repair(text)?.text)) {
        Some(Yaml::Map(entries)) => object_differs(&entries, listed),
        Some(_) | None => Some("the frontmatter cannot be read".to_owned()),
    }
}

fn object_differs(entries: &[(Box<str>, Yaml)], listed: &Map<String, Value>) -> Option<String> {
    // Where a key stands twice, the last one counts, as it does everywhere.
    let last = |key: &str| entries.iter().rev().find(|(known, _)| **known == *key).map(|(_, value)| value);
    let written = entries.iter().map(|(key, _)| &**key).find(|key| !listed.contains_key(*key));
    let differs = |(key, value): &(&String, &Value)| !last(key).is_some_and(|yaml| same(yaml, value));
    written.or_else(|| listed.iter().find(differs).map(|(key, _)| key.as_str())).map(str::to_owned)
}

fn same(yaml: &Yaml, json: &Value) -> bool {
    match (yaml, json) {
        (Yaml::Null, Value::Null) => true,
        (Yaml::Bool(yaml), Value::Bool(json)) => yaml == json,
        (Yaml::Number(yaml), Value::Number(json)) => same_number(yaml, json),
        // A number that JSON would change, such as 1.10, may be kept as it is written.
        (Yaml::Number(yaml), Value::String(json)) => **yaml == **json,
        (Yaml::Text(yaml), Value::String(json)) => **yaml == **json,
        (Yaml::List(yaml), Value::Array(json)) => {
            yaml.len() == json.len() && yaml.iter().zip(json).all(|(yaml, json)| same(yaml, json))
        }
        (Yaml::Map(yaml), Value::Object(json)) => object_differs(yaml, json).is_none(),
        _ => false,
    }
}

fn same_number(yaml: &str, json: &serde_json::Number) -> bool {
    let whole = |text: &str| match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(hex), _) => i128::from_str_radix(hex, 16).ok(),
        (_, Some(octal)) => i128::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    };
    match (whole(yaml), whole(&json.to_string())) {
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
        differs(format!("---\n{yaml}---\nBody\n").as_bytes(), &listed)
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
    fn a_number_may_be_kept_as_it_is_written() {
        assert_eq!(differs_from("v: 1.10\n", json!({"v": "1.10"})), None);
        assert_eq!(differs_from("v: '1.10'\n", json!({"v": 1.1})).as_deref(), Some("v"));
        assert_eq!(differs_from("v: 0x1F\n", json!({"v": 31})), None);
        assert_eq!(
            differs_from("v: 9007199254740993\n", json!({"v": 9_007_199_254_740_992u64})).as_deref(),
            Some("v")
        );
    }

    #[test]
    fn what_has_no_frontmatter_differs() {
        assert!(differs(b"Body", &Map::new()).is_some());
        assert!(differs(b"", &Map::new()).is_some());
        assert!(differs(b"---\n- a\n---\n", &Map::new()).is_some());
    }

    proptest! {
        #[test]
        fn whatever_is_written_as_json_is_the_same(entries in prop::collection::btree_map("[a-z]{1,8}", "[ -~]{0,20}", 1..6)) {
            let listed: Map<String, Value> = entries.into_iter().map(|(key, value)| (key, value.into())).collect();
            let yaml = format!("{}\n", Value::Object(listed.clone()));
            prop_assert_eq!(differs_from(&yaml, Value::Object(listed)), None);
        }
    }
}
