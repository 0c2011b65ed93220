//! `agents/openai.yaml`, in which Codex reads what the frontmatter does not define.

use crate::diagnostic::{Code, Diagnostic, Location};
use crate::position::Span;
use crate::yaml::{self, Node, NodeKind, Value, YamlBudget};

/// The path of the file in a skill.
pub const OPENAI_YAML: &str = "agents/openai.yaml";

/// The maximum number of bytes of the file that are read.
pub const OPENAI_YAML_MAX: u64 = 64 * 1024;

/// The content of `agents/openai.yaml`, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenAiYaml {
    /// `policy.allow_implicit_invocation`: `false` hides the skill from the model.
    pub allow_implicit_invocation: Option<bool>,
    /// Whether Codex ignores the file because of an error.
    pub is_ignored: bool,
    /// The problems of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl OpenAiYaml {
    /// Parses the file.
    ///
    /// ```
    /// use prowess_format::dialects::OpenAiYaml;
    ///
    /// let file = OpenAiYaml::parse(b"policy:\n  allow_implicit_invocation: false\n");
    /// assert_eq!(file.allow_implicit_invocation, Some(false));
    /// ```
    pub fn parse(source: &[u8]) -> Self {
        let mut parser = OpenAiYamlParser { source, file: Self::default() };
        parser.parse_source();
        parser.file
    }

    /// Returns `true` if the file asks to hide the skill from the model, even if Codex ignores the file.
    pub fn hides_skill(&self) -> bool {
        self.allow_implicit_invocation == Some(false)
    }
}

struct OpenAiYamlParser<'s> {
    source: &'s [u8],
    file: OpenAiYaml,
}

type Entries<'n> = [(Node<'n>, Node<'n>)];

impl OpenAiYamlParser<'_> {
    fn parse_source(&mut self) {
        let Ok(text) = std::str::from_utf8(self.source) else {
            return self.reject(Span::default(), "the file is not UTF-8");
        };
        let node = match yaml::parse(text, YamlBudget::DEFAULT) {
            Ok(Some(node)) => node,
            Ok(None) => return,
            Err(error) => {
                let span = Span::new(error.offset(), error.offset());
                return self.reject(span, &format!("the file is not valid YAML: {error}"));
            }
        };
        let NodeKind::Map(entries) = &node.kind else {
            return self.reject(node.span, &format!("the file is {}, not a mapping", node.describe()));
        };
        self.file.allow_implicit_invocation = self.sections(entries);
    }

    fn sections(&mut self, entries: &Entries<'_>) -> Option<bool> {
        if let Some(interface) = self.map(entries, "interface", "interface") {
            for (field, max) in
                [("display_name", 64), ("short_description", 1_024), ("default_prompt", 1_024)]
            {
                self.text(interface, "interface", field, max);
            }
            for field in ["icon_small", "icon_large"] {
                if let Some((path, span)) = self.text(interface, "interface", field, 1_024)
                    && !is_asset(&path)
                {
                    self.drop_field(span, &format!("interface.{field} is not a path in assets/"));
                }
            }
            if let Some((colour, span)) = self.text(interface, "interface", "brand_color", 64)
                && !is_colour(&colour)
            {
                self.drop_field(span, "interface.brand_color does not have the form #RRGGBB");
            }
        }
        if let Some(dependencies) = self.map(entries, "dependencies", "dependencies") {
            self.tools(dependencies);
        }
        let policy = self.map(entries, "policy", "policy")?;
        if let Some(products) = find(policy, "products") {
            let is_product = |value: &Value| matches!(value, Value::Text(name) if matches!(name.as_ref(), "codex" | "chatgpt" | "atlas"));
            if !matches!(products.value(), Value::List(items) if items.iter().all(is_product)) {
                self.reject(products.span, "policy.products is not a list of codex, chatgpt or atlas");
            }
        }
        let implicit = find(policy, "allow_implicit_invocation")?;
        match implicit.value() {
            Value::Bool(allowed) => Some(allowed),
            _ => {
                let message =
                    format!("policy.allow_implicit_invocation is {}, not true or false", implicit.describe());
                self.reject(implicit.span, &message);
                None
            }
        }
    }

    fn tools(&mut self, dependencies: &Entries<'_>) {
        let Some(tools) = find(dependencies, "tools") else { return };
        let NodeKind::List(items) = &tools.kind else {
            return self
                .reject(tools.span, &format!("dependencies.tools is {}, not a list", tools.describe()));
        };
        for item in items {
            let NodeKind::Map(entries) = &item.kind else {
                self.reject(item.span, &format!("a tool is {}, not a mapping", item.describe()));
                continue;
            };
            for field in ["type", "value"] {
                if find(entries, field).is_none() {
                    self.drop_field(item.span, &format!("a tool has no {field}"));
                }
            }
        }
    }

    fn map<'n>(&mut self, entries: &'n Entries<'n>, key: &str, path: &str) -> Option<&'n Entries<'n>> {
        let node = find(entries, key)?;
        match &node.kind {
            NodeKind::Map(entries) => Some(entries),
            NodeKind::Scalar(..) | NodeKind::List(_) => {
                self.reject(node.span, &format!("{path} is {}, not a mapping", node.describe()));
                None
            }
        }
    }

    /// Returns a text of at most `max` characters and its span.
    fn text(
        &mut self,
        entries: &Entries<'_>,
        section: &str,
        key: &str,
        max: usize,
    ) -> Option<(Box<str>, Span)> {
        let node = find(entries, key)?;
        let Value::Text(text) = node.value() else {
            self.reject(node.span, &format!("{section}.{key} is {}, not text", node.describe()));
            return None;
        };
        let length = text.trim().chars().count();
        if length == 0 || length > max {
            let message = format!("{section}.{key} has {length} characters; 1 to {max} are allowed");
            self.drop_field(node.span, &message);
            return None;
        }
        Some((text, node.span))
    }

    /// Reports an error for which Codex ignores the whole file.
    fn reject(&mut self, span: Span, message: &str) {
        self.file.is_ignored = true;
        self.report(span, message, "Codex ignores the whole file");
    }

    /// Reports an error for which Codex ignores only the field.
    fn drop_field(&mut self, span: Span, message: &str) {
        self.report(span, message, "Codex ignores this field");
    }

    fn report(&mut self, span: Span, message: &str, consequence: &str) {
        let location = Location::from_span(self.source, span);
        let diagnostic = Diagnostic::warning(Code::OpenAiYaml, message).at(location);
        self.file.diagnostics.push(diagnostic.help(format!("fix it: {consequence}")));
    }
}

