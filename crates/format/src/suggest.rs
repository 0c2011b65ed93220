//! "Did you mean" suggestions.

/// Returns the candidate nearest to `word`, if one is near enough.
///
/// ```
/// use prowess_format::suggest::nearest;
///
/// assert_eq!(nearest("descripton", ["name", "description"]), Some("description"));
/// assert_eq!(nearest("colour", ["name", "description"]), None);
/// ```
pub fn nearest<'k>(word: &str, candidates: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // The cost is the product of both lengths, and typos in words of this size are unlikely.
    if word.len() > 64 {
        return None;
    }
    let normalize = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = normalize(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &normalize(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 5)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
