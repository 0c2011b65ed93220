//! Texts in tokens.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn pieces() -> Tokenizer {
    let words = ["[UNK]", "merge", "##s", "pdf", "file", "un", "##merge", "##d", "cafe", "-", ".", "文", "!"];
    let vocabulary: serde_json::Map<String, Value> =
        words.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at))).collect();
    let text = json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", "continuing_subword_prefix": "##"},
    });
    Tokenizer::of(text.to_string().as_bytes()).unwrap()
}

fn pairs(two: bool) -> Tokenizer {
    let tokens = ["<unk>", "<0xC3>", "<0xA9>", "▁", "a", "b", "c", "ab", "▁ab", "▁a", "bc", "▁▁"];
    let vocabulary: serde_json::Map<String, Value> =
        tokens.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at))).collect();
    let merges = [("a", "b"), ("▁", "ab"), ("▁", "a"), ("b", "c"), ("▁", "▁")];
    let merges: Vec<Value> =
        merges.iter().map(|(a, b)| if two { json!([a, b]) } else { json!(format!("{a} {b}")) }).collect();
    let text = json!({
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ]},
        "pre_tokenizer": null,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges, "byte_fallback": true, "unk_token": "<unk>"},
    });
    Tokenizer::of(text.to_string().as_bytes()).unwrap()
}

fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let mut all = Vec::new();
    tokenizer.tokens(text, |token| all.push(token));
    all
}

#[test]
fn words_in_their_longest_pieces() {
    let pieces = pieces();
    assert_eq!(tokens(&pieces, "Merges PDF-files, unmerged."), [1, 2, 3, 9, 4, 2, 5, 6, 7, 10]);
    assert_eq!(tokens(&pieces, "CAFÉ文文!"), [8, 11, 11, 12]);
    // A word that is not known in all its parts is left out altogether.
    assert_eq!(tokens(&pieces, "pdfx merge\u{0}s pdf"), [1, 2, 3]);
    assert_eq!(tokens(&pieces, ""), [] as [u32; 0]);
}

#[test]
fn pairs_that_were_joined_earliest_are_joined_first() {
    for pairs in [pairs(false), pairs(true)] {
        assert_eq!(tokens(&pairs, "ab abc"), [8, 8, 6]);
        assert_eq!(tokens(&pairs, "bc a"), [3, 10, 9]);
        assert_eq!(tokens(&pairs, "  aé"), [11, 9, 1, 2]);
        assert_eq!(pairs.len(), 12);
    }
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = |text: Value| Tokenizer::of(text.to_string().as_bytes()).unwrap_err().to_string();
    let byte_level = json!({
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
        "model": {"type": "BPE", "vocab": {"▁a": 0}, "merges": []},
    });
    let unigram = json!({"normalizer": null, "pre_tokenizer": null, "model": {"type": "Unigram", "vocab": [["a", -1.5]]}});
    let broken = json!({"model": {"type": "BPE", "vocab": {"▁": 0, "a": 1}, "merges": ["a b"]}});
    insta::assert_snapshot!(
        [refused(byte_level), refused(unigram), refused(broken), refused(json!([]))].join("\n")
    );
}

proptest! {
    #[test]
    fn any_text_is_cut_into_known_tokens(text in "\\PC{0,200}") {
        for tokenizer in [pieces(), pairs(true)] {
            prop_assert!(tokens(&tokenizer, &text).iter().all(|token| (*token as usize) < tokenizer.len()));
        }
    }

    #[test]
    fn any_bytes_are_a_vocabulary_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Tokenizer::of(&bytes);
    }
}
