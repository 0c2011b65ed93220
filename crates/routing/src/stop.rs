//! Words that say nothing about what a message is about. They count little by themselves, being everywhere; here they are
//! left out where words are looked at in pairs, or counted.

use std::sync::OnceLock;

use super::words::{Term, terms};

const STOP: &str = "a an the and or of to in on for with by from at as is are be this that these those it its i me my we \
    our you your he she they their them do does did can could should would will how what which when where why who there \
    here have has had not no but if so than then into about up out any all some just also more please help need want use \
    using used make get let us am was were been being im ive id dont lets";

/// The words, and a bit for each of their endings: most words are none of these, and that is asked of every word there is.
struct Stops {
    terms: Vec<Term>,
    bits: [u64; 64],
}

impl Stops {
    fn new() -> Self {
        let mut stops = Self { terms: Vec::new(), bits: [0; 64] };
        terms(STOP, |term| {
            stops.terms.push(term);
            stops.bits[(term >> 6) as usize % 64] |= 1 << (term % 64);
        });
        stops.terms.sort_unstable();
        stops
    }
}

/// Whether a word is one of those.
pub(crate) fn is_stop(term: Term) -> bool {
    static STOPS: OnceLock<Stops> = OnceLock::new();
    let stops = STOPS.get_or_init(Stops::new);
    stops.bits[(term >> 6) as usize % 64] & (1 << (term % 64)) != 0
        && stops.terms.binary_search(&term).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_nothing() {
        let is = |word: &str| {
            let mut stop = false;
            terms(word, |term| stop = is_stop(term));
            stop
        };
        assert!(STOP.split_whitespace().all(is));
        assert!(!["pdf", "review", "deploy", "文章", "go"].into_iter().any(is));
    }
}
