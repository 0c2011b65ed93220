//! The JSON Schema of the frontmatter compared with the parser.

use boon::{Compiler, SchemaIndex, Schemas};
use proptest::prelude::*;
use prowess_format::fence::{Extent, FenceSearch, find_fences};
use prowess_format::schema::{SchemaScope, frontmatter_schema};
use prowess_format::yaml::{YamlBudget, parse as parse_yaml};
use prowess_format::{Code, Rules, Value, parse};
use serde_json::{Value as Json, json};

struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    fn is_valid(&self, value: &Json) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }
}

/// Compiles the schema, which must be valid itself.
fn validator(scope: SchemaScope) -> Validator {
    let schema = serde_json::to_value(frontmatter_schema(scope)).unwrap();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("frontmatter.json", schema).unwrap();
    let index = compiler.compile("frontmatter.json", &mut schemas).unwrap();
    Validator { schemas, index }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Number(number) => json!(number.parse::<f64>().unwrap_or_default()),
        Value::Text(text) => json!(text),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect(),
    }
}

/// Returns the frontmatter of a file as an editor sees it: parsed as YAML, without any repair.
fn frontmatter(source: &[u8]) -> Option<Json> {
    let FenceSearch::Found(fences) = find_fences(source, Extent::Whole) else { return None };
    let yaml = std::str::from_utf8(source.get(fences.yaml)?).ok()?;
    parse_yaml(yaml, YamlBudget::DEFAULT).ok()?.map(|node| to_json(&node.value()))
}

/// Returns the problems that a schema can express. It knows neither the directory nor hidden characters, and YAML
/// parsers report duplicate keys themselves.
fn field_problems(source: &[u8], rules: &Rules) -> Vec<String> {
    let is_in_schema = |code: Code| {
        matches!(
            code,
            Code::MissingName
                | Code::NameType
                | Code::NameLong
                | Code::NameForm
                | Code::NamePath
                | Code::MissingDescription
                | Code::DescriptionType
                | Code::DescriptionLong
                | Code::UnknownKey
                | Code::FieldForm
                | Code::FieldLong
                | Code::VersionForm
                | Code::TriggerForm
                | Code::ToolsetForm
                | Code::NotAMapping
        )
    };
    let diagnostics = parse(source, None, rules).diagnostics;
    diagnostics.iter().filter(|diagnostic| is_in_schema(diagnostic.code)).map(ToString::to_string).collect()
}

#[test]
fn schema_of_all_fields() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&frontmatter_schema(SchemaScope::All)).unwrap());
}

#[test]
fn schema_of_the_specification() {
    let schema = frontmatter_schema(SchemaScope::Specification);
    insta::assert_snapshot!(serde_json::to_string_pretty(&schema).unwrap());
}

#[test]
fn fuzz_seeds_without_problems_are_accepted() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/skill_md");
    let (all, strict) = (validator(SchemaScope::All), validator(SchemaScope::Specification));
    let mut accepted = 0;
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read(&path).unwrap();
        let Some(json) = frontmatter(&source) else { continue };
        for (schema, rules) in [(&all, Rules::standard()), (&strict, Rules::strict())] {
            if parse(&source, None, &rules).diagnostics.is_empty() {
                let errors: Vec<String> = schema
                    .schemas
                    .validate(&json, schema.index)
                    .err()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                assert_eq!(errors, Vec::<String>::new(), "{}", path.display());
                accepted += 1;
            }
        }
    }
    assert!(accepted > 30, "only {accepted} seeds have no problems");
}

