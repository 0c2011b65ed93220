//! A JSON Schema of the frontmatter, for editors. It accepts what [`parse`](crate::parse) reads without reporting a
//! problem with a field.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::dialects::{self, DialectKey, KEYS};
use crate::manifest::{
    CLIENT_METADATA, FieldForm, KnownField, PATH_MAX, PATHS_MAX, PATTERN_MAX, STANDARD_KEYS, TRIGGER_LISTS,
};
use crate::rules::Rules;

/// Lower-case letters, letters of scripts without case, and numbers. Marks are allowed because a schema cannot compose
/// them with the letters before them.
const NAME_PATTERN: &str = r"^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$";

/// Text with at least one character that is not white space.
const NOT_BLANK: &str = r"\S";

const VERSION_PATTERN: &str =
    r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$";

/// A relative path, with an optional export.
const TOOLSET_PATTERN: &str = r"^[^/:][^:]*(:[\p{L}\p{N}_$]+)?$";

/// A path with a part `..`. Not part of the pattern above, because some pattern engines have no lookahead.
const PARENT_PATTERN: &str = r"(^|[/\\])\.\.([/\\:]|$)";

/// Tools that are separated by spaces: commas are allowed only in parentheses.
const SPACED_TOOLS_PATTERN: &str = r"^[^,()]*(\([^()]*\)[^,()]*)*$";

/// The fields that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaScope {
    /// All fields that Prowess and other clients read.
    All,
    /// The six fields of the specification, with its types, as `check --strict` requires.
    Specification,
}

/// Returns the JSON Schema (2020-12) of the frontmatter.
///
/// ```
/// use prowess_format::schema::{frontmatter_schema, SchemaScope};
///
/// let schema = serde_json::to_value(frontmatter_schema(SchemaScope::Specification)).unwrap();
/// assert_eq!(schema["required"], serde_json::json!(["name", "description"]));
/// assert_eq!(schema["properties"]["name"]["maxLength"], 64);
/// ```
pub fn frontmatter_schema(scope: SchemaScope) -> FrontmatterSchema {
    let properties = match scope {
        SchemaScope::All => {
            // The specification's keys come first, in its order.
            let others = KEYS.iter().filter(|entry| !entry.in_specification).map(|entry| entry.key);
            STANDARD_KEYS.into_iter().chain(others).collect::<Vec<_>>()
        }
        SchemaScope::Specification => STANDARD_KEYS.to_vec(),
    };
    let property = |key: &'static str| (key, property_schema(key, scope));
    FrontmatterSchema {
        schema: "https://json-schema.org/draft/2020-12/schema",
        title: match scope {
            SchemaScope::All => "Frontmatter of a SKILL.md",
            SchemaScope::Specification => {
                "Frontmatter of a SKILL.md, as the Agent Skills specification defines it"
            }
        },
        description: "The YAML between the two --- lines at the top of a SKILL.md",
        kind: "object",
        required: ["name", "description"],
        properties: OrderedMap(properties.into_iter().map(property).collect()),
        additional_properties: false,
    }
}

/// The schema of a whole frontmatter. Serialize it to get its JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontmatterSchema {
    #[serde(rename = "$schema")]
    schema: &'static str,
    title: &'static str,
    description: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    required: [&'static str; 2],
    properties: OrderedMap<ValueSchema>,
    additional_properties: bool,
}

