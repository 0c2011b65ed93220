//! Untrusted Markdown rendered as HTML. The modules are included by path, because their crates depend on a whole server.

#[path = "../../crates/testing/src/html.rs"]
#[allow(unreachable_pub, clippy::unwrap_used)]
mod html;
#[path = "../../crates/server/src/markdown/mod.rs"]
#[allow(unreachable_pub)]
mod server;

/// Checks that nothing panics and that the HTML contains only allowed elements.
pub fn markdown(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        html::assert_sanitized(text, &server::render(text));
    }
}
