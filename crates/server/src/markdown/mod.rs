//! Renders Markdown as HTML that is safe to insert into a page. Text of models and skills is untrusted.
//!
//! There are two layers of defense: the renderer escapes raw HTML as text, and a sanitizer then allows only a short list of
//! elements. Images become links, because loading one would reveal to its server who reads the text, and when.

mod math;
mod sanitizer;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use linkify::{LinkFinder, LinkKind};
use prowess::format::hidden::escape_lines_for_display;
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
    html,
};

/// The maximum nesting depth of lists, quotes and emphasis; deeper content is rendered without them.
const DEPTH_MAX: usize = 24;

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_MATH);

/// Renders Markdown as sanitized HTML.
///
/// ```
/// let html = prowess_server::markdown::render("**bold** <script>alert(1)</script>");
/// assert_eq!(html, "<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n");
/// ```
pub fn render(text: &str) -> String {
    let text = math::with_dollar_signs(text);
    let mut renderer = Renderer { text: &text, ..Renderer::default() };
    for (event, range) in TextMergeWithOffset::new(Parser::new_ext(&text, OPTIONS).into_offset_iter()) {
        renderer.add(event, range);
    }
    let mut output = String::with_capacity(text.len() + text.len() / 2);
    html::push_html(&mut output, renderer.events.into_iter());
    sanitizer::sanitize(&output)
}

/// Removes or replaces events that must not be rendered as they are.
#[derive(Default)]
struct Renderer<'t> {
    text: &'t str,
    events: Vec<Event<'t>>,
    /// For each open tag, whether it was kept.
    open: Vec<bool>,
    /// The number of open links, at most one.
    links: usize,
    is_code_block: bool,
    /// The columns of the table, and the current one.
    columns: Vec<Alignment>,
    column: usize,
    is_table_head: bool,
    /// The number of each footnote, by name.
    footnotes: HashMap<CowStr<'t>, usize>,
}

