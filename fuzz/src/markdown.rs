//! Markdown of strangers, as HTML for a page. The modules are taken as they stand: the crate they live in brings a whole server.

#[path = "../../crates/testing/src/html.rs"]
#[allow(unreachable_pub, clippy::unwrap_used)]
mod html;
#[path = "../../crates/server/src/markdown.rs"]
#[allow(unreachable_pub)]
mod server;

/// Nothing panics, and nothing comes out but what Markdown makes.
pub fn markdown(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        html::assert_sanitized(text, &server::render(text));
    }
}