/// A map that is serialized in the order of its entries.
#[derive(Debug, Clone, PartialEq)]
struct OrderedMap<T>(Vec<(&'static str, T)>);

impl<T: Serialize> Serialize for OrderedMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The schema of one value. Empty keywords are left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ValueSchema {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "<[_]>::is_empty")]
    types: &'static [&'static str],
    #[serde(rename = "enum", skip_serializing_if = "<[_]>::is_empty")]
    choices: &'static [Choice],
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not: Option<Box<ValueSchema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<ValueSchema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<OrderedMap<ValueSchema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<Additional>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
enum Choice {
    Bool(bool),
    Text(&'static str),
    Null(()),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Additional {
    Refused(bool),
    Value(Box<ValueSchema>),
}

const SCALAR: &[&str] = &["string", "number", "boolean", "null"];
const SCALAR_OR_LIST: &[&str] = &["string", "number", "boolean", "null", "array"];
const VALUE: &[&str] = &["string", "number", "boolean"];

const BOOLEANS: &[Choice] = &[
    Choice::Bool(true),
    Choice::Bool(false),
    Choice::Text("true"),
    Choice::Text("false"),
    Choice::Text("yes"),
    Choice::Text("no"),
    Choice::Text("on"),
    Choice::Text("off"),
    Choice::Null(()),
];

fn property_schema(key: &'static str, scope: SchemaScope) -> ValueSchema {
    let schema = match KnownField::find(key) {
        Some(field) => form_schema(field.form(), scope),
        None => ValueSchema::default(),
    };
    let description = dialects::find_key(key).map(describe_key);
    ValueSchema { title: Some(key.to_owned()), description, ..schema }
}

/// Describes a key: its purpose, and the clients that read it.
pub fn describe_key(entry: &DialectKey) -> String {
    let mut purpose = entry.purpose.to_owned();
    if let Some(first) = purpose.get(..1) {
        let upper = first.to_uppercase();
        purpose.replace_range(..1, &upper);
    }
    let defined = if entry.in_specification { " Defined by the Agent Skills specification." } else { "" };
    let prowess = if entry.used_by_prowess { " Read by Prowess." } else { "" };
    let clients = match entry.clients {
        [] => String::new(),
        clients if clients.len() == dialects::Client::ALL.len() => " Read by all known agents.".to_owned(),
        clients => format!(" Read by {}.", dialects::client_list(clients)),
    };
    format!("{purpose}.{defined}{prowess}{clients}")
}

fn form_schema(form: FieldForm, scope: SchemaScope) -> ValueSchema {
    let is_strict = scope == SchemaScope::Specification;
    match form {
        FieldForm::Name => ValueSchema {
            types: &["string"],
            pattern: Some(NAME_PATTERN),
            max_length: Rules::standard().name_max.map(|max| max as usize),
            ..ValueSchema::default()
        },
        FieldForm::Description => ValueSchema {
            types: &["string"],
            pattern: Some(NOT_BLANK),
            min_length: Some(1),
            max_length: Rules::standard().description_max.map(|max| max as usize),
            examples: vec!["What it does. Use when …"],
            ..ValueSchema::default()
        },
        FieldForm::Text => typed(SCALAR),
        FieldForm::BoundedText(max) => ValueSchema {
            types: VALUE,
            pattern: Some(NOT_BLANK),
            min_length: Some(1),
            max_length: Some(max),
            ..ValueSchema::default()
        },
        FieldForm::Keyword(_) => ValueSchema { examples: form.values().to_vec(), ..ValueSchema::default() },
        FieldForm::Hint => typed(SCALAR_OR_LIST),
        FieldForm::Version => ValueSchema {
            types: &["string", "null"],
            pattern: Some(VERSION_PATTERN),
            examples: vec!["1.0.0"],
            ..ValueSchema::default()
        },
        FieldForm::Boolean => ValueSchema { choices: BOOLEANS, ..ValueSchema::default() },
        FieldForm::TextMap => text_map(is_strict),
        FieldForm::Tools if is_strict => ValueSchema {
            types: SCALAR,
            pattern: Some(SPACED_TOOLS_PATTERN),
            examples: vec!["Read Bash(git:*)"],
            ..ValueSchema::default()
        },
        FieldForm::Tools => ValueSchema { examples: vec!["Read Bash(git:*)"], ..list(typed(VALUE)) },
        FieldForm::Toolsets => {
            let parent = ValueSchema { pattern: Some(PARENT_PATTERN), ..typed(&["string"]) };
            let (pattern, not) = (Some(TOOLSET_PATTERN), Some(Box::new(parent)));
            let item = ValueSchema { pattern, not: not.clone(), ..typed(VALUE) };
            ValueSchema { pattern, not, ..list(item) }
        }
        FieldForm::Words => list(typed(VALUE)),
        FieldForm::Globs => {
            let item = ValueSchema { types: VALUE, max_length: Some(PATH_MAX), ..ValueSchema::default() };
            ValueSchema { max_items: Some(PATHS_MAX), ..list(item) }
        }
        FieldForm::Triggers => triggers(),
        FieldForm::Any => ValueSchema::default(),
    }
}

fn typed(types: &'static [&'static str]) -> ValueSchema {
    ValueSchema { types, ..ValueSchema::default() }
}

/// Returns the schema of text or a list of texts.
fn list(item: ValueSchema) -> ValueSchema {
    ValueSchema { types: SCALAR_OR_LIST, items: Some(Box::new(item)), ..ValueSchema::default() }
}

fn text_map(is_strict: bool) -> ValueSchema {
    let value = match is_strict {
        true => typed(SCALAR),
        false => list(typed(VALUE)),
    };
    // Clients define these as mappings.
    let properties =
        (!is_strict).then(|| OrderedMap(CLIENT_METADATA.map(|key| (key, ValueSchema::default())).into()));
    ValueSchema {
        types: &["object", "null"],
        properties,
        additional_properties: Some(Additional::Value(Box::new(value))),
        ..ValueSchema::default()
    }
}

fn triggers() -> ValueSchema {
    let property = |(key, purpose): (&'static str, &'static str)| {
        let max_length = (key == "patterns").then_some(PATTERN_MAX);
        let item = ValueSchema { types: VALUE, max_length, ..ValueSchema::default() };
        let words = list(item);
        (key, ValueSchema { description: Some(purpose.to_owned()), max_length, ..words })
    };
    ValueSchema {
        types: &["object", "null"],
        properties: Some(OrderedMap(TRIGGER_LISTS.map(property).into())),
        additional_properties: Some(Additional::Refused(false)),
        ..ValueSchema::default()
    }
}
