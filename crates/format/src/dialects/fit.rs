//! What one client ignores, cuts or refuses in a skill.

use super::client::{DescriptionLimit, Evidence, FieldType, FolderRule, NameCharacters, NameFallback};
use super::{Client, client_list, find_key};
use crate::diagnostic::{Code, Diagnostic, Location, Severity};
use crate::fence::{self, Extent, FenceSearch, Fences};
use crate::hidden::escape_for_display;
use crate::name::{NameViolation, SkillName};
use crate::position::Span;
use crate::repair::repair_yaml;
use crate::rules::NameRule;
use crate::yaml::{self, Node, NodeKind, Value, YamlBudget};

/// Keys that describe a skill. Clients that do not act on them lose nothing.
const DESCRIPTIVE_KEYS: [&str; 4] = ["author", "homepage", "metadata", "displayName"];

/// A skill file, and what is known about its location.
#[derive(Debug, Clone, Copy)]
pub struct SkillFile<'a> {
    /// The bytes of the file.
    pub source: &'a [u8],
    /// The name of the file; `None` for standard input.
    pub file_name: Option<&'a str>,
    /// The name of its directory, if known.
    pub dir_name: Option<&'a str>,
    /// The number of directories between the skills directory and the file, if known.
    pub depth: Option<usize>,
    /// Whether `agents/openai.yaml` hides the skill from the model.
    pub hidden_by_openai_yaml: bool,
}

/// Returns what a client ignores, cuts or refuses. An error means that it does not load or offer the skill.
///
/// ```
/// use prowess_format::dialects::{Client, SkillFile, check_fit};
///
/// let source = b"---\ndescription: Reads PDF files.\n---\nOpen the file.\n";
/// let file = SkillFile {
///     source, file_name: Some("SKILL.md"), dir_name: Some("pdf"), depth: Some(1), hidden_by_openai_yaml: false,
/// };
/// assert!(check_fit(Client::ClaudeCode, &file).is_empty());
/// assert_eq!(check_fit(Client::GeminiCli, &file)[0].code.as_str(), "SK101");
/// ```
pub fn check_fit(client: Client, file: &SkillFile<'_>) -> Vec<Diagnostic> {
    let mut check = FitCheck { client, file, diagnostics: Vec::new() };
    check.location();
    match fence::find_fences(file.source, Extent::Whole) {
        FenceSearch::Found(fences) => check.frontmatter(&fences),
        FenceSearch::Missing | FenceSearch::Unclosed { .. } | FenceSearch::TooLong { .. } => {
            if client.rules().frontmatter_required {
                check.refuse(None, "it has no frontmatter", "start it with ---, name, description and ---");
            }
        }
        FenceSearch::NeedMore => {}
    }
    check.diagnostics
}

struct FitCheck<'c> {
    client: Client,
    file: &'c SkillFile<'c>,
    diagnostics: Vec<Diagnostic>,
}

