//! What requests ask of chat models: `chat.thinking`, `chat.temperature`, `chat.extra-headers`, `chat.extra-body` and
//! `[chat.models."NAME"]`.

use std::collections::BTreeMap;

use prowess_format::suggest::nearest;
use serde_json::{Map, Value as Json, json};

use super::{InvalidValue, KeyField};
use crate::chat::is_model_name;
use crate::model_settings::{
    Effort, ExtraHeaders, ModelOverrides, RESERVED_BODY_KEYS, RESERVED_HEADERS, Temperature, ThinkingMode,
};
use crate::tree::{ConfigTree, TreeEntry, TreeKind, clip_for_display};
use crate::values::{ConfigValues, ValueLens};

/// The maximum number of headers, or of models.
const ENTRIES_MAX: usize = 64;

/// The maximum size of a header, in bytes.
const HEADER_MAX: usize = 8 * 1024;

/// The largest budget for thinking, in tokens.
const BUDGET_MAX: u32 = 1_000_000;

/// The largest output limit of a model, in tokens.
const OUTPUT_MAX: u32 = 1_000_000;

/// What the value of a header is printed as: it may be a secret.
const HIDDEN: &str = "***";

const MODEL_KEYS: [&str; 6] =
    ["thinking", "effort", "temperature", "max-output-tokens", "extra-headers", "extra-body"];

/// Whether the model thinks.
pub(crate) struct ThinkingField {
    pub(crate) lens: ValueLens<ThinkingMode>,
}

/// A number from 0 to 2.
pub(crate) struct TemperatureField {
    pub(crate) lens: ValueLens<Option<Temperature>>,
}

/// Additional headers. Their values may be secrets.
pub(crate) struct HeadersField {
    pub(crate) lens: ValueLens<ExtraHeaders>,
}

/// Additional fields of a request.
pub(crate) struct BodyField {
    pub(crate) lens: ValueLens<Map<String, Json>>,
}

/// Settings by model.
pub(crate) struct ModelsField {
    pub(crate) lens: ValueLens<BTreeMap<String, ModelOverrides>>,
}

impl KeyField for ThinkingField {
    fn expected(&self) -> String {
        format!("{}, \"auto\", \"off\" or \"on\"", budget_range())
    }

    fn words(&self) -> Vec<&'static str> {
        vec!["auto", "off", "on"]
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        *(self.lens.get_mut)(values) = parse_thinking(tree).ok_or_else(|| InvalidValue::value(tree))?;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        thinking_to_json(*(self.lens.get)(values))
    }
}

impl KeyField for TemperatureField {
    fn expected(&self) -> String {
        "a number from 0 to 2 or \"none\"".to_owned()
    }

    fn words(&self) -> Vec<&'static str> {
        vec!["none"]
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        *(self.lens.get_mut)(values) = match &tree.kind {
            TreeKind::Text(word) if word == "none" => None,
            _ => Some(parse_temperature(tree).ok_or_else(|| InvalidValue::value(tree))?),
        };
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).map_or_else(|| "none".into(), |temperature| temperature.value().into())
    }
}

impl KeyField for HeadersField {
    fn expected(&self) -> String {
        "a table of header names and values".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        *(self.lens.get_mut)(values) = parse_headers(tree)?;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        headers_to_json((self.lens.get)(values))
    }
}

impl KeyField for BodyField {
    fn expected(&self) -> String {
        "a table of fields".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        *(self.lens.get_mut)(values) = parse_body(tree)?;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        Json::Object((self.lens.get)(values).clone())
    }
}

impl KeyField for ModelsField {
    fn expected(&self) -> String {
        format!("a table for each model, with {}", MODEL_KEYS.join(", "))
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let entries = table(tree)?;
        let mut models = BTreeMap::new();
        for entry in entries {
            if !is_model_name(&entry.key) {
                return Err(detail(format!(
                    "contains the invalid model name \"{}\"",
                    clip_for_display(&entry.key)
                )));
            }
            models.insert(entry.key.clone(), parse_model(&entry.key, &entry.value)?);
        }
        *(self.lens.get_mut)(values) = models;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).iter().map(|(name, model)| (name.clone(), model_to_json(model))).collect()
    }
}

