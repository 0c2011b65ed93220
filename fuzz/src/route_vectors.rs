//! Vectors of routing, and the models they come from.

use prowess_routing::semantic::read_for_fuzzing;
use prowess_embed::file::{Matrix, Tokenizer};

/// Bytes are taken for kept vectors, for a table of token embeddings, and for a vocabulary: nothing panics, nothing is
/// read past its end, and no token lies outside its vocabulary.
pub fn route_vectors(bytes: &[u8]) {
    read_for_fuzzing(bytes);
    table(bytes.to_vec());
    // With the length of the header put right: no fuzzer would find it.
    if let Some(end) = bytes.iter().rposition(|byte| *byte == b'}') {
        let mut framed = (end as u64 + 1).to_le_bytes().to_vec();
        framed.extend(bytes);
        table(framed);
    }
    if let Ok(tokenizer) = Tokenizer::of(bytes) {
        for text in ["Merges PDF-files, unmerged.", "日本語 ab  abc", "é\u{301}", ""] {
            tokenizer.tokens(text, |token| assert!((token as usize) < tokenizer.len()));
        }
    }
}

fn table(bytes: Vec<u8>) {
    let Ok(matrix) = Matrix::of(bytes) else { return };
    let mut sum = vec![0.0; matrix.columns()];
    for row in [0, matrix.rows() - 1, matrix.rows(), usize::MAX] {
        matrix.add_row(row, &mut sum);
    }
}
