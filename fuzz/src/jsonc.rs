//! Configurations of MCP clients, in JSON with comments, TOML and YAML.

use prowess_config::edit::entry::{ConfigFormat, EditEntryError, find, put, remove};
use prowess_format::Value;

const PATH: [&str; 2] = ["servers", "x"];

/// Checks that nothing panics, that an added entry is found, that adding it again changes nothing, that it can be removed from
/// JSON, and that every error has a location inside the text.
pub fn jsonc(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let entry = Value::Map(vec![
        ("command".into(), Value::Text("/bin/x \"y\"".into())),
        ("args".into(), Value::List(vec![Value::Text("mcp".into())])),
    ]);
    for format in [ConfigFormat::Json, ConfigFormat::Toml, ConfigFormat::Yaml] {
        let found = match find(text, format, PATH) {
            Ok(found) => found,
            Err(error) => {
                check_location(text, &error);
                continue;
            }
        };
        if found.is_some() {
            if let Ok(removed) = remove(text, format, PATH) {
                assert_eq!(find(&removed, format, PATH), Ok(None), "{text:?} to {removed:?}");
            }
            continue;
        }
        assert_eq!(remove(text, format, PATH).as_deref(), Ok(text));
        match put(text, format, PATH, &entry) {
            Err(error) => check_location(text, &error),
            Ok(after) => {
                let found = find(&after, format, PATH).map(|found| found.map(|found| found.value));
                assert_eq!(found, Ok(Some(entry.clone())), "{after:?}");
                assert_eq!(put(&after, format, PATH, &entry).as_deref(), Ok(after.as_str()));
                if format == ConfigFormat::Json {
                    let back = remove(&after, format, PATH).and_then(|back| find(&back, format, PATH));
                    assert_eq!(back, Ok(None), "back from {after:?}");
                }
            }
        }
    }
}

fn check_location(text: &str, error: &EditEntryError) {
    let (EditEntryError::Malformed { line, column, .. } | EditEntryError::Unsafe { line, column, .. }) =
        error
    else {
        panic!("unexpected error: {error}");
    };
    assert!(*line >= 1 && *column >= 1, "{error}");
    assert!(*line as usize <= text.matches('\n').count() + 1, "{error} in {text:?}");
}
