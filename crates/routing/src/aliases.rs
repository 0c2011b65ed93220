//! Abbreviations of tools and terms, and their long forms.

/// Pairs of equivalent names. Capitals matter where the lower-case word means something else.
const ALIASES: &[(&str, &str)] = &[
    ("Go", "golang"),
    ("a11y", "accessibility"),
    ("auth", "authentication"),
    ("aws", "amazon"),
    ("ci", "pipeline"),
    ("config", "configuration"),
    ("db", "database"),
    ("deps", "dependencies"),
    ("docs", "documentation"),
    ("env", "environment"),
    ("gcp", "google cloud"),
    ("gh", "github"),
    ("i18n", "internationalization"),
    ("js", "javascript"),
    ("k8s", "kubernetes"),
    ("kubectl", "kubernetes"),
    ("l10n", "localization"),
    ("llm", "language model"),
    ("md", "markdown"),
    ("ml", "machine learning"),
    ("nextjs", "next.js"),
    ("npm", "node"),
    ("pic", "image"),
    ("postgres", "postgresql"),
    ("ppt", "powerpoint"),
    ("pptx", "powerpoint"),
    ("pr", "pull request"),
    ("psql", "postgresql"),
    ("py", "python"),
    ("regex", "regular expression"),
    ("repo", "repository"),
    ("rn", "react native"),
    ("slides", "presentation"),
    ("spec", "specification"),
    ("tf", "terraform"),
    ("ts", "typescript"),
    ("xls", "excel"),
    ("xlsx", "excel"),
    ("docx", "word document"),
];

/// Returns the other names of a word: its abbreviations, or the long form of an abbreviation.
pub(super) fn aliases(word: &str) -> impl Iterator<Item = &'static str> {
    let matches = move |alias: &str| match alias.starts_with(char::is_uppercase) {
        true => alias == word,
        false => alias.eq_ignore_ascii_case(word),
    };
    ALIASES.iter().filter_map(move |(short, long)| match () {
        () if matches(short) => Some(*long),
        () if matches(long) => Some(*short),
        () => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_work_in_both_directions() {
        assert_eq!(aliases("K8s").collect::<Vec<_>>(), ["kubernetes"]);
        assert_eq!(aliases("kubernetes").collect::<Vec<_>>(), ["k8s", "kubectl"]);
        assert_eq!(aliases("Go").collect::<Vec<_>>(), ["golang"]);
        assert_eq!(aliases("go").count(), 0);
    }
}
