//! What is sent and what comes back, in either of two forms. Pure.

use prowess_routing::semantic::EmbedError;
use serde::Deserialize;
use serde_json::json;

/// Whose interface a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `POST …/embeddings`, which many servers speak.
    OpenAi,
    /// `POST …/api/embed`.
    Ollama,
}

#[derive(Deserialize)]
struct OpenAi {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Which text it is of; some servers leave it out.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

impl Shape {
    /// Its name.
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

    /// The vectors of an answer, in the order of the texts.
    pub(super) fn vectors(self, answer: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = match self {
            Self::OpenAi => {
                let mut data = parsed::<OpenAi>(answer)?.data;
                if data.iter().all(|vector| vector.index.is_some()) {
                    data.sort_by_key(|vector| vector.index);
                    if data.iter().zip(0..).any(|(vector, at)| vector.index != Some(at)) {
                        return Err(EmbedError::Failed("does not say which text a vector is of".to_owned()));
                    }
                }
                data.into_iter().map(|vector| vector.embedding).collect()
            }
            Self::Ollama => parsed::<Ollama>(answer)?.embeddings,
        };
        match vectors.len() == wanted {
            true => Ok(vectors),
            false => Err(EmbedError::Count { wanted, given: vectors.len() }),
        }
    }
}

/// What the parser says is not repeated: it may quote the answer.
fn parsed<'a, T: Deserialize<'a>>(answer: &'a [u8]) -> Result<T, EmbedError> {
    serde_json::from_slice(answer)
        .map_err(|_| EmbedError::Failed("answers something else than vectors".to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_sent() {
        insta::assert_snapshot!(Shape::OpenAi.request("m", &["a", "b \"c\""]), @r#"{"encoding_format":"float","input":["a","b \"c\""],"model":"m"}"#);
        insta::assert_snapshot!(Shape::Ollama.request("m", &["a"]), @r#"{"input":["a"],"model":"m","truncate":true}"#);
    }

    #[test]
    fn what_comes_back() {
        let openai = |text: &str, wanted| Shape::OpenAi.vectors(text.as_bytes(), wanted);
        let two =
            r#"{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1.5]}], "usage": {}}"#;
        assert_eq!(openai(two, 2), Ok(vec![vec![1.5], vec![2.0]]));
        assert_eq!(openai(r#"{"data": [{"embedding": [2]}]}"#, 1), Ok(vec![vec![2.0]]));
        assert_eq!(openai(two, 3), Err(EmbedError::Count { wanted: 3, given: 2 }));
        let twice = r#"{"data": [{"index": 0, "embedding": [2]}, {"index": 0, "embedding": [1.5]}]}"#;
        for wrong in [
            twice,
            "",
            "[]",
            "{}",
            r#"{"data": [{"embedding": [NaN]}]}"#,
            r#"{"data": [{"embedding": null}]}"#,
        ] {
            assert!(matches!(openai(wrong, 2), Err(EmbedError::Failed(_))), "{wrong}");
        }
        let ollama = Shape::Ollama.vectors(br#"{"embeddings": [[1, 2], [3, 4]]}"#, 2);
        assert_eq!(ollama, Ok(vec![vec![1.0, 2.0], vec![3.0, 4.0]]));
    }

    proptest! {
        #[test]
        fn any_answer_is_vectors_or_refused(answer in prop::collection::vec(any::<u8>(), 0..200), wanted in 0usize..3) {
            for shape in [Shape::OpenAi, Shape::Ollama] {
                if let Ok(vectors) = shape.vectors(&answer, wanted) {
                    prop_assert_eq!(vectors.len(), wanted);
                }
            }
        }
    }
}
