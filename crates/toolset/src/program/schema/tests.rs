use proptest::prelude::*;
use serde_json::json;

use super::*;

fn error_for(schema: Value) -> String {
    ToolSchema::new(schema, &mut 4).unwrap_err()
}

fn check(schema: &Value, value: &Value) -> String {
    ToolSchema::new(schema.clone(), &mut 8).unwrap().check(value).err().unwrap_or_default()
}

#[test]
fn unsupported_schemas_are_refused() {
    let deep = (0..40).fold(json!(true), |inner, _| json!({"not": inner}));
    let errors: Vec<_> = [
        json!(5),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"properties": {"a": {"if": true}}}),
        json!({"properties": {"a": 5}}),
        json!({"properties": []}),
        json!({"required": "a"}),
        json!({"enum": []}),
        json!({"minLength": -1}),
        json!({"minimum": "1"}),
        json!({"multipleOf": 0}),
        json!({"uniqueItems": 1}),
        json!({"pattern": "(a"}),
        json!({"pattern": "(?=a)"}),
        json!({"pattern": "a".repeat(1001)}),
        json!({"pattern": "\\w{1000}{1000}"}),
        json!({"patternProperties": {"[": true}}),
        json!({"allOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "c"}, {"pattern": "d"}, {"pattern": "e"}]}),
        json!({"$ref": "https://example.com/schema"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#/default", "default": {"if": true}}),
        json!({"anyOf": []}),
        json!({"nullable": true}),
        json!({"un\u{200b}known": 1}),
        deep,
    ]
    .map(error_for)
    .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn errors_include_their_location() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$", "description": "D."},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.1},
            "unit": {"enum": ["c", "f", 1]},
            "one": {"const": 1},
            "list": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
            "either": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]},
            "exactly": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
            "never": {"not": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"maxLength": 2},
                    "patternProperties": {"^x": {"type": "boolean"}}, "minProperties": 1, "maxProperties": 2},
            "all": {"allOf": [{"type": "string"}, {"minLength": 2}]},
            "closed": false,
        },
        "required": ["name"],
        "additionalProperties": false,
        "$defs": {"item": {"type": ["string", "integer"]}},
    });
    let good = json!({
        "name": "abc", "count": 3.0, "ratio": 0.3, "unit": 1.0, "one": 1, "list": ["a", 1], "pair": ["a", 1.5],
        "either": null, "exactly": 5.5, "never": 1, "map": {"a": 1, "x": true}, "all": "ab",
    });
    assert_eq!(check(&schema, &good), "");
    let errors: Vec<_> = [
        json!([]),
        json!({}),
        json!({"name": 5}),
        json!({"name": "A"}),
        json!({"name": "abcdef", "more": 1}),
        json!({"name": "ab", "count": 1.5}),
        json!({"name": "ab", "count": 0, "ratio": 0.25}),
        json!({"name": "ab", "count": 10, "ratio": 1, "unit": "k", "one": "1"}),
        json!({"name": "ab", "list": [], "pair": [1, 2, 3]}),
        json!({"name": "ab", "list": ["a", "a", true, 1]}),
        json!({"name": "ab", "either": "x", "exactly": 5, "never": "x"}),
        json!({"name": "ab", "either": 5, "exactly": "x"}),
        json!({"name": "ab", "map": {"abc": 1, "x": 1, "b": "2"}, "all": "a", "closed": null}),
        json!({"name": "ab", "map": {}}),
    ]
    .iter()
    .map(|value| check(&schema, value))
    .collect();
    insta::assert_snapshot!(errors.join("\n"));
    let many: Map<String, Value> = (0..30).map(|n| (format!("k{n:02}"), json!(1))).collect();
    assert!(check(&schema, &many.into()).ends_with("; and more"));
}

#[test]
fn validation_terminates() {
    let circular = json!({"$ref": "#"});
    let twice = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let message = "cannot validate the arguments: the schema has too many alternatives or refers to itself";
    assert_eq!(
        (check(&circular, &json!({})), check(&twice, &json!({}))),
        (message.to_owned(), message.to_owned())
    );
    // A reference to itself for a child is fine.
    let tree =
        json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
    let deep = (0..100).fold(json!({}), |inner, _| json!({"next": inner}));
    assert_eq!(check(&tree, &deep), "");
    let deep = (0..5).fold(json!(5), |inner, _| json!({"next": inner}));
    assert_eq!(check(&tree, &deep), "next.next.next.next.next: must be an object, not a number");
}

fn json_value() -> impl Strategy<Value = Value> {
    let word = || {
        prop::sample::select(vec![
            "type",
            "anyOf",
            "properties",
            "a",
            "$ref",
            "#",
            "string",
            "pattern",
            "not",
            "items",
            "enum",
            "(a",
        ])
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(word().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_and_value_can_be_validated(schema in json_value(), value in json_value()) {
        match ToolSchema::new(schema, &mut 8) {
            Ok(schema) => {
                if let Err(message) = schema.check(&value) {
                    prop_assert!(!message.is_empty() && !message.contains('\n'));
                }
            }
            Err(message) => prop_assert!(message.starts_with("parameters") && !message.contains('\n')),
        }
    }

    #[test]
    fn a_type_accepts_only_its_values(value in json_value()) {
        let accepting: Vec<_> = TYPES.iter().filter(|name| check(&json!({"type": name}), &value).is_empty()).collect();
        let expected = if value.is_number() && value.as_f64().is_some_and(|n| n.fract() == 0.0) { 2 } else { 1 };
        prop_assert_eq!(accepting.len(), expected);
    }
}
