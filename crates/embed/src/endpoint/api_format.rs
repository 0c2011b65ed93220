//! Requests and responses in either API format.

use prowess_routing::semantic::EmbedError;
use serde::Deserialize;
use serde_json::json;

/// The API of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiFormat {
    /// `POST …/embeddings`, which many servers support.
    OpenAi,
    /// `POST …/api/embed`.
    Ollama,
}

#[derive(Deserialize)]
struct OpenAiResponse {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// The index of the text; some servers omit it.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaResponse {
    embeddings: Vec<Vec<f32>>,
}

impl ApiFormat {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "embeddings",
            Self::Ollama => "api/embed",
        }
    }

    pub(super) fn request(self, model: &str, texts: &[&str]) -> String {
        match self {
            Self::OpenAi => json!({"model": model, "input": texts, "encoding_format": "float"}),
            Self::Ollama => json!({"model": model, "input": texts, "truncate": true}),
        }
        .to_string()
    }

    /// Parses the vectors of a response, in the order of the texts.
    pub(super) fn parse_vectors(self, response: &[u8], expected: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = match self {
            Self::OpenAi => {
                let mut data = parse_json::<OpenAiResponse>(response)?.data;
                if data.iter().all(|vector| vector.index.is_some()) {
                    data.sort_by_key(|vector| vector.index);
                    if data.iter().zip(0..).any(|(vector, index)| vector.index != Some(index)) {
                        return Err(EmbedError::Failed("returned vectors with invalid indexes".to_owned()));
                    }
                }
                data.into_iter().map(|vector| vector.embedding).collect()
            }
            Self::Ollama => parse_json::<OllamaResponse>(response)?.embeddings,
        };
        match vectors.len() == expected {
            true => Ok(vectors),
            false => Err(EmbedError::Count { expected, actual: vectors.len() }),
        }
    }
}

/// Parses a response. The parser's error is dropped, because it may quote the response.
fn parse_json<'a, T: Deserialize<'a>>(response: &'a [u8]) -> Result<T, EmbedError> {
    serde_json::from_slice(response).map_err(|_| EmbedError::Failed("did not return vectors".to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests() {
        insta::assert_snapshot!(ApiFormat::OpenAi.request("m", &["a", "b \"c\""]), @r#"{"encoding_format":"float","input":["a","b \"c\""],"model":"m"}"#);
        insta::assert_snapshot!(ApiFormat::Ollama.request("m", &["a"]), @r#"{"input":["a"],"model":"m","truncate":true}"#);
    }

    #[test]
    fn responses() {
        let openai = |text: &str, expected| ApiFormat::OpenAi.parse_vectors(text.as_bytes(), expected);
        let two =
            r#"{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1.5]}], "usage": {}}"#;
        assert_eq!(openai(two, 2), Ok(vec![vec![1.5], vec![2.0]]));
        assert_eq!(openai(r#"{"data": [{"embedding": [2]}]}"#, 1), Ok(vec![vec![2.0]]));
        assert_eq!(openai(two, 3), Err(EmbedError::Count { expected: 3, actual: 2 }));
        let duplicate = r#"{"data": [{"index": 0, "embedding": [2]}, {"index": 0, "embedding": [1.5]}]}"#;
        for invalid in [
            duplicate,
            "",
            "[]",
            "{}",
            r#"{"data": [{"embedding": [NaN]}]}"#,
            r#"{"data": [{"embedding": null}]}"#,
        ] {
            assert!(matches!(openai(invalid, 2), Err(EmbedError::Failed(_))), "{invalid}");
        }
        let ollama = ApiFormat::Ollama.parse_vectors(br#"{"embeddings": [[1, 2], [3, 4]]}"#, 2);
        assert_eq!(ollama, Ok(vec![vec![1.0, 2.0], vec![3.0, 4.0]]));
    }

    proptest! {
        #[test]
        fn any_response_is_parsed_or_rejected(response in prop::collection::vec(any::<u8>(), 0..200), expected in 0usize..3) {
            for shape in [ApiFormat::OpenAi, ApiFormat::Ollama] {
                if let Ok(vectors) = shape.parse_vectors(&response, expected) {
                    prop_assert_eq!(vectors.len(), expected);
                }
            }
        }
    }
}
