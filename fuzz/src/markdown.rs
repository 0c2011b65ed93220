//! Markdown of strangers, as HTML for a page. The module is taken as it stands: the crate it lives in brings a whole server.

#[path = "../../crates/server/src/markdown.rs"]
#[allow(unreachable_pub)]
mod server;

/// The elements that Markdown makes.
const OURS: [&str; 25] = [
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
];

/// Nothing panics; every tag is one of ours; links lead to the web or to a mailbox; no attribute is an event's.
pub fn markdown(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let html = server::render(text);
    let mut rest = html.as_str();
    while let Some(at) = rest.find('<') {
        let Some(end) = rest[at..].find('>') else { panic!("{text:?} gives {html:?}") };
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        assert!(OURS.contains(&name), "<{tag}> of {text:?}");
        // Between two quotes stands a value; what is left are names.
        for (n, piece) in tag.split('"').enumerate() {
            let name = piece.trim().trim_end_matches('=');
            assert!(n % 2 == 1 || !name.starts_with("on"), "<{tag}> of {text:?}");
        }
        if let Some(url) = tag.split("href=\"").nth(1) {
            let url = url.to_ascii_lowercase();
            assert!(
                ["http:", "https:", "mailto:"].iter().any(|scheme| url.starts_with(scheme)),
                "<{tag}> of {text:?}"
            );
        }
    }
}
