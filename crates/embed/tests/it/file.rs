//! A model in a file: read when it is needed, or refused with the reason.

use std::fs;
use std::path::Path;

use prowess_embed::file::TokenFile;
use prowess_routing::semantic::{Embedder, Purpose};
use serde_json::json;

fn write(folder: &Path, rows: &[[f32; 2]], words: &[&str]) {
    let size = rows.len() * 8;
    let header =
        format!(r#"{{"embeddings":{{"dtype":"F32","shape":[{},2],"data_offsets":[0,{size}]}}}}"#, rows.len());
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    rows.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
    fs::write(folder.join("model.safetensors"), bytes).unwrap();
    let vocabulary: serde_json::Map<_, _> =
        words.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at))).collect();
    let tokenizer = json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

#[test]
fn the_mean_of_the_tokens_with_length_one() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[[9.0, 9.0], [3.0, 0.0], [0.0, 4.0]], &["[UNK]", "merge", "pdf"]);
    let file = TokenFile::new(&folder.path().join("model.safetensors"));
    let given = file.embed(&["Merge", "merge PDF nonsense", "nonsense", ""], Purpose::Message).unwrap();
    assert_eq!(given, [[1.0, 0.0], [0.6, 0.8], [0.0, 0.0], [0.0, 0.0]]);

    let before = file.identity().unwrap();
    assert_eq!(TokenFile::new(&folder.path().join("model.safetensors")).identity().unwrap(), before);
    write(folder.path(), &[[9.0, 9.0], [3.0, 0.0], [0.0, 5.0]], &["[UNK]", "merge", "pdf"]);
    assert_ne!(TokenFile::new(&folder.path().join("model.safetensors")).identity().unwrap(), before);
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let told = || {
        let error = TokenFile::new(&path).identity().unwrap_err().to_string();
        error
            .replace(&folder.path().canonicalize().unwrap().display().to_string(), "FOLDER")
            .replace(&folder.path().display().to_string(), "FOLDER")
    };
    let mut all = vec![told()];
    write(folder.path(), &[[1.0, 1.0]], &["[UNK]", "merge"]);
    all.push(told());
    fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    all.push(told());
    fs::write(&path, "no model").unwrap();
    all.push(told());
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    all.push(told());
    insta::assert_snapshot!(all.join("\n"));
}
