//! Converts frontmatter to JSON, with all keys.

use prowess_format::fence::{self, Extent, FenceSearch};
use prowess_format::yaml::{self, YamlBudget};
use prowess_format::{Value, repair};
use serde_json::{Map, Number};

use crate::resources::text::strip_escapes;

/// Converts the YAML between the fences to a JSON object for display. Repairs it if necessary, like the
/// manifest parser.
pub(super) fn to_json(text: &str) -> Map<String, serde_json::Value> {
    let value = |text: &str| Some(yaml::parse(text, YamlBudget::DEFAULT).ok()??.value());
    let value = value(text).or_else(|| value(&repair::repair_yaml(text)?.text));
    match value {
        Some(Value::Map(entries)) => Conversion::Display.object(entries),
        _ => Map::new(),
    }
}

/// Returns the frontmatter of a `SKILL.md` exactly as any other YAML parser reads it: strings are unchanged,
/// and numbers are numbers. For programs that compare it with the file; do not show it without sanitizing it.
///
/// `None` if there is no frontmatter, or if it is not valid YAML without repairs.
///
/// ```
/// let source = b"---\nname: pdf\nversion: 1.10\n---\nBody";
/// let frontmatter = prowess::activation::verbatim_frontmatter(source).unwrap();
/// assert_eq!(serde_json::Value::from(frontmatter), serde_json::json!({"name": "pdf", "version": 1.1}));
/// assert!(prowess::activation::verbatim_frontmatter(b"---\ndescription: Use when: always\n---\n").is_none());
/// ```
pub fn verbatim_frontmatter(source: &[u8]) -> Option<Map<String, serde_json::Value>> {
    let FenceSearch::Found(fences) = fence::find_fences(source, Extent::Whole) else { return None };
    let yaml = std::str::from_utf8(source.get(fences.yaml)?).ok()?;
    match yaml::parse(yaml, YamlBudget::DEFAULT).ok()??.value() {
        Value::Map(entries) => Some(Conversion::Verbatim.object(entries)),
        _ => None,
    }
}

/// How values are converted.
#[derive(Clone, Copy)]
enum Conversion {
    /// For display: without terminal escapes, and with numbers as they were written.
    Display,
    /// For comparison by programs.
    Verbatim,
}

impl Conversion {
    fn object(self, entries: Vec<(Box<str>, Value)>) -> Map<String, serde_json::Value> {
        // The last of duplicate keys counts, as in the manifest.
        entries.into_iter().map(|(key, value)| (self.text(key), self.json(value))).collect()
    }

    fn json(self, value: Value) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Number(text) => self.number(&text).map_or_else(|| self.text(text).into(), Into::into),
            Value::Text(text) => self.text(text).into(),
            Value::List(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Value::Map(entries) => self.object(entries).into(),
        }
    }

    /// Converts a number if JSON can represent it. For display, it must also look the same: `1.10` and `0x1F`
    /// stay text.
    fn number(self, text: &str) -> Option<Number> {
        let number = serde_json::from_str::<Number>(text).ok();
        match self {
            Self::Display => number.filter(|number| number.to_string() == text),
            Self::Verbatim => number.or_else(|| yaml_number(text)),
        }
    }

    fn text(self, text: Box<str>) -> String {
        match self {
            Self::Display => without_escapes(text),
            Self::Verbatim => text.into(),
        }
    }
}

/// Parses a number in a notation that JSON does not have: `0x1F`, `0o17`, `+1`, `.5`, `5.`.
fn yaml_number(text: &str) -> Option<Number> {
    let radix = |prefix, radix| text.strip_prefix(prefix).map(|digits| i64::from_str_radix(digits, radix));
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return number.ok().map(Into::into);
    }
    let number = text.strip_prefix('+').unwrap_or(text);
    number.parse::<i64>().map(Into::into).ok().or_else(|| Number::from_f64(number.parse().ok()?))
}

fn without_escapes(text: Box<str>) -> String {
    let mut text = String::from(text);
    strip_escapes(&mut text, 0);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_converted() {
        let text = "name: a\ndescription: b: c\nn: 3\nv: 1.10\nb: true\nz: ~\nl: [x, 2]\n\
            m: {k: \"\\e[31mv\"}\nname: z\n";
        let json = serde_json::Value::from(to_json(text)).to_string();
        insta::assert_snapshot!(
            json,
            @r#"{"b":true,"description":"b: c","l":["x",2],"m":{"k":"v"},"n":3,"name":"z","v":"1.10","z":null}"#
        );
    }

    #[test]
    fn verbatim_matches_other_yaml_parsers() {
        let text = "---\nv: 1.10\nh: 0x1F\no: 0o17\np: +1\nd: .5\ne: 1e3\ni: .inf\nt: \"\\e[31mv\"\ns: '1.10'\n---\n";
        let json = serde_json::Value::from(verbatim_frontmatter(text.as_bytes()).unwrap()).to_string();
        insta::assert_snapshot!(
            json,
            @r#"{"d":0.5,"e":1000.0,"h":31,"i":".inf","o":15,"p":1,"s":"1.10","t":"\u001b[31mv","v":1.1}"#
        );
        assert!(verbatim_frontmatter(b"no fences").is_none());
    }
}
