//! Searches the skill indexes of sites.

use std::sync::Arc;

use url::Url;

use crate::acquire::fetch_index;
use crate::error::PackageError;
use crate::fetch::well_known::{IndexEntry, SkillIndex};
use crate::task::Task;

/// A skill that matches a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSkill {
    /// The name.
    pub name: String,
    /// The description, with hidden characters escaped.
    pub description: String,
    /// The site, as given.
    pub site: String,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct FindResult {
    /// The skills, the best match first.
    pub skills: Vec<FoundSkill>,
    /// The sites that could not be searched, and why.
    pub failed: Vec<(String, PackageError)>,
}

/// Searches the indexes of sites for skills whose name or description has all words of a query. An empty query finds all.
pub fn find_skills(sites: &[String], query: &str, task: &Arc<Task>) -> Result<FindResult, PackageError> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(u32, FoundSkill)> = Vec::new();
    let mut failed = Vec::new();
    for site in sites {
        task.check_cancelled()?;
        match open_index(site, task) {
            Ok(index) => found.extend(index.entries.iter().filter_map(|entry| {
                let score = score(entry, &words)?;
                let (name, description) = (entry.name.as_str().to_owned(), entry.description.clone());
                Some((score, FoundSkill { name, description, site: site.clone() }))
            })),
            Err(error @ PackageError::Cancelled(_)) => return Err(error),
            Err(error) => failed.push((site.clone(), error)),
        }
    }
    found.sort_by(|(a_score, a), (b_score, b)| b_score.cmp(a_score).then_with(|| a.name.cmp(&b.name)));
    Ok(FindResult { skills: found.into_iter().map(|(_, skill)| skill).collect(), failed })
}

fn open_index(site: &str, task: &Arc<Task>) -> Result<SkillIndex, PackageError> {
    let url = Url::parse(site).ok().filter(|url| url.scheme() == "https");
    let url = url.ok_or_else(|| PackageError::InvalidArgument {
        message: format!("{} is not an https URL", prowess_format::hidden::escape_for_display(site)),
        hint: "pass the address of a site, such as https://skills.example.com".to_owned(),
    })?;
    fetch_index(&url, task)
}

/// Returns how well a skill matches all words; `None` if one of them is missing. Words in the name count more than words in
/// the description, and whole words more than parts.
fn score(entry: &IndexEntry, words: &[String]) -> Option<u32> {
    let (name, description) = (entry.name.as_str().to_lowercase(), entry.description.to_lowercase());
    let is_whole =
        |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    let mut total = 0;
    for word in words {
        total += match word.as_str() {
            word if name == word => 16,
            word if is_whole(&name, word) => 8,
            word if name.contains(word) => 4,
            word if is_whole(&description, word) => 2,
            word if description.contains(word) => 1,
            _ => return None,
        };
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::well_known::IndexArtifact;

    fn entry(name: &str, description: &str) -> IndexEntry {
        let name = prowess_format::SkillName::parse(name).unwrap();
        IndexEntry { name, description: description.to_owned(), artifact: IndexArtifact::Files(Vec::new()) }
    }

    #[test]
    fn names_count_more_than_descriptions() {
        let score_of = |name: &str, description: &str, query: &str| {
            let words: Vec<String> = query.split(' ').map(str::to_owned).collect();
            score(&entry(name, description), &words)
        };
        assert_eq!(score_of("pdf", "Fills forms.", "pdf"), Some(16));
        assert_eq!(score_of("pdf-forms", "Fills forms.", "pdf"), Some(8));
        assert_eq!(score_of("pdfs", "Fills forms.", "pdf"), Some(4));
        assert_eq!(score_of("forms", "Fills PDF forms.", "pdf"), Some(2));
        assert_eq!(score_of("forms", "Fills PDFs.", "pdf"), Some(1));
        assert_eq!(score_of("pdf-forms", "Fills forms.", "pdf fills"), Some(10));
        assert_eq!(score_of("pdf-forms", "Fills forms.", "pdf table"), None);
        assert_eq!(score(&entry("pdf", "x"), &[]), Some(0));
    }

    #[test]
    fn only_https_is_searched() {
        let task = Arc::new(Task::default());
        let result =
            find_skills(&["http://skills.example.com".to_owned(), "x".to_owned()], "pdf", &task).unwrap();
        let errors: Vec<String> = result.failed.iter().map(|(_, error)| error.to_string()).collect();
        assert_eq!(errors, ["http://skills.example.com is not an https URL", "x is not an https URL"]);
    }
}
