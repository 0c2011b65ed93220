//! The way from bytes to a [`Document`].

use crate::diagnostic::{Code, Diagnostic, Place, Severity};
use crate::fence::{self, Before, Extent, Fences, Split};
use crate::hidden;
use crate::manifest::{self, Manifest};
use crate::position::{LineMap, Span};
use crate::repair::{self, Repaired};
use crate::rules::{Level, Repair, Rules};
use crate::yaml::{self, Budget, YamlError};

/// The most diagnostics that one file is given; what is beyond is counted.
const DIAGNOSTICS_MAX: usize = 50;

/// A skill's file, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The fields.
    pub manifest: Manifest,
    /// Where the YAML between the fences stands.
    pub frontmatter: Span,
    /// Where the body begins. It ends with the file.
    pub body: u32,
}

impl Document {
    /// The instructions, out of the bytes the document was read from.
    pub fn body<'s>(&self, source: &'s [u8]) -> &'s [u8] {
        source.get(self.body as usize..).unwrap_or_default()
    }

    /// The lines of the bytes the document was read from.
    pub fn lines(&self, source: &[u8]) -> LineMap {
        LineMap::new(source)
    }
}

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The document, if it loads under the rules.
    pub document: Option<Document>,
    /// All there is to say about it, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the beginning of a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Enough was read.
    Done(Parsed),
    /// The frontmatter goes on beyond these bytes.
    NeedMore,
}

/// Whether the body is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Checked,
    Ignored,
}

/// Reads a whole file. `folder` is the name of the folder it lies in, where that is known.
pub fn parse(source: &[u8], folder: Option<&str>, rules: &Rules) -> Parsed {
    match read(source, Extent::Whole, Body::Checked, folder, rules) {
        Head::Done(parsed) => parsed,
        // Nothing is beyond the whole; were it so, the frontmatter would be missing.
        Head::NeedMore => Parsed::default(),
    }
}

/// Reads only the frontmatter out of the first bytes of a file. Nothing is said about the body.
///
/// ```
/// use prowess_format::fence::Extent;
/// use prowess_format::{parse_head, Head, Rules};
///
/// let head = b"---\nname: a\ndescr";
/// assert_eq!(parse_head(head, Extent::Prefix, None, &Rules::standard()), Head::NeedMore);
/// ```
pub fn parse_head(prefix: &[u8], extent: Extent, folder: Option<&str>, rules: &Rules) -> Head {
    read(prefix, extent, Body::Ignored, folder, rules)
}

fn read(source: &[u8], extent: Extent, body: Body, folder: Option<&str>, rules: &Rules) -> Head {
    let mut reader = Reader { source, rules, diagnostics: Vec::new() };
    if source.is_empty() && extent == Extent::Whole {
        let help = "begin it with a line of ---, then name and description, then another line of ---";
        reader.diagnostics.push(Diagnostic::error(Code::EmptyFile, "the file is empty").help(help));
        return Head::Done(reader.finish(None));
    }
    let split = fence::split(source, extent);
    let fences = match split {
        Split::NeedMore => return Head::NeedMore,
        Split::Found(fences) => fences,
        Split::Missing | Split::Unclosed { .. } | Split::TooLong { .. } => {
            reader.no_frontmatter(&split);
            return Head::Done(reader.finish(None));
        }
    };
    reader.opening(&fences);
    let manifest = reader.frontmatter(&fences, folder);
    if body == Body::Checked {
        reader.body(fences.body);
    }
    let document = manifest.map(|manifest| Document {
        manifest,
        frontmatter: Span::new(fences.yaml.start, fences.yaml.end),
        body: Span::new(fences.body, fences.body).start,
    });
    Head::Done(reader.finish(document))
}

