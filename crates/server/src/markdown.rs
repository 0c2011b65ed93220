//! Markdown as HTML that can be put into a page as it is. What models and skills write is the text of strangers.
//!
//! Two walls: nothing but what Markdown itself makes gets into the HTML (raw HTML is shown as the text that it is), and what comes
//! out goes through a sanitiser that knows a short list of elements. Pictures become links: a page that loads one tells its
//! server who reads what, and when.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use prowess::format::hidden::shown_lines;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// How deep lists, quotes and emphasis may lie in each other; what is deeper is shown without them.
const DEPTH_MAX: usize = 24;

/// The HTML of a text in Markdown.
///
/// ```
/// let html = prowess_server::markdown::render("**bold** <script>alert(1)</script>");
/// assert_eq!(html, "<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n");
/// ```
pub fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tame = Tame::default();
    let events = Parser::new_ext(text, options).filter_map(|event| tame.event(event));
    let mut written = String::with_capacity(text.len() + text.len() / 2);
    html::push_html(&mut written, events);
    CLEANER.clean(&written).to_string()
}

/// What becomes of the events.
#[derive(Default)]
struct Tame {
    /// For everything that is open, whether it was let through.
    open: Vec<bool>,
    /// How many links are open; there is at most one.
    links: usize,
}

impl Tame {
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
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => Event::Text(visible(text)),
            Event::Code(text) => Event::Code(visible(text)),
            Event::TaskListMarker(done) => Event::Text(if done { "☑ " } else { "☐ " }.into()),
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
                let language: String = info.chars().take_while(|c| is_of_language(*c)).take(40).collect();
                Tag::CodeBlock(match language.is_empty() {
                    true => CodeBlockKind::Indented,
                    false => CodeBlockKind::Fenced(language.into()),
                })
            }
            tag => tag,
        };
        let passes = match &tag {
            // What leads nowhere that one may go is plain text.
            Tag::Link { link_type, dest_url, .. } => {
                self.links == 0 && (*link_type == LinkType::Email || leads_out(dest_url))
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

/// The text without characters that hide or reorder what people read.
fn visible(text: CowStr<'_>) -> CowStr<'_> {
    match shown_lines(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown.into(),
    }
}

fn leads_out(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| matches!(scheme.as_str(), "http" | "https" | "mailto"))
}

fn is_of_language(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '.' | '_' | '-')
}

/// Knows what Markdown makes, and nothing else.
static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner
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
            ("code", "class") => is_language(value).then_some(Cow::Borrowed(value)),
            _ => Some(Cow::Borrowed(value)),
        });
    cleaner
});

fn is_language(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(|name| !name.is_empty() && name.chars().all(is_of_language))
}