#[test]
fn values_are_accepted_or_rejected_as_by_the_parser() {
    let long = format!("name: a\ndescription: {}", "x".repeat(1025));
    for (yaml, all, strict) in [
        ("name: pdf\ndescription: Reads.", true, true),
        ("name: 技能\ndescription: Reads.", true, true),
        ("name: Pdf\ndescription: Reads.", false, false),
        ("name: a--b\ndescription: Reads.", false, false),
        ("name: 12\ndescription: Reads.", false, false),
        ("description: Reads.", false, false),
        ("name: pdf", false, false),
        ("name: pdf\ndescription: ' '", false, false),
        ("name: pdf\ndescription: [a, b]", false, false),
        (&long, false, false),
        ("name: pdf\ndescription: R.\nlicense: 3", true, true),
        ("name: pdf\ndescription: R.\nlicense: [MIT]", false, false),
        ("name: pdf\ndescription: R.\ncompatibility: ''", false, false),
        ("name: pdf\ndescription: R.\nmetadata: {a: 1, b: [x, y]}", true, false),
        ("name: pdf\ndescription: R.\nmetadata: {openclaw: {emoji: x}}", true, false),
        ("name: pdf\ndescription: R.\nmetadata: {other: {emoji: x}}", false, false),
        ("name: pdf\ndescription: R.\nallowed-tools: Read Bash(git, gh)", true, true),
        ("name: pdf\ndescription: R.\nallowed-tools: Read, Write", true, false),
        ("name: pdf\ndescription: R.\nallowed-tools: [Read, Write]", true, false),
        ("name: pdf\ndescription: R.\nallowed-tools: {a: b}", false, false),
        ("name: pdf\ndescription: R.\nversion: 1.0", false, false),
        ("name: pdf\ndescription: R.\nversion: 1.0.0-rc.1+7", true, false),
        ("name: pdf\ndescription: R.\nuser-invocable: yes", true, false),
        ("name: pdf\ndescription: R.\nuser-invocable: maybe", false, false),
        ("name: pdf\ndescription: R.\ntoolsets: [tools/x:Tools, bin/tool]", true, false),
        ("name: pdf\ndescription: R.\ntoolsets: ['../x:Tools']", false, false),
        ("name: pdf\ndescription: R.\ntriggers: {keywords: [pdf], patterns: 'a+'}", true, false),
        ("name: pdf\ndescription: R.\ntriggers: {words: [pdf]}", false, false),
        ("name: pdf\ndescription: R.\ncontext: fork\nmodel: inherit\npaths: '*.rs, *.toml'", true, false),
        ("name: pdf\ndescription: R.\nmode: anything", true, false),
        ("name: pdf\ndescription: R.\ncolour: red", false, false),
    ] {
        let source = format!("---\n{yaml}\n---\nText.");
        let json = frontmatter(source.as_bytes()).unwrap();
        for (scope, rules, expected) in [
            (SchemaScope::All, Rules::standard(), all),
            (SchemaScope::Specification, Rules::strict(), strict),
        ] {
            let problems = field_problems(source.as_bytes(), &rules);
            assert_eq!(problems.is_empty(), expected, "parser, {scope:?}, {yaml}: {problems:?}");
            assert_eq!(validator(scope).is_valid(&json), expected, "schema, {scope:?}, {yaml}");
        }
    }
}

/// A YAML value in flow style.
fn yaml_value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        "[a-z]{1,12}",
        "[a-zA-Z0-9 _-]{0,24}".prop_map(|text| format!("'{text}'")),
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("7".to_owned()),
        Just("1.2.3".to_owned()),
        Just("tools/x:Y".to_owned()),
        "[a-z, ()]{0,20}".prop_map(|text| format!("'{text}'")),
    ];
    let list = prop::collection::vec("[a-z]{1,6}", 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
    let map =
        prop::collection::vec(("(keywords|verbs|author|openclaw)", "[a-z]{1,6}"), 0..3).prop_map(|entries| {
            let entries: Vec<_> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", entries.join(", "))
        });
    prop_oneof![4 => scalar, 1 => list, 1 => map]
}

fn key() -> impl Strategy<Value = &'static str> {
    let keys: Vec<&str> =
        prowess_format::dialects::KEYS.iter().map(|entry| entry.key).chain(["other"]).collect();
    prop::sample::select(keys)
}

thread_local! {
    static VALIDATORS: [Validator; 2] = [validator(SchemaScope::All), validator(SchemaScope::Specification)];
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn schema_and_parser_agree(
        name in "[a-zA-Z0-9-]{1,8}",
        description in prop_oneof![4 => Just("Reads. Use when asked.".to_owned()), 1 => yaml_value()],
        key in key(),
        value in yaml_value(),
    ) {
        prop_assume!(key != "name" && key != "description");
        let source = format!("---\nname: '{name}'\ndescription: {description}\n{key}: {value}\n---\nText.");
        let Some(json) = frontmatter(source.as_bytes()) else { return Ok(()) };
        for (index, rules) in [Rules::standard(), Rules::strict()].iter().enumerate() {
            let problems = field_problems(source.as_bytes(), rules);
            let is_valid = VALIDATORS.with(|validators| validators[index].is_valid(&json));
            prop_assert_eq!(problems.is_empty(), is_valid, "{}: {:?}", source, problems);
        }
    }
}