impl FitCheck<'_> {
    fn title(&self) -> &'static str {
        self.client.title()
    }

    fn report(&mut self, code: Code, severity: Severity, span: Option<Span>, message: String, help: &str) {
        let mut diagnostic = Diagnostic::new(code, severity, message);
        diagnostic.location = span.map(|span| Location::from_span(self.file.source, span));
        diagnostic.help = (!help.is_empty()).then(|| help.to_owned());
        self.diagnostics.push(diagnostic);
    }

    /// Reports that the client does not load the skill. What is only documented is a warning.
    fn refuse(&mut self, span: Option<Span>, reason: &str, help: &str) {
        let (severity, verb) = match self.client.rules().evidence {
            Evidence::Run(_) | Evidence::Source => (Severity::Error, "does not load"),
            Evidence::Documentation => (Severity::Warning, "may not load"),
        };
        let message = format!("{} {verb} the skill: {reason}", self.title());
        self.report(Code::ClientRefuses, severity, span, message, help);
    }

    fn uses(&self, key: &str) -> bool {
        find_key(key).is_some_and(|entry| entry.clients.contains(&self.client))
    }

    /// Returns how the client treats a key that it does not use.
    fn ignores(&self) -> &'static str {
        match self.client.rules().evidence {
            Evidence::Run(_) | Evidence::Source => "ignores",
            Evidence::Documentation => "does not document",
        }
    }

    fn ignore(&mut self, severity: Severity, span: Option<Span>, message: String, help: &str) {
        self.report(Code::ClientIgnores, severity, span, message, help);
    }

    fn location(&mut self) {
        let rules = self.client.rules();
        let was_run = matches!(rules.evidence, Evidence::Run(_));
        if let Some(name) = self.file.file_name.filter(|name| *name != "SKILL.md" && was_run) {
            let reason = format!("the file is named {}, not SKILL.md", escape_for_display(name));
            self.refuse(None, &reason, "rename the file to SKILL.md");
        }
        if let (Some(depth), Some(max)) = (self.file.depth, rules.depth)
            && depth > max
        {
            let reason = match max {
                1 => "it is not directly in a skills directory".to_owned(),
                _ => format!("it is {depth} levels below the skills directory; at most {max} are searched"),
            };
            self.refuse(None, &reason, "move its directory up");
        }
        if rules.refuses_byte_order_mark && self.file.source.starts_with(b"\xEF\xBB\xBF") {
            let help = "save it as UTF-8 without BOM";
            self.refuse(Some(Span::new(0, 3)), "the file starts with a byte-order mark", help);
        }
    }

    fn frontmatter(&mut self, fences: &Fences) {
        let start = fences.yaml.start;
        let Some(Ok(text)) = self.file.source.get(fences.yaml.clone()).map(std::str::from_utf8) else {
            return;
        };
        let repaired = match yaml::parse(text, YamlBudget::DEFAULT) {
            Ok(Some(node)) => return self.fields(&node, &|span| span.shifted(start)),
            Ok(None) => return,
            Err(_) => repair_yaml(text),
        };
        let Some(repaired) = repaired else { return };
        if self.client.rules().refuses_unquoted_values {
            let help = "quote the value; prowess check shows which one";
            self.refuse(Some(Span::new(start, start)), "a value lacks quotes that YAML requires", help);
        }
        let Ok(Some(node)) = yaml::parse(&repaired.text, YamlBudget::DEFAULT) else { return };
        let original = |offset: u32| repaired.original_offset(offset as usize);
        self.fields(&node, &|span| Span::new(original(span.start), original(span.end)).shifted(start));
    }

    fn fields(&mut self, node: &Node<'_>, locate: &dyn Fn(Span) -> Span) {
        let NodeKind::Map(entries) = &node.kind else { return };
        let start = locate(Span::new(node.span.start as usize, node.span.start as usize));
        // The last of duplicate keys counts.
        let find = |field: &str| entries.iter().rev().find(|(key, _)| key_text(key) == field);
        self.name(find("name").map(|(_, value)| value), start, locate);
        let when = find("when_to_use").filter(|_| self.uses("when_to_use")).map(|(_, value)| value.value());
        let when = match when {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
        self.description(find("description").map(|(_, value)| value), when.as_deref(), start, locate);
        for (field, expected) in self.client.rules().field_types {
            if let Some((_, value)) = find(field)
                && value.value() != Value::Null
                && !has_type(value, *expected)
            {
                let reason =
                    format!("{field} is {}, not {}", describe(value, *expected), type_name(*expected));
                self.refuse(Some(locate(value.span)), &reason, &type_help(field, *expected));
            }
        }
        for (key, value) in entries {
            self.ignored_key(key_text(key), &value.value(), locate(key.span));
        }
    }

    fn name(&mut self, node: Option<&Node<'_>>, start: Span, locate: &dyn Fn(Span) -> Span) {
        let rules = self.client.rules();
        let value = node.map(|node| (locate(node.span), node.value()));
        let (span, text) = match value {
            None | Some((_, Value::Null)) => {
                if rules.missing_name == NameFallback::Refused {
                    let name = self.file.dir_name.and_then(|dir_name| SkillName::parse(dir_name).ok());
                    let name = name.map_or_else(|| "the-directory-name".to_owned(), |name| name.suggestion());
                    self.refuse(Some(start), "name is missing", &format!("add the line name: {name}"));
                }
                return;
            }
            Some((span, Value::Text(text))) => (span, text),
            Some((span, Value::Number(text))) => {
                if rules.name_must_be_text {
                    let help = format!("write name: \"{text}\"");
                    return self.refuse(Some(span), "name is a number, not text", &help);
                }
                (span, text)
            }
            // Prowess does not load such a skill, either, and says so.
            Some((_, Value::Bool(_) | Value::List(_) | Value::Map(_))) => return,
        };
        let Ok(name) = SkillName::parse(&text) else { return };
        if let Some(max) = rules.name_max
            && name.char_count() > max
        {
            let reason = format!("the name has {} characters; at most {max} are allowed", name.char_count());
            self.refuse(Some(span), &reason, "shorten it and the directory name");
        }
        if let Some(problem) = name_problem(&name, rules.name) {
            let reason = format!("the name {name} is not accepted: {problem}");
            self.refuse(Some(span), &reason, &format!("write name: {}", name.suggestion()));
        }
        let Some(dir_name) = self.file.dir_name.filter(|dir_name| !name.matches_dir_name(dir_name)) else {
            return;
        };
        let differs = match rules.folder {
            FolderRule::None => false,
            FolderRule::IgnoringCase => name.as_str().to_lowercase() != dir_name.to_lowercase(),
            FolderRule::Equal => true,
        };
        let dir_name = escape_for_display(dir_name);
        if differs {
            let reason = format!("the name {name} does not match the directory {dir_name}");
            self.refuse(Some(span), &reason, "make the name and the directory name equal");
        } else if rules.name == NameCharacters::DirectoryCounts {
            let message =
                format!("{} calls the skill {dir_name}, after its directory, not {name}", self.title());
            self.ignore(Severity::Warning, Some(span), message, "make the name and the directory name equal");
        }
    }

    /// Checks the description, to which the client may append `when_to_use`.
    fn description(
        &mut self,
        node: Option<&Node<'_>>,
        when: Option<&str>,
        start: Span,
        locate: &dyn Fn(Span) -> Span,
    ) {
        let rules = self.client.rules();
        let value = node.map(|node| (locate(node.span), node.value()));
        let (span, text) = match value {
            Some((span, Value::Text(text) | Value::Number(text))) => (span, text),
            Some((span, Value::List(_))) => {
                if rules.description_must_be_text {
                    self.refuse(Some(span), "description is a list, not text", "write it as one text");
                } else if self.client == Client::ClaudeCode {
                    let message = "Claude Code ignores a description that is a list".to_owned();
                    self.ignore(Severity::Warning, Some(span), message, "write it as one text");
                }
                return;
            }
            None | Some((_, Value::Null | Value::Bool(_) | Value::Map(_))) => {
                if rules.description_required {
                    let help = "add a line such as description: What it does. Use when …";
                    self.refuse(Some(start), "description is missing", help);
                }
                return;
            }
        };
        let length = text.trim().chars().count();
        let help = "describe what it does and when to use it; move the rest into the body";
        let shown = length + when.map_or(0, |when| " - ".len() + when.trim().chars().count());
        match rules.description_limit {
            DescriptionLimit::Cut(max) if shown > max => {
                let what =
                    if when.is_some() { "the description with when_to_use" } else { "the description" };
                let message =
                    format!("{} shows only the first {max} of {shown} characters of {what}", self.title());
                self.report(Code::ClientCuts, Severity::Warning, Some(span), message, help);
            }
            DescriptionLimit::Refused(max) if length > max => {
                let reason = format!("the description has {length} characters; at most {max} are allowed");
                self.refuse(Some(span), &reason, help);
            }
            DescriptionLimit::None | DescriptionLimit::Cut(_) | DescriptionLimit::Refused(_) => {}
        }
    }

    fn ignored_key(&mut self, key: &str, value: &Value, span: Span) {
        let Some(entry) = find_key(key) else { return };
        if entry.clients.is_empty() || entry.clients.contains(&self.client) || DESCRIPTIVE_KEYS.contains(&key)
        {
            return;
        }
        let (title, ignores) = (self.title(), self.ignores());
        let span = Some(span);
        let used_by = format!("used by {}", client_list(entry.clients));
        match (key, is_true(value)) {
            ("disable-model-invocation", true) => {
                if self.client == Client::Codex && self.file.hidden_by_openai_yaml {
                    return;
                }
                let message =
                    format!("{title} {ignores} disable-model-invocation and offers the skill to its model");
                let help = match self.client {
                    Client::Codex => {
                        "create agents/openai.yaml with these lines:\npolicy:\n  allow_implicit_invocation: false"
                    }
                    Client::Opencode => "deny the skill in opencode.json, under permission.skill",
                    _ => "the skill cannot be hidden from its model",
                };
                self.report(Code::ClientOffers, Severity::Warning, span, message, help);
            }
            // The default value changes nothing.
            ("disable-model-invocation", false) | ("user-invocable", true) => {}
            ("paths", _) => {
                let message = format!("{title} {ignores} paths and always offers the skill");
                self.ignore(Severity::Warning, span, message, &used_by);
            }
            _ => self.ignore(Severity::Info, span, format!("{title} {ignores} {key}"), &used_by),
        }
    }
}

