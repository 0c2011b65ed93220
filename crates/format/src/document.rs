//! Parsing `SKILL.md` bytes into a [`Document`].

use crate::diagnostic::{Code, Diagnostic, Fix, Location, Severity};
use crate::fence::{self, Extent, FenceSearch, Fences, LeadingContent};
use crate::hidden;
use crate::manifest::{self, Manifest};
use crate::position::{LineMap, Span};
use crate::repair::{self, RepairedYaml};
use crate::rules::{Repair, RuleLevel, Rules};
use crate::yaml::{self, Node, YamlBudget, YamlError};

/// The maximum number of diagnostics per file. The last one counts the rest.
pub(crate) const DIAGNOSTICS_MAX: usize = 50;

/// A parsed skill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The typed frontmatter fields.
    pub manifest: Manifest,
    /// The YAML between the fences.
    pub frontmatter: Span,
    /// The byte offset of the body, which extends to the end of the file.
    pub body: u32,
}

impl Document {
    /// Returns the instructions from `source`, the bytes the document was parsed from.
    pub fn body<'s>(&self, source: &'s [u8]) -> &'s [u8] {
        source.get(self.body as usize..).unwrap_or_default()
    }

    /// Returns the line map of `source`, the bytes the document was parsed from.
    pub fn lines(&self, source: &[u8]) -> LineMap {
        LineMap::new(source)
    }
}

/// The result of parsing a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParseOutcome {
    /// The document, if it loads under the rules.
    pub document: Option<Document>,
    /// All diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// The result of parsing the beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadOutcome {
    /// The bytes contain the complete frontmatter.
    Done(ParseOutcome),
    /// The frontmatter continues beyond these bytes.
    NeedMore,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyCheck {
    Check,
    Skip,
}

/// Parses a whole file. `dir_name` is the name of the directory that contains it, if known.
pub fn parse(source: &[u8], dir_name: Option<&str>, rules: &Rules) -> ParseOutcome {
    parse_with_limit(source, dir_name, rules, DIAGNOSTICS_MAX)
}

/// Parses a whole file like [`parse`], with another maximum number of diagnostics.
pub(crate) fn parse_with_limit(
    source: &[u8],
    dir_name: Option<&str>,
    rules: &Rules,
    diagnostics_max: usize,
) -> ParseOutcome {
    match parse_source(source, Extent::Whole, BodyCheck::Check, dir_name, rules, diagnostics_max) {
        HeadOutcome::Done(parsed) => parsed,
        // A whole file never needs more bytes.
        HeadOutcome::NeedMore => ParseOutcome::default(),
    }
}

/// Parses only the frontmatter from the first bytes of a file. The body is not checked.
///
/// ```
/// use prowess_format::fence::Extent;
/// use prowess_format::{parse_head, HeadOutcome, Rules};
///
/// let head = b"---\nname: a\ndescr";
/// assert_eq!(parse_head(head, Extent::Prefix, None, &Rules::standard()), HeadOutcome::NeedMore);
/// ```
pub fn parse_head(prefix: &[u8], extent: Extent, dir_name: Option<&str>, rules: &Rules) -> HeadOutcome {
    parse_source(prefix, extent, BodyCheck::Skip, dir_name, rules, DIAGNOSTICS_MAX)
}