/// Returns the value of a key; the last of duplicate keys counts. Null is no value.
fn find<'n>(entries: &'n Entries<'n>, name: &str) -> Option<&'n Node<'n>> {
    let is_named = |key: &Node<'_>| matches!(&key.kind, NodeKind::Scalar(text, _) if text == name);
    let (_, value) = entries.iter().rev().find(|(key, _)| is_named(key))?;
    (value.value() != Value::Null).then_some(value)
}

fn is_asset(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.starts_with("assets/") && !path.split('/').any(|part| part == "..")
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|hex| hex.len() == 6 && hex.chars().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_reported_with_their_consequence() {
        let cases = [
            "",
            "interface: {display_name: PDF, icon_small: ./assets/a.png, brand_color: '#12abEF'}\npolicy: {products: [codex]}",
            "policy:\n  allow_implicit_invocation: false",
            "policy:\n  allow_implicit_invocation: 'no'",
            "policy: hidden",
            "- policy",
            "policy: [",
            "interface: {display_name: '', icon_small: ../a.png, brand_color: red, default_prompt: 3}",
            "dependencies: {tools: [{type: mcp}, x]}\npolicy: {products: [claude]}",
        ];
        let render = |case: &&str| {
            let file = OpenAiYaml::parse(case.as_bytes());
            let mut out = format!("{case}\n=> {:?}\n", file.allow_implicit_invocation);
            for diagnostic in &file.diagnostics {
                let line = diagnostic.location.map_or(0, |location| location.line);
                out += &format!(
                    "{line}: {diagnostic}\n    {}\n",
                    diagnostic.help.as_deref().unwrap_or_default()
                );
            }
            out
        };
        insta::assert_snapshot!(cases.iter().map(render).collect::<Vec<_>>().join("\n"));
    }
}
