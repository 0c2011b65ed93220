//! "Did you mean": the nearest of a few known words.

/// The known word nearest to `word`, if one is near enough to be meant.
///
/// ```
/// use prowess_format::suggest::nearest;
///
/// assert_eq!(nearest("descripton", ["name", "description"]), Some("description"));
/// assert_eq!(nearest("colour", ["name", "description"]), None);
/// ```
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Distance costs the product of both lengths; nobody mistypes a word of this size.
    if word.len() > 64 {
        return None;
    }
    let flat = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = flat(word);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &flat(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 5)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
