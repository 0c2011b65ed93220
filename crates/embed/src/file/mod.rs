//! A model on this machine: one vector for each token of a vocabulary, and the mean of those that a text has.
//!
//! That is what model2vec and WordLlama distil from larger models. It is a table, not a network: no weights are multiplied,
//! a text takes microseconds, and nothing is sent anywhere. Beside `model.safetensors` lies `tokenizer.json`.

mod half;
mod safetensors;
mod tokenizer;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use prowess_routing::semantic::{EmbedError, Embedder, Purpose};
use sha2::{Digest, Sha256};

pub use safetensors::{Matrix, SafetensorsError};
pub use tokenizer::{Tokenizer, TokenizerError};

/// The largest file of vectors.
const MODEL_MAX: u64 = 1 << 30;

/// The largest file of a vocabulary.
const TOKENIZER_MAX: u64 = 64 * 1024 * 1024;

/// A file that is read when it is first needed.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    model: OnceLock<Result<Model, EmbedError>>,
}

/// What a file holds.
#[derive(Debug)]
struct Model {
    identity: String,
    matrix: Matrix,
    tokenizer: Tokenizer,
}

impl TokenFile {
    /// The file at a path, with `tokenizer.json` beside it. Nothing is read yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), model: OnceLock::new() }
    }

    fn model(&self) -> Result<&Model, EmbedError> {
        self.model.get_or_init(|| Model::read(&self.path)).as_ref().map_err(Clone::clone)
    }
}

impl Model {
    fn read(path: &Path) -> Result<Self, EmbedError> {
        let failed = |path: &Path, why: &str| EmbedError::Failed(format!("{} {why}", path.display()));
        let read = |path: &Path, max: u64| {
            // Models are often linked; what the link leads to is what is read.
            let real = path
                .canonicalize()
                .map_err(|error| failed(path, &format!("cannot be read: {}", error.kind())))?;
            let why = format!("cannot be read, or has more than {max} bytes");
            prowess::read_bounded(&real, max).ok_or_else(|| failed(path, &why))
        };
        let beside = path.with_file_name("tokenizer.json");
        let (bytes, text) = (read(path, MODEL_MAX)?, read(&beside, TOKENIZER_MAX)?);
        let mut digest = Sha256::new();
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
        digest.update(&text);
        let identity = digest
            .finalize()
            .iter()
            .take(16)
            .fold("file ".to_owned(), |all, byte| format!("{all}{byte:02x}"));
        let matrix = Matrix::of(bytes).map_err(|error| failed(path, &error.to_string()))?;
        let tokenizer = Tokenizer::of(&text).map_err(|error| failed(&beside, &error.to_string()))?;
        if tokenizer.len() > matrix.rows() {
            let why = format!("has {} vectors for {} tokens", matrix.rows(), tokenizer.len());
            return Err(failed(path, &why));
        }
        Ok(Self { identity, matrix, tokenizer })
    }

    /// The mean of the vectors of a text's tokens, with length 1; noughts for a text without any.
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.matrix.columns()];
        self.tokenizer.tokens(text, |token| self.matrix.add_row(token as usize, &mut sum));
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length > 0.0 && length.is_finite() {
            sum.iter_mut().for_each(|number| *number /= length);
        }
        sum
    }
}

impl Embedder for TokenFile {
    fn identity(&self) -> Result<String, EmbedError> {
        self.model().map(|model| model.identity.clone())
    }

    fn batch(&self) -> usize {
        256
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = self.model()?;
        Ok(texts.iter().map(|text| model.embed(text)).collect())
    }
}
