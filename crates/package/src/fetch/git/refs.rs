//! The refs of a repository, and how a reference is resolved.

use gix_hash::ObjectId;

use super::error::GitError;
use super::reference::GitRef;

/// The maximum number of refs that are read.
pub(super) const REFS_MAX: usize = 500_000;

/// The maximum length of a ref name.
pub(super) const NAME_MAX: usize = 1_024;

/// The maximum number of names that are compared for suggestions.
const SUGGEST_FROM_MAX: usize = 5_000;

/// How a reference was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedRef {
    /// No reference: the default branch, if HEAD names one.
    Head(Option<String>),
    /// A branch.
    Branch(String),
    /// A tag.
    Tag(String),
    /// A commit id.
    Commit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ref {
    /// Such as `refs/heads/main`.
    pub(super) name: String,
    pub(super) id: ObjectId,
    /// The target of an annotated tag.
    pub(super) peeled: Option<ObjectId>,
}

/// All refs of a repository, or the requested ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Refs {
    pub(super) head: Option<ObjectId>,
    /// The target of HEAD, such as `refs/heads/main`.
    pub(super) head_target: Option<String>,
    pub(super) all: Vec<Ref>,
}

/// The commit that matches a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenCommit {
    /// The object to request from the server: the ref's object, which may be an annotated tag.
    pub(super) request: ObjectId,
    /// The commit, as far as the refs show it.
    pub(super) commit: ObjectId,
    pub(super) resolved: ResolvedRef,
}

impl Refs {
    /// Returns the names to request from a server. All names are needed only for suggestions.
    pub(super) fn names_for(wanted: Option<&GitRef>) -> Vec<String> {
        match wanted.map(GitRef::as_str) {
            None | Some("HEAD") => vec!["HEAD".to_owned()],
            Some(name) if name.starts_with("refs/") => vec![name.to_owned()],
            Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}")],
        }
    }

    /// Returns the commit of the wanted ref, or of HEAD; `None` if it does not exist.
    pub(super) fn choose(&self, wanted: Option<&GitRef>) -> Option<ChosenCommit> {
        let Some(name) = wanted.map(GitRef::as_str).filter(|name| *name != "HEAD") else {
            let id = self.head?;
            let branch = self.head_target.as_deref().and_then(|target| target.strip_prefix("refs/heads/"));
            return Some(ChosenCommit {
                request: id,
                commit: id,
                resolved: ResolvedRef::Head(branch.map(str::to_owned)),
            });
        };
        let find = |full_name: &str| self.all.iter().find(|entry| entry.name == full_name);
        let chosen = if name.starts_with("refs/") {
            find(name)?
        } else {
            find(&format!("refs/tags/{name}")).or_else(|| find(&format!("refs/heads/{name}")))?
        };
        let resolved = match (chosen.name.strip_prefix("refs/tags/"), chosen.name.strip_prefix("refs/heads/"))
        {
            (Some(tag), _) => ResolvedRef::Tag(tag.to_owned()),
            (_, Some(branch)) => ResolvedRef::Branch(branch.to_owned()),
            _ => ResolvedRef::Branch(chosen.name.clone()),
        };
        Some(ChosenCommit { request: chosen.id, commit: chosen.peeled.unwrap_or(chosen.id), resolved })
    }

    /// Returns the error for an unknown reference, with similar names.
    pub(super) fn unknown_ref(&self, url: String, reference: &GitRef) -> GitError {
        let name = reference.as_str();
        let short = |full: &'_ str| {
            let bare = full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/tags/"));
            bare.map(|bare| prowess_format::hidden::escape_for_display(bare).into_owned())
        };
        let mut suggestions: Vec<(usize, String)> = self
            .all
            .iter()
            .filter_map(|entry| short(&entry.name))
            .take(SUGGEST_FROM_MAX)
            .map(|bare| (strsim::damerau_levenshtein(&bare, name), bare))
            .filter(|(distance, bare)| {
                // HEAD may point to a branch that does not exist: then suggest any branch.
                name == "HEAD"
                    || *distance <= (name.chars().count() / 3).max(1)
                    || bare.contains(name)
                    || name.contains(bare.as_str())
            })
            .collect();
        suggestions.sort();
        suggestions.dedup();
        suggestions.truncate(3);
        let suggestions = suggestions.into_iter().map(|(_, bare)| bare).collect();
        GitError::UnknownRef {
            url,
            name: name.to_owned(),
            suggestions,
            is_abbreviated: reference.may_be_abbreviated(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs() -> Refs {
        let id = |digit: u8| ObjectId::from_bytes_or_panic(&[digit; 20]);
        let reference = |name: &str, digit, peeled: Option<u8>| Ref {
            name: name.to_owned(),
            id: id(digit),
            peeled: peeled.map(id),
        };
        Refs {
            head: Some(id(1)),
            head_target: Some("refs/heads/main".to_owned()),
            all: vec![
                reference("refs/heads/main", 1, None),
                reference("refs/heads/v1", 2, None),
                reference("refs/tags/v1", 3, Some(4)),
                reference("refs/tags/v2", 5, None),
            ],
        }
    }

    #[test]
    fn a_tag_precedes_a_branch() {
        let chosen = |name: Option<&str>| {
            let reference = name.map(|name| GitRef::parse(name).unwrap());
            let chosen = refs().choose(reference.as_ref()).unwrap();
            (chosen.request.as_bytes()[0], chosen.commit.as_bytes()[0], chosen.resolved)
        };
        assert_eq!(chosen(None), (1, 1, ResolvedRef::Head(Some("main".to_owned()))));
        assert_eq!(chosen(Some("HEAD")).2, ResolvedRef::Head(Some("main".to_owned())));
        assert_eq!(chosen(Some("main")), (1, 1, ResolvedRef::Branch("main".to_owned())));
        assert_eq!(chosen(Some("v1")), (3, 4, ResolvedRef::Tag("v1".to_owned())));
        assert_eq!(chosen(Some("refs/heads/v1")), (2, 2, ResolvedRef::Branch("v1".to_owned())));
        assert_eq!(chosen(Some("v2")), (5, 5, ResolvedRef::Tag("v2".to_owned())));
        assert_eq!(refs().choose(Some(&GitRef::parse("v3").unwrap())), None);
    }

    #[test]
    fn an_unknown_name_has_suggestions() {
        let hint = |name: &str| refs().unknown_ref("u".to_owned(), &GitRef::parse(name).unwrap()).hint();
        assert_eq!(hint("mian").as_deref(), Some("did you mean main?"));
        assert_eq!(hint("v3").as_deref(), Some("did you mean v1, v2?"));
        assert_eq!(hint("abc1234").as_deref(), Some("use the full commit id with 40 digits"));
        assert_eq!(hint("something-else"), None);
        assert_eq!(hint("HEAD").as_deref(), Some("did you mean main, v1, v2?"));
    }
}