struct Reader<'s> {
    source: &'s [u8],
    rules: &'s Rules,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    fn finish(mut self, document: Option<Document>) -> Parsed {
        let document = document.filter(|_| !self.diagnostics.iter().any(Diagnostic::is_error));
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.at.map_or(0, |at| at.span.start));
        if self.diagnostics.len() > DIAGNOSTICS_MAX {
            // Errors are what people need to see; a thousand unknown keys are not.
            self.diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
            let more = self.diagnostics.len() - DIAGNOSTICS_MAX;
            self.diagnostics.truncate(DIAGNOSTICS_MAX);
            let last = self.diagnostics.last_mut();
            last.into_iter().for_each(|last| last.message += &format!(" (and {more} more problems)"));
        }
        Parsed { document, diagnostics: self.diagnostics }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place::of(self.source, Span::new(start, end))
    }

    fn say(&mut self, level: Level, diagnostic: Diagnostic) {
        let severity = match level {
            Level::Ignore => return,
            Level::Warn => Severity::Warning,
            Level::Reject => Severity::Error,
        };
        self.diagnostics.push(Diagnostic { severity, ..diagnostic });
    }

    fn no_frontmatter(&mut self, split: &Split) {
        let (code, message, open) = match split {
            Split::Unclosed { open } => {
                (Code::UnclosedFrontmatter, "the frontmatter is not closed".to_owned(), open.clone())
            }
            Split::TooLong { open } => {
                let limit = fence::FRONTMATTER_MAX / 1024;
                (Code::LongFrontmatter, format!("the frontmatter is longer than {limit} KiB"), open.clone())
            }
            _ if self.source.iter().take(fence::PREAMBLE_MAX).any(|byte| *byte == 0) => {
                (Code::NulByte, "the file has NUL bytes and is not text".to_owned(), 0..0)
            }
            _ => (Code::NoFrontmatter, "there is no frontmatter".to_owned(), 0..0),
        };
        let help = match split {
            Split::Unclosed { .. } => "end it with a line of exactly ---",
            Split::TooLong { .. } => "move long text into the body, or close it with a line of exactly ---",
            _ if code == Code::NulByte => "save it as UTF-8 text",
            _ => {
                "begin the file with\n---\nname: the-folder-name\ndescription: What it does. Use when …\n---"
            }
        };
        let place = self.place(open.start, open.end);
        self.diagnostics.push(Diagnostic::error(code, message).at(place).help(help));
    }

    fn opening(&mut self, fences: &Fences) {
        if self.source.starts_with(b"\xEF\xBB\xBF") {
            let diagnostic =
                Diagnostic::warning(Code::ByteOrderMark, "the file begins with a byte-order mark");
            let diagnostic =
                diagnostic.at(self.place(0, 3)).help("save it as UTF-8 without BOM: other tools lose it");
            self.diagnostics.push(diagnostic.fix(Span::new(0, 3), ""));
        }
        let (code, message, help) = match fences.before {
            Before::Nothing => return,
            Before::Blank => (
                Code::BeforeFrontmatter,
                "blank lines stand before the frontmatter",
                "delete them: the first line has to be ---",
            ),
            Before::Text => (
                Code::BeforeFrontmatter,
                "text stands before the frontmatter",
                "move it below the second ---: the first line has to be ---",
            ),
            Before::CodeFence => (
                Code::FencedFrontmatter,
                "the frontmatter stands inside a code fence",
                "delete the ``` around it: the first line has to be ---",
            ),
        };
        let place = self.place(fences.open.start, fences.open.end);
        self.say(self.rules.preamble, Diagnostic::warning(code, message).at(place).help(help));
    }

    fn frontmatter(&mut self, fences: &Fences, folder: Option<&str>) -> Option<Manifest> {
        let start = fences.yaml.start;
        let bytes = &self.source[fences.yaml.clone()];
        if let Some(at) = memchr::memchr(0, bytes) {
            let diagnostic = Diagnostic::error(Code::NulByte, "the frontmatter has a NUL byte");
            let place = self.place(start + at, start + at + 1);
            self.diagnostics.push(diagnostic.at(place).help("delete it, or save the file as UTF-8"));
            return None;
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = start + error.valid_up_to();
                let diagnostic = Diagnostic::error(Code::NotUtf8, "the frontmatter is not UTF-8");
                self.diagnostics.push(diagnostic.at(self.place(at, at + 1)).help("save the file as UTF-8"));
                return None;
            }
        };
        match yaml::parse(text, Budget::DEFAULT) {
            Ok(Some(node)) => {
                let mut sink = manifest::Sink {
                    source: self.source,
                    offset: start,
                    repaired: None,
                    out: Vec::new(),
                    lines: None,
                };
                let manifest = manifest::read(&node, folder, self.rules, &mut sink);
                self.diagnostics.append(&mut sink.out);
                manifest
            }
            Ok(None) => {
                let diagnostic = Diagnostic::error(Code::NotAMapping, "the frontmatter is empty");
                let place = self.place(fences.open.start, fences.open.end);
                self.diagnostics
                    .push(diagnostic.at(place).help("give it the lines name: … and description: …"));
                None
            }
            Err(error) => self.broken_yaml(text, start, &error, folder),
        }
    }

    fn broken_yaml(
        &mut self,
        text: &str,
        start: usize,
        error: &YamlError,
        folder: Option<&str>,
    ) -> Option<Manifest> {
        let repaired = match error {
            YamlError::Syntax { .. } => repair::repair(text),
            YamlError::Limit { .. } => None,
        };
        if let (Repair::On, Some(repaired)) = (self.rules.repair, &repaired) {
            return self.repaired(repaired, start, folder);
        }
        let code = match error {
            YamlError::Syntax { .. } => Code::InvalidYaml,
            YamlError::Limit { .. } => Code::YamlLimit,
        };
        let at = start + error.offset();
        let mut diagnostic = Diagnostic::error(code, format!("the frontmatter is not valid YAML: {error}"));
        diagnostic.at = Some(self.place(at, at + 1));
        diagnostic.help = Some(match &repaired {
            Some(repaired) => repaired.quoted.iter().map(corrected).collect::<Vec<_>>().join("\n"),
            None if code == Code::YamlLimit => {
                "frontmatter is a handful of plain fields; simplify it".to_owned()
            }
            None => "write each field as key: value, with text that has : or # between quotes".to_owned(),
        });
        self.diagnostics.push(diagnostic);
        None
    }

    fn repaired(&mut self, repaired: &Repaired, start: usize, folder: Option<&str>) -> Option<Manifest> {
        for quoted in &repaired.quoted {
            let span = quoted.span.shifted(start);
            let message = format!("the value of {} had to be quoted to be read", quoted.key);
            let diagnostic = Diagnostic::warning(Code::Repaired, message).at(Place::of(self.source, span));
            self.diagnostics.push(diagnostic.help(corrected(quoted)).fix(span, &quoted.text));
        }
        let node = yaml::parse(&repaired.text, Budget::DEFAULT).ok().flatten()?;
        let mut sink = manifest::Sink {
            source: self.source,
            offset: start,
            repaired: Some(repaired),
            out: Vec::new(),
            lines: None,
        };
        let manifest = manifest::read(&node, folder, self.rules, &mut sink);
        self.diagnostics.append(&mut sink.out);
        manifest
    }

    fn body(&mut self, start: usize) {
        let bytes = self.source.get(start..).unwrap_or_default();
        if let Some(at) = memchr::memchr(0, bytes) {
            let place = self.place(start + at, start + at + 1);
            let diagnostic = Diagnostic::warning(Code::NulByte, "the body has a NUL byte").at(place);
            self.diagnostics.push(diagnostic.help("delete it, or save the file as UTF-8"));
        }
        // Most bodies are plain ASCII, which takes one look at many bytes at a time.
        if bytes.is_ascii() && !hidden::is_suspect(bytes) && !bytes.trim_ascii().is_empty() {
            return;
        }
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = start + error.valid_up_to();
                let diagnostic = Diagnostic::warning(Code::NotUtf8, "the body is not UTF-8");
                self.diagnostics.push(diagnostic.at(self.place(at, at + 1)).help("save the file as UTF-8"));
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        if valid.trim().is_empty() {
            let place = self.place(start, start);
            let diagnostic =
                Diagnostic::warning(Code::EmptyBody, "there are no instructions below the frontmatter");
            self.diagnostics
                .push(diagnostic.at(place).help("say there what a model has to do, step by step"));
        }
        if let Some((at, c)) = hidden::first(valid).filter(|(_, c)| *c != '\0') {
            let place = self.place(start + at, start + at + c.len_utf8());
            let message = format!("the body has the hidden character \\u{{{:x}}}", u32::from(c));
            let diagnostic = Diagnostic::warning(Code::HiddenBody, message).at(place);
            self.diagnostics
                .push(diagnostic.help("delete it: hidden text can carry orders that nobody reads"));
        }
    }
}

fn corrected(quoted: &repair::Quoted) -> String {
    format!("write {}: {}", quoted.key, quoted.text)
}