fn key_text<'n>(key: &'n Node<'_>) -> &'n str {
    match &key.kind {
        NodeKind::Scalar(text, _) => text,
        NodeKind::List(_) | NodeKind::Map(_) => "",
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        Value::Text(text) => matches!(text.as_ref(), "true" | "yes" | "on"),
        Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => false,
    }
}

/// Returns why a client does not accept a name.
fn name_problem(name: &SkillName, characters: NameCharacters) -> Option<String> {
    let violation = |rule: NameRule| name.violations(rule).first().map(NameViolation::to_string);
    match characters {
        NameCharacters::Any | NameCharacters::DirectoryCounts => None,
        NameCharacters::AsciiHyphens => violation(NameRule::Alphanumeric),
        NameCharacters::Specification => violation(NameRule::Unicode),
        NameCharacters::QwenCode => {
            let accepted = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '-');
            let c = name.as_str().chars().find(|c| !accepted(*c))?;
            Some(NameViolation::Character(c).to_string())
        }
    }
}

fn has_type(node: &Node<'_>, expected: FieldType) -> bool {
    let value = node.value();
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    match (expected, &value) {
        (FieldType::Text | FieldType::TextOrList, Value::Text(_))
        | (FieldType::Boolean, Value::Bool(_))
        | (FieldType::Number, Value::Number(_))
        | (FieldType::Map, Value::Map(_)) => true,
        (FieldType::List | FieldType::TextOrList, Value::List(items)) => items.iter().all(is_text),
        (FieldType::TextMap, Value::Map(entries)) => entries.iter().all(|(_, value)| is_text(value)),
        _ => false,
    }
}