fn parse_model(name: &str, tree: &ConfigTree) -> Result<ModelOverrides, InvalidValue> {
    let mut model = ModelOverrides::default();
    for TreeEntry { key, value, .. } in table(tree)? {
        let invalid =
            |expected: &str| detail(format!("has an invalid {key} for {name}; expected {expected}"));
        match key.as_str() {
            "thinking" => {
                let expected = format!("{}, \"auto\", \"off\" or \"on\"", budget_range());
                model.thinking = Some(parse_thinking(value).ok_or_else(|| invalid(&expected))?);
            }
            "effort" => model.effort = Some(parse_effort(value).ok_or_else(|| invalid(&effort_words()))?),
            "temperature" => {
                let temperature = parse_temperature(value).ok_or_else(|| invalid("a number from 0 to 2"))?;
                model.temperature = Some(temperature);
            }
            "max-output-tokens" => {
                let tokens = parse_count(value, 1, OUTPUT_MAX);
                let expected = format!("a number from 1 to {OUTPUT_MAX}");
                model.output_tokens = Some(tokens.ok_or_else(|| invalid(&expected))?);
            }
            "extra-headers" => model.extra_headers = parse_headers(value)?,
            "extra-body" => model.extra_body = parse_body(value)?,
            _ => {
                let known = MODEL_KEYS.join(", ");
                let help = match nearest(key, MODEL_KEYS) {
                    Some(similar) => format!("did you mean {similar}? valid keys: {known}"),
                    None => format!("valid keys: {known}"),
                };
                let problem = format!("contains the unknown key {} for {name}", clip_for_display(key));
                return Err(detail(problem).help(help));
            }
        }
    }
    Ok(model)
}

fn model_to_json(model: &ModelOverrides) -> Json {
    let mut json = Map::new();
    if let Some(thinking) = model.thinking {
        json.insert("thinking".to_owned(), thinking_to_json(thinking));
    }
    if let Some(effort) = model.effort {
        json.insert("effort".to_owned(), effort.as_str().into());
    }
    if let Some(temperature) = model.temperature {
        json.insert("temperature".to_owned(), temperature.value().into());
    }
    if let Some(tokens) = model.output_tokens {
        json.insert("max-output-tokens".to_owned(), tokens.into());
    }
    if !model.extra_headers.0.is_empty() {
        json.insert("extra-headers".to_owned(), headers_to_json(&model.extra_headers));
    }
    if !model.extra_body.is_empty() {
        json.insert("extra-body".to_owned(), Json::Object(model.extra_body.clone()));
    }
    json.into()
}

fn parse_thinking(tree: &ConfigTree) -> Option<ThinkingMode> {
    match &tree.kind {
        TreeKind::Text(word) => match word.as_str() {
            "auto" => Some(ThinkingMode::Auto),
            "off" => Some(ThinkingMode::Off),
            "on" => Some(ThinkingMode::On),
            _ => None,
        },
        _ => parse_count(tree, ThinkingMode::BUDGET_MIN, BUDGET_MAX).map(ThinkingMode::Budget),
    }
}

fn thinking_to_json(thinking: ThinkingMode) -> Json {
    match thinking {
        ThinkingMode::Auto => "auto".into(),
        ThinkingMode::Off => "off".into(),
        ThinkingMode::On => "on".into(),
        ThinkingMode::Budget(tokens) => tokens.into(),
    }
}

fn budget_range() -> String {
    format!("a number of tokens from {} to {BUDGET_MAX}", ThinkingMode::BUDGET_MIN)
}

fn parse_effort(tree: &ConfigTree) -> Option<Effort> {
    match &tree.kind {
        TreeKind::Text(word) => Effort::ALL.into_iter().find(|effort| effort.as_str() == word),
        _ => None,
    }
}

