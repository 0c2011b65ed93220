//! The sanitizer: allows only the elements that the renderer produces.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

/// The elements of Markdown.
const MARKDOWN: [&str; 27] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
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
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// The elements of formulas. None of them can contain HTML, except for the text of `mtext`.
const MATH: [&str; 24] = [
    "math",
    "menclose",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
];

/// The attributes of formulas. Each is a number, a length or a keyword.
const MATH_ATTRIBUTES: [&str; 18] = [
    "accent",
    "accentunder",
    "columnspan",
    "display",
    "displaystyle",
    "form",
    "height",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "notation",
    "rspace",
    "scriptlevel",
    "stretchy",
    "width",
];

/// The classes that the renderer sets.
const CLASSES: [(&str, &[&str]); 4] = [
    ("div", &["footnote-text"]),
    ("sup", &["footnote-ref"]),
    ("td", &["align-left", "align-center", "align-right"]),
    ("th", &["align-left", "align-center", "align-right"]),
];

/// Removes everything that the renderer does not produce.
pub(super) fn sanitize(html: &str) -> String {
    SANITIZER.clean(html).to_string()
}

static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let math = MATH.into_iter().chain(["munderover"]);
    let mut attributes: HashMap<_, _> =
        math.clone().map(|element| (element, HashSet::from(MATH_ATTRIBUTES))).collect();
    attributes.extend(CLASSES.map(|(element, _)| (element, HashSet::from(["class"]))));
    attributes.extend([
        ("a", HashSet::from(["href", "title"])),
        ("code", HashSet::from(["class"])),
        ("ol", HashSet::from(["start"])),
    ]);
    let mut sanitizer = Builder::empty();
    sanitizer
        .tags(MARKDOWN.into_iter().chain(math).collect())
        .clean_content_tags(HashSet::from(["script", "style"]))
        .tag_attributes(attributes)
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|element, attribute, value| {
            let is_allowed = match (element, attribute) {
                ("code", "class") => is_language_class(value),
                (element, "class") => is_known_class(element, value),
                ("a" | "ol", _) => true,
                _ => {
                    value.len() <= 24 && value.chars().all(|c| c.is_ascii_alphanumeric() || ".-%".contains(c))
                }
            };
            is_allowed.then_some(Cow::Borrowed(value))
        });
    sanitizer
});

fn is_known_class(element: &str, class: &str) -> bool {
    CLASSES.iter().any(|(known, classes)| *known == element && classes.contains(&class))
}

fn is_language_class(class: &str) -> bool {
    class
        .strip_prefix("language-")
        .is_some_and(|name| !name.is_empty() && name.chars().all(super::is_language_char))
}