/// Parses a custom command: a Markdown file whose frontmatter is optional. `name` comes from its path. Without a
/// description, the first line of the body describes it, and it is hidden from models, as in Claude Code.
///
/// ```
/// use prowess_format::parse_command;
///
/// let parsed = parse_command(b"# Fix an issue\n\nFix issue $1.\n", "github:fix");
/// let manifest = parsed.document.unwrap().manifest;
/// assert_eq!((manifest.name().as_str(), manifest.description()), ("github:fix", "Fix an issue"));
/// assert!(manifest.disable_model_invocation() && manifest.user_invocable());
/// ```
pub fn parse_command(source: &[u8], name: &str) -> ParseOutcome {
    let rules = Rules::standard();
    let fences = match fence::find_fences(source, Extent::Whole) {
        FenceSearch::Found(fences) if fences.leading == LeadingContent::Nothing => Some(fences),
        // Three hyphens are also a horizontal rule.
        _ => None,
    };
    let body = fences.as_ref().map_or(0, |fences| fences.body);
    let mut parser = DocumentParser::new(source, &rules);
    let name = match manifest::command_name(name) {
        Ok(name) => name,
        Err(diagnostic) => {
            parser.diagnostics.push(diagnostic);
            return parser.finish(None);
        }
    };
    let head = manifest::CommandHead { name, summary: first_line(source.get(body..).unwrap_or_default()) };
    let manifest = match &fences {
        Some(fences) => {
            parser.command = Some(head);
            parser.parse_frontmatter(fences, None)
        }
        None => Some(head.into_manifest()),
    };
    parser.check_body(body);
    let yaml = fences.map_or(0..0, |fences| fences.yaml);
    let document = manifest.map(|manifest| Document {
        manifest,
        frontmatter: Span::new(yaml.start, yaml.end),
        body: Span::new(body, body).start,
    });
    parser.finish(document)
}

/// The maximum length of a line that describes a command, in characters.
const SUMMARY_MAX: usize = 100;

/// Returns the first line of a body that has text, without the marks of a heading.
fn first_line(body: &[u8]) -> String {
    let body = String::from_utf8_lossy(body.get(..4096).unwrap_or(body));
    let line = body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let line: String = line.unwrap_or_default().chars().take(SUMMARY_MAX).collect();
    if hidden::find_hidden(&line).is_some() { String::new() } else { line }
}

fn parse_source(
    source: &[u8],
    extent: Extent,
    body: BodyCheck,
    dir_name: Option<&str>,
    rules: &Rules,
    diagnostics_max: usize,
) -> HeadOutcome {
    let mut parser = DocumentParser { diagnostics_max, ..DocumentParser::new(source, rules) };
    if source.is_empty() && extent == Extent::Whole {
        let help = "start it with a --- line, then name and description, then another --- line";
        parser.diagnostics.push(Diagnostic::error(Code::EmptyFile, "the file is empty").help(help));
        return HeadOutcome::Done(parser.finish(None));
    }
    let split = fence::find_fences(source, extent);
    let fences = match split {
        FenceSearch::NeedMore => return HeadOutcome::NeedMore,
        FenceSearch::Found(fences) => fences,
        FenceSearch::Missing | FenceSearch::Unclosed { .. } | FenceSearch::TooLong { .. } => {
            parser.report_missing_frontmatter(&split);
            return HeadOutcome::Done(parser.finish(None));
        }
    };
    parser.check_opening(&fences);
    let manifest = parser.parse_frontmatter(&fences, dir_name);
    if body == BodyCheck::Check {
        parser.check_body(fences.body);
    }
    let document = manifest.map(|manifest| Document {
        manifest,
        frontmatter: Span::new(fences.yaml.start, fences.yaml.end),
        body: Span::new(fences.body, fences.body).start,
    });
    HeadOutcome::Done(parser.finish(document))
}

struct DocumentParser<'s> {
    source: &'s [u8],
    rules: &'s Rules,
    /// The command to parse instead of a skill.
    command: Option<manifest::CommandHead>,
    diagnostics: Vec<Diagnostic>,
    diagnostics_max: usize,
}

impl<'s> DocumentParser<'s> {
    fn new(source: &'s [u8], rules: &'s Rules) -> Self {
        Self { source, rules, command: None, diagnostics: Vec::new(), diagnostics_max: DIAGNOSTICS_MAX }
    }

