//! Words that say nothing about what a message is about. They count little by themselves, being everywhere; here they are
//! left out where words are looked at in pairs, or counted.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::words::{Term, terms};

const STOP: &str = "a an the and or of to in on for with by from at as is are be this that these those it its i me my we \
    our you your he she they their them do does did can could should would will how what which when where why who there \
    here have has had not no but if so than then into about up out any all some just also more please help need want use \
    using used make get let us am was were been being im ive id dont lets";

/// Whether a word is one of those.
pub(crate) fn is_stop(term: Term) -> bool {
    static STOPS: OnceLock<HashSet<Term>> = OnceLock::new();
    let collect = || {
        let mut stops = HashSet::new();
        terms(STOP, |term| {
            stops.insert(term);
        });
        stops
    };
    STOPS.get_or_init(collect).contains(&term)
}