fn effort_words() -> String {
    super::one_of(&Effort::ALL.map(|effort| format!("\"{}\"", effort.as_str())))
}

fn parse_temperature(tree: &ConfigTree) -> Option<Temperature> {
    match &tree.kind {
        TreeKind::Integer(number) => Temperature::new(u8::try_from(*number).ok()?.into()),
        TreeKind::Fraction(text) => Temperature::new(text.parse().ok()?),
        _ => None,
    }
}

fn parse_count(tree: &ConfigTree, min: u32, max: u32) -> Option<u32> {
    match &tree.kind {
        TreeKind::Integer(number) => {
            u32::try_from(*number).ok().filter(|number| (min..=max).contains(number))
        }
        _ => None,
    }
}

/// Parses headers. No value is repeated: it may be a secret.
fn parse_headers(tree: &ConfigTree) -> Result<ExtraHeaders, InvalidValue> {
    let mut headers = BTreeMap::new();
    for TreeEntry { key, value, .. } in table(tree)? {
        let name = key.to_ascii_lowercase();
        let shown = clip_for_display(key);
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(is_token) {
            return Err(detail(format!("contains the invalid header name \"{shown}\"")));
        }
        if RESERVED_HEADERS.contains(&name.as_str()) {
            return Err(detail(format!("contains the header {shown}, which cannot be changed")));
        }
        let is_visible = |text: &str| {
            text.len() <= HEADER_MAX
                && text.trim() == text
                && !text.is_empty()
                && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        };
        let value = match &value.kind {
            TreeKind::Text(text) if is_visible(text) => text.clone(),
            _ => return Err(detail(format!("contains an invalid value for the header {shown}"))),
        };
        headers.insert(name, value);
    }
    Ok(ExtraHeaders(headers))
}

fn headers_to_json(headers: &ExtraHeaders) -> Json {
    headers.0.keys().map(|name| (name.clone(), json!(HIDDEN))).collect()
}

/// Parses fields of a request.
fn parse_body(tree: &ConfigTree) -> Result<Map<String, Json>, InvalidValue> {
    let mut body = Map::new();
    for TreeEntry { key, value, .. } in table(tree)? {
        let shown = clip_for_display(key);
        if RESERVED_BODY_KEYS.contains(&key.as_str()) {
            return Err(detail(format!("contains the field {shown}, which cannot be changed")));
        }
        let value = to_json(value)
            .ok_or_else(|| detail(format!("contains a date or a null in the field {shown}")))?;
        body.insert(key.clone(), value);
    }
    Ok(body)
}

/// Converts a value to JSON. Dates have no form in JSON, and TOML has no null.
fn to_json(tree: &ConfigTree) -> Option<Json> {
    Some(match &tree.kind {
        TreeKind::Bool(value) => (*value).into(),
        TreeKind::Integer(number) => i64::try_from(*number).ok()?.into(),
        TreeKind::Fraction(text) => Json::Number(serde_json::Number::from_f64(text.parse::<f64>().ok()?)?),
        TreeKind::Text(text) => text.clone().into(),
        TreeKind::List(items) => Json::Array(items.iter().map(to_json).collect::<Option<_>>()?),
        TreeKind::Table(entries) => {
            let entry = |entry: &TreeEntry| Some((entry.key.clone(), to_json(&entry.value)?));
            Json::Object(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        TreeKind::Null | TreeKind::Date(_) => return None,
    })
}

/// Returns the entries of a table.
fn table(tree: &ConfigTree) -> Result<&[TreeEntry], InvalidValue> {
    match &tree.kind {
        TreeKind::Table(entries) if entries.len() <= ENTRIES_MAX => Ok(entries),
        TreeKind::Table(_) => Err(detail(format!("contains a table with more than {ENTRIES_MAX} entries"))),
        // The value may be a misplaced secret.
        _ => Err(InvalidValue::whole(None, "is not a table".to_owned())),
    }
}

/// The error for an invalid detail. The line is not shown, because it may contain a secret.
fn detail(problem: String) -> InvalidValue {
    InvalidValue::detail(None, problem)
}
