//! The names that a repository has for its commits, and finding the one that is meant.

use gix_hash::ObjectId;

use super::error::GitError;
use super::reference::GitRef;

/// The most names that are listened to.
pub(super) const REFS_MAX: usize = 500_000;

/// The longest name that is listened to.
pub(super) const NAME_MAX: usize = 1_024;

/// How many names are compared with one that is not there.
const LOOKED_AT: usize = 5_000;

/// How what was asked for was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// Nothing was asked for: the repository's own branch, if it names one.
    Head(Option<String>),
    /// A branch.
    Branch(String),
    /// A tag.
    Tag(String),
    /// A commit itself.
    Commit,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ref {
    /// Such as `refs/heads/main`.
    pub(super) name: String,
    pub(super) id: ObjectId,
    /// What an annotated tag is of.
    pub(super) peeled: Option<ObjectId>,
}

/// All names that a repository has, or those that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Refs {
    pub(super) head: Option<ObjectId>,
    /// Where HEAD leads to, such as `refs/heads/main`.
    pub(super) head_target: Option<String>,
    pub(super) all: Vec<Ref>,
}

/// The one that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// What to ask the server for: servers give what has a name, which may be the tag of a commit.
    pub(super) want: ObjectId,
    /// The commit, as far as names tell.
    pub(super) commit: ObjectId,
    pub(super) resolved: Resolved,
}

impl Refs {
    /// The names to ask a server for. Nobody needs all of them until a name is not found.
    pub(super) fn wanted(reference: Option<&GitRef>) -> Vec<String> {
        match reference.map(GitRef::as_str) {
            None | Some("HEAD") => vec!["HEAD".to_owned()],
            Some(name) if name.starts_with("refs/") => vec![name.to_owned()],
            Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}")],
        }
    }

    /// The commit of what was asked for, or of HEAD. `None` if there is none of the name.
    pub(super) fn choose(&self, reference: Option<&GitRef>) -> Option<Chosen> {
        let Some(name) = reference.map(GitRef::as_str).filter(|name| *name != "HEAD") else {
            let id = self.head?;
            let branch = self.head_target.as_deref().and_then(|target| target.strip_prefix("refs/heads/"));
            return Some(Chosen {
                want: id,
                commit: id,
                resolved: Resolved::Head(branch.map(str::to_owned)),
            });
        };
        let found = |wanted: &str| self.all.iter().find(|one| one.name == wanted);
        let one = if name.starts_with("refs/") {
            found(name)?
        } else {
            found(&format!("refs/tags/{name}")).or_else(|| found(&format!("refs/heads/{name}")))?
        };
        let resolved = match (one.name.strip_prefix("refs/tags/"), one.name.strip_prefix("refs/heads/")) {
            (Some(tag), _) => Resolved::Tag(tag.to_owned()),
            (_, Some(branch)) => Resolved::Branch(branch.to_owned()),
            _ => Resolved::Branch(one.name.clone()),
        };
        Some(Chosen { want: one.id, commit: one.peeled.unwrap_or(one.id), resolved })
    }

    /// Says that there is no such name, and which are like it.
    pub(super) fn unknown(&self, url: String, reference: &GitRef) -> GitError {
        let name = reference.as_str();
        let short = |full: &'_ str| {
            let bare = full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/tags/"));
            bare.map(|bare| prowess_format::hidden::shown(bare).into_owned())
        };
        let mut near: Vec<(usize, String)> = self
            .all
            .iter()
            .filter_map(|one| short(&one.name))
            .take(LOOKED_AT)
            .map(|bare| (strsim::damerau_levenshtein(&bare, name), bare))
            .filter(|(distance, bare)| {
                // A branch that HEAD names may not be there: then any other will do.
                name == "HEAD"
                    || *distance <= (name.chars().count() / 3).max(1)
                    || bare.contains(name)
                    || name.contains(bare.as_str())
            })
            .collect();
        near.sort();
        near.dedup();
        near.truncate(3);
        let near = near.into_iter().map(|(_, bare)| bare).collect();
        GitError::UnknownRef { url, name: name.to_owned(), near, short: reference.is_short_commit() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs() -> Refs {
        let id = |digit: u8| ObjectId::from_bytes_or_panic(&[digit; 20]);
        let one = |name: &str, digit, peeled: Option<u8>| Ref {
            name: name.to_owned(),
            id: id(digit),
            peeled: peeled.map(id),
        };
        Refs {
            head: Some(id(1)),
            head_target: Some("refs/heads/main".to_owned()),
            all: vec![
                one("refs/heads/main", 1, None),
                one("refs/heads/v1", 2, None),
                one("refs/tags/v1", 3, Some(4)),
                one("refs/tags/v2", 5, None),
            ],
        }
    }

    #[test]
    fn a_tag_goes_before_a_branch() {
        let chosen = |name: Option<&str>| {
            let reference = name.map(|name| GitRef::parse(name).unwrap());
            let chosen = refs().choose(reference.as_ref()).unwrap();
            (chosen.want.as_bytes()[0], chosen.commit.as_bytes()[0], chosen.resolved)
        };
        assert_eq!(chosen(None), (1, 1, Resolved::Head(Some("main".to_owned()))));
        assert_eq!(chosen(Some("HEAD")).2, Resolved::Head(Some("main".to_owned())));
        assert_eq!(chosen(Some("main")), (1, 1, Resolved::Branch("main".to_owned())));
        assert_eq!(chosen(Some("v1")), (3, 4, Resolved::Tag("v1".to_owned())));
        assert_eq!(chosen(Some("refs/heads/v1")), (2, 2, Resolved::Branch("v1".to_owned())));
        assert_eq!(chosen(Some("v2")), (5, 5, Resolved::Tag("v2".to_owned())));
        assert_eq!(refs().choose(Some(&GitRef::parse("v3").unwrap())), None);
    }

    #[test]
    fn an_unknown_name_brings_those_like_it() {
        let hint = |name: &str| refs().unknown("u".to_owned(), &GitRef::parse(name).unwrap()).hint();
        assert_eq!(hint("mian").as_deref(), Some("there is main"));
        assert_eq!(hint("v3").as_deref(), Some("there is v1, v2"));
        assert_eq!(hint("abc1234").as_deref(), Some("name the commit by all of its 40 digits"));
        assert_eq!(hint("something-else"), None);
        assert_eq!(hint("HEAD").as_deref(), Some("there is main, v1, v2"));
    }
}
