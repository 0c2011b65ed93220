//! Frontmatter as JSON: every key, known or not.

use prowess_format::yaml::{self, Budget};
use prowess_format::{Value, repair};
use serde_json::{Map, Number};

use crate::resource::text::strip_escapes;

/// The YAML between the fences as a JSON object. What had to be repaired to be read is repaired here, too.
pub(super) fn to_json(text: &str) -> Map<String, serde_json::Value> {
    let value = |text: &str| Some(yaml::parse(text, Budget::DEFAULT).ok()??.value());
    let value = value(text).or_else(|| value(&repair::repair(text)?.text));
    match value {
        Some(Value::Map(entries)) => object(entries),
        _ => Map::new(),
    }
}

fn object(entries: Vec<(Box<str>, Value)>) -> Map<String, serde_json::Value> {
    // Where a key stands twice, the last one counts, as it does for the manifest.
    entries.into_iter().map(|(key, value)| (clean(key), json(value))).collect()
}

fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Number(text) => number(&text).map_or_else(|| clean(text).into(), Into::into),
        Value::Text(text) => clean(text).into(),
        Value::List(items) => items.into_iter().map(json).collect(),
        Value::Map(entries) => object(entries).into(),
    }
}

/// A number that JSON has, too, and that reads the same there; `1.10` and `0x1F` stay text.
fn number(text: &str) -> Option<Number> {
    serde_json::from_str::<Number>(text).ok().filter(|number| number.to_string() == text)
}

fn clean(text: Box<str>) -> String {
    let mut text = String::from(text);
    strip_escapes(&mut text, 0);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there() {
        let text = "name: a\ndescription: b: c\nn: 3\nv: 1.10\nb: true\nz: ~\nl: [x, 2]\n\
            m: {k: \"\\e[31mv\"}\nname: z\n";
        let json = serde_json::Value::from(to_json(text)).to_string();
        insta::assert_snapshot!(
            json,
            @r#"{"b":true,"description":"b: c","l":["x",2],"m":{"k":"v"},"n":3,"name":"z","v":"1.10","z":null}"#
        );
    }
}
