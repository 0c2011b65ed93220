//! The skill index of a website.

use prowess_format::NameRule;
use prowess_package::well_known::{FetchUrlError, Fetcher, IndexArtifact, SkillIndex};
use url::Url;

const SKILL: &[u8] = b"---\nname: pdf\ndescription: Fill forms.\n---\n";

/// A website that returns the same bytes for every URL.
struct ConstantSite;

impl Fetcher for ConstantSite {
    fn get(&self, url: &Url, _: u64) -> Result<Vec<u8>, FetchUrlError> {
        assert_eq!(url.scheme(), "https", "{url}");
        Ok(SKILL.to_vec())
    }
}

/// Checks that nothing panics, that names are valid, that URLs use `https`, that files of the older version are below the index,
/// and that a skill with another digest is rejected.
pub fn well_known(bytes: &[u8]) {
    let index_url = Url::parse("https://example.com/.well-known/agent-skills/index.json").expect("a URL");
    let Ok(index) = SkillIndex::parse(bytes, &index_url) else { return };
    for entry in &index.entries {
        assert!(entry.name.violations(NameRule::Ascii).is_empty(), "{}", entry.name);
        if let IndexArtifact::Files(files) = &entry.artifact {
            let below = format!("https://example.com/.well-known/agent-skills/{}/", entry.name);
            assert!(files.iter().all(|(_, url)| url.as_str().starts_with(&below)), "{files:?}");
        }
        let accepted = index.fetch_skill(entry, &ConstantSite).is_ok();
        let matches = entry.digest().is_none_or(|digest| digest == prowess::digest(SKILL));
        assert!(!accepted || matches, "{entry:?}");
    }
}
