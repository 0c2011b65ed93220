//! Short names that people use for long ones, and the other way round.

/// Each is also called the other. Names of tools and of trades; capitals count where a small word means something else.
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

/// What else a word is called.
pub(super) fn of(word: &str) -> impl Iterator<Item = &'static str> {
    let is = move |alias: &str| match alias.starts_with(char::is_uppercase) {
        true => alias == word,
        false => alias.eq_ignore_ascii_case(word),
    };
    ALIASES.iter().filter_map(move |(short, long)| match () {
        () if is(short) => Some(*long),
        () if is(long) => Some(*short),
        () => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        assert_eq!(of("K8s").collect::<Vec<_>>(), ["kubernetes"]);
        assert_eq!(of("kubernetes").collect::<Vec<_>>(), ["k8s", "kubectl"]);
        assert_eq!(of("Go").collect::<Vec<_>>(), ["golang"]);
        assert_eq!(of("go").count(), 0);
    }
}
