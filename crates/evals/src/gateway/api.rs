//! The provider APIs, as far as the gateway must understand them: output limits and usage.

use serde_json::{Value, json};

use crate::budget::RequestUsage;

/// An API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProviderApi {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    ChatCompletions,
}

impl ProviderApi {
    /// Returns the API of a path, such as `v1/messages`; `None` for any other path.
    pub(super) fn from_path(path: &str) -> Option<Self> {
        let path = path.trim_matches('/');
        match path.strip_prefix("v1/").unwrap_or(path) {
            "messages" => Some(Self::Messages),
            "responses" => Some(Self::Responses),
            "chat/completions" => Some(Self::ChatCompletions),
            _ => None,
        }
    }

    /// Returns the path below the base URL of the provider.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::ChatCompletions => "chat/completions",
        }
    }

    /// Limits the output of a request, so that its largest cost is known. Returns the limit. A request that already has a
    /// limit keeps it.
    pub(super) fn limit_output(self, body: &mut Value, default: u64) -> u64 {
        let keys: &[&str] = match self {
            Self::Messages => &["max_tokens"],
            Self::Responses => &["max_output_tokens"],
            Self::ChatCompletions => &["max_completion_tokens", "max_tokens"],
        };
        if let Some(limit) = keys.iter().find_map(|key| body.get(*key)?.as_u64()) {
            // Several replies to one request cost as much as several requests.
            return limit.saturating_mul(body.get("n").and_then(Value::as_u64).unwrap_or(1).max(1));
        }
        if let (Some(object), Some(key)) = (body.as_object_mut(), keys.last()) {
            object.insert((*key).to_owned(), json!(default));
            object.remove("n");
        }
        default
    }

    /// Asks for the usage where it is not reported by default.
    pub(super) fn request_usage(self, body: &mut Value) {
        if self == Self::ChatCompletions
            && body.get("stream").and_then(Value::as_bool) == Some(true)
            && let Some(object) = body.as_object_mut()
        {
            let options = object.entry("stream_options").or_insert_with(|| json!({}));
            if let Some(options) = options.as_object_mut() {
                options.insert("include_usage".to_owned(), json!(true));
            }
        }
    }

    /// Returns the usage that a complete response reports, streamed or not.
    pub(super) fn parse_usage(self, body: &[u8]) -> Option<RequestUsage> {
        let mut usage = None;
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            self.add_usage(&value, &mut usage);
            return usage;
        }
        for line in body.split(|byte| matches!(byte, b'\n' | b'\r')) {
            if let Some(data) = line.strip_prefix(b"data:")
                && let Ok(value) = serde_json::from_slice::<Value>(data)
            {
                self.add_usage(&value, &mut usage);
            }
        }
        usage
    }

    fn add_usage(self, event: &Value, usage: &mut Option<RequestUsage>) {
        let reported = match self {
            // The start has the input, and later events have the sum of the output.
            Self::Messages => event.pointer("/message/usage").or_else(|| event.get("usage")),
            Self::Responses => event.pointer("/response/usage").or_else(|| event.get("usage")),
            Self::ChatCompletions => event.get("usage"),
        };
        let Some(reported) = reported.filter(|reported| reported.is_object()) else { return };
        let number = |path: &str| reported.pointer(path).and_then(Value::as_u64);
        let sum = usage.get_or_insert_default();
        match self {
            Self::Messages => {
                let previous = *sum;
                sum.cache_read = number("/cache_read_input_tokens").unwrap_or(previous.cache_read);
                sum.cache_write = number("/cache_creation_input_tokens").unwrap_or(previous.cache_write);
                if let Some(plain) = number("/input_tokens") {
                    sum.input = plain.saturating_add(sum.cache_read).saturating_add(sum.cache_write);
                }
                sum.output = number("/output_tokens").unwrap_or(previous.output);
            }
            Self::Responses => {
                sum.input = number("/input_tokens").unwrap_or_default();
                sum.cache_read = number("/input_tokens_details/cached_tokens").unwrap_or_default();
                sum.output = number("/output_tokens").unwrap_or_default();
            }
            Self::ChatCompletions => {
                sum.input = number("/prompt_tokens").unwrap_or_default();
                sum.cache_read = number("/prompt_tokens_details/cached_tokens").unwrap_or_default();
                sum.output = number("/completion_tokens").unwrap_or_default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use prowess_config::ChatProvider;
    use prowess_testing::model::wire_format::{ReplyPart, encode_reply};

    use super::*;

    #[test]
    fn every_request_has_a_limit() {
        let limited = |api: ProviderApi, mut body: Value| {
            let limit = api.limit_output(&mut body, 500);
            (limit, body)
        };
        assert_eq!(limited(ProviderApi::Messages, json!({"max_tokens": 9})).0, 9);
        assert_eq!(limited(ProviderApi::Responses, json!({})), (500, json!({"max_output_tokens": 500})));
        assert_eq!(limited(ProviderApi::ChatCompletions, json!({"n": 3})), (500, json!({"max_tokens": 500})));
        assert_eq!(limited(ProviderApi::ChatCompletions, json!({"n": 3, "max_completion_tokens": 5})).0, 15);
        assert_eq!(limited(ProviderApi::ChatCompletions, json!({"max_tokens": null})).0, 500);
    }

    #[test]
    fn usage_is_found_in_streams_and_whole_responses() {
        for (api, provider) in [
            (ProviderApi::Messages, ChatProvider::Anthropic),
            (ProviderApi::Responses, ChatProvider::OpenAi),
            (ProviderApi::ChatCompletions, ChatProvider::OpenAiChat),
        ] {
            let stream = encode_reply(provider, &[ReplyPart::Text("hi")]);
            let usage = api.parse_usage(stream.as_ref()).unwrap();
            assert!(usage.input > 0 && usage.output > 0, "{api:?}: {usage:?}");
        }
        let whole = br#"{"usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 5, "output_tokens": 6}}"#;
        assert_eq!(
            ProviderApi::Messages.parse_usage(whole),
            Some(RequestUsage { input: 12, cache_read: 4, cache_write: 5, output: 6 })
        );
        assert_eq!(ProviderApi::ChatCompletions.parse_usage(b"data: [DONE]\n\n"), None);
        assert_eq!(ProviderApi::ChatCompletions.parse_usage(b"\xff{"), None);
    }

    #[test]
    fn only_known_paths_are_forwarded() {
        assert_eq!(ProviderApi::from_path("/v1/messages"), Some(ProviderApi::Messages));
        assert_eq!(ProviderApi::from_path("chat/completions"), Some(ProviderApi::ChatCompletions));
        for path in ["v1/files", "v1/messages/batches", "v1/../v1/messages", ""] {
            assert_eq!(ProviderApi::from_path(path), None, "{path}");
        }
    }
}