    fn finish(mut self, document: Option<Document>) -> ParseOutcome {
        let document = document.filter(|_| !self.diagnostics.iter().any(Diagnostic::is_error));
        self.diagnostics
            .sort_by_key(|diagnostic| diagnostic.location.map_or(0, |location| location.span.start));
        if self.diagnostics.len() > self.diagnostics_max {
            // Keep errors when the list is cut; a thousand unknown keys are less important.
            self.diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
            let omitted = self.diagnostics.len() - self.diagnostics_max;
            self.diagnostics.truncate(self.diagnostics_max);
            let last = self.diagnostics.last_mut();
            last.into_iter().for_each(|last| last.message += &format!(" (and {omitted} more problems)"));
        }
        ParseOutcome { document, diagnostics: self.diagnostics }
    }

    fn location(&self, start: usize, end: usize) -> Location {
        Location::from_span(self.source, Span::new(start, end))
    }

    fn report(&mut self, level: RuleLevel, diagnostic: Diagnostic) {
        let severity = match level {
            RuleLevel::Ignore => return,
            RuleLevel::Warn => Severity::Warning,
            RuleLevel::Reject => Severity::Error,
        };
        self.diagnostics.push(Diagnostic { severity, ..diagnostic });
    }

    fn report_missing_frontmatter(&mut self, split: &FenceSearch) {
        let (code, message, open) = match split {
            FenceSearch::Unclosed { open } => {
                (Code::UnclosedFrontmatter, "the frontmatter is not closed".to_owned(), open.clone())
            }
            FenceSearch::TooLong { open } => {
                let limit = fence::FRONTMATTER_MAX / 1024;
                (Code::LongFrontmatter, format!("the frontmatter is longer than {limit} KiB"), open.clone())
            }
            _ if self.source.iter().take(fence::PREAMBLE_MAX).any(|byte| *byte == 0) => {
                (Code::NulByte, "the file contains NUL bytes and is not text".to_owned(), 0..0)
            }
            _ => (Code::NoFrontmatter, "the file has no frontmatter".to_owned(), 0..0),
        };
        let help = match split {
            FenceSearch::Unclosed { .. } => "end it with a line that contains only ---",
            FenceSearch::TooLong { .. } => {
                "move long text into the body, or end it with a line that contains only ---"
            }
            _ if code == Code::NulByte => "save it as UTF-8 text",
            _ => {
                "start the file with\n---\nname: the-directory-name\ndescription: What it does. Use when …\n---"
            }
        };
        let location = self.location(open.start, open.end);
        self.diagnostics.push(Diagnostic::error(code, message).at(location).help(help));
    }

    fn check_opening(&mut self, fences: &Fences) {
        if self.source.starts_with(b"\xEF\xBB\xBF") {
            let diagnostic =
                Diagnostic::warning(Code::ByteOrderMark, "the file starts with a byte-order mark");
            let diagnostic = diagnostic
                .at(self.location(0, 3))
                .help("save it as UTF-8 without BOM; not all tools accept one");
            self.diagnostics.push(diagnostic.fix(Span::new(0, 3), ""));
        }
        let (code, message, help) = match fences.leading {
            LeadingContent::Nothing => return,
            LeadingContent::Blank => (
                Code::BeforeFrontmatter,
                "blank lines before the frontmatter",
                "delete them: the first line must be ---",
            ),
            LeadingContent::Text => (
                Code::BeforeFrontmatter,
                "text before the frontmatter",
                "move it below the second ---: the first line must be ---",
            ),
            LeadingContent::CodeFence => (
                Code::FencedFrontmatter,
                "the frontmatter is inside a code fence",
                "delete the ``` around it: the first line must be ---",
            ),
        };
        let location = self.location(fences.open.start, fences.open.end);
        let mut diagnostic = Diagnostic::warning(code, message).at(location).help(help);
        diagnostic.fix = self.opening_fix(fences).map(Box::new);
        self.report(self.rules.preamble, diagnostic);
    }

