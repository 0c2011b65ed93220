//! As much of JSON Schema as our tools use. A word that is not known here is an error, so that none is passed over.

use serde_json::Value;

/// What is wrong with a value, or nothing.
pub fn wrong(schema: &Value, value: &Value) -> Option<String> {
    check(schema, value, "$")
}

fn check(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let schema = schema.as_object().unwrap();
    for (word, says) in schema {
        let problem = match word.as_str() {
            "description" | "title" | "$schema" => None,
            "type" => (!is_of(says, value)).then(|| format!("is not {says}")),
            "enum" => (!says.as_array().unwrap().contains(value)).then(|| format!("is none of {says}")),
            "minimum" => {
                value.as_f64().filter(|number| *number < says.as_f64().unwrap()).map(|it| format!("is {it}"))
            }
            "required" => {
                let mut names = says.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                names.find(|name| value.get(name).is_none()).map(|name| format!("has no {name}"))
            }
            "properties" => return_first(value.as_object().into_iter().flatten().map(|(name, inner)| {
                let known = says.get(name).map(|schema| check(schema, inner, &format!("{at}.{name}")));
                // What is not described is a mistake of ours, though the words of the schema would let it pass.
                known.unwrap_or_else(|| Some(format!("{at}.{name} is not described")))
            })),
            "items" => return_first(
                value.as_array().into_iter().flatten().map(|item| check(says, item, &format!("{at}[]"))),
            ),
            "additionalProperties" => None,
            "maximum" => {
                value.as_f64().filter(|number| *number > says.as_f64().unwrap()).map(|it| format!("is {it}"))
            }
            other => panic!("the schema says {other}"),
        };
        if let Some(problem) = problem {
            return Some(format!("{at} {problem}"));
        }
    }
    None
}

fn return_first(mut all: impl Iterator<Item = Option<String>>) -> Option<String> {
    all.find_map(|problem| problem)
}

fn is_of(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema says {other}"),
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap())),
        kind => is(kind.as_str().unwrap()),
    }
}
