//! Stop words, which carry no meaning. They weigh little anyway, because they are frequent; here they are
//! excluded where words are paired or counted.

use std::sync::OnceLock;

use super::words::{Term, for_each_term};

const STOP: &str = "a an the and or of to in on for with by from at as is are be this that these those it its i me my we \
    our you your he she they their them do does did can could should would will how what which when where why who there \
    here have has had not no but if so than then into about up out any all some just also more please help need want use \
    using used make get let us am was were been being im ive id dont lets";

/// The stop words, and a bit set of their hashes to reject most other words quickly.
struct StopWords {
    terms: Vec<Term>,
    bits: [u64; 64],
}

impl StopWords {
    fn new() -> Self {
        let mut stops = Self { terms: Vec::new(), bits: [0; 64] };
        for_each_term(STOP, |term| {
            stops.terms.push(term);
            stops.bits[(term >> 6) as usize % 64] |= 1 << (term % 64);
        });
        stops.terms.sort_unstable();
        stops
    }
}

pub(crate) fn is_stop_word(term: Term) -> bool {
    static STOPS: OnceLock<StopWords> = OnceLock::new();
    let stops = STOPS.get_or_init(StopWords::new);
    stops.bits[(term >> 6) as usize % 64] & (1 << (term % 64)) != 0
        && stops.terms.binary_search(&term).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_recognized() {
        let is_stop_text = |word: &str| {
            let mut stop = false;
            for_each_term(word, |term| stop = is_stop_word(term));
            stop
        };
        assert!(STOP.split_whitespace().all(is_stop_text));
        assert!(!["pdf", "review", "deploy", "文章", "go"].into_iter().any(is_stop_text));
    }
}