    /// Returns an edit after which the file starts with the frontmatter. Text is not moved: where it belongs is
    /// for the author to decide.
    fn opening_fix(&self, fences: &Fences) -> Option<Fix> {
        let start = if self.source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        match fences.leading {
            LeadingContent::Nothing | LeadingContent::Text => None,
            LeadingContent::Blank => {
                Some(Fix { span: Span::new(start, fences.open.start), text: String::new() })
            }
            LeadingContent::CodeFence => {
                let yaml = std::str::from_utf8(self.source.get(fences.yaml.clone())?).ok()?;
                let closing = self.source.get(fences.yaml.end..fences.body)?;
                // A code fence that also encloses the body ends elsewhere.
                let is_closed = closing.split(|byte| *byte == b'\n').any(fence::is_code_fence);
                let line_break = if yaml.ends_with("\r\n") { "\r\n" } else { "\n" };
                (is_closed && yaml.ends_with('\n')).then(|| Fix {
                    span: Span::new(start, fences.body),
                    text: format!("---{line_break}{yaml}---{line_break}"),
                })
            }
        }
    }

    fn parse_frontmatter(&mut self, fences: &Fences, dir_name: Option<&str>) -> Option<Manifest> {
        let start = fences.yaml.start;
        let bytes = &self.source[fences.yaml.clone()];
        if let Some(offset) = memchr::memchr(0, bytes) {
            let diagnostic = Diagnostic::error(Code::NulByte, "the frontmatter contains a NUL byte");
            let location = self.location(start + offset, start + offset + 1);
            self.diagnostics.push(diagnostic.at(location).help("delete it, or save the file as UTF-8"));
            return None;
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let offset = start + error.valid_up_to();
                let diagnostic = Diagnostic::error(Code::NotUtf8, "the frontmatter is not UTF-8");
                self.diagnostics
                    .push(diagnostic.at(self.location(offset, offset + 1)).help("save the file as UTF-8"));
                return None;
            }
        };
        match yaml::parse(text, YamlBudget::DEFAULT) {
            Ok(Some(node)) => {
                let mut sink = manifest::DiagnosticSink {
                    source: self.source,
                    offset: start,
                    repaired: None,
                    diagnostics: Vec::new(),
                    lines: None,
                };
                let manifest = self.read_fields(&node, dir_name, &mut sink);
                self.diagnostics.append(&mut sink.diagnostics);
                manifest
            }
            Ok(None) if self.command.is_some() => {
                self.command.clone().map(manifest::CommandHead::into_manifest)
            }
            Ok(None) => {
                let diagnostic = Diagnostic::error(Code::NotAMapping, "the frontmatter is empty");
                let location = self.location(fences.open.start, fences.open.end);
                self.diagnostics
                    .push(diagnostic.at(location).help("add the lines name: … and description: …"));
                None
            }
            Err(error) => self.recover_invalid_yaml(text, start, &error, dir_name),
        }
    }

    fn recover_invalid_yaml(
        &mut self,
        text: &str,
        start: usize,
        error: &YamlError,
        dir_name: Option<&str>,
    ) -> Option<Manifest> {
        let repaired = match error {
            YamlError::Syntax { .. } => repair::repair_yaml(text),
            YamlError::Limit { .. } => None,
        };
        if let (Repair::On, Some(repaired)) = (self.rules.repair, &repaired) {
            return self.parse_repaired(repaired, start, dir_name);
        }
        let code = match error {
            YamlError::Syntax { .. } => Code::InvalidYaml,
            YamlError::Limit { .. } => Code::YamlLimit,
        };
        let offset = start + error.offset();
        let mut diagnostic = Diagnostic::error(code, format!("the frontmatter is not valid YAML: {error}"));
        diagnostic.location = Some(self.location(offset, offset + 1));
        diagnostic.help = Some(match &repaired {
            Some(repaired) => repaired.quoted.iter().map(corrected_line).collect::<Vec<_>>().join("\n"),
            None if code == Code::YamlLimit => {
                "frontmatter is meant for a few plain fields; simplify it".to_owned()
            }
            None => "write each field as key: value, and quote text that contains : or #".to_owned(),
        });
        diagnostic.fix = repaired.as_ref().and_then(|repaired| combined_fix(repaired, start)).map(Box::new);
        self.diagnostics.push(diagnostic);
        None
    }

    fn parse_repaired(
        &mut self,
        repaired: &RepairedYaml,
        start: usize,
        dir_name: Option<&str>,
    ) -> Option<Manifest> {
        for quoted in &repaired.quoted {
            let span = quoted.span.shifted(start);
            let message = format!("the value of {} must be quoted", quoted.key);
            let diagnostic =
                Diagnostic::warning(Code::Repaired, message).at(Location::from_span(self.source, span));
            self.diagnostics.push(diagnostic.help(corrected_line(quoted)).fix(span, &quoted.text));
        }
        let node = yaml::parse(&repaired.text, YamlBudget::DEFAULT).ok().flatten()?;
        let mut sink = manifest::DiagnosticSink {
            source: self.source,
            offset: start,
            repaired: Some(repaired),
            diagnostics: Vec::new(),
            lines: None,
        };
        let manifest = self.read_fields(&node, dir_name, &mut sink);
        self.diagnostics.append(&mut sink.diagnostics);
        manifest
    }

    fn read_fields(
        &self,
        node: &Node<'_>,
        dir_name: Option<&str>,
        sink: &mut manifest::DiagnosticSink<'_>,
    ) -> Option<Manifest> {
        match &self.command {
            Some(head) => manifest::read_command(node, head.clone(), self.rules, sink),
            None => manifest::read_manifest(node, dir_name, self.rules, sink),
        }
    }

    fn check_body(&mut self, start: usize) {
        let bytes = self.source.get(start..).unwrap_or_default();
        if let Some(offset) = memchr::memchr(0, bytes) {
            let location = self.location(start + offset, start + offset + 1);
            let diagnostic = Diagnostic::warning(Code::NulByte, "the body contains a NUL byte").at(location);
            self.diagnostics.push(diagnostic.help("delete it, or save the file as UTF-8"));
        }
        // Most bodies are plain ASCII, which is checked many bytes at a time.
        if bytes.is_ascii() && !hidden::may_contain_hidden(bytes) && !bytes.trim_ascii().is_empty() {
            return;
        }
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let offset = start + error.valid_up_to();
                let diagnostic = Diagnostic::warning(Code::NotUtf8, "the body is not UTF-8");
                self.diagnostics
                    .push(diagnostic.at(self.location(offset, offset + 1)).help("save the file as UTF-8"));
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        if valid.trim().is_empty() {
            let location = self.location(start, start);
            let diagnostic =
                Diagnostic::warning(Code::EmptyBody, "there are no instructions below the frontmatter");
            self.diagnostics
                .push(diagnostic.at(location).help("describe step by step what the model should do"));
        }
        if let Some((offset, c)) = hidden::find_hidden(valid).filter(|(_, c)| *c != '\0') {
            let location = self.location(start + offset, start + offset + c.len_utf8());
            let message = format!("the body contains the hidden character \\u{{{:x}}}", u32::from(c));
            let diagnostic = Diagnostic::warning(Code::HiddenBody, message).at(location);
            self.diagnostics
                .push(diagnostic.help("delete it: hidden text can carry instructions for the model"));
        }
    }
}

fn corrected_line(quoted: &repair::QuotedValue) -> String {
    format!("write {}: {}", quoted.key, quoted.text)
}

/// Returns a single edit that quotes all values.
fn combined_fix(repaired: &RepairedYaml, start: usize) -> Option<Fix> {
    let (first, last) = (repaired.quoted.first()?, repaired.quoted.last()?);
    let added: usize =
        repaired.quoted.iter().map(|quoted| quoted.text.len() - quoted.span.range().len()).sum();
    let text = repaired.text.get(first.span.start as usize..last.span.end as usize + added)?;
    let span = Span { start: first.span.start, end: last.span.end }.shifted(start);
    Some(Fix { span, text: text.to_owned() })
}