impl<'t> Renderer<'t> {
    fn add(&mut self, event: Event<'t>, range: Range<usize>) {
        let event = match event {
            Event::Start(tag) => return self.start(tag),
            Event::End(tag) => return self.end(tag),
            Event::Text(text) if !self.is_code_block && self.links == 0 => return self.add_text(text),
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
                Event::Text(escape_hidden(text))
            }
            Event::Code(text) => Event::Code(escape_hidden(text)),
            Event::InlineMath(formula) => self.formula(formula, range, false),
            Event::DisplayMath(formula) => self.formula(formula, range, true),
            Event::FootnoteReference(name) => {
                Event::InlineHtml(format!("<sup class=\"footnote-ref\">{}</sup>", self.footnote(name)).into())
            }
            Event::TaskListMarker(checked) => Event::Text(if checked { "☑ " } else { "☐ " }.into()),
            event @ (Event::SoftBreak | Event::HardBreak | Event::Rule) => event,
        };
        self.events.push(event);
    }

    /// Adds text, with links for addresses.
    fn add_text(&mut self, text: CowStr<'t>) {
        let text = escape_hidden(text);
        if !text.contains("://") {
            return self.events.push(Event::Text(text));
        }
        for span in LINKS.spans(&text) {
            let part = CowStr::from(span.as_str().to_owned());
            match span.kind() {
                Some(LinkKind::Url) if is_allowed_url(&part) => self.events.extend([
                    Event::Start(Tag::Link {
                        link_type: LinkType::Autolink,
                        dest_url: part.clone(),
                        title: "".into(),
                        id: "".into(),
                    }),
                    Event::Text(part),
                    Event::End(TagEnd::Link),
                ]),
                _ => self.events.push(Event::Text(part)),
            }
        }
    }

    /// Renders a formula, or shows its source if it is not one.
    fn formula(&self, formula: CowStr<'t>, range: Range<usize>, is_display: bool) -> Event<'t> {
        let delimiter = if is_display { "$$" } else { "$" };
        // In "$5-$10", dollars are meant.
        let is_money = !is_display && self.text[range.end..].starts_with(|c: char| c.is_ascii_digit());
        match math::render(&formula, is_display).filter(|_| !is_money) {
            Some(mathml) => Event::InlineHtml(mathml.into()),
            None if is_money => Event::Text(escape_hidden(format!("${formula}$").into())),
            None => Event::Code(escape_hidden(format!("{delimiter}{formula}{delimiter}").into())),
        }
    }

    fn footnote(&mut self, name: CowStr<'t>) -> usize {
        let next = self.footnotes.len() + 1;
        *self.footnotes.entry(name).or_insert(next)
    }

    fn start(&mut self, tag: Tag<'t>) {
        let tag = match tag {
            Tag::Image { dest_url, title, id, .. } => {
                Tag::Link { link_type: LinkType::Inline, dest_url, title, id }
            }
            Tag::HtmlBlock => Tag::Paragraph,
            Tag::CodeBlock(kind) => {
                self.is_code_block = true;
                Tag::CodeBlock(limited_language(kind))
            }
            Tag::FootnoteDefinition(name) => {
                let number = self.footnote(name);
                self.open.push(true);
                let html = format!("<div class=\"footnote-text\"><sup>{number}</sup>\n");
                return self.events.push(Event::Html(html.into()));
            }
            Tag::Table(columns) => {
                self.columns = columns;
                Tag::Table(Vec::new())
            }
            Tag::TableHead | Tag::TableRow => {
                self.column = 0;
                self.is_table_head = tag == Tag::TableHead;
                tag
            }
            Tag::TableCell => {
                let alignment = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
                self.column += 1;
                self.open.push(true);
                return self.events.push(cell(alignment, self.is_table_head));
            }
            tag => tag,
        };
        let passes = match &tag {
            // A link with a disallowed scheme becomes plain text.
            Tag::Link { link_type, dest_url, .. } => {
                self.links == 0 && (*link_type == LinkType::Email || is_allowed_url(dest_url))
            }
            Tag::BlockQuote(_)
            | Tag::List(_)
            | Tag::Item
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough => self.open.len() < DEPTH_MAX,
            _ => true,
        };
        self.links += usize::from(passes && matches!(tag, Tag::Link { .. }));
        self.open.push(passes);
        self.events.extend(passes.then_some(Event::Start(tag)));
    }

    fn end(&mut self, tag: TagEnd) {
        self.is_code_block &= tag != TagEnd::CodeBlock;
        if !self.open.pop().unwrap_or_default() {
            return;
        }
        self.events.push(match tag {
            TagEnd::Link | TagEnd::Image => {
                self.links = 0;
                Event::End(TagEnd::Link)
            }
            TagEnd::HtmlBlock => Event::End(TagEnd::Paragraph),
            TagEnd::FootnoteDefinition => Event::Html("</div>\n".into()),
            tag => Event::End(tag),
        });
    }
}

/// Finds addresses with a scheme.
static LINKS: LazyLock<LinkFinder> = LazyLock::new(|| {
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    finder
});

/// Starts a table cell. A class aligns it, because the content security policy forbids styles in elements.
fn cell<'t>(alignment: Alignment, is_head: bool) -> Event<'t> {
    let class = match alignment {
        Alignment::None => return Event::Start(Tag::TableCell),
        Alignment::Left => "left",
        Alignment::Center => "center",
        Alignment::Right => "right",
    };
    let element = if is_head { "th" } else { "td" };
    Event::Html(format!("<{element} class=\"align-{class}\">").into())
}

fn limited_language(kind: CodeBlockKind<'_>) -> CodeBlockKind<'_> {
    let CodeBlockKind::Fenced(info) = kind else { return kind };
    let language: String = info.chars().take_while(|c| is_language_char(*c)).take(40).collect();
    match language.is_empty() {
        true => CodeBlockKind::Indented,
        false => CodeBlockKind::Fenced(language.into()),
    }
}

/// Escapes characters that hide or reorder text.
fn escape_hidden(text: CowStr<'_>) -> CowStr<'_> {
    match escape_lines_for_display(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped.into(),
    }
}

fn is_allowed_url(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| matches!(scheme.as_str(), "http" | "https" | "mailto"))
}

fn is_language_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '.' | '_' | '-')
}
