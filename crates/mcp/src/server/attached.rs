//! What a tool of a skill gives beside its text, as the protocol has it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::Value;

/// A picture, a sound, or a resource with an address of its own; anything else as the JSON that it is.
///
/// Bytes are in `data`, or in a `data:` address in `url`, as base64; the text of a resource is in `text`. The media type is
/// in `mime`, `mimeType` or `mediaType`, or in the `data:` address.
pub(super) fn block(attached: &Value) -> ContentBlock {
    known(attached).unwrap_or_else(|| ContentBlock::text(attached.to_string()))
}

fn known(attached: &Value) -> Option<ContentBlock> {
    let text = |key: &str| attached.get(key).and_then(Value::as_str);
    let in_url = text("url").and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    let mime = text("mime").or_else(|| text("mimeType")).or_else(|| text("mediaType"));
    let mime = mime.or_else(|| in_url.map(|(mime, _)| mime));
    let data = text("data").or_else(|| in_url.map(|(_, data)| data));
    // What is no base64 would make a client refuse the whole answer.
    let data = data.filter(|data| BASE64_STANDARD.decode(data).is_ok());
    match (mime, data, text("uri")) {
        (Some(mime), Some(data), _) if mime.starts_with("image/") => Some(ContentBlock::image(data, mime)),
        (Some(mime), Some(data), _) if mime.starts_with("audio/") => Some(ContentBlock::audio(data, mime)),
        (mime, data, Some(uri)) => {
            let contents = match text("text") {
                Some(text) => ResourceContents::text(text, uri),
                None => ResourceContents::blob(data?, uri),
            };
            // The SDK takes a text for plain text unless told.
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
    fn what_is_attached_is_what_clients_get() {
        for (attached, wanted) in [
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
            assert_eq!(serde_json::to_value(block(&attached)).unwrap(), wanted, "{attached}");
        }
    }

    #[test]
    fn what_nobody_knows_stays_as_it_is() {
        for attached in [
            json!({"mime": "image/png", "data": "no base64"}),
            json!({"mime": "application/pdf", "data": "aGk="}),
            json!({"uri": "test://a", "mime": "text/plain"}),
            json!({"uri": "test://a", "text": "of what type?"}),
            json!("text"),
            json!(null),
        ] {
            let wanted = json!({"type": "text", "text": attached.to_string()});
            assert_eq!(serde_json::to_value(block(&attached)).unwrap(), wanted);
        }
    }
}
