//! Renders Markdown as HTML that is safe to insert into a page. Text of models and skills is untrusted.
//!
//! There are two layers of defense: the renderer escapes raw HTML as text, and a sanitizer then allows only a short list of
//! elements. Images become links, because loading one would reveal to its server who reads the text, and when.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use prowess::format::hidden::escape_lines_for_display;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// The maximum nesting depth of lists, quotes and emphasis; deeper content is rendered without them.
const DEPTH_MAX: usize = 24;

/// Renders Markdown as sanitized HTML.
///
/// ```
/// let html = prowess_server::markdown::render("**bold** <script>alert(1)</script>");
/// assert_eq!(html, "<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n");
/// ```
pub fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut filter = EventFilter::default();
    let events = Parser::new_ext(text, options).filter_map(|event| filter.event(event));
    let mut output = String::with_capacity(text.len() + text.len() / 2);
    html::push_html(&mut output, events);
    SANITIZER.clean(&output).to_string()
}

/// Removes or replaces events that must not be rendered.
#[derive(Default)]
struct EventFilter {
    /// For each open tag, whether it was kept.
    open: Vec<bool>,
    /// The number of open links, at most one.
    links: usize,
}

impl EventFilter {
    fn event<'t>(&mut self, event: Event<'t>) -> Option<Event<'t>> {
        Some(match event {
            Event::Start(tag) => return self.start(tag).map(Event::Start),
            Event::End(tag) => {
                if !self.open.pop().unwrap_or_default() {
                    return None;
                }
                Event::End(match tag {
                    TagEnd::Link | TagEnd::Image => {
                        self.links = 0;
                        TagEnd::Link
                    }
                    TagEnd::HtmlBlock => TagEnd::Paragraph,
                    tag => tag,
                })
            }
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
                Event::Text(escape_hidden(text))
            }
            Event::Code(text) => Event::Code(escape_hidden(text)),
            Event::TaskListMarker(checked) => Event::Text(if checked { "☑ " } else { "☐ " }.into()),
            event => event,
        })
    }

    fn start<'t>(&mut self, tag: Tag<'t>) -> Option<Tag<'t>> {
        let tag = match tag {
            Tag::Image { dest_url, title, id, .. } => {
                Tag::Link { link_type: LinkType::Inline, dest_url, title, id }
            }
            Tag::HtmlBlock => Tag::Paragraph,
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let language: String = info.chars().take_while(|c| is_language_char(*c)).take(40).collect();
                Tag::CodeBlock(match language.is_empty() {
                    true => CodeBlockKind::Indented,
                    false => CodeBlockKind::Fenced(language.into()),
                })
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
        passes.then_some(tag)
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

/// Allows only the elements that the Markdown renderer produces.
static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitizer = Builder::empty();
    sanitizer
        .tags(HashSet::from([
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
            "ol",
            "p",
            "pre",
            "strong",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "ul",
        ]))
        .clean_content_tags(HashSet::from(["script", "style"]))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("code", HashSet::from(["class"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            ("code", "class") => is_language_class(value).then_some(Cow::Borrowed(value)),
            _ => Some(Cow::Borrowed(value)),
        });
    sanitizer
});

fn is_language_class(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(|name| !name.is_empty() && name.chars().all(is_language_char))
}