fn type_name(expected: FieldType) -> &'static str {
    match expected {
        FieldType::Text => "text",
        FieldType::TextOrList => "text or a list of texts",
        FieldType::List => "a list of texts",
        FieldType::Boolean => "true or false",
        FieldType::Number => "a number",
        FieldType::Map => "a mapping",
        FieldType::TextMap => "a mapping of texts to texts",
    }
}

/// Describes a value that does not have the expected type.
fn describe(node: &Node<'_>, expected: FieldType) -> &'static str {
    match (expected, &node.kind) {
        (FieldType::TextMap, NodeKind::Map(_)) => "a mapping with other values",
        (FieldType::List | FieldType::TextOrList, NodeKind::List(_)) => "a list with other values",
        _ => node.describe(),
    }
}

fn type_help(field: &str, expected: FieldType) -> String {
    match expected {
        FieldType::Text => format!("write {field} in quotes"),
        FieldType::TextOrList | FieldType::List => format!("write {field}: [\"one\", \"two\"]"),
        FieldType::Boolean => "write true or false, without quotes".to_owned(),
        FieldType::Number => "write a number, without quotes".to_owned(),
        FieldType::Map => format!("write {field}: followed by indented key: value lines"),
        FieldType::TextMap => "write each value in quotes".to_owned(),
    }
}

#[cfg(test)]
mod tests;
