//! One entry put and taken: what changes, and that nothing else does.

mod generated;
mod json;
mod toml;
mod yaml;

use prowess_format::Value;

use super::super::entry::{EntryError, Form, find, put, take};

const PATH: [&str; 2] = ["servers", "x"];

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// What an MCP client keeps of a server.
fn server() -> Value {
    Value::Map(vec![
        ("command".into(), text("/bin/x")),
        ("args".into(), Value::List(vec![text("mcp"), text("a \"b\"")])),
        ("headers".into(), Value::Map(vec![("A".into(), text("b"))])),
    ])
}

/// What becomes of a text; taking it away again leads back.
fn and_back(form: Form, before: &str, expected: &str) {
    let after = put(before, form, PATH, &server()).unwrap_or_else(|error| panic!("{error}: {before:?}"));
    assert_eq!(after, expected, "from {before:?}");
    assert_eq!(find(&after, form, PATH).unwrap().unwrap().value, server());
    assert_eq!(put(&after, form, PATH, &server()).unwrap(), after, "again");
    assert_eq!(take(&after, form, PATH).unwrap(), before, "back from {after:?}");
}

fn refused(form: Form, before: &str) -> String {
    match put(before, form, PATH, &server()) {
        Err(error @ (EntryError::Malformed { .. } | EntryError::Refused { .. })) => {
            assert_eq!(
                take(before, form, PATH).err().map(|error| error.to_string()),
                Some(error.to_string())
            );
            error.to_string()
        }
        Ok(after) => panic!("{after}"),
    }
}
