//! Adding and removing one entry changes nothing else.

mod generated;
mod json;
mod toml;
mod yaml;

use prowess_format::Value;

use super::super::entry::{ConfigFormat, EditEntryError, find, put, remove};

const PATH: [&str; 2] = ["servers", "x"];

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// The configuration of a server in an MCP client.
fn server() -> Value {
    Value::Map(vec![
        ("command".into(), text("/bin/x")),
        ("args".into(), Value::List(vec![text("mcp"), text("a \"b\"")])),
        ("headers".into(), Value::Map(vec![("A".into(), text("b"))])),
    ])
}

/// Checks the text after adding the entry; removing it must restore the original text.
fn and_back(format: ConfigFormat, before: &str, expected: &str) {
    let after = put(before, format, PATH, &server()).unwrap_or_else(|error| panic!("{error}: {before:?}"));
    assert_eq!(after, expected, "from {before:?}");
    assert_eq!(find(&after, format, PATH).unwrap().unwrap().value, server());
    assert_eq!(put(&after, format, PATH, &server()).unwrap(), after, "again");
    assert_eq!(remove(&after, format, PATH).unwrap(), before, "back from {after:?}");
}

fn refused(format: ConfigFormat, before: &str) -> String {
    match put(before, format, PATH, &server()) {
        Err(error @ (EditEntryError::Malformed { .. } | EditEntryError::Unsafe { .. })) => {
            assert_eq!(
                remove(before, format, PATH).err().map(|error| error.to_string()),
                Some(error.to_string())
            );
            error.to_string()
        }
        Ok(after) => panic!("{after}"),
    }
}
