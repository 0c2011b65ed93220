//! Converts attachments of a skill's tool to content blocks.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::Value;

/// Converts an image, a sound, or a resource with a URI; anything else becomes JSON text.
///
/// Bytes are in `data`, or in a `data:` URL in `url`, as base64; the text of a resource is in `text`. The media
/// type is in `mime`, `mimeType` or `mediaType`, or in the `data:` URL.
pub(super) fn content_block(attachment: &Value) -> ContentBlock {
    typed_block(attachment).unwrap_or_else(|| ContentBlock::text(attachment.to_string()))
}

fn typed_block(attachment: &Value) -> Option<ContentBlock> {
    let text = |key: &str| attachment.get(key).and_then(Value::as_str);
    let in_url = text("url").and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    let mime = text("mime").or_else(|| text("mimeType")).or_else(|| text("mediaType"));
    let mime = mime.or_else(|| in_url.map(|(mime, _)| mime));
    let data = text("data").or_else(|| in_url.map(|(_, data)| data));
    // Clients reject a result with invalid base64.
    let data = data.filter(|data| BASE64_STANDARD.decode(data).is_ok());
    match (mime, data, text("uri")) {
        (Some(mime), Some(data), _) if mime.starts_with("image/") => Some(ContentBlock::image(data, mime)),
        (Some(mime), Some(data), _) if mime.starts_with("audio/") => Some(ContentBlock::audio(data, mime)),
        (mime, data, Some(uri)) => {
            let contents = match text("text") {
                Some(text) => ResourceContents::text(text, uri),
                None => ResourceContents::blob(data?, uri),
            };
            // The SDK uses text/plain by default.
            Some(ContentBlock::resource(contents.with_mime_type(mime?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attachments_become_content_blocks() {
        for (attachment, expected) in [
            (
                json!({"mime": "image/png", "data": "aGk="}),
                json!({"type": "image", "mimeType": "image/png", "data": "aGk="}),
            ),
            (
                json!({"url": "data:image/png;base64,aGk="}),
                json!({"type": "image", "mimeType": "image/png", "data": "aGk="}),
            ),
            (
                json!({"mediaType": "audio/wav", "url": "data:;base64,aGk="}),
                json!({"type": "audio", "mimeType": "audio/wav", "data": "aGk="}),
            ),
            (
                json!({"uri": "test://a", "mimeType": "text/csv", "text": "hi"}),
                json!({"type": "resource", "resource": {"uri": "test://a", "mimeType": "text/csv", "text": "hi"}}),
            ),
            (
                json!({"uri": "test://a", "mime": "application/pdf", "data": "aGk="}),
                json!({
                    "type": "resource",
                    "resource": {"uri": "test://a", "mimeType": "application/pdf", "blob": "aGk="},
                }),
            ),
        ] {
            assert_eq!(serde_json::to_value(content_block(&attachment)).unwrap(), expected, "{attachment}");
        }
    }

    #[test]
    fn unknown_attachments_become_text() {
        for attachment in [
            json!({"mime": "image/png", "data": "no base64"}),
            json!({"mime": "application/pdf", "data": "aGk="}),
            json!({"uri": "test://a", "mime": "text/plain"}),
            json!({"uri": "test://a", "text": "without a type"}),
            json!("text"),
            json!(null),
        ] {
            let expected = json!({"type": "text", "text": attachment.to_string()});
            assert_eq!(serde_json::to_value(content_block(&attachment)).unwrap(), expected);
        }
    }
}
