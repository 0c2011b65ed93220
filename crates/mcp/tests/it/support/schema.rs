//! A validator for the subset of JSON Schema that our tools use. Unknown keywords are errors, so that none is
//! ignored.

use serde_json::Value;

/// Returns the first violation of a schema.
pub fn violation(schema: &Value, value: &Value) -> Option<String> {
    check(schema, value, "$")
}

fn check(schema: &Value, value: &Value, location: &str) -> Option<String> {
    let schema = schema.as_object().unwrap();
    for (keyword, constraint) in schema {
        let problem = match keyword.as_str() {
            "description" | "title" | "$schema" => None,
            "type" => (!has_type(constraint, value)).then(|| format!("is not {constraint}")),
            "enum" => (!constraint.as_array().unwrap().contains(value))
                .then(|| format!("is not one of {constraint}")),
            "minimum" => value
                .as_f64()
                .filter(|number| *number < constraint.as_f64().unwrap())
                .map(|number| format!("is {number}")),
            "required" => {
                let mut names = constraint.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                names.find(|name| value.get(name).is_none()).map(|name| format!("has no {name}"))
            }
            "properties" => first_violation(value.as_object().into_iter().flatten().map(|(name, inner)| {
                let known =
                    constraint.get(name).map(|schema| check(schema, inner, &format!("{location}.{name}")));
                // Undescribed properties are mistakes, although the schema would allow them.
                known.unwrap_or_else(|| Some(format!("{location}.{name} is not described")))
            })),
            "items" => first_violation(
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|item| check(constraint, item, &format!("{location}[]"))),
            ),
            "additionalProperties" => None,
            "maximum" => value
                .as_f64()
                .filter(|number| *number > constraint.as_f64().unwrap())
                .map(|number| format!("is {number}")),
            other => panic!("unknown keyword {other}"),
        };
        if let Some(problem) = problem {
            return Some(format!("{location} {problem}"));
        }
    }
    None
}

fn first_violation(mut all: impl Iterator<Item = Option<String>>) -> Option<String> {
    all.find_map(|problem| problem)
}

fn has_type(kinds: &Value, value: &Value) -> bool {
    let matches_type = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(|kind| matches_type(kind.as_str().unwrap())),
        kind => matches_type(kind.as_str().unwrap()),
    }
}
