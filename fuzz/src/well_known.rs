//! The index of a site.

use prowess_format::NameRule;
use prowess_package::well_known::{FetchUrlError, Fetcher, IndexArtifact, SkillIndex};
use url::Url;

const SKILL: &[u8] = b"---\nname: pdf\ndescription: Fill forms.\n---\n";

/// A site that has the same bytes everywhere.
struct Same;

impl Fetcher for Same {
    fn get(&self, url: &Url, _: u64) -> Result<Vec<u8>, FetchUrlError> {
        assert_eq!(url.scheme(), "https", "{url}");
        Ok(SKILL.to_vec())
    }
}

/// Nothing panics; names are plain, addresses are `https`, files of the older version lie below the index; and nothing
/// that has another digest is taken.
pub fn well_known(bytes: &[u8]) {
    let place = Url::parse("https://example.com/.well-known/agent-skills/index.json").expect("an address");
    let Ok(index) = SkillIndex::parse(bytes, &place) else { return };
    for entry in &index.entries {
        assert!(entry.name.violations(NameRule::Ascii).is_empty(), "{}", entry.name);
        if let IndexArtifact::Files(files) = &entry.artifact {
            let below = format!("https://example.com/.well-known/agent-skills/{}/", entry.name);
            assert!(files.iter().all(|(_, url)| url.as_str().starts_with(&below)), "{files:?}");
        }
        let taken = index.fetch_skill(entry, &Same).is_ok();
        let right = entry.digest().is_none_or(|digest| digest == prowess::digest(SKILL));
        assert!(!taken || right, "{entry:?}");
    }
}
