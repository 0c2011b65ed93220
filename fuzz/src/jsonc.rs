//! Configurations of MCP clients, in JSON with comments, TOML and YAML.

use prowess_config::edit::entry::{ConfigFormat, EditEntryError, find, put, remove};
use prowess_format::Value;

const PATH: [&str; 2] = ["servers", "x"];

/// Nothing panics; what is put is found, and putting it again changes nothing; in JSON, it can be taken away again; what
/// is refused has a place inside the text.
pub fn jsonc(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let entry = Value::Map(vec![
        ("command".into(), Value::Text("/bin/x \"y\"".into())),
        ("args".into(), Value::List(vec![Value::Text("mcp".into())])),
    ]);
    for form in [ConfigFormat::Json, ConfigFormat::Toml, ConfigFormat::Yaml] {
        let found = match find(text, form, PATH) {
            Ok(found) => found,
            Err(error) => {
                placed(text, &error);
                continue;
            }
        };
        if found.is_some() {
            if let Ok(gone) = remove(text, form, PATH) {
                assert_eq!(find(&gone, form, PATH), Ok(None), "{text:?} to {gone:?}");
            }
            continue;
        }
        assert_eq!(remove(text, form, PATH).as_deref(), Ok(text));
        match put(text, form, PATH, &entry) {
            Err(error) => placed(text, &error),
            Ok(after) => {
                let found = find(&after, form, PATH).map(|found| found.map(|found| found.value));
                assert_eq!(found, Ok(Some(entry.clone())), "{after:?}");
                assert_eq!(put(&after, form, PATH, &entry).as_deref(), Ok(after.as_str()));
                if form == ConfigFormat::Json {
                    let back = remove(&after, form, PATH).and_then(|back| find(&back, form, PATH));
                    assert_eq!(back, Ok(None), "back from {after:?}");
                }
            }
        }
    }
}

fn placed(text: &str, error: &EditEntryError) {
    let (EditEntryError::Malformed { line, column, .. } | EditEntryError::Unsafe { line, column, .. }) =
        error
    else {
        panic!("an error of another kind: {error}");
    };
    assert!(*line >= 1 && *column >= 1, "{error}");
    assert!(*line as usize <= text.matches('\n').count() + 1, "{error} in {text:?}");
}
